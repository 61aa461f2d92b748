/** Validates contacts: finds the errors in their fields that only the database reveals. */
import { eq } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { countries } from '../../database/schema/index.ts';
import { messages } from '../../errors/field-errors.ts';
import type { Said } from '../../errors/sentences.ts';
import { type CustomField, isValidValue, listCustomFields } from '../fields/custom-fields.ts';
import { languageCode } from './contact-languages.ts';
import { type ContactInput, hasContactType } from './contacts.ts';
import { isErased } from './erased-addresses.ts';

/** The maximum number of custom fields named in one answer, because a request can contain thousands of wrong ones. */
const MAX_NAMED_FIELDS = 20;

/** What the check of a contact reads from the database. */
export interface ContactFacts {
  hasContactType(id: number): boolean;
  hasCountry(id: number): boolean;
  isErased(email: string | undefined): boolean;
  /** The types of the account's custom fields by name. */
  fieldTypes(): ReadonlyMap<string, CustomField['field_type']>;
}

/** Returns the field errors of a contact that only the database reveals, as pairs of field and text. */
export function contactErrors(db: Db, accountId: number, input: Partial<ContactInput>): [string, Said][] {
  return errorsByFacts(input, {
    hasContactType: (id) => hasContactType(db, accountId, id),
    hasCountry: (id) => countryExists(db, id),
    isErased: (email) => isErased(db.$client, accountId, email),
    fieldTypes: () => fieldTypes(listCustomFields(db, accountId)),
  });
}

/** Returns the field errors of a contact, as `contactErrors` does, from facts that a caller with many contacts has read once for all. */
export function errorsByFacts(input: Partial<ContactInput>, facts: ContactFacts): [string, Said][] {
  const errors: [string, Said][] = [];
  const { contact_type_id, country, language, custom_field } = input;
  if (contact_type_id !== undefined && !facts.hasContactType(contact_type_id)) {
    errors.push(['contact_type_id', messages.selected('contact_type_id')]);
  }
  if (country != null && !facts.hasCountry(country)) errors.push(['country', messages.selected('country')]);
  if (language && languageCode(language) === null) errors.push(['language', messages.selected('language')]);
  for (const field of ['email', 'alt_email'] as const)
    if (facts.isErased(input[field])) errors.push([field, messages.erased(field)]);
  if (custom_field !== undefined) {
    const types = facts.fieldTypes();
    const faulty = Object.entries(custom_field).flatMap(([name, value]): [string, Said][] => {
      const type = types.get(name);
      if (type === undefined) return [['custom_field', messages.selected(name)]];
      return value === '' || isValidValue(type, value) ? [] : [['custom_field', messages.value(name, type)]];
    });
    errors.push(...faulty.slice(0, MAX_NAMED_FIELDS));
  }
  return errors;
}

/** Returns the types of custom fields by name. */
export function fieldTypes(fields: readonly CustomField[]): Map<string, CustomField['field_type']> {
  return new Map(fields.map(({ field_name, field_type }) => [field_name, field_type]));
}

function countryExists(db: Db, id: number): boolean {
  return db.select({ id: countries.id }).from(countries).where(eq(countries.id, id)).get() !== undefined;
}
