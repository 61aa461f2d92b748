/** What people said about their opens and clicks being recorded, and whom that leaves to be measured. */
import type { Database } from 'better-sqlite3';
import { eq } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { prepared } from '../database/prepared.ts';
import { accounts, TRACKING_CHOICE, TRACKING_MODES, type TrackingMode } from '../database/schema/index.ts';
import type { Sentence } from '../errors/sentences.ts';
import { stored } from '../errors/stored.ts';

/** Whether the opens and clicks of an address `a` are not recorded, as SQL by what its account learns of them. */
export const UNMEASURED: Readonly<Record<TrackingMode, string>> = {
  off: '1',
  totals: '1',
  person: `a.tracking_choice = ${TRACKING_CHOICE.refused}`,
  consent: `a.tracking_choice <> ${TRACKING_CHOICE.allowed}`,
};

/** The same for an address `a` and its account `u`. */
export const IS_UNMEASURED = `CASE u.tracking ${TRACKING_MODES.map((mode) => `WHEN '${mode}' THEN ${UNMEASURED[mode]}`).join(' ')} END`;

/** Whether the opens and clicks of the address with this id, an SQL expression, are recorded now. */
export const isMeasuredNow = (address: string) => `EXISTS (
  SELECT 1 FROM addresses a CROSS JOIN accounts u ON u.id = a.user_id WHERE a.id = ${address} AND NOT (${IS_UNMEASURED}))`;

/**
 * The same for an account that learns this of opens and clicks, for many addresses at once: only the index of those who chose is looked into,
 * where most of them are not.
 */
export function isMeasuredWith(mode: TrackingMode, address: string): string {
  const hasChosen = (choice: number) =>
    `EXISTS (SELECT 1 FROM addresses a INDEXED BY addresses_choices WHERE a.id = ${address} AND a.tracking_choice <> 0 AND a.tracking_choice = ${choice})`;
  if (mode === 'consent') return hasChosen(TRACKING_CHOICE.allowed);
  return mode === 'person' ? `NOT ${hasChosen(TRACKING_CHOICE.refused)}` : '0';
}

/** What the consent log says about the recording of opens and clicks. */
export const TRACKING_ACTIONS = ['tracking_allowed', 'tracking_refused', 'tracking_undone'] as const;

/** What an account learns of opens and clicks. */
export function trackingMode(db: Db, accountId: number): TrackingMode {
  const account = db.select({ tracking: accounts.tracking }).from(accounts).where(eq(accounts.id, accountId)).get();
  return account?.tracking ?? 'off';
}

/** Changes what an account learns of opens and clicks, also of mails that were sent already. */
export function changeTrackingMode(db: Db, accountId: number, tracking: TrackingMode): void {
  db.update(accounts).set({ tracking }).where(eq(accounts.id, accountId)).run();
}

/** Somebody's choice, with the proof of it. */
export interface TrackingChoice {
  accountId: number;
  addressId: number;
  isAllowed: boolean;
  source: 'api' | 'page' | 'form';
  /** What was agreed to, or refused. */
  text: string;
  /** The mailing whose link was used, if one was. */
  mailingId: number | null;
  /** ISO timestamp. */
  now: string;
}

/** Of a choice that was made with a form: which, when and from which network it was filled in, and from which it was confirmed. */
interface FormProof {
  formName: string;
  /** ISO timestamp. */
  askedAt: string;
  askedFrom: string;
  confirmedFrom: string;
}

const NO_FORM = { formName: null, askedAt: null, askedFrom: null, confirmedFrom: null };

/**
 * Keeps what an import, or undoing it, says of many addresses, and writes it to the consent log with `text`, which only there is a sentence. Gives the highest id that the log
 * had before. Call inside a transaction.
 */
export function chooseTrackingOfMany(
  client: Database,
  given: { accountId: number; text: Sentence; now: string },
  people: readonly { address: number; choice: number }[],
): number {
  const before =
    prepared<[], { id: number }>(client, 'SELECT ifnull(max(id), 0) AS id FROM consent_log').get()?.id ?? 0;
  const rows = JSON.stringify(people);
  prepared<[object]>(
    client,
    `INSERT INTO consent_log (user_id, address_id, action, source, consent_text, created_at)
    SELECT @accountId, value ->> 'address', CASE value ->> 'choice' WHEN ${TRACKING_CHOICE.allowed} THEN 'tracking_allowed'
      WHEN ${TRACKING_CHOICE.refused} THEN 'tracking_refused' ELSE 'tracking_undone' END, 'import', @text, @now FROM json_each(@rows)`,
  ).run({ ...given, text: stored(given.text), rows });
  prepared<[object]>(
    client,
    `UPDATE addresses SET tracking_choice = p.value ->> 'choice' FROM json_each(@rows) p
    WHERE addresses.id = p.value ->> 'address' AND addresses.user_id = @account`,
  ).run({ rows, account: given.accountId });
  return before;
}

/** Keeps a choice and writes it to the consent log; the same choice again changes nothing. Call inside a transaction. */
export function chooseTracking(client: Database, given: TrackingChoice, proof?: FormProof): void {
  const { isAllowed, ...log } = given;
  const choice = isAllowed ? TRACKING_CHOICE.allowed : TRACKING_CHOICE.refused;
  const { changes } = prepared<[Record<string, number>]>(
    client,
    'UPDATE addresses SET tracking_choice = @choice WHERE id = @address AND user_id = @account AND tracking_choice <> @choice',
  ).run({ choice, address: given.addressId, account: given.accountId });
  if (changes === 0) return;
  prepared<[object]>(
    client,
    `INSERT INTO consent_log (user_id, address_id, action, source, mailing_id, consent_text, form_name, asked_at, asked_from, confirmed_from, created_at)
    VALUES (@accountId, @addressId, @action, @source, @mailingId, @text, @formName, @askedAt, @askedFrom, @confirmedFrom, @now)`,
  ).run({ ...log, ...(proof ?? NO_FORM), action: isAllowed ? 'tracking_allowed' : 'tracking_refused' });
}
