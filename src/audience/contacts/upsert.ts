/**
 * Keeps a list up to date for other programs: adds contacts, or changes those whose address the list has already.
 */
import type { Database } from 'better-sqlite3';
import { inChunks, inSlices } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { MAX_LINE_CHARACTERS, messages } from '../../errors/field-errors.ts';
import type { Said } from '../../errors/sentences.ts';
import { type CustomField, listCustomFields } from '../fields/custom-fields.ts';
import { peopleOf, recordMembershipChange, syncAfterContactChange } from '../segments/membership.ts';
import { addAddresses } from './address-rows.ts';
import { type Address, parseAddress } from './addresses.ts';
import { type ContactFacts, errorsByFacts, fieldTypes } from './contact-errors.ts';
import { LINE_COLUMNS } from './contact-fields.ts';
import { type ContactInput, hasContactType, mergeCustomValues, storedLine } from './contacts.ts';
import { countryId } from './countries.ts';
import { erasedAmong } from './erased-addresses.ts';

/** The maximum number of contacts in one request. */
export const MAX_CONTACTS = 1000;
/** The maximum number of contacts that are written at once, which takes a few milliseconds where the list has few segments. */
const ROWS_AT_ONCE = 100;
/** How long a request waits for the write lock, in milliseconds. */
const LOCK_WAIT_MS = 10_000;

export const OUTCOMES = ['created', 'updated', 'failed'] as const;

/** What became of one contact. */
export interface Outcome {
  email: string;
  outcome: (typeof OUTCOMES)[number];
  contact_id: number | null;
  errors: { field: string; text: Said }[];
}

/**
 * Adds contacts to a list, or changes those whose address the list has already. Checks the contacts of a request, which
 * may have any shape. A contact with an error is not written; the others are. Other requests are answered between
 * the transactions.
 * @param list The id of the contact type.
 * @param now ISO timestamp.
 * @param onlyEmpty True if fields that have a value keep it.
 */
export async function upsertAll(
  db: Db,
  accountId: number,
  list: number,
  values: readonly unknown[],
  now: string,
  onlyEmpty = false,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  // Several contacts are written at once, because each commit waits for the disk and reads each segment of the list.
  const write = inSlices(values, ROWS_AT_ONCE, (slice) =>
    outcomes.push(...upsertSome(db, accountId, list, slice, now, onlyEmpty)),
  );
  await inChunks(db.$client, write, LOCK_WAIT_MS);
  return outcomes;
}

/** An address of a request. */
interface KnownAddress {
  /** The id of the address. */
  address: number;
  normalized: string;
  /** The id of the contact in the list with this address; null: there is none yet. */
  id: number | null;
  /** The values of the contact's custom fields, as JSON by field id. */
  custom: string | null;
}

/** Adds or changes some contacts. Call inside a transaction. */
function upsertSome(
  db: Db,
  accountId: number,
  list: number,
  values: readonly unknown[],
  now: string,
  onlyEmpty: boolean,
): Outcome[] {
  const client = db.$client;
  const contacts = values.map((value) => readContact(value, list));
  const fields = listCustomFields(db, accountId);
  const facts = readFacts(db, accountId, list, contacts, fields);
  for (const { input, errors } of contacts) if (errors.length === 0) errors.push(...errorsByFacts(input, facts));
  const addresses = contacts.flatMap(({ address, errors }) => (address === null || errors.length > 0 ? [] : [address]));
  addAddresses(db, accountId, addresses);
  const known = findAddresses(client, accountId, list, addresses);
  const created: { contact_id: number; address_id: number }[] = [];

  const outcomes = contacts.map(({ input, address, errors }): Outcome => {
    const { email, custom_field: customValues } = input;
    const person = known.get(address?.normalized ?? '');
    if (errors.length > 0 || person === undefined)
      return { email, outcome: 'failed', contact_id: null, errors: errors.map(([field, text]) => ({ field, text })) };
    if (customValues !== undefined) {
      const stored = JSON.parse(person.custom ?? '{}');
      const changing = onlyEmpty ? fields.filter(({ id }) => (stored[id] ?? '') === '') : fields;
      person.custom = JSON.stringify(mergeCustomValues(customValues, changing, stored));
    }
    const columns = { ...columnsOf(input), email, custom: person.custom, now };
    if (person.id !== null) {
      client.prepare(UPDATE).run({ ...columns, id: person.id, onlyEmpty: Number(onlyEmpty) });
      return { email, outcome: 'updated', contact_id: person.id, errors: [] };
    }
    const added = client.prepare(INSERT).run({ ...columns, account: accountId, list, address: person.address });
    // A later contact of the request with the same address changes this one.
    person.id = Number(added.lastInsertRowid);
    created.push({ contact_id: person.id, address_id: person.address });
    return { email, outcome: 'created', contact_id: person.id, errors: [] };
  });
  if (created.length > 0) recordMembershipChange(db, { table: 'contacts', id: list }, 'joined', peopleOf(created), now);
  const changed = [...known.values()].map((person) => person.address);
  if (changed.length > 0) syncAfterContactChange(db, list, changed, now);
  return outcomes;
}

type ReadContact = ReturnType<typeof readContact>;

