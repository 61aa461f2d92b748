/** The recipients of segments, and adding and removing them by hand. */
import { and, eq, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { recordId } from '../../../database/ownership.ts';
import { recordObject } from '../../../database/record-json.ts';
import { contacts, segmentRecipients } from '../../../database/schema/index.ts';
import { invalid, notFound } from '../../../errors/failure.ts';
import { messages } from '../../../errors/field-errors.ts';
import {
  email,
  identifier,
  integer,
  line,
  listQuery,
  nullable,
  reference,
  stamps,
} from '../../../http/requests/schemas.ts';
import { listOperation, operation } from '../../../operations/operation.ts';
import { isoTimestamp } from '../../../time/clock.ts';
import { parseAddress } from '../../contacts/addresses.ts';
import { isErased } from '../../contacts/erased.ts';
import { addRecipient, removeRecipient } from '../segments.ts';
import { hasSegment } from '../targets.ts';

const Recipient = Type.Object({
  id: integer(),
  user_id: integer(),
  segment_id: integer(),
  contact_id: nullable(integer()),
  first_name: Type.String(),
  last_name: Type.String(),
  email: Type.String(),
  country: nullable(Type.String()),
  state: nullable(Type.String()),
  city: nullable(Type.String()),
  address_line1: nullable(Type.String()),
  ...stamps,
  fullname: Type.String(),
});
export type Recipient = Static<typeof Recipient>;

// A recipient who is a contact has the contact's values instead of those given when they were added by hand.
const name = (column: 'first_name' | 'last_name' | 'email') =>
  sql`ifnull(${contacts[column]}, ${segmentRecipients[column]})`;
const record = recordObject(Recipient, segmentRecipients, {
  first_name: name('first_name'),
  last_name: name('last_name'),
  email: name('email'),
  country: sql`(SELECT name FROM countries WHERE id = ${contacts.country_id})`,
  state: sql`${contacts.state}`,
  city: sql`${contacts.city}`,
  address_line1: sql`${contacts.address_line1}`,
  fullname: sql`trim(${name('first_name')} || ' ' || ${name('last_name')})`,
});

export const listRecipients = listOperation({
  name: 'List the recipients of a segment',
  role: 'viewer',
  input: Type.Object({ segment_id: identifier('The segment.'), ...listQuery.properties }),
  as: 'contactEmails',
  record: Recipient,
  select({ db, accountId }, { segment_id, ...part }) {
    const id = recordId(segment_id);
    if (!hasSegment(db, accountId, id)) throw notFound('Record not found');
    return {
      record,
      from: sql`${segmentRecipients} INDEXED BY segment_recipients_listed LEFT JOIN ${contacts} ON ${contacts.id} = ${segmentRecipients.contact_id}`,
      where: and(eq(segmentRecipients.segment_id, id), sql`${segmentRecipients.is_removed} = 0`),
      id: segmentRecipients.id,
      part,
    };
  },
});

export const addRecipientByHand = operation({
  name: 'Add a recipient to a segment by hand',
  description: 'The address stays in the segment whether the rules match it or not.',
  role: 'editor',
  input: Type.Object({ segment_id: reference(), first_name: line(), last_name: line(), email: email() }),
  check({ db, accountId }, { segment_id, email }, errors) {
    if (segment_id !== undefined) errors.reference('segment_id', () => hasSegment(db, accountId, segment_id));
    if (isErased(db.$client, accountId, email)) errors.add('email', messages.erased('email'));
  },
  run({ db, clock, accountId }, { segment_id, first_name, last_name, email: given }) {
    const address = parseAddress(given);
    if (address === null) throw invalid('email', messages.email('email'));
    addRecipient(db, accountId, segment_id, { first_name, last_name, address }, isoTimestamp(clock.now()));
  },
});

export const removeRecipientByHand = operation({
  name: 'Remove a recipient from a segment',
  description: 'Whoever is removed stays out, also while the rules match.',
  role: 'editor',
  input: Type.Object({ segment_recipient_id: identifier('The segment recipient.') }),
  run: ({ db, clock, accountId }, { segment_recipient_id: id }) =>
    removeRecipient(db, accountId, id, isoTimestamp(clock.now())),
});
