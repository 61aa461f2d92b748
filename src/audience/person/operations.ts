/** Operations on the person behind a contact: reading the record and the timeline, exporting all stored data, erasing. */
import { and, asc, eq, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { ownedBy } from '../../database/ownership.ts';
import { recordObject } from '../../database/record-json.ts';
import { contacts, contactTypes, segments } from '../../database/schema/index.ts';
import { mergeValues } from '../../delivery/content/values.ts';
import { eventsRemovedTime } from '../../delivery/feedback/old-events.ts';
import type { SentFacts, SentRecipient } from '../../delivery/queue/sent-mail.ts';
import {
  choice,
  identifier,
  integer,
  isoTimestampSchema,
  nullable,
  said,
  text,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { addressesIn } from '../contacts/addresses.ts';
import { ownedContacts } from '../contacts/contacts.ts';
import { fullname, requireAddress, WholeContact } from '../contacts/operations.ts';
import { contactEventsRemovedTime } from '../events/old-events.ts';
import { customFieldRecord, listCustomFields } from '../fields/custom-fields.ts';
import { findSuppressionReason } from '../suppressions.ts';
import { listUnsubscriptions } from '../unsubscribes.ts';
import { readEngagement } from './engagement.ts';
import { erasePerson, personAddresses } from './erase.ts';
import { MAX_MOMENTS, MOMENTS, type Moment as PersonMoment, personTimeline, timelineSlices } from './timeline.ts';

const MAX_PAGE = 200;
const DEFAULT_MOMENTS = 50;

const Moment = Type.Object({
  kind: { ...choice(...MOMENTS), description: 'What happened.' },
  happened_at: isoTimestampSchema('When it happened, UTC.'),
  name: nullable(
    Type.String(),
    'The contact type, file, segment, automation, unsubscribe group (null: all mail) or campaign that the moment is about.',
  ),
  from_name: nullable(Type.String(), 'Of a move: the contact type before it; null if that type was removed.'),
  utr: nullable(Type.String()),
  automation_utr: nullable(Type.String(), 'The automation that the e-mail belongs to; null where it was deleted.'),
  subject: nullable(Type.String()),
  state: nullable(
    Type.String(),
    'Of an e-mail: its state; of an automation: the state in it, how it ended or what was done at a step; of a suppression: its kind; of inactivity: what was done (stop, segment, move), or who ended it (person, owner).',
  ),
  reason: nullable(
    said(),
    'Why an e-mail was not sent or the reply of the SMTP server; why the contact exited an automation, or how they unsubscribed.',
  ),
  reason_code: nullable(Type.String()),
  url: nullable(Type.String()),
  is_machine: zeroOrOne('1: a program opened or clicked, as far as can be told.'),
  is_proxied: zeroOrOne('1: an image proxy loaded the pictures, whether or not the person read the e-mail.'),
  device: nullable(
    Type.String(),
    'Of an open or a click: desktop, phone, tablet, proxy or unknown; null before devices were recorded (addition).',
  ),
  opens: nullable(integer(), 'Of an e-mail: the number of opens, including removed ones.'),
  clicks: nullable(integer(), 'Of an e-mail: the number of clicks, including removed ones.'),
  kept_mail_id: nullable(
    integer(),
    'Of an e-mail: the id for GET /deliveries/mail; null if the e-mail as sent is not kept.',
  ),
  event_key: nullable(Type.String(), 'Of an event: the key it was recorded with.'),
  value: nullable(Type.Number(), 'Of an event: its value.'),
  currency: nullable(Type.String(), 'Of an event: the currency of its value.'),
  properties: nullable(Type.Record(Type.String(), Type.String()), 'Of an event: its properties, as texts.'),
});
export type Moment = Static<typeof Moment>;

const NamedSegment = { segment_id: integer(), segment_name: Type.String() };
const Person = Type.Object({
  email: Type.String(),
  contacts: Type.Array(
    Type.Object({
      ...WholeContact.properties,
      contact_type_name: Type.String({ description: 'Name of the contact type.' }),
    }),
    { description: 'The contacts with this address, one for each contact type it is in.' },
  ),
  unsubscribed: Type.Array(
    Type.Object({
      unsubscribe_groups_id: nullable(integer()),
      group_name: nullable(Type.String()),
      created_at: isoTimestampSchema(),
    }),
    { description: 'What the address is unsubscribed from.' },
  ),
  segments: Type.Array(
    Type.Object({ ...NamedSegment, by_hand: zeroOrOne('1: added by hand; 0: by the rules of the segment.') }),
    { description: 'The segments that the address is in.' },
  ),
  suppression: nullable(said(), 'Why mail to the address is suppressed; null when it is not.'),
  earlier_emails: Type.Array(Type.String(), {
    description:
      "Earlier addresses of the person's contacts, before they were corrected, unless another contact has the address now.",
  }),
  named_in_segments: Type.Array(Type.Object(NamedSegment), {
    description: 'Segments whose rules have an address of the person: erasing replaces it by a code.',
  }),
});
export type Person = Static<typeof Person>;

const Engagement = Type.Object(
  {
    delivered: integer({ description: 'The number of delivered e-mails.' }),
    measured: integer({
      description: 'The number of delivered e-mails that were measured, so that opens and clicks are known.',
    }),
    opened: integer({ description: 'The number of e-mails that the person opened.' }),
    clicked: integer({ description: 'The number of e-mails in which the person clicked.' }),
    last_active_at: nullable(
      isoTimestampSchema(),
      'When the person last opened or clicked, UTC; null if that is not known.',
    ),
  },
  {
    description:
      'The e-mails of campaigns and automations to the person. Opens and clicks by bots and image proxies do not count.',
  },
);
export type Engagement = Static<typeof Engagement>;

const removedBefore = nullable(
  isoTimestampSchema(),
  'Single opens and clicks before this time, UTC, were removed, as EVENTS_DAYS says. Null: none were removed.',
);
const Moments = Type.Array(Moment, { description: 'What happened, newest first.' });
const Timeline = Type.Object({
  moments: Moments,
  next: nullable(Type.String()),
  events_removed_before: removedBefore,
});

const ById = { contact_id: identifier('A contact of the person.') };

export const readPerson = operation({
  name: 'Read the person of a contact: their contacts of every type, lists, segments and engagement (addition)',
  role: 'viewer',
  input: Type.Object(ById),
  output: Type.Object({ person: Person, engagement: Engagement }),
  async run(context, { contact_id }) {
    const { db, accountId } = context;
    const address = requireAddress(context, contact_id);
    const engagement = await readEngagement(db.$client, accountId, address);
    return { person: personOf(context, address), engagement };
  },
});

export const readTimeline = operation({
  name: 'List the timeline of the person of a contact, newest first (addition)',
  role: 'viewer',
  input: Type.Object({
    ...ById,
    limit: Type.Optional(
      integer({
        minimum: 1,
        maximum: MAX_PAGE,
        description: `The maximum number of moments; ${DEFAULT_MOMENTS} if absent.`,
      }),
    ),
    after: Type.Optional(text({ maxLength: 100, description: 'The value of `next` in the page before.' })),
  }),
  output: Timeline,
  async run(context, { contact_id, limit = DEFAULT_MOMENTS, after }) {
    const { db, accountId } = context;
    const address = requireAddress(context, contact_id);
    // Read one moment more than the page has, to know whether there is a next page.
    const range = { before: after || undefined, limit: limit + 1 };
    const moments = await personTimeline(db.$client, accountId, address, range);
    const page = moments.slice(0, limit);
    const next = moments.length > limit ? (page.at(-1)?.key ?? null) : null;
    return { moments: page.map(withoutKey), next, events_removed_before: removedTime(db.$client) };
  },
});

/** An export of all data about a person. */
export const PersonExport = Type.Object({
  exported_at: isoTimestampSchema('When the export was made, UTC.'),
  person: Person,
  is_complete: zeroOrOne('1: the export has all moments; 0: only the newest ones, because there are very many.'),
  events_removed_before: removedBefore,
  moments: Type.Array(
    Type.Object({
      ...Moment.properties,
      kept_values: nullable(
        Type.Record(Type.String(), Type.String()),
        'Of an e-mail that is kept as it was sent: the values of the contact in it, by merge tag.',
      ),
    }),
    { description: 'What happened, newest first.' },
  ),
});

export const exportPerson = operation({
  name: 'Download all that is known about the person of a contact (addition)',
  role: 'viewer',
  input: Type.Object(ById),
  /** Yields the parts of the JSON text of a `PersonExport`, because a person can have thousands of moments. */
  run(context, { contact_id }): AsyncGenerator<string> {
    return exportParts(context, requireAddress(context, contact_id));
  },
});

export const erase = operation({
  name: 'Delete the person of a contact permanently; their address is not accepted again (addition)',
  description:
    'Removes every address that the contacts of the person ever had (`earlier_emails`). Rules of segments that have such an address (`named_in_segments`) get a code in its place, which matches no contact.',
  role: 'editor',
  input: Type.Object(ById),
  async run(context, { contact_id }) {
    const { db, clock, accountId, actor, wake } = context;
    await erasePerson(db, clock, accountId, requireAddress(context, contact_id), actor);
    wake();
  },
});

/** Returns the person with an address: the contacts of every type, unsubscribes, segments and suppression. */
function personOf(context: Context, addressId: number): Person {
  const { db, accountId } = context;
  const client = db.$client;
  const record = recordObject(WholeContact, contacts, {
    country: sql`ifnull((SELECT name FROM countries WHERE id = ${contacts.country_id}), '')`,
    fullname,
    custom_field: customFieldRecord(listCustomFields(db, accountId)),
  });
  const rows = db
    .select({ json: sql<string>`${record}`, type: contactTypes.name })
    .from(contacts)
    .innerJoin(contactTypes, eq(contactTypes.id, contacts.contact_type_id))
    .where(and(eq(contacts.address_id, addressId), ownedContacts(accountId)))
    .orderBy(asc(contacts.id))
    .all();
  const records = rows.map(({ json, type }): Person['contacts'][number] => ({
    ...JSON.parse(json),
    contact_type_name: type,
  }));
  const addresses = personAddresses(client, accountId, addressId).map(({ normalized }) => normalized);
  const segments = client
    .prepare<[number, number], Person['segments'][number]>(`
      SELECT s.id AS segment_id, s.segment_name, r.by_hand
      FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = ? AND r.is_removed = 0
      WHERE s.user_id = ? AND s.deleted_at IS NULL ORDER BY s.id`)
    .all(addressId, accountId);
  return {
    email: records[0]?.email ?? '',
    contacts: records,
    unsubscribed: listUnsubscriptions(client, accountId, addressId),
    segments,
    suppression: findSuppressionReason(client, accountId, addressId),
    earlier_emails: addresses.slice(1),
    named_in_segments: segmentsNaming(context, addresses),
  };
}

/** Returns the segments of the account that are not deleted and whose rules contain one of these normalized addresses. */
function segmentsNaming({ db, accountId }: Context, addresses: readonly string[]): Person['named_in_segments'] {
  const rows = db.select().from(segments).where(ownedBy(segments, accountId)).orderBy(segments.id).all();
  const isNamed = (text: string) => addressesIn(text).some((address) => addresses.includes(address));
  return rows
    .filter(({ rules }) => rules.some(({ operands }) => operands.some(isNamed)))
    .map(({ id: segment_id, segment_name }) => ({ segment_id, segment_name }));
}

/** Yields the parts of the JSON text of a `PersonExport`. */
async function* exportParts(context: Context, addressId: number): AsyncGenerator<string> {
  const { db, clock, accountId } = context;
  const head = {
    exported_at: isoTimestamp(clock.now()),
    person: personOf(context, addressId),
    events_removed_before: removedTime(db.$client),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"moments":[`;
  let count = 0;
  for await (const slice of timelineSlices(db.$client, accountId, addressId, { limit: MAX_MOMENTS + 1 })) {
    const shown = slice.slice(0, MAX_MOMENTS - count);
    const kept = keptValues(
      db.$client,
      shown.flatMap(({ kept_mail_id }) => kept_mail_id ?? []),
    );
    const moments = shown.map((moment) =>
      JSON.stringify({ ...withoutKey(moment), kept_values: kept.get(moment.kept_mail_id ?? 0) ?? null }),
    );
    if (moments.length > 0) yield `${count === 0 ? '' : ','}\n${moments.join(',\n')}`;
    count += slice.length;
  }
  yield `],"is_complete":${count > MAX_MOMENTS ? 0 : 1}}`;
}

/** Returns the values of the contact that are kept with sent mails, by the ids of their deliveries. */
function keptValues(
  client: Context['db']['$client'],
  deliveries: readonly number[],
): Map<number, Record<string, string>> {
  const rows = client
    .prepare<[string], { id: number; recipient: string; facts: string }>(`
      SELECT s.delivery_id AS id, s.recipient, f.facts FROM json_each(?) j CROSS JOIN sent_mails s ON s.delivery_id = j.value
      CROSS JOIN sent_facts f ON f.id = s.facts_id`)
    .all(JSON.stringify(deliveries));
  return new Map(
    rows.map(({ id, recipient, facts }) => {
      const sent: SentRecipient = JSON.parse(recipient);
      const { names }: SentFacts = JSON.parse(facts);
      const values = Object.entries(mergeValues(sent, names, sent.normalized_email)).filter(
        ([name, value]) => value !== '' && !name.startsWith('#'),
      );
      return [id, Object.fromEntries(values)];
    }),
  );
}

/** Returns the time before which opens, clicks or reported events have been removed, as an ISO timestamp; null if none have. */
function removedTime(client: Context['db']['$client']): string | null {
  const reported = contactEventsRemovedTime(client);
  const times = [eventsRemovedTime(client), reported === null ? null : isoTimestamp(new Date(reported))];
  return (
    times
      .filter((time) => time !== null)
      .sort()
      .at(-1) ?? null
  );
}

function withoutKey({ key: _key, ...moment }: PersonMoment): Moment {
  return moment;
}
