/** Reads the values with which the placeholders of a mail are merged for a contact: the reserved fields and the account's custom fields. */
import type { Database } from 'better-sqlite3';
import { LINE_COLUMNS, RESERVED_FIELDS, TOPIC } from '../../audience/contacts/contact-fields.ts';
import { languageCode, languageOfCountry } from '../../audience/contacts/contact-languages.ts';
import { listCustomFields } from '../../audience/fields/custom-fields.ts';
import { topicsOf } from '../../audience/unsubscribes.ts';
import type { Db } from '../../database/open.ts';
import type { RecipientIds } from '../links/tokens.ts';
import { preferencesLinkIn } from './footer.ts';
import type { Values } from './merge.ts';
import { FOOTER_LINK } from './placeholders.ts';

const CONTACT_FIELDS = [...RESERVED_FIELDS, TOPIC, 'custom_values'] as const;

/**
 * The fields of a contact; all are null if only the address is known. `topic` has the names of the topics that the contact gets, one in a
 * line; `custom_values` is JSON keyed by the id of the custom field.
 */
export type ContactFields = Record<(typeof CONTACT_FIELDS)[number], string | null>;

/** Returns the fields of a contact that a mail needs for its placeholders and its To header. */
export function contactFieldsFor(
  placeholders: readonly string[],
  names: readonly CustomName[],
): readonly (keyof ContactFields)[] {
  const needed = new Set<string>([...placeholders, 'email', 'first_name', 'last_name']);
  if (needed.has(FOOTER_LINK)) for (const field of LANGUAGE_FIELDS) needed.add(field);
  if (names.some(({ field_name }) => needed.has(field_name))) needed.add('custom_values');
  return CONTACT_FIELDS.filter((field) => needed.has(field));
}

/** The fields from which the language of a contact follows. */
export const LANGUAGE_FIELDS = ['language', 'country'] as const;

/**
 * Returns the language of the contact with these values, as an ISO 639-1 code: the contact's own language, or else the usual
 * language of the contact's country, or else `otherwise`.
 */
export function contactLanguage({ language = '', country = '' }: Values, otherwise: string): string {
  return languageCode(language) ?? languageOfCountry(country) ?? otherwise;
}

/** The id and name of a custom field. */
export interface CustomName {
  id: number;
  field_name: string;
}

/** Returns the fields of the contact with this id, even if the contact was deleted; undefined if the row is gone. */
export function findContactFields(client: Database, contactId: number): ContactFields | undefined {
  return client
    .prepare<[number], ContactFields>(`
      SELECT email, alt_email, countries.name AS country, ${LINE_COLUMNS.join(', ')}, custom_values,
        ${topicsOf('contacts.user_id', 'contacts.address_id')} AS ${TOPIC}
      FROM contacts LEFT JOIN countries ON countries.id = contacts.country_id WHERE contacts.id = ?`)
    .get(contactId);
}

/** Returns the values by placeholder name. `email` is used if the contact has no address. Fields that were not read are empty. */
export function mergeValues(
  contact: Partial<ContactFields>,
  names: readonly CustomName[],
  email: string,
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of [...RESERVED_FIELDS, TOPIC] as const) values[name] = contact[name] ?? '';
  values.email = contact.email ?? email;
  values.full_name = `${values.first_name} ${values.last_name}`.trim();
  const footerLink = preferencesLinkIn(contactLanguage(values, ''));
  if (footerLink !== null) values[FOOTER_LINK] = footerLink;
  if (!contact.custom_values) return values;
  const customValues: Record<string, string> = JSON.parse(contact.custom_values);
  for (const { id, field_name } of names) values[field_name] = customValues[id] ?? '';
  return values;
}

/**
 * Returns the language of an account's contact with this address, as an ISO 639-1 code; null if it is unknown. If several contacts have the
 * address, a contact with a language of its own decides.
 */
export function languageOfAddress(client: Database, accountId: number, addressId: number): string | null {
  const contact = client
    .prepare<[number, number], { language: string; country: string }>(`
      SELECT c.language, ifnull(countries.name, '') AS country
      FROM contacts c LEFT JOIN countries ON countries.id = c.country_id
      WHERE c.address_id = ? AND c.user_id = ? AND c.deleted_at IS NULL ORDER BY c.language = '', countries.id IS NULL, c.id LIMIT 1`)
    .get(addressId, accountId);
  return contact === undefined ? null : contactLanguage(contact, '') || null;
}

/**
 * Returns the placeholder values of the recipient of a link. They are empty if the contact was deleted or has a different address now, or
 * if the ledger lacks the delivery because a restore lost it.
 */
export function deliveryValues(db: Db, { user, delivery, mailing, address }: RecipientIds): Values {
  const contactId = db.$client
    .prepare<[number, number, number], number>(
      `SELECT c.id FROM deliveries d JOIN contacts c ON c.id = d.contact_id AND c.address_id = d.address_id
       WHERE d.id = ? AND d.mailing_id = ? AND d.address_id = ? AND c.deleted_at IS NULL`,
    )
    .pluck()
    .get(delivery, mailing, address);
  return findContactValues(db, user, contactId) ?? {};
}

/** Returns the values of placeholders for one of the account's contacts; null if the contact does not exist. */
export function findContactValues(db: Db, accountId: number, contactId: number | undefined): Values | null {
  const contact = contactId === undefined ? undefined : findContactFields(db.$client, contactId);
  return contact === undefined ? null : mergeValues(contact, listCustomFields(db, accountId), '');
}
