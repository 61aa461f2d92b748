/** The number of rejected messages from sender nodes, by kind. */
import type { Database } from 'better-sqlite3';
import { findNamedValue } from '../../database/named-values.ts';

/**
 * Kinds of rejected messages. `report` and `question` were malformed; `result` was for a delivery that the node never had; `sign_of_life`
 * was malformed, or in the name of another node; `choice` and `hits` were malformed, or not of this installation.
 */
export type RefusedMessage = 'report' | 'result' | 'sign_of_life' | 'choice' | 'hits' | 'question';

const STORED_COUNTS = 'refused_node_messages';

/** Adds to the number of rejected messages. This is a single statement, so that threads writing at the same time lose nothing. */
export function addRefusedMessages(client: Database, kind: RefusedMessage, count: number): void {
  const path = `$.${kind}`;
  // better-sqlite3 binds a BigInt as an integer; a number would be stored as 1.0.
  client
    .prepare(`INSERT INTO installation (name, value) VALUES (@name, json_object(@kind, @count))
     ON CONFLICT (name) DO UPDATE SET value = json_set(value, @path, ifnull(json_extract(value, @path), 0) + @count)`)
    .run({ name: STORED_COUNTS, kind, path, count: BigInt(count) });
}

/** Returns the number of rejected messages by kind. */
export function refusedMessages(client: Database): Record<RefusedMessage, number> {
  const stored: Partial<Record<RefusedMessage, number>> = JSON.parse(findNamedValue(client, STORED_COUNTS) ?? '{}');
  const { report = 0, result = 0, sign_of_life = 0, choice = 0, hits = 0, question = 0 } = stored;
  return { report, result, sign_of_life, choice, hits, question };
}
