/** Prepared statements that are kept, for work that is repeated often: preparing one costs more than running it. */
import type { Database, Statement } from 'better-sqlite3';

const MAX_STATEMENTS = 300;
const kept = new WeakMap<Database, Map<string, Statement>>();

/**
 * The statement with this text on this connection, prepared at the first call. Values belong into parameters, so that the texts are
 * few. All callers of a text share its statement: either all of them call `pluck` on it or none does.
 */
export function prepared<Parameters extends unknown[] = unknown[], Result = unknown>(
  client: Database,
  text: string,
): Statement<Parameters, Result> {
  const ofClient = kept.get(client) ?? new Map<string, Statement>();
  kept.set(client, ofClient);
  const present = ofClient.get(text);
  // As with `prepare`, the types are what the caller says of the text.
  if (present !== undefined) return present as Statement<Parameters, Result>;
  if (ofClient.size >= MAX_STATEMENTS) ofClient.clear();
  const made = client.prepare(text);
  ofClient.set(text, made);
  return made as Statement<Parameters, Result>;
}
