/** The sending hours: the weekdays and hours in which mail of single sends and automations may be sent. All other times are quiet hours. */
import type { Database } from 'better-sqlite3';
import { readSendWindow } from '../../database/accounts.ts';
import type { Db } from '../../database/open.ts';
import type { SendWindow } from '../../database/schema/index.ts';
import { addDays, toUtc, wallClock, weekdayOf } from '../../time/zones.ts';

/** The number of days searched: a week, the same weekday of the next week, and one more, because a clock change can skip a window. */
const SEARCHED_DAYS = 8;

/**
 * Until when mail waits at `now`, by the weekdays and hours in the time zone; null if it may be sent. A window skipped by a clock change is
 * ignored; one whose hour occurs twice is open both times.
 */
export function waitsUntil({ days, opens, closes }: SendWindow, now: Date, timeZone: string): Date | null {
  const isOpen = (moment: Date) => {
    const { date, time } = wallClock(moment, timeZone);
    return days.includes(weekdayOf(date)) && time >= opens && time < closes;
  };
  if (isOpen(now)) return null;
  const { date: today } = wallClock(now, timeZone);
  for (let after = 0; after <= SEARCHED_DAYS; after++) {
    const opening = toUtc(addDays(today, after), `${opens}:00`, timeZone);
    if (opening > now && isOpen(opening)) return opening;
  }
  // Reached only if a clock change skips the only window of a week; the caller asks again then.
  return new Date(now.getTime() + SEARCHED_DAYS * 86_400_000);
}

/** The accounts whose mail waits now. */
export function waitingAccounts(client: Database, now: Date, timeZone: string): Set<number> {
  const rows = client.prepare<[], { id: number; send_window: string }>(WINDOWS).all();
  const waiting = rows.filter((row) => waitsUntil(JSON.parse(row.send_window), now, timeZone) !== null);
  return new Set(waiting.map(({ id }) => id));
}

const WINDOWS = 'SELECT id, send_window FROM accounts INDEXED BY accounts_send_window WHERE send_window IS NOT NULL';

/** Until when an account's mail waits; null if it may be sent. */
export function findWaitsUntil(db: Db, accountId: number, now: Date, timeZone: string): Date | null {
  const window = readSendWindow(db, accountId);
  return window && waitsUntil(window, now, timeZone);
}
