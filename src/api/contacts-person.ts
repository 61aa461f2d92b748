/** One person: everything that happened with them, all that is known about them, and erasing them. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, asc, eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { customFieldRecord, listCustomFields } from '../audience/contacts/contact-fields.ts';
import { ownedContacts } from '../audience/contacts/contacts.ts';
import { Contact } from '../audience/contacts/operations.ts';
import { isoTimestamp } from '../clock.ts';
import { recordId } from '../database/ownership.ts';
import { recordObject } from '../database/record-json.ts';
import { contacts, contactTypes } from '../database/schema/index.ts';
import { eventsRemovedTime } from '../delivery/feedback/old-events.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { sendMessage } from '../http/list-response.ts';
import {
  choice,
  done,
  identifier,
  integer,
  isoTimestampSchema,
  nullable,
  successWith,
  text,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { personAddresses } from '../people/addresses.ts';
import { erasePerson } from '../people/erase.ts';
import { personLists } from '../people/lists.ts';
import { MOMENTS, type Moment as PersonMoment } from '../people/moments.ts';
import { segmentsNaming } from '../people/rules-naming.ts';
import { MAX_MOMENTS, personTimeline, timelineSlices } from '../people/timeline.ts';
import { sentenceCode } from '../sentences.ts';

const tags = ['Contacts'];
const MAX_PAGE = 200;
const DEFAULT_MOMENTS = 50;

const Moment = Type.Object({
  kind: choice(...MOMENTS),
  happened_at: isoTimestampSchema(),
  name: nullable(Type.String()),
  from_name: nullable(Type.String()),
  utr: nullable(Type.String()),
  automation_utr: nullable(Type.String()),
  subject: nullable(Type.String()),
  state: nullable(Type.String()),
  reason: nullable(Type.String()),
  reason_code: nullable(Type.String()),
  url: nullable(Type.String()),
  is_machine: zeroOrOne(),
  is_proxied: zeroOrOne(),
  opens: nullable(integer()),
  clicks: nullable(integer()),
});
const removedBefore = nullable(isoTimestampSchema());

const PersonList = Type.Object({
  unsubscribe_groups_id: nullable(integer()),
  group_name: nullable(Type.String()),
  created_at: isoTimestampSchema(),
});
const PersonSegment = Type.Object({ segment_id: integer(), segment_name: Type.String(), by_hand: zeroOrOne() });
const Person = Type.Object({
  email: Type.String(),
  contacts: Type.Array(Type.Object({ ...Contact.properties, contact_type_name: Type.String() })),
  unsubscribed: Type.Array(PersonList),
  segments: Type.Array(PersonSegment),
  suppression: nullable(Type.String()),
  earlier_emails: Type.Array(Type.String()),
  named_in_segments: Type.Array(Type.Object({ segment_id: integer(), segment_name: Type.String() })),
});

const PersonQuery = Type.Object({ contact_id: identifier('A contact of the person.') });
const TimelineQuery = Type.Object({
  ...PersonQuery.properties,
  limit: Type.Optional(integer({ minimum: 1, maximum: MAX_PAGE, description: 'At most this many; 50 if absent.' })),
  after: Type.Optional(text({ maxLength: 100, description: '`next` of the page before.' })),
});

export const contactPersonRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock, wake }) => {
  /** The address of a contact of the account. Throws 404. */
  function requirePerson(accountId: number, contactId: unknown): number {
    const found = db
      .select({ address: contacts.address_id })
      .from(contacts)
      .where(and(eq(contacts.id, recordId(contactId)), ownedContacts(accountId)))
      .get();
    if (found === undefined) throw notFound();
    return found.address;
  }

  /** The person of an address: their contacts of every type, and the lists and segments they are on. */
  function readPerson(accountId: number, addressId: number) {
    const record = recordObject(Contact, contacts, {
      country: sql`ifnull((SELECT name FROM countries WHERE id = ${contacts.country_id}), '')`,
      fullname: sql`trim(${contacts.first_name} || ' ' || ${contacts.last_name})`,
      custom_field: customFieldRecord(listCustomFields(db, accountId)),
    });
    const rows = db
      .select({ json: sql<string>`${record}`, type: contactTypes.name })
      .from(contacts)
      .innerJoin(contactTypes, eq(contactTypes.id, contacts.contact_type_id))
      .where(and(eq(contacts.address_id, addressId), ownedContacts(accountId)))
      .orderBy(asc(contacts.id))
      .all();
    const records = rows.map(({ json, type }): Type.Static<typeof Contact> & { contact_type_name: string } => ({
      ...JSON.parse(json),
      contact_type_name: type,
    }));
    const addresses = personAddresses(db.$client, accountId, addressId).map(({ normalized }) => normalized);
    return {
      email: records[0]?.email ?? '',
      contacts: records,
      ...personLists(db.$client, accountId, addressId),
      earlier_emails: addresses.slice(1),
      named_in_segments: segmentsNaming(db.$client, accountId, addresses),
    };
  }

  app.get(
    '/contacts/person',
    {
      schema: {
        tags,
        summary: 'Read the person of a contact: their contacts of every type, lists and segments (addition)',
        querystring: PersonQuery,
        response: successWith({ person: Person }),
      },
    },
    async (request) => {
      const address = requirePerson(request.accountId, request.query.contact_id);
      return { status: 'success' as const, message: { person: readPerson(request.accountId, address) } };
    },
  );

  app.get(
    '/contacts/timeline',
    {
      schema: {
        tags,
        summary: 'List everything that happened with the person of a contact, newest first (addition)',
        querystring: TimelineQuery,
        response: successWith({
          moments: Type.Array(Moment),
          next: nullable(Type.String()),
          events_removed_before: removedBefore,
        }),
      },
    },
    async (request) => {
      const { contact_id, limit = DEFAULT_MOMENTS, after } = request.query;
      const address = requirePerson(request.accountId, contact_id);
      // One more than is shown tells whether there is another page.
      const bounds = { before: after || undefined, limit: limit + 1 };
      const moments = await personTimeline(db.$client, request.accountId, address, bounds);
      const page = moments.slice(0, limit);
      const next = moments.length > limit ? (page.at(-1)?.key ?? null) : null;
      const message = { moments: page.map(momentRecord), next, events_removed_before: eventsRemovedTime(db.$client) };
      return { status: 'success' as const, message };
    },
  );

  app.get(
    '/contacts/person/export',
    {
      schema: {
        tags,
        summary: 'Download all that is known about the person of a contact (addition)',
        querystring: PersonQuery,
        response: successWith({
          exported_at: isoTimestampSchema(),
          person: Person,
          is_complete: zeroOrOne(),
          events_removed_before: removedBefore,
          moments: Type.Array(Moment),
        }),
      },
    },
    (request, reply) => {
      const address = requirePerson(request.accountId, request.query.contact_id);
      reply.header('content-disposition', 'attachment; filename="person.json"');
      sendMessage(reply, exported(request.accountId, address));
    },
  );

  /** The message of an export, in parts: a person can have thousands of moments. */
  async function* exported(accountId: number, addressId: number): AsyncGenerator<string> {
    const known = {
      exported_at: isoTimestamp(clock.now()),
      person: readPerson(accountId, addressId),
      events_removed_before: eventsRemovedTime(db.$client),
    };
    yield `${JSON.stringify(known).slice(0, -1)},"moments":[`;
    let count = 0;
    for await (const some of timelineSlices(db.$client, accountId, addressId, { limit: MAX_MOMENTS + 1 })) {
      const moments = some.slice(0, MAX_MOMENTS - count).map((moment) => JSON.stringify(momentRecord(moment)));
      if (moments.length > 0) yield `${count === 0 ? '' : ','}\n${moments.join(',\n')}`;
      count += some.length;
    }
    yield `],"is_complete":${count > MAX_MOMENTS ? 0 : 1}}`;
  }

  app.post(
    '/contacts/person/erase',
    {
      schema: {
        tags,
        summary: 'Erase the person of a contact for good; their address is not accepted again (addition)',
        description:
          'Removes every address that their contacts ever had (`earlier_emails` of the person). Rules of segments that name one (`named_in_segments`) name a code in its place, which no contact has.',
        body: PersonQuery,
        response: done,
      },
    },
    async (request) => {
      const address = requirePerson(request.accountId, request.body.contact_id);
      await erasePerson(db, clock, request.accountId, address, request.actor);
      wake();
      return { status: 'success' as const, message: 'Erased Successfully' };
    },
  );
};

function momentRecord(moment: PersonMoment): Type.Static<typeof Moment> {
  const { key: _key, at, from, automationUtr, isMachine, isProxied, ...rest } = moment;
  const flags = { is_machine: isMachine ? 1 : 0, is_proxied: isProxied ? 1 : 0 } as const;
  const reason_code = sentenceCode(moment.reason);
  return { ...rest, reason_code, happened_at: at, from_name: from, automation_utr: automationUtr, ...flags };
}
