/** Actions on many contacts: chosen ones or all that match. The background does them; they can be watched, cancelled and undone. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import {
  cancelJob,
  confirmJob,
  isUndoable,
  JOB_ACTIONS,
  JOB_STATES,
  type Job,
  listJobs,
  requireJob,
  startJob,
  undoJob,
} from '../audience/bulk/jobs.ts';
import { hasContactType, ownedContacts } from '../audience/contacts/contacts.ts';
import { namesErased } from '../audience/contacts/erased.ts';
import { isoTimestamp } from '../clock.ts';
import { recordId, requireOwnedIds } from '../database/ownership.ts';
import { contacts } from '../database/schema/index.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../failure.ts';
import { messages } from '../field-errors.ts';
import {
  choice,
  done,
  flag,
  identifier,
  identifiers,
  integer,
  isoTimestampSchema,
  nullable,
  optionalReference,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { checkContactFilter, contactFilter, contactFilterProperties } from './contacts-search.ts';

const tags = ['Contacts'];
const MAX_LISTED = 50;

const JobBody = Type.Object({
  action: choice(...JOB_ACTIONS),
  strIds: identifiers('Contact ids.'),
  everything: Type.Optional(flag('1: all contacts that match the filter below, instead of `strIds`.')),
  ...contactFilterProperties,
  needs_confirmation: Type.Optional(
    flag('1: it changes nobody until `/contacts/jobs/confirm`, when the number of contacts is known.'),
  ),
  to_contact_type_id: optionalReference(),
  unsubscribe_groups_id: optionalReference(),
  to_segment_id: optionalReference(),
});

const ContactJob = Type.Object({
  id: integer(),
  action: choice(...JOB_ACTIONS),
  target_id: nullable(integer()),
  state: choice(...JOB_STATES),
  whole: integer(),
  done: integer(),
  skipped: integer(),
  is_undoable: zeroOrOne(),
  created_at: isoTimestampSchema(),
  finished_at: nullable(isoTimestampSchema()),
});
const JobId = Type.Object({ id: identifier('The action.') });

export const contactJobRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock, wake }) => {
  const ownsGroup = db.$client.prepare(
    'SELECT 1 FROM unsubscribe_groups WHERE id = ? AND user_id = ? AND deleted_at IS NULL',
  );
  const ownsSegment = db.$client.prepare('SELECT 1 FROM segments WHERE id = ? AND user_id = ? AND deleted_at IS NULL');
  const record = (job: Job): Type.Static<typeof ContactJob> => {
    const { id, action, target_id, state, whole, done, skipped, created_at, finished_at } = job;
    const is_undoable = isUndoable(job, clock.now().getTime()) ? 1 : 0;
    return { id, action, target_id, state, whole, done, skipped, is_undoable, created_at, finished_at };
  };

  app.post(
    '/contacts/jobs/start',
    {
      schema: {
        tags,
        summary: 'Move, delete, unsubscribe or add to a segment many contacts, in the background (addition)',
        body: JobBody,
        response: successWith({ job: ContactJob }),
      },
      config: {
        check: check(JobBody, (body, errors, { accountId }) => {
          checkContactFilter(db, accountId, body, errors);
          // The filter is kept until the action is done.
          for (const [field, texts] of [
            ['search', [body.search ?? '']],
            ['value', body.value ?? []],
          ] as const)
            if (namesErased(db.$client, accountId, texts)) errors.add(field, messages.erased(field));
          const { action, contact_type_id, segment_id, to_contact_type_id, to_segment_id, unsubscribe_groups_id } =
            body;
          if (contact_type_id !== undefined)
            errors.reference('contact_type_id', () => hasContactType(db, accountId, contact_type_id));
          if (segment_id !== undefined)
            errors.reference('segment_id', () => ownsSegment.get(recordId(segment_id), accountId) !== undefined);
          if (action === 'move' && !to_contact_type_id)
            errors.add('to_contact_type_id', messages.required('to_contact_type_id'));
          if (action === 'move' && to_contact_type_id)
            errors.reference('to_contact_type_id', () => hasContactType(db, accountId, to_contact_type_id));
          if (action === 'segment' && !to_segment_id) errors.add('to_segment_id', messages.required('to_segment_id'));
          if (action === 'segment' && to_segment_id)
            errors.reference('to_segment_id', () => ownsSegment.get(to_segment_id, accountId) !== undefined);
          if (action === 'unsubscribe' && unsubscribe_groups_id)
            errors.reference(
              'unsubscribe_groups_id',
              () => ownsGroup.get(unsubscribe_groups_id, accountId) !== undefined,
            );
        }),
      },
    },
    async (request) => {
      const { accountId, body } = request;
      const { action, strIds, everything } = body;
      const targets = {
        move: body.to_contact_type_id,
        segment: body.to_segment_id,
        unsubscribe: body.unsubscribe_groups_id,
      };
      const id = startJob(db, {
        accountId,
        action,
        targetId: action === 'delete' ? null : targets[action] || null,
        contacts:
          everything === 1
            ? contactFilter(db, accountId, body)
            : await requireOwnedIds(db, contacts, strIds, ownedContacts(accountId), notFound()),
        needsConfirmation: body.needs_confirmation === 1,
        now: isoTimestamp(clock.now()),
      });
      wake();
      return { status: 'success' as const, message: { job: record(requireJob(db, accountId, id)) } };
    },
  );

  app.get(
    '/contacts/jobs',
    {
      schema: {
        tags,
        summary: 'List the newest actions on many contacts (addition)',
        response: successWith({ jobs: Type.Array(ContactJob) }),
      },
    },
    async (request) => ({
      status: 'success' as const,
      message: { jobs: listJobs(db, request.accountId, MAX_LISTED).map(record) },
    }),
  );

  app.get(
    '/contacts/jobs/details',
    {
      schema: {
        tags,
        summary: 'Read how far an action on many contacts is (addition)',
        querystring: JobId,
        response: successWith({ job: ContactJob }),
      },
    },
    async (request) => ({
      status: 'success' as const,
      message: { job: record(requireJob(db, request.accountId, recordId(request.query.id))) },
    }),
  );

  app.post(
    '/contacts/jobs/confirm',
    {
      schema: {
        tags,
        summary: 'Let an action on many contacts that was started with `needs_confirmation` change them (addition)',
        description: 'Once its state is ready. One that nobody confirms within an hour is cancelled.',
        body: JobId,
        response: done,
      },
    },
    async (request) => {
      confirmJob(db, request.accountId, recordId(request.body.id));
      wake();
      return { status: 'success' as const, message: 'Confirmed Successfully' };
    },
  );

  app.post(
    '/contacts/jobs/cancel',
    {
      schema: {
        tags,
        summary: 'Stop an action on many contacts; what it did so far stays (addition)',
        body: JobId,
        response: done,
      },
    },
    async (request) => {
      cancelJob(db, request.accountId, recordId(request.body.id), isoTimestamp(clock.now()));
      return { status: 'success' as const, message: 'Cancelled Successfully' };
    },
  );

  app.post(
    '/contacts/jobs/undo',
    {
      schema: {
        tags,
        summary: 'Take back a move or delete of many contacts, within an hour (addition)',
        body: JobId,
        response: done,
      },
    },
    async (request) => {
      undoJob(db, request.accountId, recordId(request.body.id), clock.now().getTime());
      wake();
      return { status: 'success' as const, message: 'Undoing' };
    },
  );
};
