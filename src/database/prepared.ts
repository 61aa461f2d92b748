/** Keeps prepared statements for work that is repeated often, because preparing a statement costs more than running it. */
import type { Database, Statement } from 'better-sqlite3';

const MAX_STATEMENTS = 300;
const kept = new WeakMap<Database, Map<string, Statement>>();

/**
 * Returns the statement with this text on this connection; the first call prepares it. Pass values as parameters, so that there
 * are few texts. All callers of a text share its statement: either all of them call `pluck` on it or none does.
 */
export function prepared<Parameters extends unknown[] = unknown[], Result = unknown>(
  client: Database,
  text: string,
): Statement<Parameters, Result> {
  const ofClient = kept.get(client) ?? new Map<string, Statement>();
  kept.set(client, ofClient);
  const present = ofClient.get(text);
  // As with `prepare`, the caller states the types of the parameters and rows.
  if (present !== undefined) return present as Statement<Parameters, Result>;
  if (ofClient.size >= MAX_STATEMENTS) ofClient.clear();
  const made = client.prepare(text);
  ofClient.set(text, made);
  return made as Statement<Parameters, Result>;
}
