/**
 * The requests of visitors who submit a form: the limits that keep forms from being abused, and the mail that asks for a confirmation.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { eq, sql } from 'drizzle-orm';
import { addressId, findAddressId } from '../audience/contacts/address-rows.ts';
import type { Address } from '../audience/contacts/addresses.ts';
import { languageCode } from '../audience/contacts/contact-languages.ts';
import { isErased } from '../audience/contacts/erased-addresses.ts';
import { findSuppressionReason } from '../audience/suppressions.ts';
import type { Db } from '../database/open.ts';
import { formRequests, forms, senders } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { languageOfAddress } from '../delivery/content/values.ts';
import { deliveryQueue } from '../delivery/queue/ledger/enqueue.ts';
import { createMailing } from '../delivery/queue/mailing-state.ts';
import { languageOfLocale, PAGE_LANGUAGES } from '../languages.ts';
import { isoTimestamp } from '../time/clock.ts';
import { DAY_MS, HOUR_MS } from '../units.ts';
import { confirmationContent, LINK_DAYS } from './confirmation-mail.ts';
import type { Form } from './forms.ts';
import { takeMailOfDay } from './mailboxes.ts';
import { formTexts, USUAL_TEXTS } from './texts.ts';
import { type Proof, useChallenge } from './used-challenges.ts';

export type FormRequest = typeof formRequests.$inferSelect;

/** The maximum numbers of requests that are accepted within an hour. */
export const HOURLY = {
  /** Requests from one network. */
  network: 20,
  /** Requests to one form. Requests that send no mail count too, so that the limit does not reveal which addresses get mail. */
  form: 300,
  /** Requests from one network without a proof of work, because the visitor's browser runs no scripts. */
  unprovenOfNetwork: 2,
  /** Requests to one form without a proof of work. */
  unprovenOfForm: 20,
} as const;

/** A submitted form. */
export interface FilledForm {
  address: Address;
  /** The values by the keys of their fields. */
  values: Record<string, string>;
  /** The offered groups by id; 1 for a chosen group. */
  groups: Record<string, 0 | 1>;
  /** The text that the visitor agreed to. */
  consentText: string;
  /** Where the visitor agreed; empty for the form's page. */
  source: string;
  /** The text of the consent box about opens and clicks if the visitor ticked it; otherwise empty. */
  trackingText: string;
  /** The visitor's network; empty if it is unknown, so that the limit of a network does not apply. */
  network: string;
  /** `key`: the request came with an API key, whose owner is responsible for it. */
  proof: Exclude<Proof, { kind: 'none' }> | { kind: 'key' };
}

/** Where a request came from, for the limits. */
type Origin = Pick<FilledForm, 'network' | 'proof'>;

/**
 * The result of a request. `taken`: the request was accepted, whether or not a mail is sent. `busy`: the limit of a network or a form
 * was reached. `unproven`: a limit of requests without a proof was reached. `used`: the challenge was used before.
 */
export type Outcome = 'taken' | 'busy' | 'unproven' | 'used';

/** Returns true if an address is erased or suppressed. `knownId` is its id; undefined if the account does not have the address. */
export function isErasedOrSuppressed(
  client: Database,
  accountId: number,
  address: Address,
  knownId: number | undefined,
): boolean {
  if (isErased(client, accountId, address.address)) return true;
  return knownId !== undefined && findSuppressionReason(client, accountId, knownId) !== null;
}

/**
 * Accepts a request and queues the mail that asks for a confirmation, in one transaction. No mail is sent to an address that is
 * suppressed or erased, nor to a mailbox that got such a mail within a day. The outcome is `taken` all the same, so that it reveals nothing
 * about the address.
 */
export function takeRequest(deps: { db: Db; publicUrl(): string }, form: Form, filled: FilledForm, now: Date): Outcome {
  const { db } = deps;
  const client = db.$client;
  const { address, proof } = filled;
  const at = now.getTime();
  return inTransaction(db, () => {
    const limit = limitReached(client, form.id, filled, at);
    if (limit !== null) return limit;
    if (proof.kind !== 'key' && !useChallenge(client, proof)) return 'used';
    const knownId = findAddressId(db.$client, form.user_id, address);
    if (isErasedOrSuppressed(client, form.user_id, address, knownId) || !takeMailOfDay(client, address, at)) {
      countUnsent(db, form, filled, at);
      return 'taken';
    }
    const secret = newSecret();
    const address_id = knownId ?? addressId(db, form.user_id, address);
    const { id } = db
      .insert(formRequests)
      .values({
        ...commonValues(form, filled, at),
        state: 'asked',
        address_id,
        is_new_address: knownId === undefined ? 1 : 0,
        email: address.address,
        given: filled.values,
        groups: filled.groups,
        consent_text: filled.consentText,
        source: filled.source,
        tracking_text: filled.trackingText,
        token_hash: hashOf(secret),
      })
      .returning({ id: formRequests.id })
      .get();
    const url = `${deps.publicUrl()}/f/confirm/${secret}`;
    queueMail(db, inLanguageOf(db, form, address_id, filled.values), { id, address_id }, url, now);
    return 'taken';
  });
}

