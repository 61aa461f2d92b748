/**
 * Mailings that each contact gets at their best hour: the hour of the day, within 24 hours of the start, at which they usually read mail.
 * The evidence is when people opened and clicked earlier mails. A contact with little evidence gets the usual hour of their list in their
 * time zone. A random part of the recipients gets the mail at the start, so that the results say whether the hours help.
 */

import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { BY_PERSON, DELIVERY_STATE, MADE_BY, MAILING_ENDED, type Target } from '../../database/schema/index.ts';
import { offsetAt, wallClock } from '../../time/zones.ts';
import { HOUR_MS } from '../../units.ts';
import { waitCounter } from '../timing/local-times.ts';
import { findZone, type Place, placeColumns } from '../timing/place-zones.ts';
import { fractionFor } from './variant-groups.ts';

const HOURS = 24;
/** The number of earlier mails whose opens and clicks are evidence. */
const MAILS = 20;
/** The number of latest mails among which mails that were read are looked for. */
const EXAMINED = 60;
/** The number of readers of each earlier mail from whom the usual hours of lists are taken. */
const SAMPLE = 500;
/** The number of opens and clicks from which a list or an account has usual hours of its own. */
const MIN_EVENTS = 20;
/** The number of a contact's own opens that count as much as the usual hours of their list. */
const USUAL_WEIGHT = 4;
/** The weight of an open in the first hour after its mail. It says more about when the mail was sent than about when the contact reads. */
const EARLY_WEIGHT = 0.25;
const CLICK_WEIGHT = 2;
/** The share of the recipients that gets the mail at the start. */
const HELD_OUT = 0.1;
/** The maximum number of recipients that get the mail at the start, which is enough to see a difference. */
const MAX_HELD_OUT = 10_000;

/** Weights of the hours of a day, from 0 to 23. */
type Hours = readonly number[];

/** The basis on which the best hours of a mailing are found, as JSON in `mailings.enqueue_progress`. */
export interface BestHours {
  /** The start of the mailing, epoch milliseconds. */
  start: number;
  /** The key of the random choice of recipients who get the mail at the start. */
  key: string;
  /** The share of the recipients who get the mail at the start. */
  held_out: number;
  /** The zone of contacts whose own zone is unknown. */
  zone: string;
  /** The ids of the mailings with the evidence. */
  mailings: number[];
  /** The usual shares of the hours of the day, local time, of all contacts of the account; null without enough evidence. */
  usual: Hours | null;
  /** The usual shares by contact type, for those with enough evidence. */
  of_lists: Record<string, Hours>;
}

/** The evidence for best hours, without the random choice. */
type HourEvidence = Omit<BestHours, 'key' | 'held_out'>;

/** An open or a click of a person. */
interface Evidence {
  address_id: number;
  /** The hour of the open or click, as hours since 1970 in UTC. */
  hour: number;
  is_click: 0 | 1;
  /** 1 for an open or click in the first hour after the mail. */
  is_early: 0 | 1;
}

/** SQL columns for the opens and clicks `e` of people in the mails `d`. Grouped by mail and hour, they count at most once for each. */
const EVIDENCE_OF_D = `
  e.happened_at / ${HOUR_MS} AS hour, max(e.kind = 'click') AS is_click, min(e.happened_at - d.updated_at < ${HOUR_MS}) AS is_early`;
const WITH_EVENTS = `CROSS JOIN events e INDEXED BY events_delivery
  ON e.delivery_id = d.id AND e.made_by = ${MADE_BY.person} AND e.kind IN ('open', 'click')`;
const BY_PEOPLE = `d.by_person & ${BY_PERSON.opened | BY_PERSON.clicked}`;

/** Reads the evidence for the best hours of an account's mailing. The mails are read one after the other, with other work in between. */
export async function prepareBestHours(
  client: Database,
  accountId: number,
  { start, zone }: Pick<BestHours, 'start' | 'zone'>,
): Promise<HourEvidence> {
  const mailings = client
    .prepare<[number], number>(
      `SELECT id FROM (SELECT id, people_opens + people_clicks AS read FROM mailings INDEXED BY mailings_recent
          WHERE user_id = ? AND owner_kind IN ('single', 'schedule') ORDER BY ${MAILING_ENDED} DESC LIMIT ${EXAMINED})
        WHERE read > 0 LIMIT ${MAILS}`,
    )
    .pluck()
    .all(accountId);
  const sample = client.prepare<[number], Place & Omit<Evidence, 'address_id'> & { list: number; count: number }>(`
    SELECT list, country_id, state, time_zone, hour, is_click, is_early, count(*) AS count FROM (
      SELECT c.contact_type_id AS list, ${placeColumns(client, accountId, 'c')}, ${EVIDENCE_OF_D}
      FROM (SELECT id, contact_id, updated_at FROM deliveries d INDEXED BY deliveries_opened
          WHERE mailing_id = ? AND opened_at IS NOT NULL AND ${BY_PEOPLE} ORDER BY opened_at DESC LIMIT ${SAMPLE}) d
        CROSS JOIN contacts c ON c.id = d.contact_id ${WITH_EVENTS} GROUP BY d.id, hour)
    GROUP BY 1, 2, 3, 4, 5, 6, 7`);
  const all = new Counts();
  const lists = new Map<number, Counts>();
  const clock = new Clocks(start, zone);
  for (const mailing of mailings) {
    for (const { list, count, hour, is_click, is_early, ...place } of sample.all(mailing)) {
      const local = clock.of(place).hourOf(hour);
      const ofList = lists.get(list) ?? new Counts();
      lists.set(list, ofList);
      for (const counts of [all, ofList]) counts.add(local, count, weightOf({ is_click, is_early }));
    }
    await setImmediate();
  }
  const ofLists = [...lists].flatMap(([list, counts]) => {
    const shares = counts.shares();
    return shares === null ? [] : [[String(list), shares] as const];
  });
  return {
    start,
    zone,
    mailings,
    usual: all.shares(),
    of_lists: Object.fromEntries(ofLists),
  };
}

