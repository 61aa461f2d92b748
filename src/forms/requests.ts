/**
 * The requests of visitors who submit a form: the limits that keep forms from being abused, and
 * the queueing of the mail that asks for a confirmation.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { eq, sql } from 'drizzle-orm';
import { addressId, findAddressId, isErased } from '../audience/contacts/address-rows.ts';
import type { Address } from '../audience/contacts/addresses.ts';
import { languageCode } from '../audience/contacts/contact-languages.ts';
import { findSuppressionReason } from '../audience/suppressions.ts';
import type { Db } from '../database/open.ts';
import { formRequests, forms, senders } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { languageOfAddress } from '../delivery/content/values.ts';
import { deliveryQueue } from '../delivery/queue/ledger/enqueue.ts';
import { createMailing } from '../delivery/queue/mailing-state.ts';
import { languageOfLocale, PAGE_LANGUAGES } from '../languages.ts';
import { isoTimestamp } from '../time/clock.ts';
import { confirmationContent, LINK_DAYS } from './confirmation-mail.ts';
import type { Form } from './forms.ts';
import { DAY_MS, takeMailOfDay } from './mailboxes.ts';
import { formTexts, USUAL_TEXTS } from './texts.ts';
import { type Proof, useChallenge } from './used-challenges.ts';

export type FormRequest = typeof formRequests.$inferSelect;

const HOUR_MS = 60 * 60 * 1000;
/** The maximum numbers of requests accepted within an hour. */
export const HOURLY = {
  /** From one network. */
  network: 20,
  /** To one form, whether a mail is sent or not, so that the limit does not reveal which addresses get one. */
  form: 300,
  /** From one network without a proof of work, for visitors whose browser runs no scripts. */
  unprovenOfNetwork: 2,
  unprovenOfForm: 20,
} as const;

/** A submitted form. */
export interface FilledForm {
  address: Address;
  /** The values by the keys of the form's fields. */
  given: Record<string, string>;
  /** The offered groups by id, each with whether it was chosen. */
  groups: Record<string, 0 | 1>;
  /** The text that was agreed to. */
  consentText: string;
  /** Where the text was agreed to; empty: on the form's page. */
  source: string;
  /** The text of the consent box about opens and clicks if it was ticked; otherwise empty. */
  trackingText: string;
  /** Empty: unknown, so the limit of a network does not apply. */
  network: string;
  /** `key`: the request came with an API key, whose owner answers for it. */
  proof: Exclude<Proof, { kind: 'none' }> | { kind: 'key' };
}

/** Where a request came from, for the limits. */
type Source = Pick<FilledForm, 'network' | 'proof'>;

/**
 * The result of a request. `taken` does not say whether a mail was sent; `busy` and `unproven`: a limit was reached; `used`:
 * its challenge was used before.
 */
export type Outcome = 'taken' | 'busy' | 'unproven' | 'used';

/** Returns true if an address is erased or suppressed, so that it may not be asked. `known` is its id if the account has it. */
export function isBlocked(client: Database, accountId: number, address: Address, known: number | undefined): boolean {
  if (isErased(client, accountId, address.address)) return true;
  return known !== undefined && findSuppressionReason(client, accountId, known) !== null;
}

/**
 * Accepts a request and queues the mail that asks for a confirmation, in one transaction. No mail is sent to addresses that are
 * suppressed or erased, nor to a mailbox that got one within a day. The outcome is the same, so that it reveals nothing about an address.
 */
export function takeRequest(deps: { db: Db; publicUrl(): string }, form: Form, filled: FilledForm, now: Date): Outcome {
  const { db } = deps;
  const client = db.$client;
  const { address, proof } = filled;
  const at = now.getTime();
  return inTransaction(db, () => {
    const reached = limitReached(client, form.id, filled, at);
    if (reached !== null) return reached;
    if (proof.kind !== 'key' && !useChallenge(client, proof)) return 'used';
    const known = findAddressId(db, form.user_id, address);
    if (isBlocked(client, form.user_id, address, known) || !takeMailOfDay(client, address, at)) {
      countUnsent(db, form, filled, at);
      return 'taken';
    }
    const secret = newSecret();
    const address_id = known ?? addressId(db, form.user_id, address);
    const { id } = db
      .insert(formRequests)
      .values({
        ...commonValues(form, filled, at),
        state: 'asked',
        address_id,
        is_new_address: known === undefined ? 1 : 0,
        email: address.address,
        given: filled.given,
        groups: filled.groups,
        consent_text: filled.consentText,
        source: filled.source,
        tracking_text: filled.trackingText,
        token_hash: hashOf(secret),
      })
      .returning({ id: formRequests.id })
      .get();
    queueMail(
      db,
      inLanguageOf(db, form, address_id, filled.given),
      { id, address_id },
      `${deps.publicUrl()}/f/confirm/${secret}`,
      now,
    );
    return 'taken';
  });
}

/**
 * Accepts a request by key that needs no mail. It counts towards the limits, so that their refusal reveals nothing about the address.
 */
export function takeUnsent(db: Db, form: Form, network: string, now: Date): 'taken' | 'busy' {
  const proof = { kind: 'key' } as const;
  if (limitReached(db.$client, form.id, { network, proof }, now.getTime()) !== null) return 'busy';
  countUnsent(db, form, { network, proof }, now.getTime());
  return 'taken';
}

