/** Reads the sender nodes as last recorded, for lists, checks and metrics. */

import type { Database } from 'better-sqlite3';
import type { nodeDays, senderNodes } from '../../database/schema/index.ts';
import { dayOf } from '../../time/clock.ts';

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
    .all({ silent: now - SILENT_AFTER_MS, today: dayOf(now) });
}
