/** Reads the sender nodes as last recorded, for lists, checks and metrics, and the number of rejected messages from nodes. */

import type { Database } from 'better-sqlite3';
import { findNamedValue } from '../../database/named-values.ts';
import type { nodeDays, senderNodes } from '../../database/schema/index.ts';

/** A node that has not been recorded for this long counts as silent, even if the background thread is not running. */
const SILENT_AFTER_MS = 12_000;
const MAX_NODES = 500;

/** A node, with its numbers of mails today (UTC). Times are epoch milliseconds. */
export type SenderNode = typeof senderNodes.$inferSelect & Omit<typeof nodeDays.$inferSelect, 'day'>;

/** Returns the nodes ordered by name. `now` is in epoch milliseconds. */
export function listSenderNodes(client: Database, now: number): SenderNode[] {
  return client
    .prepare<Record<string, string | number>[], SenderNode>(`
     SELECT n.run, n.name, n.version, iif(n.heard_at < @silent, 'silent', n.state) AS state, n.refusal,
       iif(n.heard_at < @silent, 0, n.rate) AS rate, n.capacity, n.load, n.heard_at, n.lease_until, d.ceiling,
       ifnull(d.given, 0) AS given, ifnull(d.accepted, 0) AS accepted, ifnull(d.deferred, 0) AS deferred, ifnull(d.refused, 0) AS refused
     FROM sender_nodes n LEFT JOIN node_days d ON d.name = n.name AND d.day = @today
     ORDER BY n.name, n.heard_at DESC LIMIT ${MAX_NODES}`)
    .all({ silent: now - SILENT_AFTER_MS, today: new Date(now).toISOString().slice(0, 'YYYY-MM-DD'.length) });
}

/**
 * Kinds of rejected messages. `report` and `question` were malformed; `result` was for a delivery that the node never had; `sign_of_life`
 * was malformed, or in the name of another node; `choice` and `hits` were malformed, or not of this installation.
 */
export const REFUSED_MESSAGES = ['report', 'result', 'sign_of_life', 'choice', 'hits', 'question'] as const;
export type RefusedMessage = (typeof REFUSED_MESSAGES)[number];

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
