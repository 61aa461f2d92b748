/** Which contacts are measured, by the tracking mode of their account and their own choices. */
import { eq } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { accounts, TRACKING_CHOICE, TRACKING_MODES, type TrackingMode } from '../database/schema/index.ts';

/** SQL by the account's tracking mode: true if the opens and clicks of an address `a` are not recorded. */
export const UNMEASURED: Readonly<Record<TrackingMode, string>> = {
  off: '1',
  totals: '1',
  person: `a.tracking_choice = ${TRACKING_CHOICE.refused}`,
  consent: `a.tracking_choice <> ${TRACKING_CHOICE.allowed}`,
};

/** SQL: true if the opens and clicks of an address `a` of the account `u` are not recorded. */
export const IS_UNMEASURED = `CASE u.tracking ${TRACKING_MODES.map((mode) => `WHEN '${mode}' THEN ${UNMEASURED[mode]}`).join(' ')} END`;

/** SQL: true if the opens and clicks of the address with this id, an SQL expression, are recorded now. */
export const isMeasuredNow = (address: string) => `EXISTS (
  SELECT 1 FROM addresses a CROSS JOIN accounts u ON u.id = a.user_id WHERE a.id = ${address} AND NOT (${IS_UNMEASURED}))`;

/**
 * SQL: true if the opens and clicks of the address with this id, an SQL expression, are recorded now, for an account
 * with this tracking mode. It is fast for many addresses, because it only reads the index of addresses with a choice,
 * which has few entries.
 */
export function isMeasuredWith(mode: TrackingMode, address: string): string {
  const hasChosen = (choice: number) =>
    `EXISTS (SELECT 1 FROM addresses a INDEXED BY addresses_choices WHERE a.id = ${address} AND a.tracking_choice <> ${TRACKING_CHOICE.none} AND a.tracking_choice = ${choice})`;
  if (mode === 'consent') return hasChosen(TRACKING_CHOICE.allowed);
  return mode === 'person' ? `NOT ${hasChosen(TRACKING_CHOICE.refused)}` : '0';
}

/** Returns the tracking mode of an account: what it records about opens and clicks. */
export function trackingMode(db: Db, accountId: number): TrackingMode {
  const account = db.select({ tracking: accounts.tracking }).from(accounts).where(eq(accounts.id, accountId)).get();
  return account?.tracking ?? 'off';
}

/** Changes the tracking mode of an account, also for mails that were already sent. */
export function changeTrackingMode(db: Db, accountId: number, tracking: TrackingMode): void {
  db.update(accounts).set({ tracking }).where(eq(accounts.id, accountId)).run();
}