/** A contact whose best hour is looked for. */
export interface Person extends Place {
  address_id: number;
  /** The contact's type; null for a recipient who is not a contact. */
  list: number | null;
}

/** A best hour. */
export interface BestHour {
  /** When the hour next begins, epoch milliseconds; the start of the mailing if that is in the hour. */
  at: number;
  /** The number of the contact's own opens and clicks on which the hour is based. */
  evidence: number;
}

/** Returns the best hours of contacts in their order; null for a contact about whom nothing is known. */
export function findBestHours(client: Database, best: HourEvidence, people: readonly Person[]): (BestHour | null)[] {
  const rows = client
    .prepare<[object], Evidence>(`
      SELECT d.address_id, ${EVIDENCE_OF_D} FROM json_each(@people) p CROSS JOIN json_each(@mailings) m
      CROSS JOIN deliveries d INDEXED BY deliveries_person ON d.mailing_id = m.value AND d.address_id = p.value AND ${BY_PEOPLE}
      ${WITH_EVENTS} GROUP BY d.id, hour`)
    .all({
      people: JSON.stringify(people.map(({ address_id }) => address_id)),
      mailings: JSON.stringify(best.mailings),
    });
  const own = Map.groupBy(rows, ({ address_id }) => address_id);
  const clock = new Clocks(best.start, best.zone);
  return people.map((person) => {
    const counts = new Counts();
    const local = clock.of(person);
    for (const event of own.get(person.address_id) ?? []) counts.add(local.hourOf(event.hour), 1, weightOf(event));
    const usual = best.of_lists[String(person.list)] ?? best.usual;
    const hour = bestHour(best.start, counts, usual, local.next);
    return hour === null ? null : { at: nextTime(best.start, hour), evidence: counts.events };
  });
}

/**
 * Returns a function that sets the due times of recipients, for a mailing at each contact's best hour. The recipients are those enqueued
 * after the delivery with the id `after`. Call the function in the transaction that enqueues them.
 */
export function bestHourTimes(client: Database, mailingId: number): (after: number, best: BestHours) => void {
  const account = client.prepare<[number], number>('SELECT user_id FROM mailings WHERE id = ?').pluck();
  const setDueTimes = client.prepare(
    'UPDATE deliveries SET due_at = g.value ->> 1 FROM json_each(?) g WHERE deliveries.id = g.value ->> 0',
  );
  const holdOut = client.prepare(
    'INSERT OR IGNORE INTO best_hour_holdouts (mailing_id, delivery_id) SELECT ?, value FROM json_each(?)',
  );
  const count = waitCounter(client, mailingId);
  return (after, best) => {
    const added = client
      .prepare<[number, number], Person & { id: number }>(`
        SELECT d.id, d.address_id, c.contact_type_id AS list, ${placeColumns(client, account.get(mailingId) ?? 0, 'c')}
        FROM deliveries d INDEXED BY deliveries_mailing LEFT JOIN contacts c ON c.id = d.contact_id
        WHERE d.mailing_id = ? AND d.id > ? AND d.state = ${DELIVERY_STATE.queued}`)
      .all(mailingId, after);
    const isHeldOut = ({ address_id }: Person) => fractionFor(address_id, best.key) < best.held_out;
    const heldOut = added.filter(isHeldOut);
    const others = added.filter((recipient) => !isHeldOut(recipient));
    holdOut.run(mailingId, JSON.stringify(heldOut.map(({ id }) => id)));
    const hours = findBestHours(client, best, others);
    const times = others.flatMap(({ id }, at) => {
      const hour = hours[at];
      return hour == null || hour.at === best.start ? [] : [[id, hour.at] as const];
    });
    setDueTimes.run(JSON.stringify(times));
    for (const [due, theirs] of Map.groupBy(times, ([, at]) => at)) count(due, theirs.length);
  };
}

