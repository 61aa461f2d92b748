/**
 * Carries out the confirmation of a form request: adds the contact as the API does, or fills in the contact's empty fields; removes
 * the address from the lists of unsubscribed addresses; and records in the consent log what the contact agreed to.
 */
import type { Database } from 'better-sqlite3';
import { and, eq } from 'drizzle-orm';
import { type Address, parseAddress } from '../audience/contacts/addresses.ts';
import {
  type ContactInput,
  hasContactType,
  insertContact,
  ownedContacts,
  updateContact,
} from '../audience/contacts/contacts.ts';
import { listCustomFields } from '../audience/fields/custom-fields.ts';
import { recordFormConfirmed } from '../audience/segments/membership.ts';
import { addContactsToSegment } from '../audience/segments/segments.ts';
import { storeTrackingChoice } from '../audience/store-tracking-choice.ts';
import { findSuppressionReason } from '../audience/suppressions.ts';
import { addUnsubscribers, logSubscription, resubscribe } from '../audience/unsubscribes.ts';
import type { Db } from '../database/open.ts';
import { contacts } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { isoTimestamp } from '../time/clock.ts';
import { contactValues, filledFields } from './fields.ts';
import type { Form } from './forms.ts';
import { closeRequest, type FormRequest, findRequest, inLanguageOf } from './requests.ts';

type Contact = typeof contacts.$inferSelect;

/**
 * The state of a link in a confirmation mail. `gone`: the link is not ours, or something that it needs was deleted. `already`: the
 * request is confirmed. `suppressed`: the request is confirmed, but the address gets no mail. `form` is in the language of the
 * contact, `submittedForm` in the language in which the form was submitted.
 */
export type Link =
  | { state: 'gone' }
  | { state: 'already' | 'suppressed' | 'expired'; form: Form }
  | { state: 'open'; form: Form; request: FormRequest; submittedForm: Form };

/** Returns the state at `now` of the link with this secret. */
export function readLink(db: Db, secret: string, now: Date): Link {
  const found = findRequest(db, secret);
  if (found === null) return { state: 'gone' };
  const { request, form: submittedForm } = found;
  const form =
    request.address_id === null ? submittedForm : inLanguageOf(db, submittedForm, request.address_id, request.given);
  if (request.state === 'confirmed') return { state: isSuppressed(db, form, request) ? 'suppressed' : 'already', form };
  if (request.email === '' || now.getTime() > request.expires_at) return { state: 'expired', form };
  return hasContactType(db, form.user_id, form.contact_type_id)
    ? { state: 'open', form, request, submittedForm }
    : { state: 'gone' };
}

/** Returns the ids of the groups that were chosen out of those that a form offered. */
export function chosenGroups(offered: FormRequest['groups']): number[] {
  return Object.keys(offered)
    .filter((id) => offered[id] === 1)
    .map(Number);
}

function isSuppressed(db: Db, { user_id: accountId }: Form, { address_id: addressId }: FormRequest): boolean {
  return addressId !== null && findSuppressionReason(db.$client, accountId, addressId) !== null;
}

/**
 * Confirms the request of a link in one transaction. `network` is the network of the visitor. Returns `confirmed`, `already` if nothing
 * changed for the contact, or why the request cannot be confirmed. `suppressed`: the choice is stored, but the address gets no mail,
 * because a mail bounced or the contact complained after the form was submitted.
 */
export function confirmLink(
  db: Db,
  secret: string,
  network: string,
  now: Date,
): { state: 'gone' } | { state: 'confirmed' | 'already' | 'suppressed' | 'expired'; form: Form } {
  return inTransaction(db, () => {
    const link = readLink(db, secret, now);
    if (link.state !== 'open') return link;
    const { request, form, submittedForm } = link;
    const hasChanged = subscribe(db, submittedForm, request, network, isoTimestamp(now));
    closeRequest(db, request);
    if (isSuppressed(db, form, request)) return { state: 'suppressed', form };
    return { state: hasChanged ? 'confirmed' : 'already', form };
  });
}

