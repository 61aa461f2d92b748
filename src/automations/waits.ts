/**
 * Steps at which contacts wait: for an event, a date of their own, an hour of their day or a weekday. Waiting contacts cost no
 * work, because a contact is due only when the awaited time comes or the wait times out. An event or a changed date makes the
 * contact due at once.
 */
import type { Database } from 'better-sqlite3';
import { customValuePath, listCustomFields } from '../audience/fields/custom-fields.ts';
import { recomputeDueTimes } from '../audience/segments/membership.ts';
import { findNamedValue, writeNamedValue } from '../database/named-values.ts';
import type { Db } from '../database/open.ts';
import { waitAtStep, waitMs } from '../delivery/queue/enrolment-state.ts';
import { findZone, type Place, placeColumns } from '../delivery/timing/place-zones.ts';
import { addDays, toUtc, wallClock, weekdayOf, yearlyDays } from '../time/zones.ts';
import { HOUR_MS } from '../units.ts';
import type { Schedule } from './automations.ts';
import type { AtStep, Taken } from './step-actions.ts';

const DAYS_OF_WEEK = 7;
/** The name of the stored value with the setting TIME_ZONE at the last start. */
const TIME_ZONE = 'time_zone';
/** A day of every year, MM-DD. */
const YEARLY_DAY = /^\d{2}-\d{2}$/;

/** A step at which contacts wait. */
export type WaitStep = Pick<
  Schedule,
  | 'id'
  | 'user_id'
  | 'waiting_type'
  | 'waiting_period'
  | 'until'
  | 'event_since'
  | 'field_id'
  | 'weekday'
  | 'hour'
  | 'timeout_hours'
>;

/** A contact at a step at which contacts wait. Times are epoch milliseconds. */
export interface WaitingContact extends AtStep, Place {
  waiting_since: number;
  /** The id of the step whose awaited event happened last to the contact; null if none has happened. */
  arrived_step: number | null;
  /** When that event happened. */
  arrived_at: number | null;
  /** The date of the contact in the field for which the step waits; null if the contact has no date. */
  date: string | null;
}

/** Returns SQL for the columns of a `WaitingContact` except those of `AtStep`, for enrolment `e` and its contact `p`. */
export function waitColumns(db: Db, { user_id: account, field_id }: WaitStep): string {
  return `e.waiting_since, e.arrived_step, e.arrived_at, ${placeColumns(db.$client, account, 'p')}, ${dateColumn(db, account, field_id)} AS date`;
}

/** Returns SQL for the value of contact `p` in a custom field; NULL if there is no such field. */
export function dateColumn(db: Db, account: number, field: number | null): string {
  const customField = listCustomFields(db, account).find(({ id }) => id === field);
  return customField === undefined ? 'NULL' : `p.custom_values ->> '${customValuePath(customField.id)}'`;
}

/**
 * Returns the contacts who go on at `now` (epoch milliseconds), each with the path, and lets all others wait. `zone` is the time
 * zone of contacts whose own time zone is unknown.
 */
export function endWaits(
  client: Database,
  step: WaitStep,
  people: readonly WaitingContact[],
  { now, zone }: { now: number; zone: string },
): Taken[] {
  const taken: Taken[] = [];
  const waits: { id: number; due: number }[] = [];
  for (const contact of people) {
    const { time, end } = timesOf(step, contact, zone, now);
    if (time <= Math.min(now, end)) taken.push({ id: contact.id, outcome: 'yes' });
    else if (end <= now) taken.push({ id: contact.id, outcome: 'no' });
    else waits.push({ id: contact.id, due: Math.min(time, end) });
  }
  waitAtStep(client, waits);
  return taken;
}

/**
 * Returns when a contact will go on from a step, in epoch milliseconds, also if the contact has not reached the step yet. `now` or
 * earlier means at once. If the step awaits an event that has not happened, this is when the wait times out. `zone` is the time
 * zone of contacts whose own time zone is unknown.
 */
