/** The sending hours: the weekdays and hours in which mail of campaigns and automations may be sent. All other times are quiet hours. */
import type { Database } from 'better-sqlite3';
import { readMailRule } from '../../database/accounts.ts';
import type { Db } from '../../database/open.ts';
import type { SendWindow } from '../../database/schema/index.ts';
import { addDays, toUtc, wallClock, weekdayOf } from '../../time/zones.ts';
import { DAY_MS } from '../../units.ts';

/**
 * The last day that is searched, counted from today. 7 is the same weekday of the next week; one more day is searched because a clock
 * change can skip a window.
 */
const LAST_SEARCHED_DAY = 8;

/**
 * Returns when mail that is due at `now` may be sent within these sending hours; null if it may be sent at once. A window skipped by a
 * clock change is ignored. If the hour of a window occurs twice, the window is open both times, but the result is never the second opening.
 */
export function nextSendingTime({ days, opens, closes }: SendWindow, now: Date, timeZone: string): Date | null {
  const isOpen = (moment: Date) => {
    const { date, time } = wallClock(moment, timeZone);
    return days.includes(weekdayOf(date)) && time >= opens && time < closes;
  };
  if (isOpen(now)) return null;
  const { date: today } = wallClock(now, timeZone);
  for (let after = 0; after <= LAST_SEARCHED_DAY; after++) {
    const opening = toUtc(addDays(today, after), `${opens}:00`, timeZone);
    if (opening > now && isOpen(opening)) return opening;
  }
  // This is reached only if a clock change skips the only window of a week; the caller then asks again.
  return new Date(now.getTime() + LAST_SEARCHED_DAY * DAY_MS);
}

/** Returns the accounts whose mail waits for their sending hours at `now`. */
export function waitingAccounts(client: Database, now: Date, timeZone: string): Set<number> {
  const rows = client.prepare<[], { id: number; send_window: string }>(WINDOWS).all();
  const waiting = rows.filter((row) => nextSendingTime(JSON.parse(row.send_window), now, timeZone) !== null);
  return new Set(waiting.map(({ id }) => id));
}

const WINDOWS = 'SELECT id, send_window FROM accounts INDEXED BY accounts_send_window WHERE send_window IS NOT NULL';

/** Returns when mail of an account that is due at `now` may be sent within the account's sending hours; null if it may be sent at once. */
export function nextSendingTimeOfAccount(db: Db, accountId: number, now: Date, timeZone: string): Date | null {
  const window = readMailRule(db, accountId, 'send_window');
  return window && nextSendingTime(window, now, timeZone);
}
