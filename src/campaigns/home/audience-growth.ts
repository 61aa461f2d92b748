/** Counts how the audience of an account grows: contacts added and deleted, unsubscribes and suppressions on each day of the last year. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { dayOf } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';

type AudienceChange = 'added' | 'unsubscribed' | 'suppressed';

/** How the audience of an account changed on one day (UTC). */
export interface AudienceDay extends Record<AudienceChange, number> {
  /** YYYY-MM-DD. */
  day: string;
  deleted: number;
}

const MONTHS = 12;
/** The number of days that are counted, which covers all months. */
const YEAR_DAYS = 366;
/** The number of rows that are read without a pause, which takes about 2 ms. */
const PAGE_ROWS = 2000;
/** The time in milliseconds for which counted deletions are used. They are counted again, because deletions can be undone. */
const DELETIONS_FRESH_MS = 30_000;

/** The tables of the changes, whose ids ascend in time, and SQL that is true for the rows that count. */
const SOURCES: readonly { change: AudienceChange; table: string; isCounted: string }[] = [
  { change: 'added', table: 'contacts', isCounted: 'true' },
  // A complaint is also a suppression, and counts only as a suppression.
  { change: 'unsubscribed', table: 'consent_log', isCounted: "action = 'unsubscribed' AND source <> 'complaint'" },
  { change: 'suppressed', table: 'suppressions', isCounted: 'true' },
];

/** Returns the number of contacts at the end of each of the last months, computed back from the present number by the changes of each day. */
export function monthsOf(contacts: number, days: readonly AudienceDay[]): { month: string; contacts: number }[] {
  const months: { month: string; contacts: number }[] = [];
  let count = contacts;
  for (const { day, added, deleted } of days.toReversed()) {
    const month = day.slice(0, 'YYYY-MM'.length);
    if (months[0]?.month !== month) months.unshift({ month, contacts: count });
    // Contacts whose list was deleted count on no day as deleted, so the number could fall below zero.
    count = Math.max(0, count - added + deleted);
  }
  return months.slice(-MONTHS);
}

/** Counts the changes of audiences by day. Keep one instance for each connection, because it reads only rows that it has not counted yet. */
export class AudienceGrowth {
  readonly #client: Database;
  /** The counts, with the account and the day as the key. */
  readonly #counts = new Map<string, Record<AudienceChange, number>>();
  /** The highest counted id of each table. */
  readonly #counted = new Map<AudienceChange, number>();
  /** The deletions by account: when they were counted, and their number on each day. */
  readonly #deletions = new Map<number, { at: number; byDay: Map<string, number> }>();
  #counting: Promise<void> | null = null;

  constructor(client: Database) {
    this.#client = client;
  }

  /** Returns the account's last 366 days up to `now` (epoch milliseconds), oldest first. */
  async lastDays(accountId: number, now: number): Promise<AudienceDay[]> {
    const first = dayOf(now - (YEAR_DAYS - 1) * DAY_MS);
    this.#counting ??= this.#countNew(first).finally(() => {
      this.#counting = null;
    });
    await this.#counting;
    const deleted = await this.#deletedByDay(accountId, first, now);
    return Array.from({ length: YEAR_DAYS }, (_, at) => {
      const day = dayOf(now - (YEAR_DAYS - 1 - at) * DAY_MS);
      const counts = this.#counts.get(`${accountId} ${day}`) ?? { added: 0, unsubscribed: 0, suppressed: 0 };
      return { day, ...counts, deleted: deleted.get(day) ?? 0 };
    });
  }

  /** Counts the rows that were added since the last count, and drops the counts of days before `firstDay`. */
  async #countNew(firstDay: string): Promise<void> {
    for (const key of this.#counts.keys()) if (key.slice(key.indexOf(' ') + 1) < firstDay) this.#counts.delete(key);
    for (const { change, table, isCounted } of SOURCES) {
      const page = this.#client.prepare<
        [number],
        { user_id: number; day: string; count: number; rows: number; last: number }
      >(`
        SELECT user_id, substr(created_at, 1, 10) AS day, sum(${isCounted}) AS count, count(*) AS rows, max(id) AS last
        FROM (SELECT * FROM ${table} WHERE id > ? ORDER BY id LIMIT ${PAGE_ROWS}) GROUP BY 1, 2`);
      let after = this.#counted.get(change) ?? this.#lastBefore(table, firstDay);
      for (let isCut = true; isCut; ) {
        const groups = page.all(after);
        for (const { user_id, day, count } of groups) {
          const key = `${user_id} ${day}`;
          const known = this.#counts.get(key) ?? { added: 0, unsubscribed: 0, suppressed: 0 };
          known[change] += count;
          if (day >= firstDay) this.#counts.set(key, known);
        }
        after = Math.max(after, ...groups.map(({ last }) => last));
        this.#counted.set(change, after);
        isCut = groups.reduce((sum, { rows }) => sum + rows, 0) === PAGE_ROWS;
        if (isCut) await setImmediate();
      }
    }
  }

  /** Returns the highest id of the rows created before a day. Uses a binary search, because later rows have higher ids. */
  #lastBefore(table: string, day: string): number {
    const next = this.#client.prepare<[number], { id: number; created_at: string }>(
      `SELECT id, created_at FROM ${table} WHERE id > ? ORDER BY id LIMIT 1`,
    );
    let low = 0;
    let high = this.#client.prepare<[], number>(`SELECT ifnull(max(id), 0) FROM ${table}`).pluck().get() ?? 0;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = next.get(middle);
      if (row !== undefined && row.created_at < day) low = row.id;
      else high = middle;
    }
    return low;
  }

  /** Returns the number of deleted contacts of an account on each day since `firstDay`. */
  async #deletedByDay(accountId: number, firstDay: string, now: number): Promise<Map<string, number>> {
    const known = this.#deletions.get(accountId);
    if (known !== undefined && Math.abs(now - known.at) < DELETIONS_FRESH_MS) return known.byDay;
    const page = this.#client.prepare<
      [number, string, number],
      { day: string; count: number; moment: string; last: number }
    >(`
      SELECT substr(deleted_at, 1, 10) AS day, count(*) AS count, deleted_at AS moment, max(id) AS last
      FROM (SELECT id, deleted_at FROM contacts INDEXED BY contacts_deleted
        WHERE user_id = ? AND deleted_at IS NOT NULL AND (deleted_at, id) > (?, ?) ORDER BY deleted_at, id LIMIT ${PAGE_ROWS})
      GROUP BY deleted_at ORDER BY deleted_at`);
    const byDay = new Map<string, number>();
    for (let after: [string, number] = [firstDay, 0], isCut = true; isCut; ) {
      const groups = page.all(accountId, ...after);
      for (const { day, count } of groups) byDay.set(day, (byDay.get(day) ?? 0) + count);
      const last = groups.at(-1);
      if (last !== undefined) after = [last.moment, last.last];
      isCut = groups.reduce((sum, { count }) => sum + count, 0) === PAGE_ROWS;
      if (isCut) await setImmediate();
    }
    this.#deletions.set(accountId, { at: now, byDay });
    return byDay;
  }
}
