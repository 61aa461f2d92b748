/** Parses the local date and time of a schedule, and computes when a scheduled single send is launched. */
import type { singleSends } from '../database/schema/index.ts';
import { FIRST_ZONE } from '../delivery/timing/local-times.ts';
import { toUtc } from '../time/zones.ts';

type Scheduled = Pick<
  typeof singleSends.$inferSelect,
  'local_time' | 'schedule_date' | 'schedule_time' | 'starts_at' | 'updated_at'
>;

/**
 * Returns when a queued single send is launched, in epoch milliseconds. A single send in the recipients' own time zones is
 * launched when the scheduled time comes in the first zone. If that moment is past, some mails will be sent at once, so the
 * single send waits for `restMs` first, in which a user can undo it.
 */
export function launchesAt(send: Scheduled, restMs: number): number {
  if (send.local_time === 0) return send.starts_at;
  const first = toUtc(send.schedule_date, send.schedule_time, FIRST_ZONE).getTime();
  return Math.max(first, Date.parse(send.updated_at) + restMs);
}

/** Parses `2026-03-01` or the short form `26-3-1` (a year of this century). Returns `YYYY-MM-DD`, or null if there is no such date. */
export function parseScheduleDate(text: string): string | null {
  const [, year, month, day] = /^(?!0000)(\d{4}|\d{2})-(\d{1,2})-(\d{1,2})$/.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return null;
  const date = `${year.padStart(4, '20')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const moment = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(date) ? date : null;
}

/** Parses `HH:MM` or `HH:MM:SS`. Returns `HH:MM:SS`, or null if there is no such time of day. */
export function parseScheduleTime(text: string): string | null {
  const [, hourAndMinute, seconds = ':00'] = /^((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d)?$/.exec(text) ?? [];
  return hourAndMinute === undefined ? null : hourAndMinute + seconds;
}
