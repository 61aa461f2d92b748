/** Operations for contacts: listing, reading, adding, changing and deleting them, and their CSV files. */
import type { Readable } from 'node:stream';
import { and, eq, type SQL, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { updateContactKeepingPlaces } from '../../automations/move-enrolments.ts';
import type { Db } from '../../database/open.ts';
import { ownedBy, recordId, requireOwnedIds } from '../../database/ownership.ts';
import { recordObject, recordReader, totalBytes } from '../../database/record-json.ts';
import { contacts, contactTypes, countries } from '../../database/schema/index.ts';
import { notFound } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import {
  choice,
  email,
  flag,
  identifier,
  identifiers,
  integer,
  line,
  listQuery,
  nullable,
  optionalIdentifier,
  reference,
  said,
  softStamps,
} from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import { LANGUAGE_CODES } from '../../languages.ts';
import { type Context, listOperation, operation, recordOperation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { ContactType } from '../contact-types/operations.ts';
import { csvStream, PLAIN_CSV, spreadsheetCsv } from '../csv-write.ts';
import { type CustomField, customFieldRecord, listCustomFields, storedFieldRecord } from '../fields/custom-fields.ts';
import { listSearch } from '../search/list-search.ts';
import { deleteAllContacts } from '../unfinished-writes.ts';
import { contactErrors } from './contact-errors.ts';
import { byField, CONTRACT_FIELDS, type LineName, reservedField } from './contact-fields.ts';
import { type ContactInput, findWithEmail, hasContactType, insertContact, ownedContacts } from './contacts.ts';
import { contactsCsv } from './export.ts';
import { MAX_CONTACTS, OUTCOMES, type Outcome, upsertAll } from './upsert.ts';

/** Returns the description of a field that is one line of text. */
const described = (name: LineName) => ({
  description: reservedField(name)?.description ?? 'The text as it was given.',
});

const { language: Language, ...ContractFields } = byField(
  {
    email: Type.String(),
    alt_email: nullable(Type.String(), 'A second e-mail address, which gets no mail; null when the contact has none.'),
    country: Type.String(),
  },
  (name) => Type.String(described(name)),
);

/** A contact in the form of the API's contract. */
export const Contact = Type.Object({
  id: integer(),
  user_id: integer(),
  contact_type_id: integer(),
  ...ContractFields,
  custom_field: nullable(
    Type.Record(
      Type.String(),
      Type.Object({
        field_name: Type.String(),
        field_value: nullable(Type.String(), 'The value; null when the contact has none.'),
      }),
    ),
    'Values of your custom fields by field name; null when the account has none.',
  ),
  ...softStamps,
  fullname: Type.String(),
});
export type Contact = Static<typeof Contact>;
/** A contact with the language, which the contract does not have. */
export const WholeContact = Type.Object({ ...Contact.properties, language: Language });
const ListedContact = Type.Object({
  ...Contact.properties,
  contact_type: Type.Object(ContactType.properties, { description: 'The contact type of the contact.' }),
});

/** The parameters of a contact. */
export const NewContact = Type.Object({
  contact_type_id: reference(),
  ...byField(
    {
      email: email(),
      alt_email: Type.Optional(Type.String({ format: 'email-address-or-empty', description: 'Addition.' })),
      country: reference(),
    },
    (name) => Type.Optional(line(described(name))),
  ),
  custom_field: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'Addition: values by custom field name.' }),
  ),
});
const ById = { contact_id: identifier('The contact.') };

/**
 * Up to this number of custom fields, contacts are small. Then the list does not compute the sizes of rows, which would take a third of
 * its time.
 */
const MAX_UNMEASURED_FIELDS = 20;
/** The number of bytes that a custom field adds to the size of a page, because making its JSON takes as long as copying these bytes. */
const FIELD_COST_BYTES = 300;
/** The maximum number of cached statements for reading contacts. */
const MAX_READERS = 100;

/** SQL: the full name of a contact. */
export const fullname = sql`trim(${contacts.first_name} || ' ' || ${contacts.last_name})`;

