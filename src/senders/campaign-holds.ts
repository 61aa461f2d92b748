/** What is held right now and why, for the log and for /metrics. It reads the rows, so it does not matter which code held them. */
import type { Database } from 'better-sqlite3';
import { sendingHeldReason } from '../delivery/queue/hold.ts';
import { CANCELLED, COPY } from '../single-sends/actions.ts';

export interface Hold {
  what: 'single_send' | 'automation' | 'mailing' | 'sending';
  /** The record's id; 0 for all sending. */
  id: number;
  reason: string;
}

/** The most kinds of reasons counted separately, so that /metrics has few labels; the rest is counted as `other`. */
const MAX_REASON_KINDS = 40;

/** Everything that is held. Copies and cancelled sends are not included, since their owner stopped them. */
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

/** How many records are held for each kind of reason: its words before a colon, without quoted names and numbers, joined by `_`. */
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

/** Logs each hold once, with its reason. Holds that exist at start are not logged again. */
export class HoldLog {
  readonly #client: Database;
  readonly #log: (fields: object, text: string) => void;
  /** The reasons of the current holds that need no more logging, by kind and id of the record. */
  #known: Map<string, string>;

  constructor(client: Database, log: (fields: object, text: string) => void) {
    this.#client = client;
    this.#log = log;
    this.#known = byKey(listHolds(client));
  }

  /** Logs the holds that are new since the last call. */
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
