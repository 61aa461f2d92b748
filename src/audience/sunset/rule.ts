/** The sunset rule of an account, the date by which it finds inactive contacts, its effects, and ending the inactivity of contacts. */
import type { Database } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import { type sunsetDays, sunsets } from '../../database/schema/index.ts';

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

/** Ends the inactivity of contacts (address ids) that opened or clicked since the rule's cutoff. `now` is an ISO timestamp. */
export function liftActive(client: Database, people: readonly number[], now: string): void {
  client
    .prepare(`UPDATE sunset_people SET lifted_at = @now, lifted_by = 'person'
    WHERE id IN (SELECT z.id FROM json_each(@people) p CROSS JOIN sunset_people z INDEXED BY sunset_people_address
        ON z.address_id = p.value AND z.lifted_at IS NULL
      CROSS JOIN activity y ON y.address_id = z.address_id AND y.last_at >= z.cutoff)`)
    .run({ people: JSON.stringify(people), now });
}

/**
 * Ends an entry of an account, and other entries of the same contact. Returns true if the entry was active. `now` is an ISO timestamp.
 */
export function liftOne(client: Database, account: number, id: number, now: string): boolean {
  const { changes } = client
    .prepare(`UPDATE sunset_people SET lifted_at = @now, lifted_by = 'owner' WHERE lifted_at IS NULL AND address_id =
      (SELECT address_id FROM sunset_people WHERE id = @id AND user_id = @account AND lifted_at IS NULL)`)
    .run({ account, id, now });
  return changes > 0;
}

/** Requests that all contacts stopped now get mail again. The background thread carries this out. */
export function requestLiftAll(client: Database, account: number): void {
  client
    .prepare(
      'UPDATE sunsets SET lift_to = (SELECT ifnull(max(id), 0) FROM sunset_people WHERE user_id = @account AND lifted_at IS NULL) WHERE user_id = @account',
    )
    .run({ account });
}

/** Ends some of the account's entries up to an id. Returns true if there may be more. `now` is an ISO timestamp. */
export function liftSome(client: Database, account: number, to: number, rows: number, now: string): boolean {
  const { changes } = client
    .prepare(`UPDATE sunset_people SET lifted_at = @now, lifted_by = 'owner'
    WHERE id IN (SELECT id FROM sunset_people INDEXED BY sunset_people_present
      WHERE user_id = @account AND id <= @to AND lifted_at IS NULL ORDER BY id LIMIT @rows)`)
    .run({ account, to, rows, now });
  return changes === rows;
}

/** Removes all entries of a contact that is erased. They are ended first, so that the counts of stopped contacts stay right. */
export function eraseSunset(client: Database, addressId: number, now: string): void {
  client
    .prepare("UPDATE sunset_people SET lifted_at = ?, lifted_by = 'owner' WHERE address_id = ? AND lifted_at IS NULL")
    .run(now, addressId);
  client.prepare('DELETE FROM sunset_people WHERE address_id = ?').run(addressId);
}
