/** When the digests of a feed are due. */
import { parseScheduleTime } from '../campaigns/schedule.ts';
import type { feeds } from '../database/schema/index.ts';
import { addDays, toUtc, wallClock, weekdayOf } from '../time/zones.ts';

/** When mails are made of a feed's items. */
export type Rhythm = Pick<typeof feeds.$inferSelect, 'rhythm' | 'weekday' | 'time_of_day' | 'time_zone'>;

/** Returns the time of the next digest after `now`, epoch milliseconds; null if each item has its own mail. */
export function nextDigest({ rhythm, weekday, time_of_day, time_zone }: Rhythm, now: number): number | null {
  if (rhythm === 'item') return null;
  const time = parseScheduleTime(time_of_day) ?? '08:00:00';
  const { date: today } = wallClock(new Date(now), time_zone);
  // The loop covers a week and a day, because today's time may be over.
  for (let days = 0; days <= 8; days++) {
    const day = addDays(today, days);
    if (rhythm === 'weekly' && weekdayOf(day) !== weekday) continue;
    const at = toUtc(day, time, time_zone).getTime();
    if (at > now) return at;
  }
  throw new Error('a week has no such day');
}