/** Returns the path of a contact's details, for the header Location. */
export const detailsPath = (id: number) => `/api/contacts/details?contact_id=${id}`;

export const listContacts = listOperation({
  name: 'List the contacts',
  role: 'viewer',
  input: Type.Object({
    ...listQuery.properties,
    contact_type_id: optionalIdentifier('Addition: only contacts of this type.'),
    search: Type.Optional(line({ description: 'Addition: part of an e-mail address or a name.' })),
  }),
  as: 'contacts',
  record: ListedContact,
  select({ db, accountId }, { contact_type_id, search, ...part }) {
    const typeId = contact_type_id === undefined ? undefined : recordId(contact_type_id);
    const fields = listCustomFields(db, accountId);
    return {
      record: recordObject(ListedContact, contacts, {
        country: sql`ifnull(${countries.name}, '')`,
        fullname,
        custom_field: customFieldRecord(fields),
        contact_type: recordObject(ContactType, contactTypes),
      }),
      // CROSS JOIN makes SQLite loop over the contacts first, so that a page is a range of their index. Joins cost half as much
      // as subqueries.
      from: sql`${contacts} CROSS JOIN ${contactTypes} ON ${contactTypes.id} = ${contacts.contact_type_id}
        LEFT JOIN ${countries} ON ${countries.id} = ${contacts.country_id}`,
      where: and(
        ownedBy(contacts, accountId),
        ownedBy(contactTypes, accountId),
        typeId === undefined ? undefined : eq(contacts.contact_type_id, typeId),
      ),
      id: contacts.id,
      bytes:
        fields.length > MAX_UNMEASURED_FIELDS
          ? sql`${totalBytes(contacts.custom_values)} + ${FIELD_COST_BYTES * fields.length}`
          : undefined,
      find: search ? listSearch(db.$client, { accountId, typeId, text: search }) : undefined,
      part,
    };
  },
});

export const addContact = operation({
  name: 'Add a contact',
  description:
    'An e-mail address is unique within a contact type. If a contact of the type has it, the answer is 422, and its header Location names the details of that contact: change it with /contacts/update. /contacts/upload-csv adds new contacts and updates the others.',
  role: 'editor',
  isOneWrite: true,
  input: NewContact,
  check: (context, input, errors) => checkContact(context, 0, input, errors),
  run: ({ db, clock, accountId }, input) => insertContact(db, accountId, input, isoTimestamp(clock.now())),
});

export const readContact = recordOperation({
  name: 'Read a contact',
  role: 'viewer',
  input: Type.Object(ById),
  as: 'contact',
  record: Contact,
  json: ({ db, accountId }, { contact_id }) =>
    contactReader(db, listCustomFields(db, accountId))({ id: recordId(contact_id), accountId }),
});

export const changeContact = operation({
  name: 'Change a contact',
  description: 'A parameter that is absent keeps its value; an empty one clears it.',
  role: 'editor',
  isOneWrite: true,
  input: Type.Object({ ...ById, ...NewContact.properties }),
  check: (context, { contact_id, ...fields }, errors) => checkContact(context, recordId(contact_id), fields, errors),
  run({ db, clock, accountId }, { contact_id, ...fields }) {
    updateContactKeepingPlaces(db, accountId, contact_id, fields, isoTimestamp(clock.now()));
  },
});

/** Like `addContact`, for a page: the country is optional, because a user who enters a contact may not know it. */
export const enterContact = operation({
  ...addContact,
  input: Type.Object({ ...NewContact.properties, country: Type.Optional(reference()) }),
});

/** Like `changeContact`, for a page: the country is optional, because imports and forms add contacts without one. */
export const editContact = operation({
  ...changeContact,
  input: Type.Object({ ...changeContact.input.properties, country: Type.Optional(reference()) }),
});

