/**
 * Counts how many recipients each node was given per UTC day, in the transactions of claims and results, so that the counts survive a
 * crash. Also computes the ceiling that a node's warm-up sets. Both belong to the name of a node, not to a single run.
 */
import type { Database, Statement } from 'better-sqlite3';
import type { Outcome } from '../../delivery/transport/courier.ts';
import { dayOf } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';

/** Mailbox providers forget a network address that sent nothing for this long, so the warm-up of its node begins again. */
const FORGOTTEN_AFTER_MS = 30 * DAY_MS;
/** How long days are kept. */
const KEPT_MS = 60 * DAY_MS;
/** The ceiling of a day in relation to the ceiling before it. */
const GROWTH = 1.5;
const MAX_CEILING = 1_000_000_000;

/** A day on which a node had a ceiling: the maximum number of recipients, and the number it was given. */
export interface WarmUpDay {
  ceiling: number;
  given: number;
}

/**
 * Returns the ceiling of a day. It is `first` on the first day. After a day of which at least half was used, it grows by half; otherwise it
 * stays the same.
 */
export function ceilingAfter(first: number, before: WarmUpDay | null): number {
  if (before === null) return first;
  const next = before.given * 2 >= before.ceiling ? Math.ceil(before.ceiling * GROWTH) : before.ceiling;
  return Math.min(MAX_CEILING, Math.max(first, next));
}

interface Day {
  day: string;
  /** The setting WARM_UP of the node: its mails on the first day; 0: no warm-up; undefined before its first heartbeat. */
  warmUp: number | undefined;
  /** The last day with a ceiling before this one; null: this is the first day. */
  before: WarmUpDay | null;
  given: number;
  /** Recipients reserved in the current transaction, which has not committed yet. */
  reserved: number;
  /** The first page given on this day. Recipients returned from an earlier page were not given today. */
  firstPage: number;
  ended: Record<'accepted' | 'deferred' | 'refused' | 'returned', number>;
}

/** The part of a node that its daily counts need. */
interface NodeIdentity {
  name: string;
  warmUp: number;
}

export class NodeDays {
  readonly #now: () => Date;
  readonly #read: Statement<[string, string], number>;
  readonly #readBefore: Statement<{ name: string; today: string; oldest: string }, WarmUpDay>;
  readonly #write: Statement<Record<string, string | number | null>>;
  readonly #days = new Map<string, Day>();
  /** When the current day began, epoch milliseconds. */
  #begun = Number.NEGATIVE_INFINITY;
  #day = '';

  constructor(client: Database, now: () => Date) {
    this.#now = now;
    this.#read = client
      .prepare<[string, string], number>('SELECT given FROM node_days WHERE name = ? AND day = ?')
      .pluck();
    this.#readBefore = client.prepare(`
      SELECT ceiling, given FROM node_days
      WHERE name = @name AND day < @today AND day >= @oldest AND ceiling IS NOT NULL ORDER BY day DESC LIMIT 1`);
    this.#write = client.prepare(`
      INSERT INTO node_days (name, day, ceiling, given, accepted, deferred, refused)
      VALUES (@name, @day, @ceiling, max(0, @given), @accepted, @deferred, @refused)
      ON CONFLICT (name, day) DO UPDATE SET ceiling = iif(@isKnown, @ceiling, ceiling), given = max(0, given + @given),
        accepted = accepted + @accepted, deferred = deferred + @deferred, refused = refused + @refused`);
    client.prepare('DELETE FROM node_days WHERE day < ?').run(dayOf(now().getTime() - KEPT_MS));
  }

  /** How many more recipients a node may be given today; infinite without a warm-up. */
  remainingToday({ name, warmUp }: NodeIdentity): number {
    const day = this.#today(name);
    day.warmUp = warmUp;
    if (warmUp === 0) return Number.POSITIVE_INFINITY;
    const { before, given, reserved } = day;
    return Math.max(0, ceilingAfter(warmUp, before) - given - reserved);
  }

  /** Begins a transaction. Drops reservations of an earlier transaction that did not commit. */
  begin(): void {
    for (const day of this.#days.values()) day.reserved = 0;
  }

  /** Counts the recipients of a page as given. */
  reserve({ name }: NodeIdentity, pageId: number, recipients: number): void {
    const day = this.#today(name);
    day.reserved += recipients;
    day.firstPage = Math.min(day.firstPage, pageId);
  }

  /** Counts how a recipient of a page ended. A returned recipient leaves room for another one. */
  countEnd({ name }: NodeIdentity, pageId: number, outcome: Outcome | 'withdrawn'): void {
    const kind = outcome === 'withdrawn' ? 'returned' : outcome.kind;
    if (name === '' || kind === 'held') return;
    const day = this.#today(name);
    if (kind !== 'returned' || pageId >= day.firstPage) day.ended[kind]++;
  }

  /** Writes how recipients ended. Call it in the transaction that records the results. */
  writeEnded(): void {
    for (const [name, day] of this.#days) {
      const { returned, ...counts } = day.ended;
      if (returned + counts.accepted + counts.deferred + counts.refused > 0)
        this.#add(name, day, { ...counts, given: -returned });
    }
  }

  /** Writes the reservations. Call it in the transaction of the claims. */
  writeReserved(): void {
    for (const [name, day] of this.#days) {
      if (day.reserved > 0) this.#add(name, day, { given: day.reserved, accepted: 0, deferred: 0, refused: 0 });
    }
  }

  /** Applies the reservations after the transaction has committed. */
  committed(): void {
    for (const day of this.#days.values()) {
      day.given = Math.max(0, day.given - day.ended.returned) + day.reserved;
      day.reserved = 0;
      day.ended = noneEnded();
    }
  }

  #add(
    name: string,
    { day, warmUp, before }: Day,
    counts: Record<'given' | 'accepted' | 'deferred' | 'refused', number>,
  ): void {
    const ceiling = warmUp ? ceilingAfter(warmUp, before) : null;
    this.#write.run({ name, day, ceiling, isKnown: warmUp === undefined ? 0 : 1, ...counts });
  }

  #today(name: string): Day {
    const now = this.#now().getTime();
    if (now < this.#begun || now >= this.#begun + DAY_MS) {
      this.#begun = now - (now % DAY_MS);
      this.#day = dayOf(now);
    }
    const day = this.#day;
    const known = this.#days.get(name);
    if (known?.day === day) return known;
    const oldest = dayOf(now - FORGOTTEN_AFTER_MS);
    const today: Day = {
      day,
      warmUp: known?.warmUp,
      before: this.#readBefore.get({ name, today: day, oldest }) ?? null,
      given: this.#read.get(name, day) ?? 0,
      reserved: 0,
      firstPage: Number.POSITIVE_INFINITY,
      ended: noneEnded(),
    };
    this.#days.set(name, today);
    return today;
  }
}

function noneEnded(): Day['ended'] {
  return { accepted: 0, deferred: 0, refused: 0, returned: 0 };
}
