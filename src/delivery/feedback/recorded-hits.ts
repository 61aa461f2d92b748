/**
 * The recorded opens and clicks of a delivery. The counters of the delivery follow from them, and bursts are reclassified as made by a
 * machine.
 */
import type { Database } from 'better-sqlite3';
import { BY_PERSON, MADE_BY, type MadeBy } from '../../database/schema/index.ts';
import type { Engagement } from './event-counts.ts';

export interface RecordedHit extends TimedHit {
  id: number;
  made_by: MadeBy;
  /** The number of the reader's device; null if the hit was recorded before devices were recorded. */
  device: number | null;
}

/** Hits that were reclassified as a machine's, and the resulting counters of their delivery. */
interface Reclassified {
  hits: RecordedHit[];
  engagement: Engagement;
}

/**
 * Returns the counters of a delivery whose recorded opens and clicks are `hits`. If `before` counts more than these, older hits were
 * removed, and what those contributed is kept.
 */
export function engagementOf(
  before: Engagement,
  hits: readonly Pick<RecordedHit, 'link' | 'at' | 'made_by'>[],
): Engagement {
  const counted = hits.filter(({ made_by }) => made_by !== MADE_BY.machine);
  const opens = counted.filter(({ link }) => link === null);
  const clicks = counted.length - opens.length;
  const keptBit = (bit: number, isRemoved: boolean) => (isRemoved ? before.by_person & bit : 0);
  const areOpensRemoved = before.opens > opens.length;
  const firstOpenAt = opens.length > 0 ? Math.min(...opens.map(({ at }) => at)) : null;
  const hasOpenBy = (wanted: MadeBy) => opens.some(({ made_by }) => made_by === wanted);
  return {
    ...before,
    opened_at: areOpensRemoved ? before.opened_at : firstOpenAt,
    by_person:
      (hasOpenBy(MADE_BY.person) ? BY_PERSON.opened : keptBit(BY_PERSON.opened, areOpensRemoved)) |
      (hasOpenBy(MADE_BY.proxied) ? BY_PERSON.proxied : keptBit(BY_PERSON.proxied, areOpensRemoved)) |
      (clicks > 0 ? BY_PERSON.clicked : keptBit(BY_PERSON.clicked, before.clicks > clicks)),
  };
}

export class RecordedHits {
  readonly #all;
  readonly #links;
  readonly #updateClass;
  readonly #updateEngagement;

  constructor(client: Database) {
    this.#all = client.prepare<[number], RecordedHit>(`
      SELECT id, link_number AS link, happened_at AS at, made_by, device FROM events
      WHERE delivery_id = ? AND kind IN ('open', 'click') ORDER BY happened_at, id`);
    this.#links = client.prepare<[number], number>('SELECT count(*) FROM links WHERE mailing_id = ?').pluck();
    this.#updateClass = client.prepare<[MadeBy, number]>('UPDATE events SET made_by = ? WHERE id = ?');
    this.#updateEngagement = client.prepare<[Engagement & { id: number }]>(`
      UPDATE deliveries SET opened_at = @opened_at, opens = @opens, clicks = @clicks, machine_hits = @machine_hits, by_person = @by_person
      WHERE id = @id`);
  }

  /** Returns all opens and clicks of a delivery, ordered by time. */
  of(deliveryId: number): RecordedHit[] {
    return this.#all.all(deliveryId);
  }

  /** Returns the hits of people and proxies that belong to a burst. `hits` must be ordered by time. */
  inBursts(mailingId: number, hits: readonly RecordedHit[]): RecordedHit[] {
    const counted = hits.filter(({ made_by }) => made_by !== MADE_BY.machine);
    const marks = findBursts(counted, this.#links.get(mailingId) ?? 0);
    return counted.filter((_hit, at) => marks[at]);
  }

  /**
   * Changes the class of `machineHits` from person to machine. `all` are all hits of the delivery, and `before` are its counters. Returns
   * the reclassified hits and the new counters. Opens by proxies keep their class, because a proxy is recognized by its user agent.
   */
  markAsMachine(
    deliveryId: number,
    before: Engagement,
    all: readonly RecordedHit[],
    machineHits: readonly RecordedHit[],
  ): Reclassified {
    const hits = machineHits.filter(({ made_by }) => made_by === MADE_BY.person);
    const ids = new Set(hits.map(({ id }) => id));
    const opens = hits.filter(({ link }) => link === null).length;
    const reduced = {
      ...before,
      opens: before.opens - opens,
      clicks: before.clicks - (hits.length - opens),
      machine_hits: before.machine_hits + hits.length,
    };
    const engagement = engagementOf(
      reduced,
      all.filter(({ id }) => !ids.has(id)),
    );
    for (const id of ids) this.#updateClass.run(MADE_BY.machine, id);
    this.write(deliveryId, engagement);
    return { hits, engagement };
  }

  /** Changes the class of an open or click. */
  classify(hitId: number, madeBy: MadeBy): void {
    this.#updateClass.run(madeBy, hitId);
  }

  /** Writes the counters of a delivery. */
  write(deliveryId: number, engagement: Engagement): void {
    this.#updateEngagement.run({ ...engagement, id: deliveryId });
  }
}

/** An open (`link` is null) or a click. */
interface TimedHit {
  link: number | null;
  /** The time of the hit, in epoch milliseconds. */
  at: number;
}

/** The longest time in which hits form a burst, in milliseconds. */
export const BURST_MS = 2000;
/** The number of different links on which clicks form a burst, if the pixel was loaded too. */
const LINKS_WITH_PIXEL = 3;
/** Clicks on every link of a mail form a burst if the mail has at least this number of links. */
const MIN_LINKS = 2;

/**
 * Returns for each hit whether it belongs to a burst. `hits` are the hits of one recipient of one mail, ordered by time; `links` is the
 * number of links in the mail.
 */
export function findBursts(hits: readonly TimedHit[], links: number): boolean[] {
  const isInBurst = hits.map(() => false);
  const counts = new Map<number | null, number>();
  let from = 0;
  let markedUpTo = 0;
  for (const [to, { link, at }] of hits.entries()) {
    counts.set(link, (counts.get(link) ?? 0) + 1);
    for (let first = hits[from]; first !== undefined && at - first.at > BURST_MS; first = hits[++from]) {
      const remaining = (counts.get(first.link) ?? 0) - 1;
      if (remaining === 0) counts.delete(first.link);
      else counts.set(first.link, remaining);
    }
    const hasPixel = counts.has(null);
    const clickedLinks = counts.size - Number(hasPixel);
    const isBurst = (hasPixel && clickedLinks >= LINKS_WITH_PIXEL) || (links >= MIN_LINKS && clickedLinks >= links);
    if (!isBurst) continue;
    isInBurst.fill(true, Math.max(from, markedUpTo), to + 1);
    markedUpTo = to + 1;
  }
  return isInBurst;
}
