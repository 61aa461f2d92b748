/** What is held right now and why, for the log and for /metrics: whoever held it, it is found in the rows. */
import type { Database } from 'better-sqlite3';
import { sendingHeldReason } from '../delivery/queue/hold.ts';
import { CANCELLED, COPY } from '../single-sends/actions.ts';

export interface Hold {
  what: 'single_send' | 'automation' | 'mailing' | 'sending';
  /** The record's id; 0 for all sending. */
  id: number;
  reason: string;
}

/** More kinds of reasons are counted together, so that the labels of /metrics stay few. */
const MAX_REASON_KINDS = 40;

/** Everything that is held. A copy and a send that its owner cancelled wait for their owner and are not among it. */
export function listHolds(client: Database): Hold[] {
  const records = client
    .prepare<[string, string], Hold>(`
      SELECT 'single_send' AS what, id, held_reason AS reason FROM single_sends
        WHERE status = 0 AND held_reason IS NOT NULL AND held_reason NOT IN (?, ?)
      UNION ALL SELECT 'automation', id, held_reason FROM automations
        WHERE status = 0 AND held_reason IS NOT NULL AND deleted_at IS NULL
      UNION ALL SELECT 'mailing', id, ifnull(held_reason, '') FROM mailings WHERE finished_at IS NULL AND state = 'held'`)
    .all(COPY, CANCELLED);
  const reason = sendingHeldReason(client);
  return reason === null ? records : [...records, { what: 'sending', id: 0, reason }];
}

/** How many are held for each kind of reason: its words up to a colon, without quoted names and numbers, joined by underscores. */
export function countHeld(client: Database): { what: string; reason: string; count: number }[] {
  const counts = new Map<string, { what: string; reason: string; count: number }>();
  for (const held of listHolds(client)) {
    const kind = reasonKind(held.reason);
    const reason = counts.size < MAX_REASON_KINDS || counts.has(`${held.what} ${kind}`) ? kind : 'other';
    const key = `${held.what} ${reason}`;
    counts.set(key, { what: held.what, reason, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}

function reasonKind(reason: string): string {
  const words = reason
    .replace(/"[^"]*"/g, '')
    .replace(/:.*$/s, '')
    .toLowerCase()
    .match(/[a-z]+/g);
  return words?.slice(0, 10).join('_') ?? 'unknown';
}

/** Logs each hold once, with its reason; what an earlier run has held was logged by that run. */
export class HoldLog {
  readonly #client: Database;
  readonly #log: (fields: object, text: string) => void;
  /** What has been logged and is still held: its reason by what and id. */
  #known: Map<string, string>;

  constructor(client: Database, log: (fields: object, text: string) => void) {
    this.#client = client;
    this.#log = log;
    this.#known = byKey(listHolds(client));
  }

  /** Logs what has been held since the last look. */
  look(): void {
    const held = listHolds(this.#client);
    for (const { what, id, reason } of held) {
      if (this.#known.get(`${what} ${id}`) === reason) continue;
      this.#log(what === 'sending' ? { reason } : { [what]: id, reason }, `${what.replace('_', ' ')} held`);
    }
    this.#known = byKey(held);
  }
}

function byKey(held: readonly Hold[]): Map<string, string> {
  return new Map(held.map(({ what, id, reason }) => [`${what} ${id}`, reason]));
}