function countUnsent(db: Db, form: Form, from: Source, at: number): void {
  db.insert(formRequests)
    .values({
      ...commonValues(form, from, at),
      state: 'unsent',
      given: {},
      groups: {},
      token_hash: hashOf(newSecret()),
    })
    .run();
}

function commonValues(form: Form, { network, proof }: Source, at: number) {
  return {
    user_id: form.user_id,
    form_id: form.id,
    is_proven: proof.kind === 'unproven' ? 0 : 1,
    network,
    asked_at: at,
    expires_at: at + LINK_DAYS * DAY_MS,
  } as const;
}

function newSecret(): string {
  return randomBytes(24).toString('base64url');
}

/** Returns true if a mail for this form asked the address for a confirmation within the last day, and its link still waits. */
export function wasAskedToday(client: Database, formId: number, addressId: number, now: number): boolean {
  const find = client.prepare<[number, number, number, number], { one: 1 }>(`SELECT 1 AS one FROM form_requests
     WHERE address_id = ? AND form_id = ? AND state = 'asked' AND asked_at > ? AND asked_at <= ?`);
  return find.get(addressId, formId, now - DAY_MS, now) !== undefined;
}

/** Returns the request that a link in a mail belongs to, with its form; null if there is none, or if its form was deleted. */
export function findRequest(db: Db, secret: string): { request: FormRequest; form: Form } | null {
  const row = db
    .select({ request: formRequests, form: forms })
    .from(formRequests)
    .innerJoin(forms, eq(forms.id, formRequests.form_id))
    .where(eq(formRequests.token_hash, hashOf(secret)))
    .get();
  return row === undefined || row.request.state === 'unsent' ? null : row;
}

/**
 * Marks a request as confirmed and removes its data, which is now stored elsewhere. Call it inside the transaction that stores the data.
 */
export function closeRequest(db: Db, { id, form_id }: FormRequest): void {
  db.update(formRequests).set({ state: 'confirmed', email: '', given: {} }).where(eq(formRequests.id, id)).run();
  db.update(forms)
    .set({ confirmed: sql`${forms.confirmed} + 1` })
    .where(eq(forms.id, form_id))
    .run();
}

function limitReached(
  client: Database,
  formId: number,
  { network, proof }: Source,
  now: number,
): 'busy' | 'unproven' | null {
  const since = now - HOUR_MS;
  // Times in the future, recorded while the clock was wrong, do not count, because they would keep the form busy until then.
  const counts = 'count(*) AS all_, sum(is_proven = 0) AS unproven';
  const ofNetwork = client
    .prepare<[string, number, number], { all_: number; unproven: number | null }>(
      `SELECT ${counts} FROM form_requests WHERE network = ? AND network <> '' AND asked_at > ? AND asked_at <= ?`,
    )
    .get(network, since, now);
  const ofForm = client
    .prepare<[number, number, number], { all_: number; unproven: number | null }>(
      `SELECT ${counts} FROM form_requests WHERE form_id = ? AND asked_at > ? AND asked_at <= ?`,
    )
    .get(formId, since, now);
  if ((ofNetwork?.all_ ?? 0) >= HOURLY.network || (ofForm?.all_ ?? 0) >= HOURLY.form) return 'busy';
  const isTooMany =
    (ofNetwork?.unproven ?? 0) >= HOURLY.unprovenOfNetwork || (ofForm?.unproven ?? 0) >= HOURLY.unprovenOfForm;
  return proof.kind === 'unproven' && isTooMany ? 'unproven' : null;
}

function queueMail(db: Db, form: Form, request: { id: number; address_id: number }, url: string, now: Date): void {
  const sender = db.select({ email: senders.from_email }).from(senders).where(eq(senders.id, form.sender_id)).get();
  if (sender === undefined) throw new Error('a form without a sender');
  const mailing_id = createMailing(db, {
    user_id: form.user_id,
    owner_kind: 'form',
    owner_id: request.id,
    sender_id: form.sender_id,
    content: JSON.stringify(confirmationContent(form, sender.email, url)),
    created_at: isoTimestamp(now),
  });
  const nobody = { contact_id: null, segment_recipient_id: null };
  deliveryQueue(db.$client)({ mailing_id, address_id: request.address_id, ...nobody });
  db.update(forms)
    .set({ sent: sql`${forms.sent} + 1` })
    .where(eq(forms.id, form.id))
    .run();
}

/** The texts of a form in its mail and on the page to which the mail leads. */
const ANSWER_TEXTS = ['title', 'mail_subject', 'mail_text', 'confirmed_text', 'already_text', 'expired_text'] as const;

/**
 * Returns a form in the language of the contact with this address, else in the one that the request gives for a new
 * contact. If the language is unknown, or the owner has written one of the texts, the form stays in its own language, so
 * that no answer mixes two.
 */
export function inLanguageOf(db: Db, form: Form, addressId: number, values: FilledForm['given']): Form {
  const known = languageOfAddress(db.$client, form.user_id, addressId) ?? languageCode(values.language ?? '');
  const language = languageOfLocale(known ?? '', PAGE_LANGUAGES);
  const usual = USUAL_TEXTS[form.language];
  if (language === null || ANSWER_TEXTS.some((name) => form[name] !== usual[name])) return form;
  return { ...form, language, ...formTexts(language, {}, form) };
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
