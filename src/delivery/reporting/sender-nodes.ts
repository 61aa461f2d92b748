/** The sender nodes as they were last written down, for lists, checks and metrics. */
import type { Database } from 'better-sqlite3';
import { prepared } from '../../database/prepared.ts';
import type { NodeState } from '../../database/schema/index.ts';

/** What was not written down for this long is silent, also when the background does not run. */
const SILENT_AFTER_MS = 12_000;
const MAX_NODES = 500;

/** A node; times are epoch milliseconds. */
export interface SenderNode {
  run: string;
  name: string;
  version: string;
  state: NodeState;
  refusal: string;
  rate: number;
  capacity: number;
  load: number;
  heard_at: number;
  lease_until: number;
  /** Today, UTC. The ceiling is null without a warm-up. */
  ceiling: number | null;
  given: number;
  accepted: number;
  deferred: number;
  refused: number;
}

/** The nodes by name, at `now`, epoch milliseconds. */
export function listSenderNodes(client: Database, now: number): SenderNode[] {
  return prepared<Record<string, string | number>[], SenderNode>(
    client,
    `SELECT n.run, n.name, n.version, iif(n.heard_at < @silent, 'silent', n.state) AS state, n.refusal,
       iif(n.heard_at < @silent, 0, n.rate) AS rate, n.capacity, n.load, n.heard_at, n.lease_until, d.ceiling,
       ifnull(d.given, 0) AS given, ifnull(d.accepted, 0) AS accepted, ifnull(d.deferred, 0) AS deferred, ifnull(d.refused, 0) AS refused
     FROM sender_nodes n LEFT JOIN node_days d ON d.name = n.name AND d.day = @today
     ORDER BY n.name, n.heard_at DESC LIMIT ${MAX_NODES}`,
  ).all({ silent: now - SILENT_AFTER_MS, today: new Date(now).toISOString().slice(0, 10) });
}
