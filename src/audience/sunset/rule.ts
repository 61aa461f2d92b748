/** The sunset rule of an account, the date by which it finds inactive contacts, and its effects. */
import type { Database } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import { type sunsetDays, sunsets } from '../../database/schema/index.ts';

/** The largest numbers that a rule can have. */
export const MAX_SUNSET_MONTHS = 36;
export const MAX_LEAST_MAILS = 50;

/** A rule with the progress of its daily check. */
export type Sunset = typeof sunsets.$inferSelect;
/** Which contacts are inactive, and what happens to them. A contact is inactive if both `months` and `least_mails` apply. */
export type SunsetRule = Pick<Sunset, 'is_on' | 'months' | 'least_mails' | 'action' | 'segment_id' | 'contact_type_id'>;

/** The rule of an account that has not stored one. */
const DEFAULT_RULE: SunsetRule = {
  is_on: 0,
  months: 12,
  least_mails: 5,
  action: 'stop',
  segment_id: null,
  contact_type_id: null,
};

/** Returns the rule of an account, or the default rule, which is off. */
export function readRule(client: Database, account: number): SunsetRule {
  const stored = client
    .prepare<[number], SunsetRule>(
      'SELECT is_on, months, least_mails, action, segment_id, contact_type_id FROM sunsets WHERE user_id = ?',
    )
    .get(account);
  return stored ?? DEFAULT_RULE;
}

/** Stores the rule of an account. The background thread applies it at once. */
export function saveRule(db: Db, user_id: number, rule: SunsetRule): void {
  db.insert(sunsets)
    .values({ user_id, ...rule })
    .onConflictDoUpdate({ target: sunsets.user_id, set: { ...rule, next_at: 0, cutoff: null, after_id: 0 } })
    .run();
}

/** Returns true if the segment or contact type of a rule exists, or if its action needs none. */
export function hasTarget(
  client: Database,
  account: number,
  rule: Pick<SunsetRule, 'action' | 'segment_id' | 'contact_type_id'>,
): boolean {
  if (rule.action === 'stop') return true;
  const table = rule.action === 'segment' ? 'segments' : 'contact_types';
  const id = rule.action === 'segment' ? rule.segment_id : rule.contact_type_id;
  return (
    client.prepare(`SELECT 1 FROM ${table} WHERE id = ? AND user_id = ? AND deleted_at IS NULL`).get(id, account) !==
    undefined
  );
}

/**
 * Returns the cutoff in epoch milliseconds: a contact whose last activity is before it is inactive. It is the start of the day,
 * in UTC, that is `months` months before `now`. If that month is too short, the day is the last of the month.
 */
export function cutoffOf(now: Date, months: number): number {
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1));
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  return first.setUTCDate(Math.min(now.getUTCDate(), days));
}

/** The number of days that are reported. */
const SUNSET_DAYS = 30;

/**
 * Returns the effects of an account's rule: `stopped` contacts get no mail because of it, and `is_working` is 1 while the rule is being
 * applied or contacts are being released from it. `days` are the latest days (`YYYY-MM-DD`, UTC) on which something happened, newest first.
 */
export function readSunsetState(client: Database, account: number) {
  const stopped = client
    .prepare<[number], number>('SELECT ifnull(sum(stopped - lifted), 0) FROM sunset_days WHERE user_id = ?')
    .pluck()
    .get(account);
  const isWorking = client
    .prepare('SELECT 1 FROM sunsets WHERE user_id = ? AND (lift_to IS NOT NULL OR (is_on = 1 AND cutoff IS NOT NULL))')
    .get(account);
  const days = client
    .prepare<[number], Omit<typeof sunsetDays.$inferSelect, 'user_id'>>(
      `SELECT day, stopped, moved, lifted FROM sunset_days WHERE user_id = ? ORDER BY day DESC LIMIT ${SUNSET_DAYS}`,
    )
    .all(account);
  return { stopped: stopped ?? 0, is_working: isWorking === undefined ? (0 as const) : (1 as const), days };
}