/** Carries out a request. Returns true if the contact now gets mail that it did not get before. */
function subscribe(db: Db, form: Form, request: FormRequest, network: string, now: string): boolean {
  const { user_id: accountId, segment_id: segmentId } = form;
  const { address_id: addressId } = request;
  const address = parseAddress(request.email);
  if (address === null || addressId === null) throw new Error('a request without an address');
  const contactsOfAddress = db
    .select()
    .from(contacts)
    .where(and(eq(contacts.address_id, addressId), ownedContacts(accountId)))
    .all();
  const member = contactsOfAddress.find((contact) => contact.contact_type_id === form.contact_type_id);
  const contactId = member?.id ?? addContact(db, form, request, address, now);
  if (member !== undefined) fillEmptyFields(db, form, request, member, now);

  const chosen = chosenGroups(request.groups);
  const resubscribed = resubscribe(db, { accountId, addressId, groupIds: chosen, now });
  // A contact that is new, or was unsubscribed from all mail, is subscribed to the chosen groups only. Other contacts also stay
  // subscribed to their other groups.
  if (contactsOfAddress.length === 0 || resubscribed.includes(null)) {
    for (const groupId of Object.keys(request.groups).map(Number))
      if (!chosen.includes(groupId)) addUnsubscribers(db, { accountId, groupId, source: 'form', now }, [address]);
  }
  const isJoining = segmentId !== null && !isMember(db.$client, segmentId, addressId);
  if (segmentId !== null && isJoining) addContactsToSegment(db, accountId, segmentId, [contactId], now);
  const proof = {
    formName: request.source || form.name,
    askedAt: isoTimestamp(new Date(request.asked_at)),
    askedFrom: request.network,
    confirmedFrom: network,
  };
  recordFormConfirmed(db, form, { address_id: addressId, contact_id: contactId }, now);
  logSubscription(db, { accountId, addressId, formId: form.id, ...proof, consentText: request.consent_text, now });
  // A visitor who leaves the box unticked makes no choice, so an earlier choice stays.
  if (request.tracking_text !== '') {
    const choice = { isAllowed: true, source: 'form', text: request.tracking_text, mailingId: null } as const;
    storeTrackingChoice(db.$client, { accountId, addressId, ...choice, now }, proof);
  }
  return member === undefined || resubscribed.length > 0 || isJoining;
}

function addContact(db: Db, form: Form, request: FormRequest, { address }: Address, now: string): number {
  const { columns, custom } = contactValues(filledFields(db, form, request.given), request.given, form.language);
  const input = {
    contact_type_id: form.contact_type_id,
    email: address,
    country: null,
    ...columns,
    custom_field: custom,
  };
  return insertContact(db, form.user_id, input, now);
}

/** Fills in the empty fields of a contact. Other fields keep their values, because a stranger may have submitted the form. */
function fillEmptyFields(db: Db, form: Form, request: FormRequest, contact: Contact, now: string): void {
  const { columns, custom } = contactValues(filledFields(db, form, request.given), request.given, form.language);
  const { contact_type_id, email, country_id: country } = contact;
  const input: ContactInput = { contact_type_id, email, country };
  for (const [name, value] of Object.entries(columns) as [keyof typeof columns, string][])
    if (contact[name] === '') input[name] = value;
  const empty = listCustomFields(db, form.user_id).filter(({ id }) => (contact.custom_values?.[id] ?? '') === '');
  const filled = empty.flatMap(({ field_name: name }) => (custom[name] === undefined ? [] : [[name, custom[name]]]));
  if (filled.length > 0) input.custom_field = Object.fromEntries(filled);
  // The first three fields are required, but do not change.
  if (Object.keys(input).length > 3) updateContact(db, form.user_id, contact.id, input, now);
}

/** Returns true if an address is in a segment. */
export function isMember(client: Database, segmentId: number, addressId: number): boolean {
  const find = 'SELECT 1 FROM segment_recipients WHERE segment_id = ? AND address_id = ? AND is_removed = 0';
  return client.prepare(find).get(segmentId, addressId) !== undefined;
}
