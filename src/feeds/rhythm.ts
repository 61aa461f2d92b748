/** When the next digest of a feed is made. */
import { parseScheduleTime } from '../single-sends/schedule.ts';
import { toUtc } from '../zones.ts';

const DAY_MS = 86_400_000;

/** When mails are made of what a feed has. */
export interface Rhythm {
  rhythm: 'item' | 'daily' | 'weekly';
  /** Monday is 1. */
  weekday: number;
  /** HH:MM */
  time_of_day: string;
  time_zone: string;
}

/** The first moment of a digest after `now`, epoch milliseconds; null where each item has a mail of its own. */
export function nextDigest({ rhythm, weekday, time_of_day, time_zone }: Rhythm, now: number): number | null {
  if (rhythm === 'item') return null;
  const time = parseScheduleTime(time_of_day) ?? '08:00:00';
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: time_zone, dateStyle: 'short' }).format(now);
  const from = Date.parse(`${today}T00:00:00Z`);
  // A week and a day on, since today's may be over.
  for (let days = 0; days <= 8; days++) {
    const day = new Date(from + days * DAY_MS);
    if (rhythm === 'weekly' && (day.getUTCDay() || 7) !== weekday) continue;
    const at = toUtc(day.toISOString().slice(0, 10), time, time_zone).getTime();
    if (at > now) return at;
  }
  throw new Error('a week has no such day');
}

/** Whether a text names a time zone. */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
