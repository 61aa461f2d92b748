/** Local dates and times in time zones. */

import { DAY_MS } from '../units.ts';

/** The formats by time zone. They are cached because creating a format costs more than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 1000;

/** Returns true if a text is the name of an IANA time zone, such as Europe/Berlin. */
export function isTimeZone(text: string): boolean {
  // An offset such as +02:00 is not an IANA zone, but newer versions of Node accept it.
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(text)) return false;
  // UTC is the default setting, which every start checks. It is accepted without a format, because the first format loads the data of all
  // zones.
  if (text === 'UTC') return true;
  try {
    formatOf(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the date (YYYY-MM-DD) and time (HH:MM:SS) of a moment in a time zone. */
export function wallClock(moment: Date, timeZone: string): { date: string; time: string } {
  // The Swedish locale writes a moment as 2026-11-22 09:00:00.
  const [date = '', time = ''] = formatOf(timeZone).format(moment).split(' ');
  return { date, time };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const cached = formats.get(timeZone);
  if (cached !== undefined) return cached;
  if (formats.size >= MAX_FORMATS) formats.clear();
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  });
  formats.set(timeZone, format);
  return format;
}

/**
 * Converts a local date (YYYY-MM-DD) and time (HH:MM:SS) to UTC. A local time that occurs twice, when summer time ends, means the first
 * occurrence. A local time that is skipped, when summer time begins, moves forward by the time skipped: 02:30 becomes 03:30. Throws a
 * RangeError if the time zone is unknown.
 */
export function toUtc(date: string, time: string, timeZone: string): Date {
  const wall = Date.parse(`${date}T${time}Z`);
  // No time zone is a whole day away from UTC, so these are the offsets before and after any change close to this time.
  const before = offsetAt(wall - DAY_MS, timeZone);
  const after = offsetAt(wall + DAY_MS, timeZone);
  const candidates = [wall - before, wall - after].sort((a, b) => a - b);
  const match = candidates.find((moment) => moment + offsetAt(moment, timeZone) === wall);
  return new Date(match ?? wall - before);
}

/**
 * Returns how far the local time is ahead of UTC at a moment, in milliseconds; negative if it is behind. `moment` is in epoch milliseconds.
 */
export function offsetAt(moment: number, timeZone: string): number {
  const { date, time } = wallClock(new Date(moment), timeZone);
  // The year has six digits, so that the day after 9999-12-31 can be written, too.
  return Date.parse(`+${date.padStart('YYYYYY-MM-DD'.length, '0')}T${time}Z`) - moment;
}

/** Returns the date a number of days after another date, both as YYYY-MM-DD. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, date.length);
}

/**
 * Returns the days of the year (MM-DD) that are celebrated on a date (YYYY-MM-DD). These are the date's own day, and 29 February too on 28
 * February of a year without a leap day.
 */
export function yearlyDays(date: string): string[] {
  const day = date.slice(5);
  return day === '02-28' && addDays(date, 1).slice(5) === '03-01' ? [day, '02-29'] : [day];
}

/** Returns the weekday of a date (YYYY-MM-DD): 1 is Monday, 7 is Sunday. */
export function weekdayOf(date: string): number {
  return new Date(`${date}T00:00:00Z`).getUTCDay() || 7;
}
