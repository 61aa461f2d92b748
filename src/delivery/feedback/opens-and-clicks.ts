/** Records opens, clicks and unsubscribes: writes the events and updates the counters in the same transaction. */
import type { Database, Statement } from 'better-sqlite3';
import { IS_UNMEASURED } from '../../audience/tracking-choice.ts';
import {
  BY_PERSON,
  DELIVERY_STATE,
  DEVICE,
  type Device,
  MADE_BY,
  type MadeBy,
  type TrackingMode,
} from '../../database/schema/index.ts';
import { withAnnouncedWrite } from '../../database/write-turns.ts';
import { NO_DELIVERY } from '../links/shared-links.ts';
import type { RecipientIds } from '../links/tokens.ts';
import { TRAP_LINK } from '../links/trap-link.ts';
import {
  addChange,
  type CountedEvent,
  type CounterChanges,
  changesOf,
  counterWriter,
  type Engagement,
  eventCounter,
} from './event-counts.ts';
import { madeBy, type Reader } from './readers.ts';
import { BURST_MS, type RecordedHit, RecordedHits } from './recorded-hits.ts';

/** An open or a click that is not on disk yet. */
export interface Hit {
  ids: RecipientIds;
  /** Epoch milliseconds. */
  at: number;
  /** The number of the clicked link, or `TRAP_LINK` for the trap link; null for an open. */
  link: number | null;
  /** The kind of reader that the user agent indicates. */
  reader: Reader;
  /** The kind of device that the user agent indicates; unknown if it is missing, as from nodes of earlier releases. */
  device?: Device;
}

interface HitTarget extends Engagement {
  /** The account's current tracking mode. */
  tracking: TrackingMode;
  /** 1 if tracking is off for the contact, else 0. */
  is_unmeasured: 0 | 1;
  /** The range of time in which hits were attributed to a machine, in epoch milliseconds. */
  machine_from: number;
  machine_until: number;
  /** When the mail was accepted, in epoch milliseconds. */
  updated_at: number;
}

/** The changes that a batch makes to counters, which are written at its end. */
interface BatchChanges {
  events: CountedEvent[];
  mailings: CounterChanges;
}

const BATCH_SIZE = 100;
/** The maximum number of opens, clicks and machine hits that are counted for one recipient of one mail. A human reader never makes more. */
const MAX_PER_DELIVERY = 100;
/** How long a hit waits for its mail to be recorded as accepted. A mail whose reply was lost is retried within this time. */
const MAX_WAIT_MS = 60_000;
/** Hits beyond this number are dropped. This happens only if the disk cannot be written. */
const MAX_WAITING = 200_000;
/** Hits of a recipient that come within this time before or after a click on the trap link count as made by the same machine. */
const TRAP_MS = 10_000;

/**
 * Collects hits and writes them in batches, because a transaction for each would be too slow. An open counts once its delivery is accepted,
 * so that `unique_opens` never exceeds `delivered`; an earlier hit waits. Each event records whether a person, a proxy or a machine made
 * it, and hits of machines are counted separately. When hits turn out to be a burst, those recorded as a person's are changed to a
 * machine's. At most a hundred opens, clicks and machine hits are counted for one recipient of one mail. For unmeasured contacts nothing is
 * written, and if the account measures only totals, only these are counted.
 */
export class HitBuffer {
  readonly #client: Database;
  readonly #recorded: RecordedHits;
  readonly #target: Statement<[number, number, number], HitTarget>;
  readonly #trackingMode: Statement<[number], TrackingMode>;
  readonly #counts: Statement<[Engagement & { id: number }]>;
  readonly #machineTime: Statement<[{ from: number; until: number; id: number }]>;
  readonly #event: Statement<[number, number, 'open' | 'click', number | null, MadeBy, number, number]>;
  readonly #countEvents: (events: readonly CountedEvent[]) => void;
  readonly #writeCounters: (changes: CounterChanges) => void;
  #waiting: Hit[] = [];
  /** Hits whose mail is not accepted yet. They are tried again in the next round. */
  #early: Hit[] = [];

