/** Opens, clicks and unsubscribes: writes the events and updates the counters in the same transaction. */
import type { Database, Statement } from 'better-sqlite3';
import { IS_UNMEASURED } from '../../audience/tracking-choice.ts';
import { DELIVERY_STATE, type TrackingMode } from '../../database/schema/index.ts';
import { withAnnouncedWrite } from '../../database/write-turns.ts';
import { NOBODY } from '../links/shared-links.ts';
import type { RecipientIds } from '../links/tokens.ts';
import { isTooSoonForPerson } from './bots.ts';
import { BY_PERSON } from './by-person.ts';
import { type CountedEvent, eventCounter } from './event-counts.ts';

/** An open or a click that is not on disk yet. */
export interface Hit {
  ids: RecipientIds;
  /** Epoch milliseconds. */
  at: number;
  /** The number of the link that was clicked; null: an open. */
  link: number | null;
  /** Whether the user agent is known to be a machine's. */
  isMachine: boolean;
}

interface Target {
  /** What its account learns of opens and clicks now, and whether those of this person are not recorded. */
  tracking: TrackingMode;
  is_unmeasured: 0 | 1;
  state: number;
  opened_at: number | null;
  opens: number;
  clicks: number;
  by_person: number;
  updated_at: number;
}

/** What a batch adds to the counters of a mailing. */
interface MailingCounts {
  opened: number;
  opens: number;
  clicked: number;
  personOpened: number;
  personClicked: number;
}

/** What a batch has written, to be counted at its end. */
interface Written {
  events: CountedEvent[];
  mailings: Map<number, MailingCounts>;
}

const BATCH_SIZE = 100;
/** How many opens, and how many clicks, count for one recipient of one mail. More than that is not a reader. */
const MAX_PER_DELIVERY = 100;
/** How long a hit waits for its mail to be recorded as accepted; a mail whose reply was lost is retried within this time. */
const MAX_WAIT_MS = 60_000;
/** Hits beyond this number are dropped. So many gather only if the disk cannot be written. */
const MAX_WAITING = 200_000;

/**
 * Collects hits and writes them in batches, because a transaction for each would be too slow. An open counts once its
 * delivery is accepted, so that `unique_opens` never exceeds `delivered`; an earlier hit waits. Hits by machines count
 * like those by people, as other mailing services do it, and are marked on the event. For one recipient of one mail, up
 * to a hundred opens and a hundred clicks count. Of people whose account must not measure them nothing is written; where it learns only
 * totals, these alone are counted.
 */
export class HitBuffer {
  readonly #client: Database;
  readonly #target: Statement<[number, number, number], Target>;
  readonly #sharedBy: Statement<[number], TrackingMode>;
  readonly #firstOpen: Statement<[number, number]>;
  readonly #open: Statement<[number]>;
  readonly #click: Statement<[number]>;
  readonly #person: Statement<[number, number]>;
  readonly #count: Statement<MailingCounts & { mailing: number }>;
  readonly #countEvents: (events: readonly CountedEvent[]) => void;
  readonly #event: Statement<[number, number, 'open' | 'click', number | null, number, number]>;
  #waiting: Hit[] = [];
  /** Hits whose mail was not accepted yet, to be tried again in the next round. */
  #early: Hit[] = [];

