/** What placeholders become for a recipient (decisions §6): reserved fields, then the account's custom ones. */
import { customFieldsOf } from '../audience/fields.ts';
import type { Db } from '../database/open.ts';
import type { Claim } from './ledger.ts';
import type { Values } from './merge.ts';

/** The part of a contact that mails are merged from; all null for someone without one. */
export type Person = Omit<
  Claim,
  'id' | 'mailing_id' | 'address_id' | 'attempt' | 'first_tried_at' | 'compared_email' | 'contact_id'
>;

/** A custom field's id as `contacts.custom_values` keys it, and its name. */
export interface CustomName {
  id: string;
  field_name: string;
}

/** The names of an account's custom fields. */
export function customNames(db: Db, userId: number): CustomName[] {
  return customFieldsOf(db, userId).map(({ id, field_name }) => ({ id: String(id), field_name }));
}

/** What placeholders become for this person; `to` is the address where the contact gives none. */
export function valuesOf(person: Partial<Person>, names: readonly CustomName[], to: string): Record<string, string> {
  const first = person.first_name ?? '';
  const last = person.last_name ?? '';
  const values: Record<string, string> = {
    first_name: first,
    last_name: last,
    full_name: `${first} ${last}`.trim(),
    email: person.email ?? to,
    alt_email: person.alt_email ?? '',
    country: person.country ?? '',
    state: person.state ?? '',
    city: person.city ?? '',
    address_line1: person.address_line1 ?? '',
    address_line2: person.address_line2 ?? '',
    state_province_region: person.state_province_region ?? '',
    postal_code: person.postal_code ?? '',
  };
  if (person.custom_values === null || person.custom_values === undefined) return values;
  const own: Record<string, string> = JSON.parse(person.custom_values);
  for (const { id, field_name } of names) values[field_name] = own[id] ?? '';
  return values;
}

const PERSON = `
  SELECT c.email, c.alt_email, c.first_name, c.last_name, co.name AS country, c.state, c.city, c.address_line1,
    c.address_line2, c.state_province_region, c.postal_code, c.custom_values
  FROM contacts c LEFT JOIN countries co ON co.id = c.country_id WHERE c.deleted_at IS NULL AND`;

/** The values of a delivery's recipient as they are today; of a contact that was deleted none are left, not even the address. */
export function valuesOfDelivery(db: Db, userId: number, deliveryId: number): Values {
  const person = db.$client
    .prepare<[number], Person>(`${PERSON} c.id = (SELECT contact_id FROM deliveries WHERE id = ?)`)
    .get(deliveryId);
  return person === undefined ? {} : valuesOf(person, customNames(db, userId), '');
}

/** The values of an account's newest contact with this compared address, or of its newest contact at all; null when there is none. */
export function valuesOfContact(db: Db, userId: number, compared: string | null): Values | null {
  const who =
    compared === null
      ? ''
      : 'AND c.address_id = (SELECT id FROM addresses WHERE user_id = @user AND compared_email = @compared)';
  const person = db.$client
    .prepare<[Record<string, unknown>], Person>(`${PERSON} c.user_id = @user ${who} ORDER BY c.id DESC LIMIT 1`)
    .get({ user: userId, ...(compared !== null && { compared }) });
  return person === undefined ? null : valuesOf(person, customNames(db, userId), '');
}
