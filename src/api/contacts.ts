/** Contacts. Their CSV files are in contacts-files.ts. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, eq, type SQL, sql } from 'drizzle-orm';
import Type from 'typebox';
import { ContactType } from '../audience/contact-types/operations.ts';
import {
  customFieldRecord,
  installFieldTitle,
  listCustomFields,
  storedFieldRecord,
} from '../audience/contacts/contact-fields.ts';
import {
  addContact,
  type ContactInput,
  contactErrors,
  findWithEmail,
  ownedContacts,
} from '../audience/contacts/contacts.ts';
import { deleteAllContacts } from '../audience/long-lists.ts';
import { listSearch } from '../audience/search/list-search.ts';
import { updateContactKeepingPlaces } from '../automations/address-correction.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedBy, recordId, requireOwnedIds } from '../database/ownership.ts';
import { recordObject, recordReader, totalBytes } from '../database/record-json.ts';
import { contacts, contactTypes, countries } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import {
  done,
  email,
  identifier,
  identifiers,
  integer,
  line,
  listQuery,
  nullable,
  optionalIdentifier,
  reference,
  softStamps,
  successWith,
} from '../http/requests/schemas.ts';
import { check, type FieldErrorCollector } from '../http/requests/validation.ts';

const tags = ['Contacts'];

/** A contact as the contract has it. */
export const Contact = Type.Object({
  id: integer(),
  user_id: integer(),
  contact_type_id: integer(),
  first_name: Type.String(),
  last_name: Type.String(),
  email: Type.String(),
  alt_email: nullable(Type.String()),
  country: Type.String(),
  state: Type.String(),
  city: Type.String(),
  address_line1: Type.String(),
  address_line2: Type.String(),
  state_province_region: Type.String(),
  postal_code: Type.String(),
  custom_field: nullable(
    Type.Record(Type.String(), Type.Object({ field_name: Type.String(), field_value: nullable(Type.String()) })),
  ),
  ...softStamps,
  fullname: Type.String(),
});
const ListedContact = Type.Object({ ...Contact.properties, contact_type: ContactType });

const optionalLine = () => Type.Optional(line());
const ContactBody = Type.Object({
  contact_type_id: reference(),
  first_name: optionalLine(),
  last_name: optionalLine(),
  email: email(),
  alt_email: Type.Optional(Type.String({ format: 'email-address-or-empty', description: 'Addition.' })),
  country: reference(),
  state: optionalLine(),
  city: optionalLine(),
  address_line1: optionalLine(),
  address_line2: optionalLine(),
  state_province_region: optionalLine(),
  postal_code: optionalLine(),
  custom_field: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'Addition: values by custom field name.' }),
  ),
});
const ContactUpdateBody = Type.Object({ contact_id: identifier('The contact.'), ...ContactBody.properties });
const ContactListQuery = Type.Object({
  ...listQuery.properties,
  contact_type_id: optionalIdentifier('Addition: only contacts of this type.'),
  search: Type.Optional(line({ description: 'Addition: part of an e-mail address or a name.' })),
});

/** With at most this many custom fields contacts are small, and the sizes of rows are not computed: that would take a third of the list's time. */
const MAX_UNMEASURED_FIELDS = 20;
/** The statements kept for reading contacts. */
const MAX_READERS = 100;
/** The size that a custom field counts as in a page, in bytes: making its JSON takes as long as copying this many. */
const FIELD_COST_BYTES = 300;

/** The path of a contact's details, for the header Location. */
const detailsPath = (id: number) => `/api/contacts/details?contact_id=${id}`;

