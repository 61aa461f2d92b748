/** Segments and their recipients. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { parseAddress } from '../audience/contacts/addresses.ts';
import { isErased } from '../audience/contacts/erased.ts';
import { segmentProblem } from '../audience/segments/broken-rules.ts';
import { addRecipient, createSegment, removeRecipient, updateSegment } from '../audience/segments/segments.ts';
import { hasSegment } from '../audience/segments/targets.ts';
import { isoTimestamp } from '../clock.ts';
import { ownedBy, ownedRecord, recordId } from '../database/ownership.ts';
import { readRecord, recordObject } from '../database/record-json.ts';
import { contacts, segmentRecipients, segments } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { invalid, notFound } from '../failure.ts';
import { messages as wording } from '../field-errors.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import {
  done,
  doneInErrors,
  email,
  identifier,
  integer,
  line,
  listQuery,
  nullable,
  reference,
  softStamps,
  stamps,
  successWith,
} from '../http/requests/schemas.ts';
import { check, type FieldErrorCollector } from '../http/requests/validation.ts';
import { holdCampaignsUsingTarget } from '../senders/hold-campaigns.ts';
import { checkSegmentRules, type GivenSegment, segmentRuleProperties } from './segment-rules.ts';

const tags = ['Segments'];

const Segment = Type.Object({
  id: integer(),
  user_id: integer(),
  contact_type_id: integer(),
  segment_name: Type.String(),
  select_field: Type.Array(Type.String()),
  select_operator: Type.Array(Type.String()),
  value: Type.Array(Type.String()),
  query_type: nullable(Type.String()),
  ...softStamps,
  segment_emails_count: integer(),
});
const Problem = nullable(
  Type.String({ description: 'Why the rules are not applied: one needs a deleted field; null if they are applied.' }),
);
const SegmentRecipient = Type.Object({
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

const SegmentBody = Type.Object({ segment_name: line(), ...segmentRuleProperties });
const SegmentUpdateBody = Type.Object({ segment_id: identifier('The segment.'), ...SegmentBody.properties });
const RecipientBody = Type.Object({
  segment_id: reference(),
  first_name: line(),
  last_name: line(),
  email: email(),
});
const ById = Type.Object({ segment_id: identifier('The segment.') });

export const segmentRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock, wake }) => {
  const record = recordObject(Segment, segments, {
    select_field: sql`json(${segments.select_field})`,
    select_operator: sql`json(${segments.select_operator})`,
    value: sql`json(${segments.value})`,
  });
  const from = sql`${segments}`;

  app.get(
    '/segment/list',
    {
      schema: {
        tags,
        summary: 'List the segments',
        querystring: listQuery,
        response: successWith({ segments: Type.Array(Segment) }),
      },
    },
    (request, reply) => {
      const source = { record, from, where: ownedBy(segments, request.accountId), id: segments.id };
      sendList(reply, db, 'segments', source, request.query);
    },
  );

  const checkSegment = (body: GivenSegment, errors: FieldErrorCollector, accountId: number) =>
    checkSegmentRules(db, accountId, body, errors);

  app.post(
    '/segment/store',
    {
      schema: {
        tags,
        summary: 'Add a segment',
        description:
          'The rules are read by position: the first field belongs to the first operator, and each operator takes as many values as it needs.',
        body: SegmentBody,
        response: done,
      },
      config: { check: check(SegmentBody, (body, errors, { accountId }) => checkSegment(body, errors, accountId)) },
    },
    async (request, reply) => {
      const id = await createSegment(db, clock, request.accountId, request.body);
      wake();
      reply.header('location', `/api/segment/details?segment_id=${id}`);
      return { status: 'success' as const, message: 'Added Successfully' };
    },
  );

  app.post(
    '/segment/update',
    {
      schema: { tags, summary: 'Change a segment', body: SegmentUpdateBody, response: done },
      config: {
        check: check(SegmentUpdateBody, (body, errors, { accountId }) => checkSegment(body, errors, accountId)),
      },
    },
    async (request, reply) => {
      const id = await updateSegment(db, clock, request.accountId, request.body.segment_id, request.body);
      wake();
      reply.header('location', `/api/segment/details?segment_id=${id}`);
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  app.get(
    '/segment/details',
    {
      schema: {
        tags,
        summary: 'Read a segment',
        querystring: ById,
        response: successWith({ segment: Segment }),
      },
    },
    (request, reply) => {
      const json = readRecord(db, record, from, ownedRecord(segments, request.query.segment_id, request.accountId));
      if (json === undefined) throw notFound();
      sendRecord(reply, 'segment', json);
    },
  );

  app.get(
    '/segment/problem',
    {
      schema: {
        tags,
        summary: 'Read why the rules of a segment are not applied (addition)',
        description: 'Until the problem is gone the segment keeps its recipients, and what targets it is held.',
        querystring: ById,
        response: successWith({ problem: Problem }),
      },
    },
    async (request) => {
      const id = recordId(request.query.segment_id);
      if (!hasSegment(db, request.accountId, id)) throw notFound();
      return { status: 'success' as const, message: { problem: segmentProblem(db, id) } };
    },
  );

  app.delete(
    '/segment/delete',
    {
      schema: {
        tags,
        summary: 'Delete a segment',
        description:
          'A queued single send that names it is no longer queued, a live automation becomes a draft, and their reports say why. The confirmation is in errors, with the status success.',
        querystring: ById,
        response: doneInErrors,
      },
    },
    async (request) => {
      const id = recordId(request.query.segment_id);
      const now = isoTimestamp(clock.now());
      db.transaction(
        (tx) => {
          const deleted = { deleted_at: now, recompute_after: null, check_at: null };
          const { changes } = tx
            .update(segments)
            .set(deleted)
            .where(ownedRecord(segments, id, request.accountId))
            .run();
          if (changes === 0) throw notFound();
          holdCampaignsUsingTarget(db, 'segments', id, now);
        },
        { behavior: 'immediate' },
      );
      wake();
      return { status: 'success' as const, errors: 'Deleted Successfully' };
    },
  );

  // A recipient who is a contact has the contact's values instead of those given when they were added by hand.
  const name = (column: 'first_name' | 'last_name' | 'email') =>
    sql`ifnull(${contacts[column]}, ${segmentRecipients[column]})`;
  const recipient = recordObject(SegmentRecipient, segmentRecipients, {
    first_name: name('first_name'),
    last_name: name('last_name'),
    email: name('email'),
    country: sql`(SELECT name FROM countries WHERE id = ${contacts.country_id})`,
    state: sql`${contacts.state}`,
    city: sql`${contacts.city}`,
    address_line1: sql`${contacts.address_line1}`,
    fullname: sql`trim(${name('first_name')} || ' ' || ${name('last_name')})`,
  });

  app.get(
    '/segment/email/list',
    {
      schema: {
        tags,
        summary: 'List the recipients of a segment',
        querystring: Type.Object({ segment_id: identifier('The segment.'), ...listQuery.properties }),
        response: successWith({ contactEmails: Type.Array(SegmentRecipient) }),
      },
    },
    (request, reply) => {
      const id = recordId(request.query.segment_id);
      if (!hasSegment(db, request.accountId, id)) throw notFound('Record not found');
      const source = {
        record: recipient,
        from: sql`${segmentRecipients} INDEXED BY segment_recipients_listed LEFT JOIN ${contacts} ON ${contacts.id} = ${segmentRecipients.contact_id}`,
        where: and(eq(segmentRecipients.segment_id, id), sql`${segmentRecipients.is_removed} = 0`),
        id: segmentRecipients.id,
      };
      sendList(reply, db, 'contactEmails', source, request.query);
    },
  );

  app.post(
    '/segment/email/store',
    {
      schema: {
        tags,
        summary: 'Add a recipient to a segment by hand',
        description: 'The address stays in the segment whether the rules match it or not.',
        body: RecipientBody,
        response: done,
      },
      config: {
        check: check(RecipientBody, (body, errors, { accountId }) => {
          if (body.segment_id !== undefined)
            errors.reference('segment_id', () => hasSegment(db, accountId, body.segment_id));
          if (isErased(db.$client, accountId, body.email)) errors.add('email', wording.erased('email'));
        }),
      },
    },
    async (request) => {
      const { segment_id, first_name, last_name, email: given } = request.body;
      const address = parseAddress(given);
      if (address === null) throw invalid('email', wording.email('email'));
      addRecipient(db, request.accountId, segment_id, { first_name, last_name, address }, isoTimestamp(clock.now()));
      return { status: 'success' as const, message: 'Added Successfully' };
    },
  );

  app.delete(
    '/segment/email/delete',
    {
      schema: {
        tags,
        summary: 'Remove a recipient from a segment',
        description: 'Whoever is removed stays out, also while the rules match.',
        querystring: Type.Object({ segment_recipient_id: identifier('The segment recipient.') }),
        response: done,
      },
    },
    async (request) => {
      removeRecipient(db, request.accountId, request.query.segment_recipient_id, isoTimestamp(clock.now()));
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};
