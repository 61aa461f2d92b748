/**
 * Opens, clicks, bounces and unsubscribes of mailings, by hour and by link. Events are only ever added, so those of a mailing are
 * counted once and then only the new ones: reading half a million for each look at a report would take a second.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';

/** What happened within one hour. */
export interface TalliedHour {
  /** Start of the hour, `YYYY-MM-DD HH:00:00` UTC. */
  hour: string;
  opens: number;
  machine_opens: number;
  clicks: number;
  machine_clicks: number;
  bounces: number;
  unsubscribes: number;
}

/** Everything that happened to the mails of a mailing. */
export interface Tally {
  /** In the order of time; hours without events are missing. */
  hours: TalliedHour[];
  /** Clicks by the number of the link. */
  clicksByLink: ReadonlyMap<number, { clicks: number; machine_clicks: number }>;
}

interface Group {
  hour: string;
  link: number | null;
  is_machine: 0 | 1;
  count: number;
  last: number;
}

interface Kept {
  hours: Map<string, TalliedHour>;
  links: Map<number, { clicks: number; machine_clicks: number }>;
  counted: Map<Kind, number>;
  counting: Promise<void> | null;
}

const KINDS = ['open', 'click', 'bounce', 'unsubscribe'] as const;
type Kind = (typeof KINDS)[number];
/** Events read at once: a few milliseconds, after which other requests are served. */
const PAGE_ROWS = 1000;
/** The mailings whose counts are kept. */
const MAX_KEPT = 50;

/** Counts the events of mailings and keeps the counts of those that were asked for last. */
export class EventTally {
  readonly #client: Database;
  readonly #kept = new Map<number, Kept>();

  constructor(client: Database) {
    this.#client = client;
  }

  /** Everything up to now for a mailing; nothing for 0. */
  async read(mailingId: number): Promise<Tally> {
    const kept = this.#kept.get(mailingId) ?? {
      hours: new Map(),
      links: new Map(),
      counted: new Map(),
      counting: null,
    };
    // The one that was asked for last is the last to be dropped.
    this.#kept.delete(mailingId);
    this.#kept.set(mailingId, kept);
    for (const oldest of this.#kept.keys()) if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest);
    kept.counting ??= this.#countNew(mailingId, kept).finally(() => {
      kept.counting = null;
    });
    await kept.counting;
    const hours = [...kept.hours.values()].sort((one, other) => (one.hour < other.hour ? -1 : 1));
    return { hours, clicksByLink: kept.links };
  }

  async #countNew(mailingId: number, kept: Kept): Promise<void> {
    const page = this.#client.prepare<[number, Kind, number], Group>(`
      SELECT strftime('%Y-%m-%d %H:00:00', happened_at / 1000, 'unixepoch') AS hour, link_number AS link, is_machine, count(*) AS count,
        max(id) AS last
      FROM (SELECT * FROM events INDEXED BY events_mailing WHERE mailing_id = ? AND kind = ? AND id > ? ORDER BY id LIMIT ${PAGE_ROWS})
      GROUP BY 1, 2, 3`);
    for (const kind of KINDS) {
      for (let isCut = true; isCut; ) {
        const groups = page.all(mailingId, kind, kept.counted.get(kind) ?? 0);
        for (const group of groups) add(kept, kind, group);
        kept.counted.set(kind, Math.max(kept.counted.get(kind) ?? 0, ...groups.map(({ last }) => last)));
        isCut = groups.reduce((sum, { count }) => sum + count, 0) === PAGE_ROWS;
        if (isCut) await setImmediate();
      }
    }
  }
}

function add(kept: Kept, kind: Kind, { hour, link, is_machine, count }: Group): void {
  const at = kept.hours.get(hour) ?? {
    hour,
    opens: 0,
    machine_opens: 0,
    clicks: 0,
    machine_clicks: 0,
    bounces: 0,
    unsubscribes: 0,
  };
  kept.hours.set(hour, at);
  at[`${kind}s`] += count;
  if (is_machine === 1 && kind === 'open') at.machine_opens += count;
  if (is_machine === 1 && kind === 'click') at.machine_clicks += count;
  if (kind !== 'click' || link === null) return;
  const clicks = kept.links.get(link) ?? { clicks: 0, machine_clicks: 0 };
  clicks.clicks += count;
  clicks.machine_clicks += is_machine * count;
  kept.links.set(link, clicks);
}