  constructor(client: Database) {
    this.#client = client;
    this.#target = client.prepare(
      `SELECT u.tracking, ${IS_UNMEASURED} AS is_unmeasured, d.state, d.opened_at, d.opens, d.clicks, d.by_person, d.updated_at
      FROM deliveries d CROSS JOIN addresses a ON a.id = d.address_id CROSS JOIN accounts u ON u.id = a.user_id
      WHERE d.id = ? AND d.mailing_id = ? AND d.address_id = ?`,
    );
    this.#sharedBy = client
      .prepare<[number], TrackingMode>(
        'SELECT u.tracking FROM mailings m CROSS JOIN accounts u ON u.id = m.user_id WHERE m.id = ?',
      )
      .pluck();
    this.#firstOpen = client.prepare('UPDATE deliveries SET opens = opens + 1, opened_at = ? WHERE id = ?');
    this.#open = client.prepare('UPDATE deliveries SET opens = opens + 1 WHERE id = ?');
    this.#click = client.prepare('UPDATE deliveries SET clicks = clicks + 1 WHERE id = ?');
    this.#person = client.prepare('UPDATE deliveries SET by_person = by_person | ? WHERE id = ?');
    this.#count = client.prepare(`
      UPDATE mailings SET unique_opens = unique_opens + @opened, total_opens = total_opens + @opens, unique_clicks = unique_clicks + @clicked,
        people_opens = people_opens + @personOpened, people_clicks = people_clicks + @personClicked WHERE id = @mailing`);
    this.#event = client.prepare(`
      INSERT INTO events (mailing_id, delivery_id, kind, link_number, is_machine, happened_at) VALUES (?, ?, ?, ?, ?, ?)`);
    this.#countEvents = eventCounter(client);
  }

  add(hit: Hit): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(hit);
  }

  /** Writes one batch of hits; true if more are ready. If the write fails, no hit is lost: the next call tries again. */
  flush(now: number): boolean {
    const hits = this.#waiting.slice(0, BATCH_SIZE);
    if (hits.length === 0) return false;
    const write = this.#client.transaction(() => this.#writeAll(hits));
    const early = withAnnouncedWrite(() => write.immediate());
    this.#waiting.splice(0, hits.length);
    this.#early.push(...early.filter((hit) => now - hit.at < MAX_WAIT_MS));
    if (this.#waiting.length > 0) return true;
    this.#waiting = this.#early.splice(0);
    return false;
  }

  /**
   * Writes hits within the caller's transaction, whatever waits here. Gives what is to be done when that is committed: hits whose mail was not
   * accepted yet are then tried again by `flush`.
   */
  record(hits: readonly Hit[]): () => void {
    const early = this.#writeAll(hits);
    return () => {
      this.#waiting.push(...early.slice(0, Math.max(0, MAX_WAITING - this.#waiting.length)));
    };
  }

  /** Writes hits, each counter once for all of them; gives those whose mail is not sent yet. */
  #writeAll(hits: readonly Hit[]): Hit[] {
    const written: Written = { events: [], mailings: new Map() };
    const early = hits.filter((hit) => !this.#write(hit, written));
    for (const [mailing, counts] of written.mailings) this.#count.run({ ...counts, mailing });
    this.#countEvents(written.events);
    return early;
  }

  /** False if the ledger says that the mail is not sent yet. A hit on an unknown delivery, for example after a restore, is dropped. */
  #write(hit: Hit, written: Written): boolean {
    const { ids, at, link, isMachine } = hit;
    if (ids.delivery === NOBODY) {
      // Of its reader it is not known whether they allow it.
      const mode = this.#sharedBy.get(ids.mailing);
      if (mode === 'totals' || mode === 'person') addTotal(hit, written);
      return true;
    }
    const target = this.#target.get(ids.delivery, ids.mailing, ids.address);
    if (target === undefined) return true;
    if (target.is_unmeasured === 1) {
      if (target.tracking === 'totals') addTotal(hit, written);
      return true;
    }
    if (target.state === DELIVERY_STATE.queued || target.state === DELIVERY_STATE.sending) return false;
    const machine = isMachine || isTooSoonForPerson(at, target.updated_at) ? 1 : 0;
    if ((link === null ? target.opens : target.clicks) >= MAX_PER_DELIVERY) return true;
    // A click of a mail that came back counts; an open does not, because unique_opens never exceeds delivered.
    if (link === null && target.state !== DELIVERY_STATE.accepted) return true;
    const kind = link === null ? BY_PERSON.opened : BY_PERSON.clicked;
    const isFirstOfPerson = machine === 0 && (target.by_person & kind) === 0;
    if (link !== null) this.#click.run(ids.delivery);
    else if (target.opened_at === null) this.#firstOpen.run(at, ids.delivery);
    else this.#open.run(ids.delivery);
    if (isFirstOfPerson) this.#person.run(kind, ids.delivery);
    const counts = countsOf(written, ids.mailing);
    if (link === null) {
      counts.opens++;
      if (target.opened_at === null) counts.opened++;
      if (isFirstOfPerson) counts.personOpened++;
    } else {
      if (target.clicks === 0) counts.clicked++;
      if (isFirstOfPerson) counts.personClicked++;
    }
    const event = link === null ? 'open' : 'click';
    this.#event.run(ids.mailing, ids.delivery, event, link, machine, at);
    written.events.push({ mailing: ids.mailing, kind: event, link, isMachine: machine === 1, at });
    return true;
  }
}

/** Counts an open or a click of nobody in particular. */
function addTotal({ ids: { mailing }, link, isMachine, at }: Hit, written: Written): void {
  if (link === null) countsOf(written, mailing).opens++;
  written.events.push({ mailing, kind: link === null ? 'open' : 'click', link, isMachine, at });
}

function countsOf({ mailings }: Written, mailing: number): MailingCounts {
  const counts = mailings.get(mailing) ?? { opened: 0, opens: 0, clicked: 0, personOpened: 0, personClicked: 0 };
  mailings.set(mailing, counts);
  return counts;
}

/** Counts a recipient who unsubscribed through a mail, once. Call it in the transaction that unsubscribes the address. */
export function countUnsubscribe(
  client: Database,
  ids: Pick<RecipientIds, 'delivery' | 'mailing' | 'address'>,
  at: number,
): void {
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
  eventCounter(client)([{ mailing: ids.mailing, kind: 'unsubscribe', link: null, isMachine: false, at }]);
}