/**
 * Accepts a request by API key for which no mail is sent. The request counts towards the limits, so that a refusal reveals nothing
 * about the address.
 */
export function takeUnsent(db: Db, form: Form, network: string, now: Date): 'taken' | 'busy' {
  const proof = { kind: 'key' } as const;
  if (limitReached(db.$client, form.id, { network, proof }, now.getTime()) !== null) return 'busy';
  countUnsent(db, form, { network, proof }, now.getTime());
  return 'taken';
}

/** Stores a request for which no mail is sent, so that it counts towards the limits. */
function countUnsent(db: Db, form: Form, origin: Origin, at: number): void {
  db.insert(formRequests)
    .values({
      ...commonValues(form, origin, at),
      state: 'unsent',
      given: {},
      groups: {},
      token_hash: hashOf(newSecret()),
    })
    .run();
}

function commonValues(form: Form, { network, proof }: Origin, at: number) {
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

/** Returns true if the form mailed the address with this id within the last day and the request is not confirmed yet. */
export function wasAskedToday(client: Database, formId: number, address: number, now: number): boolean {
  const find = client.prepare<[number, number, number, number], { one: 1 }>(`SELECT 1 AS one FROM form_requests
     WHERE address_id = ? AND form_id = ? AND state = 'asked' AND asked_at > ? AND asked_at <= ?`);
  return find.get(address, formId, now - DAY_MS, now) !== undefined;
}

/** Returns the request of the link with this secret, and its form; null if there is no such request or its form was deleted. */
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
 * Marks a request as confirmed and removes its data, which the contact now has. Call this inside the transaction that stores the
 * contact.
 */
export function closeRequest(db: Db, { id, form_id }: FormRequest): void {
  db.update(formRequests).set({ state: 'confirmed', email: '', given: {} }).where(eq(formRequests.id, id)).run();
  db.update(forms)
    .set({ confirmed: sql`${forms.confirmed} + 1` })
    .where(eq(forms.id, form_id))
    .run();
}

/** Returns the limit that a request would exceed; null if there is none. */
function limitReached(
  client: Database,
  formId: number,
  { network, proof }: Origin,
  now: number,
): 'busy' | 'unproven' | null {
  const since = now - HOUR_MS;
  // Requests recorded in the future, while the clock was wrong, do not count. They would keep the form busy until that time.
  const counts = 'count(*) AS total, sum(is_proven = 0) AS unproven';
  const ofNetwork = client
    .prepare<[string, number, number], { total: number; unproven: number | null }>(
      `SELECT ${counts} FROM form_requests WHERE network = ? AND network <> '' AND asked_at > ? AND asked_at <= ?`,
    )
    .get(network, since, now);
  const ofForm = client
    .prepare<[number, number, number], { total: number; unproven: number | null }>(
      `SELECT ${counts} FROM form_requests WHERE form_id = ? AND asked_at > ? AND asked_at <= ?`,
    )
    .get(formId, since, now);
  if ((ofNetwork?.total ?? 0) >= HOURLY.network || (ofForm?.total ?? 0) >= HOURLY.form) return 'busy';
  const hasTooManyUnproven =
    (ofNetwork?.unproven ?? 0) >= HOURLY.unprovenOfNetwork || (ofForm?.unproven ?? 0) >= HOURLY.unprovenOfForm;
  return proof.kind === 'unproven' && hasTooManyUnproven ? 'unproven' : null;
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
  const noContact = { contact_id: null, segment_recipient_id: null };
  deliveryQueue(db.$client)({ mailing_id, address_id: request.address_id, ...noContact });
  db.update(forms)
    .set({ sent: sql`${forms.sent} + 1` })
    .where(eq(forms.id, form.id))
    .run();
}

/** The texts of a form in its mail and on the page to which the mail leads. */
const ANSWER_TEXTS = ['title', 'mail_subject', 'mail_text', 'confirmed_text', 'already_text', 'expired_text'] as const;

/**
 * Returns a form in the language of the contact with this address, otherwise in the language among the values of the request, which a
 * request by the API may have. If the language is unknown, or the owner has written one of the texts, the form stays in its own language,
 * so that no page or mail mixes two languages.
 */
export function inLanguageOf(db: Db, form: Form, address: number, values: FilledForm['values']): Form {
  const code = languageOfAddress(db.$client, form.user_id, address) ?? languageCode(values.language ?? '');
  const language = languageOfLocale(code ?? '', PAGE_LANGUAGES);
  const usual = USUAL_TEXTS[form.language];
  if (language === null || ANSWER_TEXTS.some((name) => form[name] !== usual[name])) return form;
  return { ...form, language, ...formTexts(language, {}, form) };
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
