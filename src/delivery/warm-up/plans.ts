/**
 * Stores the warm-up plans of sender domains and the number of mails sent on each day, and computes how many mails may be sent on which
 * day. Days are YYYY-MM-DD in UTC.
 */
import type { Database } from 'better-sqlite3';
import { asciiDomain, domainOf } from '../../audience/contacts/addresses.ts';
import type { warmUps } from '../../database/schema/index.ts';
import { dayOf } from '../../time/clock.ts';
import { addDays } from '../../time/zones.ts';

type WarmUp = typeof warmUps.$inferSelect;

export const WARM_UP_STATES = ['waiting', 'on', 'over'] as const;

/** A plan with its progress, as the API shows it. */
export interface ShownWarmUp extends Plan {
  domain: string;
  /** The state of the plan. `waiting`: its first day has not come yet. */
  state: (typeof WARM_UP_STATES)[number];
  /** The number of mails allowed today; 0 unless the plan is active. */
  today: number;
  /** The number of mails sent today; 0 unless the plan is active. */
  sent_today: number;
  /** The last day of the plan if every day's volume is used up. */
  ends_on: string;
}

/** Tells why mails of a mailing wait for another day. */
export interface WarmUpWait {
  domain: string;
  today: number;
  sent_today: number;
  /** The number of the account's mails that wait for the warm-up. */
  waiting: number;
  /** The day on which the last of these mails is expected to be sent. */
  expected_on: string;
}

const COLUMNS = 'id, user_id, domain, starts_on, volume, growth, until_volume, ended_on';

/** Returns true if any domain is being warmed up. */
export function isAnyWarmingUp(client: Database): boolean {
  return client.prepare<[], number>('SELECT 1 FROM warm_ups WHERE ended_on IS NULL LIMIT 1').get() !== undefined;
}

/** Returns the plan that limits the mail of a sender today, with its progress; null if there is none. */
export function findWarmUp(client: Database, senderId: number, today: string): (WarmUp & Progress) | null {
  const sender = client
    .prepare<[number], { user_id: number; from_email: string }>('SELECT user_id, from_email FROM senders WHERE id = ?')
    .get(senderId);
  if (sender === undefined) return null;
  const { user_id, from_email } = sender;
  const domain = asciiDomain(domainOf(from_email));
  const warmUp = client
    .prepare<[number, string | null, string], WarmUp>(
      `SELECT ${COLUMNS} FROM warm_ups WHERE user_id = ? AND domain = ? AND ended_on IS NULL AND starts_on <= ?`,
    )
    .get(user_id, domain, today);
  return warmUp === undefined ? null : { ...warmUp, ...progressOf(client, warmUp.id, today) };
}

function progressOf(client: Database, id: number, today: string): Progress {
  const read = client.prepare<[{ id: number; today: string }], Progress>(`
      SELECT ifnull(sum(day < @today AND mails * 2 >= volume), 0) AS step, ifnull(sum(iif(day = @today, mails, 0)), 0) AS mails
      FROM warm_up_days WHERE warm_up_id = @id`);
  return read.get({ id, today }) ?? { step: 0, mails: 0 };
}

/**
 * Counts mails on a day of a plan. `volume` is the number allowed on that day. A negative number of mails takes mails back. Call it inside
 * a transaction.
 */
export function countMails(client: Database, id: number, day: string, volume: number, mails: number): void {
  client
    .prepare(`INSERT INTO warm_up_days (warm_up_id, day, volume, mails) SELECT id, @day, @volume, max(0, @mails) FROM warm_ups WHERE id = @id
      ON CONFLICT DO UPDATE SET volume = excluded.volume, mails = max(0, mails + @mails)`)
    .run({ id, day, volume, mails });
}

/** Ends a plan. */
export function endWarmUp(client: Database, id: number, today: string): void {
  client.prepare('UPDATE warm_ups SET ended_on = ? WHERE id = ?').run(today, id);
}

/**
 * Begins the warm-up of one of the account's domains, even if an earlier warm-up is over. An active warm-up is changed and keeps the days
 * already used.
 */
export function saveWarmUp(client: Database, accountId: number, domain: string, plan: Plan): void {
  client.transaction(() => {
    client
      .prepare('DELETE FROM warm_ups WHERE user_id = ? AND domain = ? AND ended_on IS NOT NULL')
      .run(accountId, domain);
    savePlan(client, accountId, domain, plan);
  })();
}

function savePlan(client: Database, accountId: number, domain: string, plan: Plan): void {
  client
    .prepare(`
      INSERT INTO warm_ups (user_id, domain, starts_on, volume, growth, until_volume)
      VALUES (@user_id, @domain, @starts_on, @volume, @growth, @until_volume)
      ON CONFLICT (user_id, domain) DO UPDATE SET starts_on = excluded.starts_on, volume = excluded.volume, growth = excluded.growth,
        until_volume = excluded.until_volume`)
    .run({ ...plan, user_id: accountId, domain });
}

