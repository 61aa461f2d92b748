/** Stores contacts' choices about the recording of their opens and clicks, each with its proof in the consent log. */
import type { Database } from 'better-sqlite3';
import { TRACKING_CHOICE } from '../database/schema/index.ts';
import type { Sentence } from '../errors/sentences.ts';
import { stored } from '../errors/stored.ts';

/** The actions in the consent log about the recording of opens and clicks. */
export const TRACKING_ACTIONS = ['tracking_allowed', 'tracking_refused', 'tracking_undone'] as const;

/** A contact's choice, with its proof for the consent log. */
export interface TrackingChoice {
  accountId: number;
  addressId: number;
  isAllowed: boolean;
  source: 'api' | 'page' | 'form';
  /** The text that was agreed to or refused. */
  text: string;
  /** The id of the mailing whose link was used; null: none was. */
  mailingId: number | null;
  /** ISO timestamp. */
  now: string;
}

/** For a choice made with a form: which form, when and from which network it was submitted, and from which network it was confirmed. */
interface FormProof {
  formName: string;
  /** ISO timestamp. */
  askedAt: string;
  askedFrom: string;
  confirmedFrom: string;
}

const NO_FORM = { formName: null, askedAt: null, askedFrom: null, confirmedFrom: null };

/**
 * Stores the choices that an import, or its undo, makes for many addresses, and writes them to the consent log with the
 * sentence `text`. Returns the highest id that the log had before. Call inside a transaction.
 */
export function storeTrackingChoices(
  client: Database,
  input: { accountId: number; text: Sentence; now: string },
  people: readonly { address: number; choice: number }[],
): number {
  const before = client.prepare<[], { id: number }>('SELECT ifnull(max(id), 0) AS id FROM consent_log').get()?.id ?? 0;
  const rows = JSON.stringify(people);
  client
    .prepare<[object]>(`INSERT INTO consent_log (user_id, address_id, action, source, consent_text, created_at)
    SELECT @accountId, value ->> 'address', CASE value ->> 'choice' WHEN ${TRACKING_CHOICE.allowed} THEN 'tracking_allowed'
      WHEN ${TRACKING_CHOICE.refused} THEN 'tracking_refused' ELSE 'tracking_undone' END, 'import', @text, @now FROM json_each(@rows)`)
    .run({ ...input, text: stored(input.text), rows });
  client
    .prepare<[object]>(`UPDATE addresses SET tracking_choice = p.value ->> 'choice' FROM json_each(@rows) p
    WHERE addresses.id = p.value ->> 'address' AND addresses.user_id = @account`)
    .run({ rows, account: input.accountId });
  return before;
}

/** Stores a choice and writes it to the consent log. Repeating the same choice changes nothing. Call inside a transaction. */
export function storeTrackingChoice(client: Database, input: TrackingChoice, proof?: FormProof): void {
  const { isAllowed, ...log } = input;
  const choice = isAllowed ? TRACKING_CHOICE.allowed : TRACKING_CHOICE.refused;
  const { changes } = client
    .prepare<[Record<string, number>]>(
      'UPDATE addresses SET tracking_choice = @choice WHERE id = @address AND user_id = @account AND tracking_choice <> @choice',
    )
    .run({ choice, address: input.addressId, account: input.accountId });
  if (changes === 0) return;
  client
    .prepare<[object]>(`
    INSERT INTO consent_log (user_id, address_id, action, source, mailing_id, consent_text, form_name, asked_at, asked_from, confirmed_from, created_at)
    VALUES (@accountId, @addressId, @action, @source, @mailingId, @text, @formName, @askedAt, @askedFrom, @confirmedFrom, @now)`)
    .run({ ...log, ...(proof ?? NO_FORM), action: isAllowed ? 'tracking_allowed' : 'tracking_refused' });
}
