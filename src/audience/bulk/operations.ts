/**
 * Operations for bulk actions on chosen contacts or on all that match. The background thread does the work, and users can
 * watch, cancel and undo it.
 */
import Type, { type Static } from 'typebox';
import { recordId, requireOwnedIds } from '../../database/ownership.ts';
import { contactJobs, contacts } from '../../database/schema/index.ts';
import { notFound } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import {
  choice,
  described,
  flag,
  identifier,
  identifiers,
  integer,
  isoTimestampSchema,
  nullable,
  optionalReference,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { hasContactType, ownedContacts } from '../contacts/contacts.ts';
import { namesErased } from '../contacts/erased-addresses.ts';
import { checkContactFilter, contactFilter, contactFilterProperties } from '../search/operations.ts';
import { hasSegment } from '../segments/segments.ts';
import { hasGroup } from '../unsubscribed/groups.ts';
import type { Job } from './apply.ts';
import { cancelJob, confirmJob, isUndoable, listJobs, requireJob, startJob, undoJob } from './jobs.ts';

const MAX_LISTED = 50;

const Action = Type.Object({
  id: integer(),
  action: {
    ...choice(...contactJobs.action.enumValues),
    description: 'What is done to the contacts: move to a contact type, delete, unsubscribe, or add to a segment.',
  },
  target_id: nullable(
    integer(),
    'Id of the contact type, segment or unsubscribe group of the action; null: the action deletes contacts, or unsubscribes them from all mail.',
  ),
  state: {
    ...choice(...contactJobs.state.enumValues),
    description:
      'selecting: the contacts are being collected; ready: the action waits for its confirmation; running; done; cancelled: stopped before its end; undoing; undone; failed.',
  },
  whole: integer({ description: 'The number of contacts chosen for the action.' }),
  done: integer({ description: 'The number of contacts to which the action was applied so far.' }),
  skipped: integer({
    description:
      'Contacts to which the action did not apply: they were deleted meanwhile, or the contact type already has their address.',
  }),
  is_undoable: zeroOrOne('1: the action can be undone now.'),
  created_at: isoTimestampSchema(),
  finished_at: nullable(isoTimestampSchema(), 'When the action ended, UTC; null before its end.'),
});
export type Action = Static<typeof Action>;
const OneAction = Type.Object({ job: Action });
const ById = Type.Object({ id: identifier('The action.') });

/** For each action, the parameter with its contact type, segment or unsubscribe group; null: the action needs none of them. */
export const TARGETS = {
  move: 'to_contact_type_id',
  segment: 'to_segment_id',
  unsubscribe: 'unsubscribe_groups_id',
  delete: null,
} as const;

export const startAction = operation({
  name: 'Move, delete, unsubscribe or add to a segment many contacts, in the background (addition)',
  role: 'editor',
  input: Type.Object({
    action: described(choice(...contactJobs.action.enumValues), 'What to do with the contacts.'),
    strIds: identifiers('Contact ids.'),
    everything: Type.Optional(flag('1: all contacts that match the filter below, instead of `strIds`.')),
    ...contactFilterProperties,
    needs_confirmation: Type.Optional(
      flag('1: the action changes no contact before it is confirmed with `/contacts/jobs/confirm`.'),
    ),
    to_contact_type_id: optionalReference('The contact type to which the action `move` moves the contacts.'),
    unsubscribe_groups_id: optionalReference(),
    to_segment_id: optionalReference(),
  }),
  output: OneAction,
  check(context, input, errors) {
    const { db, accountId } = context;
    checkContactFilter(context, input, errors);
    // The filter is stored until the action has ended, so it must not contain an erased address.
    for (const [field, texts] of [
      ['search', [input.search ?? '']],
      ['value', input.value ?? []],
    ] as const)
      if (namesErased(db.$client, accountId, texts)) errors.add(field, messages.erased(field));
    const { action, contact_type_id, segment_id, to_contact_type_id, to_segment_id, unsubscribe_groups_id } = input;
    const ownsType = (id: unknown) => hasContactType(db, accountId, id);
    const ownsSegment = (id: unknown) => hasSegment(db, accountId, id);
    if (contact_type_id !== undefined) errors.reference('contact_type_id', () => ownsType(contact_type_id));
    if (segment_id !== undefined) errors.reference('segment_id', () => ownsSegment(segment_id));
    if (action === 'move') {
      if (to_contact_type_id) errors.reference('to_contact_type_id', () => ownsType(to_contact_type_id));
      else errors.add('to_contact_type_id', messages.required('to_contact_type_id'));
    }
    if (action === 'segment') {
      if (to_segment_id) errors.reference('to_segment_id', () => ownsSegment(to_segment_id));
      else errors.add('to_segment_id', messages.required('to_segment_id'));
    }
    if (action === 'unsubscribe' && unsubscribe_groups_id)
      errors.reference('unsubscribe_groups_id', () => hasGroup(context, unsubscribe_groups_id));
  },
  async run(context, input) {
    const { db, clock, accountId, wake } = context;
    const { action, strIds, everything } = input;
    const target = TARGETS[action];
    const job = startJob(db, {
      user_id: accountId,
      action,
      target_id: (target && input[target]) || null,
      contacts:
        everything === 1
          ? contactFilter(context, input)
          : await requireOwnedIds(db, contacts, strIds, ownedContacts(accountId), notFound()),
      needs_confirmation: input.needs_confirmation ?? 0,
      created_at: isoTimestamp(clock.now()),
    });
    wake();
    return { job: toAction(context, job) };
  },
});

export const listActions = operation({
  name: 'List the newest actions on many contacts (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ jobs: Type.Array(Action, { description: 'The actions, newest first.' }) }),
  run: (context) => ({
    jobs: listJobs(context.db, context.accountId, MAX_LISTED).map((job) => toAction(context, job)),
  }),
});

export const readAction = operation({
  name: 'Read the progress of an action on many contacts (addition)',
  role: 'viewer',
  input: ById,
  output: OneAction,
  run: (context, { id }) => ({ job: toAction(context, requireJob(context.db, context.accountId, recordId(id))) }),
});

export const confirmAction = operation({
  name: 'Confirm an action on many contacts (addition)',
  description:
    'An action can be confirmed when its state is `ready`, because the number of its contacts is known then. An action that nobody confirms within an hour is cancelled.',
  role: 'editor',
  input: ById,
  run({ db, accountId, wake }, { id }) {
    confirmJob(db, accountId, recordId(id));
    wake();
  },
});

export const cancelAction = operation({
  name: 'Stop an action on many contacts; what it did so far stays (addition)',
  role: 'editor',
  input: ById,
  run: ({ db, clock, accountId }, { id }) => cancelJob(db, accountId, recordId(id), isoTimestamp(clock.now())),
});

export const undoAction = operation({
  name: 'Undo a move or delete of many contacts, within an hour (addition)',
  role: 'editor',
  input: ById,
  run({ db, clock, accountId, wake }, { id }) {
    undoJob(db, accountId, recordId(id), clock.now().getTime());
    wake();
  },
});

function toAction({ clock }: Context, job: Job): Action {
  const { id, action, target_id, state, whole, done, skipped, created_at, finished_at } = job;
  const is_undoable = isUndoable(job, clock.now().getTime()) ? 1 : 0;
  return { id, action, target_id, state, whole, done, skipped, is_undoable, created_at, finished_at };
}