  constructor(client: Database) {
    this.#client = client;
    this.#recorded = new RecordedHits(client);
    this.#target = client.prepare(
      `SELECT u.tracking, ${IS_UNMEASURED} AS is_unmeasured, d.state, d.opened_at, d.opens, d.clicks, d.machine_hits, d.machine_from, d.machine_until,
        d.by_person, d.updated_at
      FROM deliveries d CROSS JOIN addresses a ON a.id = d.address_id CROSS JOIN accounts u ON u.id = a.user_id
      WHERE d.id = ? AND d.mailing_id = ? AND d.address_id = ?`,
    );
    this.#trackingMode = client
      .prepare<[number], TrackingMode>(
        'SELECT u.tracking FROM mailings m CROSS JOIN accounts u ON u.id = m.user_id WHERE m.id = ?',
      )
      .pluck();
    // Few hits change indexed columns, so this statement, which leaves them alone, is enough for most.
    this.#counts = client.prepare(
      'UPDATE deliveries SET opens = @opens, clicks = @clicks, machine_hits = @machine_hits WHERE id = @id',
    );
    // Overlapping time ranges are merged; otherwise the later range is kept.
    this.#machineTime = client.prepare(`
      UPDATE deliveries SET machine_until = max(machine_until, @until), machine_from = CASE
        WHEN @from > machine_until THEN @from WHEN @until < machine_from THEN machine_from ELSE min(machine_from, @from) END
      WHERE id = @id`);
    this.#event = client.prepare(`
      INSERT INTO events (mailing_id, delivery_id, kind, link_number, made_by, happened_at, device) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#countEvents = eventCounter(client);
    this.#writeCounters = counterWriter(client);
  }

  add(hit: Hit): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(hit);
  }

  /** Writes one batch of hits. Returns true if more are ready. If the write fails, no hit is lost, because the next call tries again. */
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
   * Writes hits within the caller's transaction, ahead of the waiting hits. Returns a function that must be called after the commit: it
   * gives hits whose mail is not accepted yet to `flush`, which tries them again.
   */
  record(hits: readonly Hit[]): () => void {
    const early = this.#writeAll(hits);
    return () => {
      this.#waiting.push(...early.slice(0, Math.max(0, MAX_WAITING - this.#waiting.length)));
    };
  }

  /** Writes hits, updating each counter once for all of them. Returns the hits whose mail is not accepted yet. */
  #writeAll(hits: readonly Hit[]): Hit[] {
    const written: BatchChanges = { events: [], mailings: new Map() };
    const early = hits.filter((hit) => !this.#write(hit, written));
    this.#writeCounters(written.mailings);
    this.#countEvents(written.events);
    return early;
  }

  /**
   * Writes one hit. Returns false if its mail is not accepted yet. A hit on an unknown delivery, for example after a restore, is dropped.
   */
  #write(hit: Hit, written: BatchChanges): boolean {
    const { ids, at, link, reader } = hit;
    const device = DEVICE[hit.device ?? 'unknown'];
    if (ids.delivery === NO_DELIVERY) {
      // A link that all recipients share does not identify the reader, so only the account's tracking mode applies.
      const mode = this.#trackingMode.get(ids.mailing);
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
    if (link === TRAP_LINK) {
      this.#handleTrap(hit, target, written);
      return true;
    }
    // Clicks in a bounced mail count. Opens do not, so that `unique_opens` never exceeds `delivered`.
    if (link === null && target.state !== DELIVERY_STATE.accepted) return true;
    const isOfMachine = reader === 'person' && isMachineTime(target, at);
    const by = isOfMachine ? MADE_BY.machine : madeBy(reader, link !== null, at - target.updated_at);
    const counter = by === MADE_BY.machine ? 'machine_hits' : link === null ? 'opens' : 'clicks';
    if (target[counter] >= MAX_PER_DELIVERY) return true;
    const after: Engagement = { ...target, [counter]: target[counter] + 1 };
    if (by !== MADE_BY.machine) {
      after.by_person |=
        link !== null ? BY_PERSON.clicked : by === MADE_BY.person ? BY_PERSON.opened : BY_PERSON.proxied;
      if (link === null) after.opened_at ??= at;
    }
    const changesIndexed = after.by_person !== target.by_person || after.opened_at !== target.opened_at;
    if (changesIndexed) this.#recorded.write(ids.delivery, after);
    else this.#counts.run({ ...after, id: ids.delivery });
    addChange(written.mailings, ids.mailing, target, after);
    const kind = link === null ? 'open' : 'click';
    this.#event.run(ids.mailing, ids.delivery, kind, link, by, at, device);
    written.events.push({ mailing: ids.mailing, kind, link, by, device, at });
    // A burst consists of several clicks.
    if (by !== MADE_BY.machine && after.clicks > 1) this.#findBurst(hit, after, written);
    return true;
  }

  /** If the hits around this one are a burst, marks them as made by a machine. */
  #findBurst({ ids, at }: Hit, engagement: Engagement, written: BatchChanges): void {
    const all = this.#recorded.of(ids.delivery);
    const near = all.filter((one) => Math.abs(one.at - at) <= BURST_MS);
    const inBursts = this.#recorded.inBursts(ids.mailing, near);
    if (inBursts.length > 0) this.#markAsMachine(ids, engagement, all, inBursts, around(at, BURST_MS), written);
  }

  /** Handles a click on the trap link, which no person sees: the hits around it are marked as made by a machine. */
  #handleTrap({ ids, at }: Hit, target: HitTarget, written: BatchChanges): void {
    // If the trap link was clicked shortly before, the hits around it are marked already.
    if (isMachineTime(target, at) && target.machine_until >= at + TRAP_MS / 2) return;
    const all = this.#recorded.of(ids.delivery);
    const near = all.filter((one) => Math.abs(one.at - at) <= TRAP_MS);
    this.#markAsMachine(ids, target, all, near, around(at, TRAP_MS), written);
  }

  #markAsMachine(
    ids: RecipientIds,
    before: Engagement,
    all: readonly RecordedHit[],
    machineHits: readonly RecordedHit[],
    range: { from: number; until: number },
    written: BatchChanges,
  ): void {
    const { hits, engagement } = this.#recorded.markAsMachine(ids.delivery, before, all, machineHits);
    this.#machineTime.run({ ...range, id: ids.delivery });
    addChange(written.mailings, ids.mailing, before, engagement);
    for (const { link, at: happened, made_by, device } of hits) {
      const kind = link === null ? ('open' as const) : ('click' as const);
      const event = { mailing: ids.mailing, kind, link, device, at: happened };
      written.events.push({ ...event, by: made_by, times: -1 }, { ...event, by: MADE_BY.machine });
    }
  }
}

/** Returns the range of time from `reach` milliseconds before the time `at` to as long after it. */
function around(at: number, reach: number): { from: number; until: number } {
  return { from: at - reach, until: at + reach };
}

/** Returns true if a hit at the time `at` falls into the range of time that a burst or the trap link attributed to a machine. */
function isMachineTime({ machine_from, machine_until }: HitTarget, at: number): boolean {
  return at >= machine_from && at <= machine_until;
}

/** Counts an open or a click in the totals of its mailing, without recording who made it. */
function addTotal({ ids: { mailing }, link, reader, device = 'unknown', at }: Hit, written: BatchChanges): void {
  if (link === TRAP_LINK) return;
  const by = madeBy(reader, link !== null, null);
  if (link === null && by !== MADE_BY.machine) changesOf(written.mailings, mailing).total_opens++;
  written.events.push({ mailing, kind: link === null ? 'open' : 'click', link, by, device: DEVICE[device], at });
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
  eventCounter(client)([
    { mailing: ids.mailing, kind: 'unsubscribe', link: null, by: MADE_BY.person, device: null, at },
  ]);
}
