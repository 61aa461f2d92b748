/** Opens and clicks that are recorded: what a delivery says by them, and those of a burst that turn out to be a machine's. */
import type { Database } from 'better-sqlite3';
import { BY_PERSON, MADE_BY, type MadeBy } from '../../database/schema/index.ts';
import type { Reading } from './event-counts.ts';

export interface RecordedHit extends TimedHit {
  id: number;
  made_by: MadeBy;
}

/** Hits that turned out to be a machine's, and what their delivery says now. */
interface FoundOut {
  hits: RecordedHit[];
  reading: Reading;
}

/**
 * What a delivery says when `hits` are all its recorded opens and clicks. More opens or clicks than these were counted where old ones were
 * removed; what those said stays.
 */
export function readingOf(before: Reading, hits: readonly Pick<RecordedHit, 'link' | 'at' | 'made_by'>[]): Reading {
  const read = hits.filter(({ made_by }) => made_by !== MADE_BY.machine);
  const opens = read.filter(({ link }) => link === null);
  const clicks = read.length - opens.length;
  const stays = (bit: number, isRemoved: boolean) => (isRemoved ? before.by_person & bit : 0);
  const isOpenRemoved = before.opens > opens.length;
  const by = (wanted: MadeBy) => opens.some(({ made_by }) => made_by === wanted);
  const times = opens.map(({ at }) => at);
  return {
    ...before,
    opened_at: isOpenRemoved ? before.opened_at : times.length > 0 ? Math.min(...times) : null,
    by_person:
      (by(MADE_BY.person) ? BY_PERSON.opened : stays(BY_PERSON.opened, isOpenRemoved)) |
      (by(MADE_BY.proxied) ? BY_PERSON.proxied : stays(BY_PERSON.proxied, isOpenRemoved)) |
      (clicks > 0 ? BY_PERSON.clicked : stays(BY_PERSON.clicked, before.clicks > clicks)),
  };
}

export class RecordedHits {
  readonly #all;
  readonly #links;
  readonly #class;
  readonly #reading;

  constructor(client: Database) {
    this.#all = client.prepare<[number], RecordedHit>(`
      SELECT id, link_number AS link, happened_at AS at, made_by FROM events
      WHERE delivery_id = ? AND kind IN ('open', 'click') ORDER BY happened_at, id`);
    this.#links = client.prepare<[number], number>('SELECT count(*) FROM links WHERE mailing_id = ?').pluck();
    this.#class = client.prepare<[MadeBy, number]>('UPDATE events SET made_by = ? WHERE id = ?');
    this.#reading = client.prepare<[Reading & { id: number }]>(`
      UPDATE deliveries SET opened_at = @opened_at, opens = @opens, clicks = @clicks, machine_hits = @machine_hits, by_person = @by_person
      WHERE id = @id`);
  }

  /** All opens and clicks of a delivery in the order of their times; links of other kinds of events are left out. */
  of(delivery: number): RecordedHit[] {
    return this.#all.all(delivery);
  }

  /** Those of people or proxies that are in a burst, of these in the order of their times. */
  inBursts(mailing: number, hits: readonly RecordedHit[]): RecordedHit[] {
    const read = hits.filter(({ made_by }) => made_by !== MADE_BY.machine);
    const marks = findBursts(read, this.#links.get(mailing) ?? 0);
    return read.filter((_hit, at) => marks[at]);
  }

  /**
   * Makes those of `found` that count as a person's a machine's; gives which, and what their delivery says without them. A proxy is known by
   * its name, so its opens stay what they are.
   */
  makeMachines(
    delivery: number,
    before: Reading,
    all: readonly RecordedHit[],
    found: readonly RecordedHit[],
  ): FoundOut {
    const hits = found.filter(({ made_by }) => made_by === MADE_BY.person);
    const ids = new Set(hits.map(({ id }) => id));
    const opens = hits.filter(({ link }) => link === null).length;
    const reduced = {
      ...before,
      opens: before.opens - opens,
      clicks: before.clicks - (hits.length - opens),
      machine_hits: before.machine_hits + hits.length,
    };
    const reading = readingOf(
      reduced,
      all.filter(({ id }) => !ids.has(id)),
    );
    for (const id of ids) this.#class.run(MADE_BY.machine, id);
    this.write(delivery, reading);
    return { hits, reading };
  }

  /** Changes the class of an open or click. */
  classify(hit: number, by: MadeBy): void {
    this.#class.run(by, hit);
  }

  /** Writes what a delivery says. */
  write(id: number, reading: Reading): void {
    this.#reading.run({ ...reading, id });
  }
}

/** An open (`link` null) or a click. */
interface TimedHit {
  link: number | null;
  /** Epoch milliseconds. */
  at: number;
}

/** Hits within this time may be a burst. */
export const BURST_MS = 2000;
/** With the pixel, so many different links within that time are a burst. */
const LINKS_WITH_PIXEL = 3;
/** Every link of a mail within that time is a burst, except of mails with fewer links than this. */
const MIN_LINKS = 2;

/** Says of each hit of a recipient's mail, in the order of their times, whether it is in a burst. `links`: how many links the mail has. */
export function findBursts(hits: readonly TimedHit[], links: number): boolean[] {
  const found = hits.map(() => false);
  const counts = new Map<number | null, number>();
  let from = 0;
  let marked = 0;
  for (const [to, { link, at }] of hits.entries()) {
    counts.set(link, (counts.get(link) ?? 0) + 1);
    for (let first = hits[from]; first !== undefined && at - first.at > BURST_MS; first = hits[++from]) {
      const left = (counts.get(first.link) ?? 0) - 1;
      if (left === 0) counts.delete(first.link);
      else counts.set(first.link, left);
    }
    const hasPixel = counts.has(null);
    const clicked = counts.size - Number(hasPixel);
    const isBurst = (hasPixel && clicked >= LINKS_WITH_PIXEL) || (links >= MIN_LINKS && clicked >= links);
    if (!isBurst) continue;
    found.fill(true, Math.max(from, marked), to + 1);
    marked = to + 1;
  }
  return found;
}
