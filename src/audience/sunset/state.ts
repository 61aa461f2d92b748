/** What the sunset rule of an account did: on each day, and how many get no mail because of it now. */
import type { Database } from 'better-sqlite3';

/** How many days are told. */
export const SUNSET_DAYS = 30;

/** What the rule did on a day (`YYYY-MM-DD`, UTC): people who were stopped, put elsewhere, and get mail again. */
export interface SunsetDay {
  day: string;
  stopped: number;
  moved: number;
  lifted: number;
}

export interface SunsetState {
  /** How many people get no mail because of the rule. */
  stopped: number;
  /** Whether contacts are being looked at, or people are being let go, at this moment. */
  is_working: 0 | 1;
  /** The newest days on which something happened, the newest first. */
  days: SunsetDay[];
}

/** Reads it. */
export function readSunsetState(client: Database, account: number): SunsetState {
  const stopped = client
    .prepare<[number], number>('SELECT ifnull(sum(stopped - lifted), 0) FROM sunset_days WHERE user_id = ?')
    .pluck()
    .get(account);
  const isWorking = client
    .prepare('SELECT 1 FROM sunsets WHERE user_id = ? AND (lift_to IS NOT NULL OR (is_on = 1 AND cutoff IS NOT NULL))')
    .get(account);
  const days = client
    .prepare<[number], SunsetDay>(
      `SELECT day, stopped, moved, lifted FROM sunset_days WHERE user_id = ? ORDER BY day DESC LIMIT ${SUNSET_DAYS}`,
    )
    .all(account);
  return { stopped: stopped ?? 0, is_working: isWorking === undefined ? 0 : 1, days };
}