const Upserted = Type.Object({
  email: Type.String({ description: 'The address as it was given.' }),
  outcome: Type.Unsafe<Outcome['outcome']>(
    Type.String({ enum: [...OUTCOMES], description: 'The outcome. A contact that failed is unchanged.' }),
  ),
  contact_id: nullable(integer(), 'Id of the contact; null if the contact failed.'),
  errors: Type.Array(
    Type.Object({
      field: Type.String({ description: 'The field.' }),
      text: said('What is wrong.'),
    }),
    { description: 'Why the contact failed.' },
  ),
});

/**
 * The fields of one contact: those of `NewContact`, except that `email` is optional, because a request with a list of
 * contacts has none, and that `country` may also be an ISO code or an id.
 */
const { email: ADDRESS, country: _, ...OTHER_FIELDS } = NewContact.properties;

export const upsertContacts = operation({
  name: 'Add contacts, or change those with the same address in the list (addition)',
  description:
    'The request has either the fields of one contact or, in JSON, `contacts`: a list of up to 1 000 objects with these fields. Fields that are absent keep their value, empty ones clear it. Each contact has its own outcome: one with an error changes nothing, and the others are written. Contacts who unsubscribed or are suppressed stay so. The request can be repeated.',
  role: 'editor',
  input: Type.Object({
    ...OTHER_FIELDS,
    email: Type.Optional(Type.Unsafe<string>({ ...ADDRESS, examples: ['zoe@example.com'] })),
    country: Type.Optional(
      Type.String({ maxLength: 255, description: 'English name, ISO code or id of the country.' }),
    ),
    only_empty: Type.Optional(
      flag(
        '1: fields that have a value already keep it. This is for values that nobody has checked, such as those of a checkout.',
      ),
    ),
    contacts: Type.Optional(
      Type.Unsafe<unknown[]>({
        type: 'array',
        minItems: 1,
        maxItems: MAX_CONTACTS,
        items: { description: 'An object with the fields of a contact.' },
        description: `At most ${MAX_CONTACTS} contacts, each with the fields of one contact.`,
      }),
    ),
  }),
  output: Type.Object({
    created: integer({ description: 'The number of contacts added.' }),
    updated: integer({ description: 'The number of contacts changed.' }),
    failed: integer({ description: 'The number of contacts with an error.' }),
    contacts: Type.Array(Upserted, { description: 'The contacts in the order of the request.' }),
  }),
  check({ db, accountId }, input, errors) {
    const { contact_type_id: list } = input;
    if (list !== undefined) errors.reference('contact_type_id', () => hasContactType(db, accountId, list));
    const hasRows = input.contacts !== undefined || errors.has('contacts');
    if (!hasRows && input.email === undefined && !errors.has('email')) errors.add('email', messages.required('email'));
  },
  async run({ db, clock, accountId, wake }, { contact_type_id, contacts, only_empty, ...contact }) {
    const now = isoTimestamp(clock.now());
    const outcomes = await upsertAll(db, accountId, contact_type_id, contacts ?? [contact], now, only_empty === 1);
    wake();
    const count = (kind: Outcome['outcome']) => outcomes.filter(({ outcome }) => outcome === kind).length;
    return { created: count('created'), updated: count('updated'), failed: count('failed'), contacts: outcomes };
  },
});

export const deleteContact = operation({
  name: 'Delete a contact',
  description: 'The contact gets no more mail, not even from single sends that are running.',
  role: 'editor',
  input: Type.Object(ById),
  run: (context, { contact_id }) => deleteOwned(context, [contact_id]),
});

export const deleteContacts = operation({
  name: 'Delete several contacts',
  description: 'Deletes all of them, or none if one of the ids is unknown.',
  role: 'editor',
  input: Type.Object({ strIds: identifiers('Contact ids.') }),
  run: (context, { strIds }) => deleteOwned(context, strIds),
});

const SAMPLE_VALUES: Record<string, string> = {
  text: 'text',
  number: '42',
  'datetime-local': '2026-01-31T09:30',
  'yearly-date': '12-24',
};