export function goesOnAt(
  step: WaitStep,
  contact: WaitingContact,
  { now, zone }: { now: number; zone: string },
): number {
  const began = contact.waiting_since + waitMs(step);
  const { time, end } = timesOf(step, contact, zone, Math.max(now, began));
  return Math.max(began, Math.min(time, end));
}

/**
 * Returns two times in epoch milliseconds: when the awaited event or time comes, and when the wait times out. Infinity means
 * never.
 */
function timesOf(step: WaitStep, contact: WaitingContact, zone: string, now: number): { time: number; end: number } {
  const began = contact.waiting_since + waitMs(step);
  const end = step.timeout_hours === null ? Number.POSITIVE_INFINITY : began + step.timeout_hours * HOUR_MS;
  return { time: comesAt(step, contact, zone, now) ?? Number.POSITIVE_INFINITY, end };
}

/**
 * Lets the due times of waiting contacts be computed again if `TIME_ZONE` has changed since the last start, because it is the time
 * zone of contacts whose own time zone is unknown.
 */
export function followTimeZone(client: Database, zone: string): void {
  if (findNamedValue(client, TIME_ZONE) === zone) return;
  client
    .transaction(() => {
      recomputeDueTimes(client, null);
      writeNamedValue(client, TIME_ZONE, zone);
    })
    .immediate();
}

/**
 * Returns when the awaited time comes, in epoch milliseconds; 0 if the awaited event has happened; null if the event has not
 * happened, or the contact has no date.
 */
function comesAt(step: WaitStep, contact: WaitingContact, zone: string, now: number): number | null {
  if (step.until === 'event') return hasArrived(step, contact) ? 0 : null;
  return awaitedTime(step, contact.date, findZone(contact) ?? zone, now);
}

/** Returns true if the event that the step awaits has happened to this contact. */
function hasArrived({ id, event_since }: WaitStep, { arrived_step, arrived_at }: WaitingContact): boolean {
  return arrived_step === id && (event_since === null || (arrived_at !== null && arrived_at > event_since));
}

/**
 * Returns when the awaited time comes, in epoch milliseconds: `now` or earlier if it is that time now, otherwise the next such time. It is
 * the awaited hour until the next hour begins, and the awaited weekday or day of every year until the day ends. A date in the
 * past has come for good. Null if a date is awaited and the contact has none.
 * @param date The value of the contact's field, which `isValidValue` accepts; null if the contact has no value.
 * @param zone The contact's time zone.
 */
function awaitedTime(
  { until, hour, weekday }: WaitStep,
  date: string | null,
  zone: string,
  now: number,
): number | null {
  const at = (day: string) => toUtc(day, `${String(hour ?? 0).padStart(2, '0')}:00:00`, zone).getTime();
  const today = wallClock(new Date(now), zone).date;
  if (until === 'hour') {
    const isNow = at(today) <= now && now < at(today) + HOUR_MS;
    return isNow ? now : at(at(today) > now ? today : addDays(today, 1));
  }
  if (until === 'weekday') {
    const daysAhead = ((weekday ?? 1) - weekdayOf(today) + DAYS_OF_WEEK) % DAYS_OF_WEEK;
    return at(addDays(today, daysAhead));
  }
  if (!date) return null;
  if (YEARLY_DAY.test(date)) return nextYearly(date, today, at);
  const [day = '', time] = date.split('T');
  return time === undefined ? at(day) : toUtc(day, /^\d\d:\d\d$/.test(time) ? `${time}:00` : time, zone).getTime();
}

/** Returns when a day of every year (MM-DD) comes next, in epoch milliseconds. The next such day can be `today`. */
function nextYearly(date: string, today: string, at: (day: string) => number): number {
  const dayIn = (year: number) => {
    // In years without 29 February, that day is 28 February.
    const lastOfFebruary = `${year}-02-28`;
    return yearlyDays(lastOfFebruary).includes(date) ? lastOfFebruary : `${year}-${date}`;
  };
  const thisYear = Number(today.slice(0, 'YYYY'.length));
  const day = dayIn(thisYear);
  return at(day < today ? dayIn(thisYear + 1) : day);
}