/** Removes the plan of a domain, so that its mail is no longer limited. Returns false if the domain has no plan. */
export function removeWarmUp(client: Database, accountId: number, domain: string): boolean {
  return client.prepare('DELETE FROM warm_ups WHERE user_id = ? AND domain = ?').run(accountId, domain).changes > 0;
}

/** Returns the plans of an account, ordered by domain. */
export function listWarmUps(client: Database, accountId: number, now: Date): ShownWarmUp[] {
  const today = dayOf(now);
  return client
    .prepare<[number], WarmUp>(`SELECT ${COLUMNS} FROM warm_ups WHERE user_id = ? ORDER BY domain`)
    .all(accountId)
    .map(({ id, user_id, ended_on, ...plan }) => {
      const progress = progressOf(client, id, today);
      const volume = ended_on === null ? volumeAfter(plan, progress.step) : null;
      const state = stateOf(plan, volume, today);
      return {
        ...plan,
        state,
        today: state === 'on' ? (volume ?? 0) : 0,
        sent_today: state === 'on' ? progress.mails : 0,
        ends_on: ended_on ?? lastDay(plan, progress, today),
      };
    });
}

function stateOf({ starts_on }: Plan, volume: number | null, today: string): ShownWarmUp['state'] {
  if (volume === null) return 'over';
  return starts_on > today ? 'waiting' : 'on';
}

/** Returns the warm-up of the sender's domain for which recipients of a mailing wait; null if none wait for a warm-up. */
export function findWarmUpWait(client: Database, senderId: number | null, now: Date): WarmUpWait | null {
  const today = dayOf(now);
  const warmUp = senderId === null ? null : findWarmUp(client, senderId, today);
  const volume = warmUp === null ? null : volumeAfter(warmUp, warmUp.step);
  if (warmUp === null || volume === null) return null;
  const waiting = countWaiting(client, warmUp);
  const { domain, mails } = warmUp;
  if (waiting === 0) return null;
  const expected_on = expectedDay(warmUp, warmUp, waiting, today);
  return { domain, today: volume, sent_today: mails, waiting, expected_on };
}

interface Unfinished {
  from_email: string;
  waiting: number;
}

/** Returns the number of recipients of the account's campaigns from this domain that have not been sent their mail yet. */
function countWaiting(client: Database, { user_id, domain }: WarmUp): number {
  return client
    .prepare<[number], Unfinished>(UNFINISHED)
    .all(user_id)
    .filter(({ from_email }) => asciiDomain(domainOf(from_email)) === domain)
    .reduce((sum, { waiting }) => sum + Math.max(0, waiting), 0);
}

const UNFINISHED = `
  SELECT s.from_email, m.recipients - m.delivered - m.bounces - m.failed - m.suppressed - m.cancelled AS waiting
  FROM mailings m INDEXED BY mailings_unfinished CROSS JOIN senders s ON s.id = m.sender_id
  WHERE m.finished_at IS NULL AND m.user_id = ? AND m.owner_kind = 'single' AND m.state <> 'cancelled'`;

/** A number of days larger than the number that a plan with the smallest growth takes. */
const MAX_DAYS = 400;

export type Plan = Pick<WarmUp, 'starts_on' | 'volume' | 'growth' | 'until_volume'>;

/** The default values of a plan; docs/sending-well.md explains them. */
export const DEFAULT_PLAN = { volume: 50, growth: 50 };

/** The progress of a plan. */
export interface Progress {
  /** The number of past days that used at least half of their volume. */
  step: number;
  /** The number of mails sent today. */
  mails: number;
}

/** Returns the volume of the day after `step` used days; null once the plan is over. */
export function volumeAfter({ volume, growth, until_volume }: Plan, step: number): number | null {
  const mails = Math.floor(volume * (1 + growth / 100) ** step);
  return mails >= until_volume ? null : mails;
}

/** Returns the last day of the plan if every day from `today` on uses its whole volume. */
export function lastDay(plan: Plan, { step }: Progress, today: string): string {
  let days = 0;
  while (days < MAX_DAYS && volumeAfter(plan, step + days) !== null) days++;
  return addDays(today < plan.starts_on ? plan.starts_on : today, days);
}

/** Returns the day on which the last of this number of waiting mails is expected to be sent. */
export function expectedDay(plan: Plan, { step, mails }: Progress, waiting: number, today: string): string {
  let remaining = waiting;
  for (let days = 0; days < MAX_DAYS; days++) {
    const volume = volumeAfter(plan, step + days);
    if (volume === null) return addDays(today, days);
    remaining -= days === 0 ? Math.max(0, volume - mails) : volume;
    if (remaining <= 0) return addDays(today, days);
  }
  return addDays(today, MAX_DAYS);
}
