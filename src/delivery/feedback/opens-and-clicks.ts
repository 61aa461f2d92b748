/** Opens, clicks and leaving: raw events and the counters they move, in one transaction each. */
import type { Database, Statement } from 'better-sqlite3';
import { withAnnouncedWrite } from '../../database/write-turns.ts';
import type { RecipientIds } from '../links/tokens.ts';
import { State } from '../queue/ledger.ts';
import { isTooSoonForPerson } from './bots.ts';

/** An open or a click that is not on disk yet. */
export interface Hit {
  ids: RecipientIds;
  /** Epoch milliseconds. */
  at: number;
  /** The number of the link that was clicked; null: an open. */
  link: number | null;
  /** Whether who asked is known to be a machine. */
  isMachine: boolean;
}

interface Target {
  state: number;
  opened_at: number | null;
  opens: number;
  clicks: number;
  updated_at: number;
}

const BATCH = 100;
/** Opens, and likewise clicks, that count of one recipient of one mail: whoever loads a picture thousands of times is no reader. */
const MOST_PER_DELIVERY = 100;
/** How long a hit waits for the ledger to say that its mail was accepted; retries of a lost reply come within that. */
const PATIENCE_MS = 60_000;
/** More than this in memory are dropped: only a disk that takes nothing lets it come so far. */
const MOST_WAITING = 200_000;

/**
 * Gathers hits and writes them together: a hit costs no transaction of its own (trust 44). Opens count once the delivery is
 * accepted, so that `unique_opens` never passes `delivered`; a hit that comes before waits. Machines' hits count like
 * people's, as mailing services do, and are marked on the event. Of one recipient a hundred opens and a hundred clicks count.
 */
export class HitBuffer {
  readonly #client: Database;
  readonly #target: Statement<[number, number, number], Target>;
  readonly #open: Statement<[number, number]>;
  readonly #click: Statement<[number]>;
  readonly #count: Statement<[number, number, number]>;
  readonly #event: Statement<[number, number, 'open' | 'click', number | null, number, number]>;
  #waiting: Hit[] = [];
  /** Looked at in this round, to be looked at again in the next. */
  #early: Hit[] = [];

  constructor(client: Database) {
    this.#client = client;
    this.#target = client.prepare(
      'SELECT state, opened_at, opens, clicks, updated_at FROM deliveries WHERE id = ? AND mailing_id = ? AND address_id = ?',
    );
    this.#open = client.prepare(
      'UPDATE deliveries SET opens = opens + 1, opened_at = ifnull(opened_at, ?) WHERE id = ?',
    );
    this.#click = client.prepare('UPDATE deliveries SET clicks = clicks + 1 WHERE id = ?');
    this.#count = client.prepare(
      'UPDATE mailings SET unique_opens = unique_opens + ?, total_opens = total_opens + ? WHERE id = ?',
    );
    this.#event = client.prepare(`
      INSERT INTO events (mailing_id, delivery_id, kind, link_number, is_machine, happened_at) VALUES (?, ?, ?, ?, ?, ?)`);
  }

  add(hit: Hit): void {
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(hit);
  }

  /** Writes up to a batch of what has gathered by `now`; true when more is ready. A failure loses nothing: the next call tries again. */
  flush(now: number): boolean {
    const hits = this.#waiting.slice(0, BATCH);
    if (hits.length === 0) return false;
    const write = this.#client.transaction(() => hits.filter((hit) => !this.#write(hit)));
    const early = withAnnouncedWrite(() => write.immediate());
    this.#waiting.splice(0, hits.length);
    this.#early.push(...early.filter((hit) => now - hit.at < PATIENCE_MS));
    if (this.#waiting.length > 0) return true;
    this.#waiting = this.#early.splice(0);
    return false;
  }

  /** False when the hit's mail is still on its way by the ledger. A delivery the ledger does not know, lost by a restore say, counts nowhere. */
  #write({ ids, at, link, isMachine }: Hit): boolean {
    const target = this.#target.get(ids.delivery, ids.mailing, ids.address);
    if (target === undefined) return true;
    if (target.state === State.queued || target.state === State.sending) return false;
    const machine = isMachine || isTooSoonForPerson(at, target.updated_at) ? 1 : 0;
    if ((link === null ? target.opens : target.clicks) >= MOST_PER_DELIVERY) return true;
    if (link !== null) {
      this.#click.run(ids.delivery);
      this.#event.run(ids.mailing, ids.delivery, 'click', link, machine, at);
    } else if (target.state === State.accepted) {
      this.#open.run(at, ids.delivery);
      this.#count.run(target.opened_at === null ? 1 : 0, 1, ids.mailing);
      this.#event.run(ids.mailing, ids.delivery, 'open', null, machine, at);
    }
    return true;
  }
}

/** Counts a recipient who left through a mail, once. Call inside the transaction that takes the address off. */
export function countUnsubscribe(client: Database, ids: RecipientIds, at: number): void {
  const { changes } = client
    .prepare(
      'UPDATE deliveries SET unsubscribed_at = ? WHERE id = ? AND mailing_id = ? AND address_id = ? AND unsubscribed_at IS NULL',
    )
    .run(at, ids.delivery, ids.mailing, ids.address);
  if (changes === 0) return;
  client.prepare('UPDATE mailings SET unsubscribes = unsubscribes + 1 WHERE id = ?').run(ids.mailing);
  client
    .prepare("INSERT INTO events (mailing_id, delivery_id, kind, happened_at) VALUES (?, ?, 'unsubscribe', ?)")
    .run(ids.mailing, ids.delivery, at);
}
