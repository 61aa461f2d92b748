/** Lists what is held now and why, for the log and for /metrics. Reads the stored records, so it finds every hold, whatever caused it. */

import type { Database } from 'better-sqlite3';
import { isHeld } from '../campaigns/status.ts';
import { AUTOMATION_STATUS, type HeldCode, SINGLE_SEND_STATUS } from '../database/schema/index.ts';
import { sendingHeldReason } from '../delivery/queue/holds.ts';
import { english } from '../errors/stored.ts';
import type { Log } from '../log.ts';

/** The words of the log for the kinds of records. */
const LOGGED_KINDS = { single_send: 'campaign', automation: 'automation', mailing: 'mail', sending: 'sending' };

interface Hold {
  what: 'single_send' | 'automation' | 'mailing' | 'sending';
  /** The record's id; 0 for all sending. */
  id: number;
  code: HeldCode | 'sending_held';
  /** The reason in English, for the log. */
  reason: string;
}

/** Returns everything that is held. Copied and cancelled single sends are not included, because a user made them drafts. */
function listHolds(client: Database): Hold[] {
  const records = client
    .prepare<[], Hold>(`
      SELECT 'single_send' AS what, id, held_code AS code, held_reason AS reason FROM single_sends
        WHERE status = ${SINGLE_SEND_STATUS.draft} AND held_code IS NOT NULL AND ${isHeld('single_sends')}
      UNION ALL SELECT 'automation', id, held_code, held_reason FROM automations
        WHERE status = ${AUTOMATION_STATUS.draft} AND held_code IS NOT NULL AND deleted_at IS NULL
      UNION ALL SELECT 'mailing', id, held_code, held_reason FROM mailings WHERE finished_at IS NULL AND state = 'held'`)
    .all()
    .map((hold) => ({ ...hold, reason: english(hold.reason) }));
  const reason = sendingHeldReason(client);
  return reason === null
    ? records
    : [...records, { what: 'sending', id: 0, code: 'sending_held', reason: String(reason) }];
}

/** Returns how many records are held, by the code of the reason. */
export function countHeld(client: Database): { what: string; reason: string; count: number }[] {
  return [...Map.groupBy(listHolds(client), ({ what, code }) => `${what} ${code}`).values()].flatMap((holds) => {
    const [first] = holds;
    return first === undefined ? [] : [{ what: first.what, reason: first.code, count: holds.length }];
  });
}

/** The reasons of holds, by kind and id of the record. */
export type KnownHolds = ReadonlyMap<string, string>;

/** Logs each new hold once, with its reason. The holds in `known` are not new; by default, these are the holds at the start. */
export class HoldLog {
  readonly #client: Database;
  readonly #log: Log;
  #known: KnownHolds;

  constructor(client: Database, log: Log, known = byKey(listHolds(client))) {
    this.#client = client;
    this.#log = log;
    this.#known = known;
  }

  /** Returns the holds of the last call of `logNew`, which need not be logged again. */
  get known(): KnownHolds {
    return this.#known;
  }

  /** Logs the holds that are new since the last call. */
  logNew(): void {
    const held = listHolds(this.#client);
    for (const { what, id, reason } of held) {
      if (this.#known.get(`${what} ${id}`) === reason) continue;
      this.#log(what === 'sending' ? { reason } : { [what]: id, reason }, `${LOGGED_KINDS[what]} held`, 'error');
    }
    this.#known = byKey(held);
  }
}

function byKey(held: readonly Hold[]): KnownHolds {
  return new Map(held.map(({ what, id, reason }) => [`${what} ${id}`, reason]));
}
