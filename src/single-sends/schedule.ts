/** Parses the local date and time of a schedule, and converts them to UTC. */

const DAY_MS = 86_400_000;

/** Parses `2026-03-01` or the short form `26-3-1` (a year of this century); gives `YYYY-MM-DD`, or null if there is no such date. */
export function parseScheduleDate(text: string): string | null {
  const [, year, month, day] = /^(?!0000)(\d{4}|\d{2})-(\d{1,2})-(\d{1,2})$/.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return null;
  const date = `${year.padStart(4, '20')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const moment = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(date) ? date : null;
}

/** Parses `HH:MM` or `HH:MM:SS`; gives `HH:MM:SS`, or null if there is no such time of day. */
export function parseScheduleTime(text: string): string | null {
  const [, hourAndMinute, seconds = ':00'] = /^((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d)?$/.exec(text) ?? [];
  return hourAndMinute === undefined ? null : hourAndMinute + seconds;
}

/**
 * Converts a local date and time, in the forms that the two parsers above give, to UTC. A local time that occurs twice (when summer
 * time ends) means the first of the two. One that is skipped (when summer time begins) moves forward by the time skipped: 02:30
 * becomes 03:30. Throws a RangeError if the time zone is unknown.
 */
export function toUtc(date: string, time: string, timeZone: string): Date {
  const wall = Date.parse(`${date}T${time}Z`);
  const wallClock = wallClockFormat(timeZone);
  // No time zone is a whole day away from UTC, so these are the offsets before and after any change close to this time.
  const before = offsetAt(wall - DAY_MS, wallClock);
  const after = offsetAt(wall + DAY_MS, wallClock);
  const candidates = [wall - before, wall - after].sort((a, b) => a - b);
  const shown = candidates.find((moment) => moment + offsetAt(moment, wallClock) === wall);
  return new Date(shown ?? wall - before);
}

function wallClockFormat(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}

/** How far the wall clock is ahead of UTC at a moment, in milliseconds. */
function offsetAt(moment: number, wallClock: Intl.DateTimeFormat): number {
  const parts = Object.fromEntries(wallClock.formatToParts(moment).map(({ type, value }) => [type, value]));
  const { year = '', month, day, hour, minute, second } = parts;
  return Date.parse(`+${year.padStart(6, '0')}-${month}-${day}T${hour}:${minute}:${second}Z`) - moment;
}
