/** When mail of single sends and automations may leave: on some weekdays, within some hours. The rest are quiet hours. */
import type { Database } from 'better-sqlite3';
import { readSendWindow } from '../../database/accounts.ts';
import type { Db } from '../../database/open.ts';
import { prepared } from '../../database/prepared.ts';
import type { SendWindow } from '../../database/schema/index.ts';
import { addDays, toUtc, wallClock, weekdayOf } from '../../time/zones.ts';

/** Days to look through: those of a week, the same weekday of the next, and one more, since a change of the clock can skip a window. */
const SEARCHED_DAYS = 8;

/**
 * Until when mail waits at `now`, by the days and hours of the zone; null when it may leave. A window that a change of the clock skips is
 * left out, and one whose hour occurs twice is open both times.
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
  // Only where a change of the clock skips the one window of a week: it is asked again then.
  return new Date(now.getTime() + SEARCHED_DAYS * 86_400_000);
}

/** The accounts whose mail waits now. */
export function waitingAccounts(client: Database, now: Date, timeZone: string): Set<number> {
  const rows = prepared<[], { id: number; send_window: string }>(client, WINDOWS).all();
  const waiting = rows.filter((row) => waitsUntil(JSON.parse(row.send_window), now, timeZone) !== null);
  return new Set(waiting.map(({ id }) => id));
}

const WINDOWS = 'SELECT id, send_window FROM accounts INDEXED BY accounts_send_window WHERE send_window IS NOT NULL';

/** Until when mail of an account waits; null while it may leave. */
export function findWaitsUntil(db: Db, accountId: number, now: Date, timeZone: string): Date | null {
  const window = readSendWindow(db, accountId);
  return window && waitsUntil(window, now, timeZone);
}
