/** The sunset rule of an account: what it says, and since when somebody must have done nothing to be inactive. */
import type { Database } from 'better-sqlite3';
import { prepared } from '../../database/prepared.ts';
import type { SUNSET_ACTIONS } from '../../database/schema/index.ts';

export const MAX_SUNSET_MONTHS = 36;
export const MAX_LEAST_MAILS = 50;

/** Who is inactive, and what is done with them. */
export interface SunsetRule {
  is_on: 0 | 1;
  /** Inactive is who has done nothing for so many months. */
  months: number;
  /** And has got so many mails meanwhile. */
  least_mails: number;
  action: (typeof SUNSET_ACTIONS)[number];
  /** Of the action segment; null with others. */
  segment_id: number | null;
  /** Of the action move; null with others. */
  contact_type_id: number | null;
}

/** A rule with how far its daily look is. */
export interface Sunset extends SunsetRule {
  user_id: number;
  next_at: number;
  cutoff: number | null;
  after_id: number;
  lift_to: number | null;
}

/** What an account has before it stores a rule. */
const USUAL: SunsetRule = {
  is_on: 0,
  months: 12,
  least_mails: 5,
  action: 'stop',
  segment_id: null,
  contact_type_id: null,
};

/** The rule of an account, or the usual one, switched off. */
export function readRule(client: Database, account: number): SunsetRule {
  const stored = prepared<[number], SunsetRule>(
    client,
    'SELECT is_on, months, least_mails, action, segment_id, contact_type_id FROM sunsets WHERE user_id = ?',
  ).get(account);
  return stored ?? USUAL;
}

/** Stores the rule of an account. The background begins with it at once. */
export function saveRule(client: Database, account: number, rule: SunsetRule): void {
  prepared(
    client,
    `INSERT INTO sunsets (user_id, is_on, months, least_mails, action, segment_id, contact_type_id)
    VALUES (@account, @is_on, @months, @least_mails, @action, @segment_id, @contact_type_id)
    ON CONFLICT (user_id) DO UPDATE SET is_on = excluded.is_on, months = excluded.months, least_mails = excluded.least_mails,
      action = excluded.action, segment_id = excluded.segment_id, contact_type_id = excluded.contact_type_id,
      next_at = 0, cutoff = NULL, after_id = 0`,
  ).run({ account, ...rule });
}

/** Whether the segment or contact type of a rule is there, or it needs none. */
export function hasTarget(
  client: Database,
  account: number,
  rule: Pick<SunsetRule, 'action' | 'segment_id' | 'contact_type_id'>,
): boolean {
  if (rule.action === 'stop') return true;
  const table = rule.action === 'segment' ? 'segments' : 'contact_types';
  const id = rule.action === 'segment' ? rule.segment_id : rule.contact_type_id;
  return (
    prepared(client, `SELECT 1 FROM ${table} WHERE id = ? AND user_id = ? AND deleted_at IS NULL`).get(id, account) !==
    undefined
  );
}

/**
 * The moment (epoch milliseconds) before which the last act of an inactive person is: the start of the day, in UTC, so many months before
 * this one; the last day of its month where that is shorter.
 */
export function cutoffOf(now: Date, months: number): number {
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1));
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  return first.setUTCDate(Math.min(now.getUTCDate(), days));
}
