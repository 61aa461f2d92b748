/**
 * Steps at which contacts wait: for an event, a date of their own, an hour of their day or a weekday. Waiting contacts
 * cost nothing: a contact is due when the time comes or the wait times out, and an event or a changed date makes the
 * contact due at once.
 */
import type { Database } from 'better-sqlite3';
import { customValuePath, listCustomFields } from '../audience/fields/custom-fields.ts';
import { lookAtTimesAgain } from '../audience/segments/membership.ts';
import { findNamedValue, writeNamedValue } from '../database/named-values.ts';
import type { Db } from '../database/open.ts';
import { waitAtStep, waitMs } from '../delivery/queue/enrolment-state.ts';
import { findZone, type Place, placeColumns } from '../delivery/timing/local-times.ts';
import { addDays, toUtc, wallClock, weekdayOf, yearlyDays } from '../time/zones.ts';
import type { Schedule } from './automations.ts';
import type { AtStep, Taken } from './step-actions.ts';

const HOUR_MS = 3_600_000;
const WEEK = 7;
const YEARLY = /^\d{2}-\d{2}$/;

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

/** A contact at such a step. */
export interface WaitingContact extends AtStep, Place {
  waiting_since: number;
  arrived_step: number | null;
  arrived_at: number | null;
  /** The value of the field of the contact that the step waits for; null: none. */
  date: string | null;
}

/**
 * Returns the SQL of the columns of a `WaitingContact` without the columns of `AtStep`, for enrolment `e` and its
 * contact `p`.
 */
export function waitColumns(db: Db, { user_id: account, field_id }: WaitStep): string {
  return `e.waiting_since, e.arrived_step, e.arrived_at, ${placeColumns(db.$client, account, 'p')}, ${dateColumn(db, account, field_id)} AS date`;
}

/** Returns the value of a custom field of contact `p` as SQL; NULL without the field. */
export function dateColumn(db: Db, account: number, field: number | null): string {
  const customField = listCustomFields(db, account).find(({ id }) => id === field);
  return customField === undefined ? 'NULL' : `p.custom_values ->> '${customValuePath(customField.id)}'`;
}

/**
 * Returns the contacts who go on at `now` (epoch milliseconds), each with its path, and makes all others wait. `zone`
 * is the time zone of contacts without one.
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
 * Returns when a contact will leave a step, also if the contact has not reached it yet. Epoch milliseconds; `now` or earlier
 * means at once. If the step awaits an event that has not happened, this is when the wait times out. `zone` is the time zone
 * of contacts without one.
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
 * If `TIME_ZONE` has changed since the last start, has the due times of waiting contacts computed again, because it is the
 * time zone of contacts without one.
 */
export function followTimeZone(client: Database, zone: string): void {
  if (findNamedValue(client, 'time_zone') === zone) return;
  client
    .transaction(() => {
      lookAtTimesAgain(client, null);
      writeNamedValue(client, 'time_zone', zone);
    })
    .immediate();
}

/**
 * Returns when the awaited time comes, in epoch milliseconds. 0 if the awaited event has come; null if the event has not come,
 * or if the time is unknown.
 */
function comesAt(step: WaitStep, contact: WaitingContact, zone: string, now: number): number | null {
  if (step.until === 'event') return hasArrived(step, contact) ? 0 : null;
  return awaitedTime(step, contact.date, findZone(contact) ?? zone, now);
}

/** Returns true if the event that the step currently awaits has already happened to this contact. */
function hasArrived({ id, event_since }: WaitStep, { arrived_step, arrived_at }: WaitingContact): boolean {
  return arrived_step === id && (event_since === null || (arrived_at !== null && arrived_at > event_since));
}

/**
 * Returns when the awaited time comes, in epoch milliseconds; null without a date. If the time has come, the result is
 * `now` or earlier, otherwise the next such time. An hour has come until the next hour begins, a weekday and a day of
 * every year until the day ends, and a date for ever.
 * @param date The value of the contact's field as `isValidValue` accepts it; null: none.
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
    const ahead = ((weekday ?? 1) - weekdayOf(today) + WEEK) % WEEK;
    return at(addDays(today, ahead));
  }
  if (!date) return null;
  if (YEARLY.test(date)) return nextYearly(date, today, at);
  const [day = '', time] = date.split('T');
  return time === undefined
    ? at(day)
    : toUtc(day, time.length === 'HH:MM'.length ? `${time}:00` : time, zone).getTime();
}

/** Returns when a day of every year (MM-DD) comes next, `today` included. */
function nextYearly(date: string, today: string, at: (day: string) => number): number {
  const year = Number(today.slice(0, 4));
  const [first = today, next = today] = [year, year + 1].map((candidate) => {
    const lastOfFebruary = `${candidate}-02-28`;
    return yearlyDays(lastOfFebruary).includes(date) ? lastOfFebruary : `${candidate}-${date}`;
  });
  return at(first < today ? next : first);
}
