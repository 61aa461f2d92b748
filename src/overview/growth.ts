/**
 * How the audience of each account grew and shrank by day. Rows that are only ever added are counted once and from then on
 * only the new ones, because counting a million contacts for each request would take too long.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';

/** One day (UTC) of an account's audience. */
export interface AudienceDay {
  /** `YYYY-MM-DD` */
  day: string;
  /** Contacts that were created, those deleted since included. */
  added: number;
  deleted: number;
  /** Addresses that left a group or all mail. */
  unsubscribed: number;
  /** Addresses that were suppressed after a bounce or a complaint. */
  suppressed: number;
}

type Added = 'added' | 'unsubscribed' | 'suppressed';

const DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Rows read at once: about 2 ms, after which other requests are served. */
const PAGE_ROWS = 2000;
/** Deletions can be undone, so they are counted again, but not more often than this. */
const DELETIONS_FRESH_MS = 30_000;

/** The tables whose rows are added in the order of id and time, and which of their rows count. */
const SOURCES: Record<Added, { table: string; counts: string }> = {
  added: { table: 'contacts', counts: 'true' },
  // A complaint is a suppression as well, and counts as that.
  unsubscribed: { table: 'consent_log', counts: "action = 'unsubscribed' AND source <> 'complaint'" },
  suppressed: { table: 'suppressions', counts: 'true' },
};

/** Counts growth and losses; keep one for as long as the connection. */
export class AudienceGrowth {
  readonly #client: Database;
  /** Counts by account and day. */
  readonly #counts = new Map<string, Record<Added, number>>();
  /** The highest id of each table that is counted. */
  readonly #counted = new Map<Added, number>();
  readonly #deletions = new Map<number, { at: number; byDay: Map<string, number> }>();
  #counting: Promise<void> | null = null;

  constructor(client: Database) {
    this.#client = client;
  }

  /** The account's last 30 days up to `now` (epoch milliseconds), the oldest first. */
  async lastDays(accountId: number, now: number): Promise<AudienceDay[]> {
    const first = dayOf(now - (DAYS - 1) * DAY_MS);
    this.#counting ??= this.#countNew(first).finally(() => {
      this.#counting = null;
    });
    await this.#counting;
    const deleted = await this.#deletedByDay(accountId, first, now);
    return Array.from({ length: DAYS }, (_, at) => {
      const day = dayOf(now - (DAYS - 1 - at) * DAY_MS);
      const counts = this.#counts.get(`${accountId} ${day}`) ?? { added: 0, unsubscribed: 0, suppressed: 0 };
      return { day, ...counts, deleted: deleted.get(day) ?? 0 };
    });
  }

  async #countNew(firstDay: string): Promise<void> {
    for (const key of this.#counts.keys()) if (key.slice(key.indexOf(' ') + 1) < firstDay) this.#counts.delete(key);
    for (const [name, { table, counts }] of Object.entries(SOURCES) as [Added, (typeof SOURCES)[Added]][]) {
      const page = this.#client.prepare<
        [number],
        { user_id: number; day: string; count: number; rows: number; last: number }
      >(`
        SELECT user_id, substr(created_at, 1, 10) AS day, sum(${counts}) AS count, count(*) AS rows, max(id) AS last
        FROM (SELECT * FROM ${table} WHERE id > ? ORDER BY id LIMIT ${PAGE_ROWS}) GROUP BY 1, 2`);
      let after = this.#counted.get(name) ?? this.#lastBefore(table, firstDay);
      for (let isCut = true; isCut; ) {
        const groups = page.all(after);
        for (const { user_id, day, count } of groups) {
          const key = `${user_id} ${day}`;
          const known = this.#counts.get(key) ?? { added: 0, unsubscribed: 0, suppressed: 0 };
          known[name] += count;
          if (day >= firstDay) this.#counts.set(key, known);
        }
        after = Math.max(after, ...groups.map(({ last }) => last));
        this.#counted.set(name, after);
        isCut = groups.reduce((sum, { rows }) => sum + rows, 0) === PAGE_ROWS;
        if (isCut) await setImmediate();
      }
    }
  }

  /** The highest id of the rows created before a day, found by halving: later rows have higher ids. */
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
      const end = groups.at(-1);
      if (end !== undefined) after = [end.moment, end.last];
      isCut = groups.reduce((sum, { count }) => sum + count, 0) === PAGE_ROWS;
      if (isCut) await setImmediate();
    }
    this.#deletions.set(accountId, { at: now, byDay });
    return byDay;
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
