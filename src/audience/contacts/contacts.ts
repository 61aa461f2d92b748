/** Creates, changes and deletes single contacts. The import writes many at once. */
import { and, eq, isNull, type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { isOwned, ownedBy, recordId } from '../../database/ownership.ts';
import { contacts, contactTypes } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { conflict, invalid, notFound } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { type CustomField, listCustomFields } from '../fields/custom-fields.ts';
import { moveRecordsToAddress } from '../import/undo-records.ts';
import {
  peopleOf,
  readdressRecipients,
  recordMembershipChange,
  syncAfterContactChange,
  syncTypeChange,
} from '../segments/membership.ts';
import { addressId } from './address-rows.ts';
import { parseAddress } from './addresses.ts';
import { LINE_COLUMNS, type LineName } from './contact-fields.ts';
import { languageCode } from './contact-languages.ts';
import { isErased } from './erased-addresses.ts';

/** The fields of a contact in a request. Absent fields are not changed. */
export interface ContactInput extends Partial<Record<LineName, string>> {
  contact_type_id: number;
  email: string;
  alt_email?: string;
  /** The id of the country; null: unknown. */
  country?: number | null;
  custom_field?: Record<string, string>;
}

/** Returns the condition for the account's contacts whose contact type is not deleted. */
export function ownedContacts(accountId: number | Placeholder): SQL | undefined {
  // A scalar subquery looks the type up by its id. IN (SELECT …) would build the list of the account's types again for every
  // contact. SQLite turns EXISTS into a join, with which reading a single contact takes five times as long.
  const hasLiveType = sql`(SELECT 1 FROM contact_types AS live_type
    WHERE live_type.id = ${contacts.contact_type_id} AND live_type.user_id = ${contacts.user_id} AND live_type.deleted_at IS NULL)`;
  return and(ownedBy(contacts, accountId), hasLiveType);
}

/** Returns the condition for the account's contact with this identifier whose contact type is not deleted. */
function ownedContact(accountId: number, id: unknown): SQL | undefined {
  return and(eq(contacts.id, recordId(id)), ownedContacts(accountId));
}

/** Returns true if the account has this contact type. */
export function hasContactType(db: Db, accountId: number, id: unknown): boolean {
  return isOwned(db, contactTypes, id, accountId);
}

/** Returns the id of the contact of a type, other than `exceptId`, with this address; undefined if there is none. */
export function findWithEmail(
  db: Db,
  accountId: number,
  typeId: number,
  email: string,
  exceptId: number,
): number | undefined {
  const normalized = parseAddress(email)?.normalized ?? '';
  return db.get<{ id: number } | undefined>(sql`
    SELECT contacts.id FROM addresses JOIN contacts ON contacts.address_id = addresses.id
    WHERE addresses.user_id = ${accountId} AND normalized_email = ${normalized}
      AND contact_type_id = ${typeId} AND deleted_at IS NULL AND contacts.id <> ${exceptId}`)?.id;
}

/** Adds a contact and returns its id. The caller has checked it with `contactErrors` and `findWithEmail`. */
export function insertContact(db: Db, accountId: number, input: ContactInput, now: string): number {
  return inTransaction(db, (tx) => {
    const columns = contactColumns(db, accountId, input, {}, now);
    const contact = tx
      .insert(contacts)
      .values({ ...columns, user_id: accountId, created_at: now })
      .returning()
      .get();
    syncMemberships(db, null, contact, now);
    return contact.id;
  });
}

/** A contact whose e-mail address was changed, with the address ids before and after. */
export interface AddressChange {
  contact: number;
  from: number;
  to: number;
}

/**
 * Changes a contact that the caller has checked with `contactErrors`. Returns the old and new address ids, or null if the
 * address stays the same. Throws 404 if the contact does not exist, and a field error if another contact has the address.
 */
export function updateContact(
  db: Db,
  accountId: number,
  id: unknown,
  input: ContactInput,
  now: string,
): AddressChange | null {
  return inTransaction(db, (tx) => {
    const before = tx.select().from(contacts).where(ownedContact(accountId, id)).get();
    if (before === undefined) throw notFound();
    if (findWithEmail(db, accountId, input.contact_type_id, input.email, before.id) !== undefined)
      throw invalid('email', messages.taken('email'));
    const after = tx
      .update(contacts)
      .set(contactColumns(db, accountId, input, before.custom_values ?? {}, now))
      .where(eq(contacts.id, before.id))
      .returning()
      .get();
    syncMemberships(db, before, after, now);
    const [from, to] = [before.address_id, after.address_id];
    return from === to ? null : { contact: before.id, from, to };
  });
}

type Contact = typeof contacts.$inferSelect;

/**
 * Updates segments and automations after a contact was added, changed or moved to another type. Correcting an address is
 * neither leaving nor joining, because the contact stays the same, unless a segment has a rule about the address.
 */
function syncMemberships(db: Db, before: Contact | null, after: Contact, now: string): void {
  const { id, contact_type_id: type, address_id: to, email } = after;
  const { contact_type_id: earlierType, address_id: from } = before ?? after;
  const people = peopleOf([{ address_id: to, contact_id: id }]);
  const addresses = from === to ? [to] : [from, to];
  if (from !== to) {
    db.run(sql`INSERT INTO earlier_addresses VALUES (${id}, ${from}) ON CONFLICT DO NOTHING`);
    readdressRecipients(db, { id, type: earlierType, email, from, to }, now);
    moveRecordsToAddress(db.$client, { account: after.user_id, contact: id, from, to });
  }
  if (earlierType !== type) {
    recordMoves(db, [{ contact: id, from: earlierType, to: type }], now);
    recordMembershipChange(db, { table: 'contacts', id: earlierType }, 'left', people, now);
    syncAfterContactChange(db, earlierType, addresses, now);
  }
  if (before === null || earlierType !== type)
    recordMembershipChange(db, { table: 'contacts', id: type }, 'joined', people, now);
  syncAfterContactChange(db, type, addresses, now);
}

/** Records moves of contacts to other types for their timeline. Call inside the transaction of the change. */
export function recordMoves(
  db: Db,
  moves: readonly { contact: number; from: number; to: number }[],
  now: string,
): void {
  db.run(sql`
    INSERT INTO contact_moves (contact_id, from_type_id, to_type_id, created_at)
    SELECT value ->> 'contact', value ->> 'from', value ->> 'to', ${now} FROM json_each(${JSON.stringify(moves)})`);
}

/** Marks contacts as deleted. The caller has checked that they belong to the account. */
export function deleteContacts(db: Db, ids: readonly number[], now: string): void {
  inTransaction(db, (tx) => {
    const areThese = sql`${contacts.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;
    const deleted = tx
      .update(contacts)
      .set({ deleted_at: now })
      .where(and(areThese, isNull(contacts.deleted_at)))
      .returning({ id: contacts.id, type: contacts.contact_type_id, address_id: contacts.address_id })
      .all();
    for (const [type, left] of Map.groupBy(deleted, (contact) => contact.type))
      syncTypeChange(db, type, 'left', left, now);
  });
}

/**
 * Returns the columns to set for these fields. `stored` has the current values of custom fields. A field that is absent in `input` is
 * not set, and an empty one is cleared. Throws 409 for an erased address.
 */
function contactColumns(db: Db, accountId: number, input: ContactInput, stored: Record<string, string>, now: string) {
  const { contact_type_id, email, alt_email, country: country_id, custom_field } = input;
  if (isErased(db.$client, accountId, alt_email)) throw conflict(messages.erased('alt_email'));
  const address = parseAddress(email);
  if (address === null) throw new Error('an address reached the database unchecked');
  const address_id = addressId(db, accountId, address);
  const lines: Partial<Record<LineName, string>> = {};
  for (const column of LINE_COLUMNS) if (input[column] !== undefined) lines[column] = storedLine(column, input[column]);
  return {
    ...lines,
    country_id,
    ...(alt_email !== undefined && { alt_email: alt_email || null }),
    ...(custom_field && { custom_values: mergeCustomValues(custom_field, listCustomFields(db, accountId), stored) }),
    contact_type_id,
    email,
    address_id,
    updated_at: now,
  };
}

/** Returns the form in which the database has a valid value of a field of one line. */
export function storedLine(name: LineName, value: string): string {
  return name === 'language' ? (languageCode(value) ?? '') : value;
}

/**
 * Returns the values of a contact's custom fields by field id: the stored values with those of `input`, which has them by field name.
 * An empty value in `input` removes the stored one.
 */
export function mergeCustomValues(
  input: Record<string, string>,
  fields: readonly CustomField[],
  stored: Record<string, string>,
): Record<string, string> {
  const merged = { ...stored };
  for (const { id, field_name } of fields) {
    const value = input[field_name];
    if (value === '') delete merged[id];
    else if (value !== undefined) merged[id] = value;
  }
  return merged;
}