export const contactRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock }) => {
  const fullname = sql`trim(${contacts.first_name} || ' ' || ${contacts.last_name})`;
  const countryName = sql`ifnull(${countries.name}, '')`;
  const countryId = sql`ifnull(CAST(${contacts.country_id} AS TEXT), '')`;
  // CROSS JOIN makes SQLite loop over the contacts first, so that a page is a range of their index. Joins cost half of what subqueries do.
  const from = sql`${contacts} CROSS JOIN ${contactTypes} ON ${contactTypes.id} = ${contacts.contact_type_id}
    LEFT JOIN ${countries} ON ${countries.id} = ${contacts.country_id}`;

  /** Adds the errors of a contact's fields. The address may already belong to the contact `exceptId`, which is being updated. */
  function checkContact(
    accountId: number,
    exceptId: number,
    body: Partial<ContactInput>,
    errors: FieldErrorCollector,
  ): void {
    for (const [field, text] of contactErrors(db, accountId, body)) errors.add(field, text);
    if (body.email === undefined || body.contact_type_id === undefined || errors.has('contact_type_id')) return;
    const other = findWithEmail(db, accountId, body.contact_type_id, body.email, exceptId);
    if (other !== undefined) errors.taken('email', detailsPath(other));
  }

  installFieldTitle(db);
  const detailsReader = (custom_field: SQL) =>
    recordReader(
      db,
      recordObject(Contact, contacts, { country: countryId, fullname, custom_field }),
      sql`${contacts}`,
      and(eq(contacts.id, sql.placeholder('id')), ownedContacts(sql.placeholder('accountId'))),
    );
  const readAnyDetails = detailsReader(storedFieldRecord());
  /** By the fields that their statements name: these take a tenth of the time of one that reads the fields for each contact. */
  const readersOfFew = new Map<string, ReturnType<typeof detailsReader>>();

  function readDetails(accountId: number, id: number): string | undefined {
    const fields = listCustomFields(db, accountId);
    if (fields.length > MAX_UNMEASURED_FIELDS) return readAnyDetails({ id, accountId });
    const key = fields.map((field) => `${field.id} ${field.field_name}`).join('\n');
    const reader = readersOfFew.get(key) ?? detailsReader(customFieldRecord(fields));
    if (readersOfFew.size >= MAX_READERS) readersOfFew.clear();
    readersOfFew.set(key, reader);
    return reader({ id, accountId });
  }

  app.get(
    '/contacts/list',
    {
      schema: {
        tags,
        summary: 'List the contacts',
        querystring: ContactListQuery,
        response: successWith({ contacts: Type.Array(ListedContact) }),
      },
    },
    (request, reply) => {
      const { contact_type_id, search } = request.query;
      const typeId = contact_type_id === undefined ? undefined : recordId(contact_type_id);
      const fields = listCustomFields(db, request.accountId);
      const record = recordObject(ListedContact, contacts, {
        country: countryName,
        fullname,
        custom_field: customFieldRecord(fields),
        contact_type: recordObject(ContactType, contactTypes),
      });
      const where = and(
        ownedBy(contacts, request.accountId),
        ownedBy(contactTypes, request.accountId),
        typeId === undefined ? undefined : eq(contacts.contact_type_id, typeId),
      );
      const find = search ? listSearch(db.$client, { accountId: request.accountId, typeId, text: search }) : undefined;
      const bytes =
        fields.length > MAX_UNMEASURED_FIELDS
          ? sql`${totalBytes(contacts.custom_values)} + ${FIELD_COST_BYTES * fields.length}`
          : undefined;
      sendList(reply, db, 'contacts', { record, from, where, id: contacts.id, bytes, find }, request.query);
    },
  );

  app.post(
    '/contacts/add',
    {
      schema: {
        tags,
        summary: 'Add a contact',
        description:
          'An e-mail address is unique within a contact type. If a contact of the type has it, the answer is 422, and its header Location names the details of that contact: change it with /contacts/update. /contacts/upload-csv adds those who are new and updates the others.',
        body: ContactBody,
        response: done,
      },
      config: {
        check: check(ContactBody, (body, errors, { accountId }) => checkContact(accountId, 0, body, errors)),
      },
    },
    async (request, reply) => {
      const id = addContact(db, request.accountId, request.body, isoTimestamp(clock.now()));
      reply.header('location', detailsPath(id));
      return { status: 'success' as const, message: 'Contact Added Successfully' };
    },
  );

  app.get(
    '/contacts/details',
    {
      schema: {
        tags,
        summary: 'Read a contact',
        querystring: Type.Object({ contact_id: identifier('The contact.') }),
        response: successWith({ contact: Contact }),
      },
    },
    (request, reply) => {
      const json = readDetails(request.accountId, recordId(request.query.contact_id));
      if (json === undefined) throw notFound();
      sendRecord(reply, 'contact', json);
    },
  );

  app.post(
    '/contacts/update',
    {
      schema: {
        tags,
        summary: 'Change a contact',
        description: 'A parameter that is absent keeps its value; an empty one clears it.',
        body: ContactUpdateBody,
        response: done,
      },
      config: {
        check: check(ContactUpdateBody, (body, errors, { accountId }) =>
          checkContact(accountId, recordId(body.contact_id), body, errors),
        ),
      },
    },
    async (request) => {
      updateContactKeepingPlaces(
        db,
        request.accountId,
        request.body.contact_id,
        request.body,
        isoTimestamp(clock.now()),
      );
      return { status: 'success' as const, message: 'Contact Updated Successfully' };
    },
  );

  app.delete(
    '/contacts/delete',
    {
      schema: {
        tags,
        summary: 'Delete a contact',
        description: 'Nothing more is sent to it, also by sends that run at the moment.',
        querystring: Type.Object({ contact_id: identifier('The contact.') }),
        response: done,
      },
    },
    async (request) => {
      const ids = await requireOwnedIds(
        db,
        contacts,
        [request.query.contact_id],
        ownedContacts(request.accountId),
        notFound(),
      );
      await deleteAllContacts(db, ids, isoTimestamp(clock.now()));
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  app.post(
    '/contacts/bulk-delete',
    {
      schema: {
        tags,
        summary: 'Delete several contacts',
        description: 'Deletes all of them, or none if one of the ids is unknown.',
        body: Type.Object({ strIds: identifiers('Contact ids.') }),
        response: done,
      },
    },
    async (request) => {
      const ids = await requireOwnedIds(
        db,
        contacts,
        request.body.strIds,
        ownedContacts(request.accountId),
        notFound(),
      );
      await deleteAllContacts(db, ids, isoTimestamp(clock.now()));
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};