export const sampleCsv = operation({
  name: 'Download a sample of the CSV to upload',
  role: 'viewer',
  input: Type.Object({}),
  run({ db, accountId }): Readable {
    const own = listCustomFields(db, accountId);
    const row = [
      ...CONTRACT_FIELDS.map((field) => reservedField(field)?.sample ?? ''),
      ...own.map((field) => SAMPLE_VALUES[field.field_type] ?? ''),
    ];
    return csvStream([...CONTRACT_FIELDS, ...own.map((field) => field.field_name)], [[row]]);
  },
});

export const exportContacts = operation({
  name: 'Download the contacts of a type as CSV',
  role: 'viewer',
  input: Type.Object({ contact_type_id: identifier('The contact type.') }),
  run: (context, { contact_type_id }): Readable => exported(context, contact_type_id),
});

/** For the download of the dashboard, which opens in a spreadsheet. */
export const exportContactsForSpreadsheet = operation({
  name: 'Download the contacts of a type for a spreadsheet',
  role: 'viewer',
  input: Type.Object({ contact_type_id: identifier('The contact type.'), language: choice(...LANGUAGE_CODES) }),
  run: (context, { contact_type_id, language }): Readable =>
    exported(context, contact_type_id, spreadsheetCsv(language)),
});

/** Returns the contacts of a type as CSV, in the form for programs unless another is given. Throws 404. */
function exported({ db, accountId }: Context, typeId: unknown, form = PLAIN_CSV): Readable {
  if (!hasContactType(db, accountId, typeId)) throw notFound();
  return contactsCsv(db, accountId, recordId(typeId), { form });
}

/** Returns the address id of a contact of the caller's account. Throws 404. */
export function requireAddress({ db, accountId }: Context, contactId: unknown): number {
  const contact = db
    .select({ address: contacts.address_id })
    .from(contacts)
    .where(and(eq(contacts.id, recordId(contactId)), ownedContacts(accountId)))
    .get();
  if (contact === undefined) throw notFound();
  return contact.address;
}

/** Collects the field errors of a contact. The contact `exceptId`, which is being changed, may have the address. */
function checkContact(
  { db, accountId }: Context,
  exceptId: number,
  input: Partial<ContactInput>,
  errors: FieldErrorCollector,
): void {
  for (const [field, text] of contactErrors(db, accountId, input)) errors.add(field, text);
  if (input.email === undefined || input.contact_type_id === undefined || errors.has('contact_type_id')) return;
  const other = findWithEmail(db, accountId, input.contact_type_id, input.email, exceptId);
  if (other !== undefined) errors.taken('email', detailsPath(other));
}

async function deleteOwned(
  { db, clock, accountId }: Context,
  contactIds: readonly unknown[] | undefined,
): Promise<void> {
  const ids = await requireOwnedIds(db, contacts, contactIds, ownedContacts(accountId), notFound());
  await deleteAllContacts(db, ids, isoTimestamp(clock.now()));
}

type Reader = ReturnType<typeof recordReader>;
/**
 * The prepared statements of a database, by the custom fields that they name. They take a tenth of the time of a statement that
 * reads the fields for each contact.
 */
const readers = new WeakMap<Db, Map<string, Reader>>();

/** Returns the statement that reads a contact with these custom fields. */
function contactReader(db: Db, fields: readonly CustomField[]): Reader {
  const known = readers.get(db) ?? new Map<string, Reader>();
  readers.set(db, known);
  // The statement for many fields serves any account: it reads the fields from the database.
  const isAny = fields.length > MAX_UNMEASURED_FIELDS;
  const key = isAny ? 'any' : fields.map((field) => `${field.id} ${field.field_name}`).join('\n');
  const reader = known.get(key) ?? prepareReader(db, isAny ? storedFieldRecord() : customFieldRecord(fields));
  if (known.size >= MAX_READERS) known.clear();
  known.set(key, reader);
  return reader;
}

function prepareReader(db: Db, custom_field: SQL): Reader {
  const country = sql`ifnull(CAST(${contacts.country_id} AS TEXT), '')`;
  return recordReader(
    db,
    recordObject(Contact, contacts, { country, fullname, custom_field }),
    sql`${contacts}`,
    and(eq(contacts.id, sql.placeholder('id')), ownedContacts(sql.placeholder('accountId'))),
  );
}