/**
 * Returns the share of the recipients who get the mail at the start. Use it only in the background, because it counts the members of the
 * targets.
 */
export function heldOutShare(client: Database, targets: readonly Target[]): number {
  return Math.min(HELD_OUT, MAX_HELD_OUT / Math.max(1, countMembers(client, targets)));
}

/** Returns an upper bound of the number of recipients. */
function countMembers(client: Database, targets: readonly Target[]): number {
  const count = {
    contacts:
      'SELECT count(*) FROM contacts INDEXED BY contacts_person WHERE contact_type_id = ? AND deleted_at IS NULL',
    segments:
      'SELECT count(*) FROM segment_recipients INDEXED BY segment_recipients_person WHERE segment_id = ? AND is_removed = 0',
  };
  return targets.reduce(
    (sum, { table, id }) => sum + (client.prepare<[string], number>(count[table]).pluck().get(id) ?? 0),
    0,
  );
}

function weightOf({ is_click, is_early }: Pick<Evidence, 'is_click' | 'is_early'>): number {
  return (is_click === 1 ? CLICK_WEIGHT : 1) * (is_early === 1 ? EARLY_WEIGHT : 1);
}

/** Opens and clicks by the hour of the day. */
class Counts {
  /** The number of opens and clicks that were counted, whatever their weight. */
  events = 0;
  readonly #weights = new Float64Array(HOURS);

  add(hour: number, count: number, weight: number): void {
    this.events += count;
    this.#weights[hour] = (this.#weights[hour] ?? 0) + count * weight;
  }

  /** Returns the weight of an hour: one half is the weight of the hour itself, the other half that of the hours around it. */
  at(hour: number): number {
    const weight = (hourOfDay: number) => this.#weights[(hourOfDay + HOURS) % HOURS] ?? 0;
    return weight(hour) / 2 + (weight(hour - 1) + weight(hour + 1)) / 4;
  }

  /** Returns the share of each hour, rounded to four places; null without enough evidence. */
  shares(): Hours | null {
    const total = this.#weights.reduce((sum, weight) => sum + weight, 0);
    if (this.events < MIN_EVENTS) return null;
    return Array.from(this.#weights, (_, hour) => Math.round((this.at(hour) / total) * 10_000) / 10_000);
  }
}

class Clocks {
  readonly #start: number;
  readonly #zone: string;
  readonly #byZone = new Map<string, LocalClock>();

  constructor(start: number, zone: string) {
    this.#start = start;
    this.#zone = zone;
  }

  of(place: Place): LocalClock {
    const zone = findZone(place) ?? this.#zone;
    const clock = this.#byZone.get(zone) ?? new LocalClock(this.#start, zone);
    this.#byZone.set(zone, clock);
    return clock;
  }
}

class LocalClock {
  /** For each hour of the day in UTC, the local hour in which it next begins after the start. */
  readonly next: Hours;
  readonly #zone: string;
  /** How far the zone is ahead of UTC, in hours, by the number of days since 1970. */
  readonly #offsets = new Map<number, number>();

  constructor(start: number, zone: string) {
    this.#zone = zone;
    this.next = Array.from({ length: HOURS }, (_, hour) =>
      Number(wallClock(new Date(nextTime(start, hour)), zone).time.slice(0, 2)),
    );
  }

  /**
   * Returns the local hour of the day of an hour since 1970 in UTC. The offset of that hour's day applies, because habits stay when the
   * clocks change. On the day of a change, the hours before it count as those after it.
   */
  hourOf(hour: number): number {
    const day = Math.floor(hour / HOURS);
    const offset = this.#offsets.get(day) ?? offsetAt((day + 1 / 2) * HOURS * HOUR_MS, this.#zone) / HOUR_MS;
    this.#offsets.set(day, offset);
    return Math.floor(hour + offset) % HOURS;
  }
}

/** Returns when an hour of the day in UTC next begins; the start itself if the start is in that hour. */
function nextTime(start: number, hour: number): number {
  const first = Math.floor(start / HOUR_MS);
  const later = (hour - (first % HOURS) + HOURS) % HOURS;
  return later === 0 ? start : (first + later) * HOUR_MS;
}

/**
 * Returns the hour of the day in UTC with the most evidence; of equal hours the first after the start; null without any evidence. `own` and
 * `usual` are by local hour; `local` has the local hour for each hour in UTC.
 */
function bestHour(start: number, own: Counts, usual: Hours | null, local: Hours): number | null {
  if (own.events === 0 && usual === null) return null;
  let best = 0;
  let most = -1;
  for (let after = 0; after < HOURS; after++) {
    const hour = (Math.floor(start / HOUR_MS) + after) % HOURS;
    const localHour = local[hour] ?? 0;
    const score = own.at(localHour) + USUAL_WEIGHT * (usual?.[localHour] ?? 0);
    if (score > most) [best, most] = [hour, score];
  }
  return best;
}