/** Reads once what the checks of some contacts need. */
function readFacts(
  db: Db,
  accountId: number,
  list: number,
  contacts: readonly ReadContact[],
  fields: readonly CustomField[],
): ContactFacts {
  const normalizedOf = (email: string | undefined) => parseAddress(email ?? '')?.normalized ?? '';
  const addresses = contacts.flatMap(({ input }) => [normalizedOf(input.email), normalizedOf(input.alt_email)]);
  const erased = new Set(erasedAmong(db.$client, accountId, addresses));
  const isOwnedType = hasContactType(db, accountId, list);
  const types = fieldTypes(fields);
  return {
    hasContactType: () => isOwnedType,
    // `countryId` gives only ids of countries that exist.
    hasCountry: () => true,
    isErased: (email) => erased.size > 0 && erased.has(normalizedOf(email)),
    fieldTypes: () => types,
  };
}

/** Returns the rows of these addresses, with their contacts in the list, by normalized address. */
function findAddresses(
  client: Database,
  account: number,
  list: number,
  addresses: readonly Address[],
): Map<string, KnownAddress> {
  const rows = client
    .prepare<
      [object],
      KnownAddress
    >(`SELECT a.id AS address, a.normalized_email AS normalized, c.id, c.custom_values AS custom
    FROM json_each(@given) CROSS JOIN addresses a ON a.user_id = @account AND a.normalized_email = value
    LEFT JOIN contacts c ON c.contact_type_id = @list AND c.address_id = a.id AND c.deleted_at IS NULL`)
    .all({ account, list, given: JSON.stringify(addresses.map(({ normalized }) => normalized)) });
  return new Map(rows.map((row) => [row.normalized, row]));
}

/**
 * The columns that a request may omit, each with the SQL of its value. A parameter is NULL if the request omits the column; an empty text
 * or the country 0 clears the column.
 */
const COLUMNS: readonly (readonly [name: string, value: string])[] = [
  ...LINE_COLUMNS.map((name) => [name, `ifnull(@${name}, '')`] as const),
  ['alt_email', `nullif(@alt_email, '')`],
  ['country_id', 'nullif(@country_id, 0)'],
];
const OMITTED = Object.fromEntries(COLUMNS.map(([name]) => [name, null]));

const INSERT = `
  INSERT INTO contacts (user_id, contact_type_id, address_id, email, custom_values, created_at, updated_at, ${COLUMNS.map(([name]) => name).join(', ')})
  VALUES (@account, @list, @address, @email, @custom, @now, @now, ${COLUMNS.map(([, value]) => value).join(', ')})`;
const UPDATE = `
  UPDATE contacts SET email = iif(@onlyEmpty, email, @email), custom_values = @custom, updated_at = @now,
    ${COLUMNS.map(([name, value]) => `${name} = iif(@${name} IS NULL OR (@onlyEmpty AND ifnull(${name}, '') <> ''), ${name}, ${value})`).join(', ')}
  WHERE id = @id`;

/** Returns the parameters of `COLUMNS` for a contact. */
function columnsOf({ contact_type_id: _list, email: _email, custom_field: _own, country, ...lines }: ContactInput) {
  const { language } = lines;
  return {
    ...OMITTED,
    ...lines,
    ...(language !== undefined && { language: storedLine('language', language) }),
    ...(country !== undefined && { country_id: country ?? 0 }),
  };
}

/** Reads a contact of a request, whose shape nothing has checked yet. The address is null if it is not valid. */
function readContact(
  contact: unknown,
  list: number,
): { input: ContactInput; address: Address | null; errors: [string, Said][] } {
  const errors: [string, Said][] = [];
  const fields = new Map<string, unknown>(Object.entries(Object(contact)));
  // Returns the value of a field as one line: undefined if the field is absent, empty if it is null or faulty.
  const text = (name: string): string | undefined => {
    const value = fields.get(name);
    if (value === undefined) return undefined;
    if (value === null) return '';
    const line = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : null;
    if (line === null) errors.push([name, messages.string(name)]);
    else if (line.length > MAX_LINE_CHARACTERS) errors.push([name, messages.maximum(name, MAX_LINE_CHARACTERS)]);
    else if (/[\p{Cc}\u2028\u2029]/u.test(line)) errors.push([name, messages.oneLine(name)]);
    return line ?? '';
  };
  const email = text('email') ?? '';
  const address = parseAddress(email);
  if (email === '') errors.push(['email', messages.required('email')]);
  else if (address === null) errors.push(['email', messages.email('email')]);
  const input: ContactInput = { contact_type_id: list, email };
  const second = text('alt_email');
  if (second !== undefined) input.alt_email = second;
  if (second && parseAddress(second) === null) errors.push(['alt_email', messages.email('alt_email')]);
  for (const name of LINE_COLUMNS) {
    const value = text(name);
    if (value !== undefined) input[name] = value;
  }
  const country = text('country');
  if (country === '') input.country = null;
  else if (country !== undefined) {
    input.country = countryId(country);
    if (input.country === null) errors.push(['country', messages.selected('country')]);
  }
  const own = fields.get('custom_field');
  if (own !== undefined && own !== null) {
    if (typeof own !== 'object' || Array.isArray(own)) errors.push(['custom_field', messages.selected('custom_field')]);
    else {
      const values = Object.entries(own).map(([name, value]) => [name, value === null ? '' : value] as const);
      const isPlain = values.every(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
      if (!isPlain) errors.push(['custom_field', messages.string('custom_field')]);
      input.custom_field = Object.fromEntries(values.map(([name, value]) => [name, String(value)]));
    }
  }
  return { input, address, errors };
}
