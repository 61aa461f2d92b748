/**
 * Operations that change automations and their mails, as drafts or live (additions to the contract). Each change can first be
 * made as a dry run.
 */
import { randomUUID } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { checkedTargets, hasSegment } from '../../audience/segments/segments.ts';
import { capOption, templateCode } from '../../campaigns/operations/drafts.ts';
import type { Db } from '../../database/open.ts';
import { recordUtr } from '../../database/ownership.ts';
import { AUTOMATION_STATUS, AWAITED, automationSchedules, automations, BRANCHES } from '../../database/schema/index.ts';
import type { OrderChange } from '../../delivery/queue/enrolment-state.ts';
import { conflict, invalid, notFound } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import {
  choice,
  flag,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  stringList,
  trackingFlag,
  unchangedSince,
} from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { closeVersion, withTemplateCopied } from '../../templates/mail-content.ts';
import { isoTimestamp } from '../../time/clock.ts';
import {
  type Automation,
  cancelDeletedMail,
  createScheduleMailing,
  freezeSchedule,
  insertSchedule,
  listSchedules,
  removeSchedule,
  requireAutomation,
  requireMail,
  requireRoomForEvent,
  requireRoomForMail,
  requireStep,
  type Schedule,
} from '../automations.ts';
import { endBackfills } from '../backfill.ts';
import { movesTo, orderMails } from '../move-enrolments.ts';
import { findPlace, type GivenPlace, inReadingOrder, isDeciding } from '../path.ts';
import { ByUtr, checkAutomation, TARGET, WAITING_TYPES } from './automations.ts';
import { type ChangeResult, Effects, withEffects } from './effects.ts';
import { ByMail, checkMail, MAX_WAITING_PERIOD } from './mails.ts';
import {
  checkSettings,
  givenSettings,
  keptSettings,
  NO_MAIL,
  NO_SETTINGS,
  OTHER_KINDS,
  type OtherKind,
  requireScopeOfStep,
  storedSettings,
} from './step-kinds.ts';
import { checkTrigger, triggerColumns, triggerInput } from './triggers.ts';

/** The longest wait for an event or date: ten years. */
const MAX_TIMEOUT_HOURS = 87_600;

/** The largest control group, in percent: most contacts get the mails. */
const MAX_HOLD_OUT = 50;

/**
 * The options of each change: make it only if nothing has changed since, make it only to a draft, and make it as a dry
 * run.
 */
const how = {
  unchanged_since: unchangedSince(),
  only_draft: Type.Optional(Type.Unsafe<0 | 1>({ ...flag('1: refused with 409 while it is live.'), empty: 0 })),
  dry_run: Type.Optional(
    Type.Unsafe<0 | 1>({ ...flag('1: nothing is changed; the answer says what would happen to contacts.'), empty: 0 }),
  ),
};
const described = 'effects says what happens to the contacts who wait, by the e-mail they wait for before and after.';
const Updated = Type.Object({ updated_at: nullable(isoTimestampSchema()), effects: Effects });
const Utr = Type.Object({ utr: nullable(Type.String()), effects: Effects });

const mail = {
  sender_id: integer({ description: 'Id of the sender.' }),
  subject: line({ minLength: 1 }),
  waiting_period: integer({ maximum: MAX_WAITING_PERIOD, description: 'Days or hours to wait.' }),
  waiting_type: choice(...WAITING_TYPES),
  template_id: integer({ description: 'Id of the template.' }),
};
/** Where a new mail or step goes. */
const place = {
  before: Type.Optional(
    line({ description: 'utr of the e-mail or step it comes before, on its path; empty: the end.' }),
  ),
  parent: Type.Optional(
    line({ description: 'utr of the if or split on one of whose paths it comes last; empty: the main path.' }),
  ),
  branch: Type.Optional({ ...choice(...BRANCHES), description: 'Of parent: which path.' }),
};
/** The columns of other steps in a mail. */
const NO_STEP = { kind: 'mail' as const, languages: null, event_since: null, ...NO_SETTINGS };
const optionalMail = {
  preheader: Type.Optional(line({ description: 'The text that mail programs show behind the subject.' })),
  preview_img: Type.Optional(line({ description: "The template's preview_image." })),
  ...templateCode,
  tracking: trackingFlag(),
};

/** The settings of steps other than mails. */
const settings = {
  segment_id: Type.Optional(
    integer({
      description:
        'Of if: the segment whose contacts take the path yes. Of segment_add and segment_remove: the segment that changes.',
    }),
  ),
  share: Type.Optional(
    integer({ minimum: 1, maximum: 99, description: 'Of split: how many contacts of a hundred take the path yes.' }),
  ),
  contact_type_id: Type.Optional(integer({ description: 'Of move: the list (contact type) they are moved to.' })),
  field: Type.Optional(
    line({
      description:
        'Of set_field: the name of the field, one of your own or of each contact except addresses. Of a wait for a date: one of your own with a date.',
    }),
  ),
  value: Type.Optional(
    Type.Unsafe<string>({
      ...line({
        description:
          'Of set_field: the new value, of the type of the field; empty or absent: it is cleared. Of webhook: a note that is sent with it.',
      }),
      examples: ['Ulm'],
    }),
  ),
  until: Type.Optional({
    ...choice(...AWAITED),
    description:
      'Of wait_until: a reported event, a date of the contact, an hour of the day or a weekday, in the time zone of the contact.',
    examples: ['event'],
  }),
  event: Type.Optional(
    Type.Unsafe<string>({ ...line({ description: 'Of a wait for an event: its name.' }), examples: ['purchase'] }),
  ),
  event_filter: Type.Optional(
    line({ description: 'Only such events: a property, = != > >= < or <=, and a text or number. Empty: all.' }),
  ),
  weekday: Type.Optional(integer({ minimum: 1, maximum: 7, description: 'Of a wait for a weekday: 1 is Monday.' })),
  hour: Type.Optional(
    Type.Unsafe<number>({
      ...integer({
        minimum: 0,
        maximum: 23,
        description: 'Of a wait for an hour: which. Of a wait for a date or weekday: from this hour on; 0 by default.',
      }),
      examples: [9],
    }),
  ),
  timeout_hours: Type.Optional(
    integer({
      minimum: 1,
      maximum: MAX_TIMEOUT_HOURS,
      description: 'Of a wait for an event or date: after this number of hours contacts take the path no.',
    }),
  ),
};

export const changeAutomation = operation({
  name: 'Change parts of an automation (addition)',
  description: `Parameters that are not given keep their value. The group of a live automation cannot change. ${described}`,
  role: 'editor',
  input: Type.Object({
    ...ByUtr.properties,
    ...how,
    automation_name: Type.Optional(line({ minLength: 1 })),
    automation_for: Type.Optional(line({ description: TARGET })),
    unsubscribe_group_id: Type.Optional(integer({ description: '0: not chosen yet.' })),
    exit_criteria: Type.Optional(Type.Unsafe<0 | 1>(flag('1: contacts finish also when they leave the target.'))),
    ...triggerInput,
    goal_segment_id: Type.Optional(
      integer({
        description:
          'Contacts that join this segment have reached the goal and exit; contacts in it do not enter. 0: no goal.',
      }),
    ),
    exit_segment_id: Type.Optional(
      integer({
        description: 'Contacts that join this segment exit; contacts in it do not enter. 0: no such segment.',
      }),
    ),
    hold_out: Type.Optional(
      integer({
        maximum: MAX_HOLD_OUT,
        description:
          'How many of a hundred contacts who enter from now on get nothing, so that the results compare the others with them.',
      }),
    ),
    ...capOption,
  }),
  output: Updated,
  check(context, input, errors) {
    checkAutomation(context, input, errors);
    for (const name of ['goal_segment_id', 'exit_segment_id'] as const) {
      const { [name]: segment } = input;
      if (segment) errors.reference(name, () => hasSegment(context.db, context.accountId, segment));
    }
    checkTrigger(context, input, errors);
  },
  async run(context, { utr, unchanged_since, automation_for, unsubscribe_group_id: group, ...fields }) {
    const { db, accountId, actor } = context;
    const { id } = requireAutomation(db, accountId, utr);
    const { result: updated_at, effects } = await changed(context, id, fields, (now) => {
      const before = requireAutomation(db, accountId, utr);
      requireUnchanged(before, unchanged_since);
      const [target] = checkedTargets(automation_for ? [automation_for] : []);
      if (before.status === AUTOMATION_STATUS.live) {
        if (group !== undefined && String(group) !== before.unsubscribe_group_id)
          throw invalid('unsubscribe_group_id', sentence('group_of_live'));
        if (automation_for !== undefined && target === undefined)
          throw invalid('automation_for', messages.required('automation_for'));
      }
      const trigger = triggerColumns(db, before, fields, Date.parse(now));
      const { trigger_event = before.trigger_event } = trigger;
      if (before.status === AUTOMATION_STATUS.live && trigger_event !== before.trigger_event)
        requireRoomForEvent(db, { ...before, trigger_event });
      const isOtherTarget =
        automation_for !== undefined &&
        (Number(target?.id ?? 0) !== before.automation_for || target?.table !== before.automation_for_table);
      if (isOtherTarget) endBackfills(db.$client, id);
      db.update(automations)
        .set({
          automation_name: fields.automation_name,
          exit_criteria: fields.exit_criteria,
          trigger_kind: trigger.trigger_kind,
          trigger_event: trigger.trigger_event,
          trigger_filter: trigger.trigger_filter,
          trigger_field_id: trigger.trigger_field_id,
          trigger_field: trigger.trigger_field,
          trigger_value: trigger.trigger_value,
          trigger_days: trigger.trigger_days,
          trigger_before: trigger.trigger_before,
          trigger_hour: trigger.trigger_hour,
          trigger_yearly: trigger.trigger_yearly,
          trigger_form_id: trigger.trigger_form_id,
          dates_checked_to: trigger.dates_checked_to,
          dates_since: trigger.dates_since,
          re_entry: trigger.re_entry,
          re_entry_days: trigger.re_entry_days,
          goal_segment_id: fields.goal_segment_id === 0 ? null : fields.goal_segment_id,
          exit_segment_id: fields.exit_segment_id === 0 ? null : fields.exit_segment_id,
          hold_out: fields.hold_out,
          hold_out_since:
            fields.hold_out === undefined || fields.hold_out === before.hold_out
              ? undefined
              : context.clock.now().getTime(),
          ignores_caps: fields.ignores_caps,
          automation_for: automation_for === undefined ? undefined : Number(target?.id ?? 0),
          automation_for_table: automation_for === undefined ? undefined : (target?.table ?? ''),
          unsubscribe_group_id: group === undefined ? undefined : String(group),
          changed_by: actor.userId,
          updated_at: now,
        })
        .where(eq(automations.id, id))
        .run();
      const endsOtherwise =
        isOtherTarget ||
        [fields.exit_criteria, fields.goal_segment_id, fields.exit_segment_id].some((one) => one !== undefined);
      return { result: now, moves: null, concerns: endsOtherwise ? 'everybody' : 'nobody' };
    });
    return { updated_at, effects };
  },
});

export const addMail = operation({
  name: 'Add an e-mail to an automation, also before others (addition)',
  description: `An e-mail that is added before another one is sent to contacts who have not passed that place. ${described}`,
  role: 'editor',
  input: Type.Object({
    ...ByUtr.properties,
    ...how,
    ...place,
    ...mail,
    ...optionalMail,
  }),
  output: Utr,
  check(context, input, errors) {
    checkMail(context, input, errors);
    checkPlace(context, input, errors);
  },
  async run(context, { utr, unchanged_since, dry_run, only_draft, before, parent, branch, ...fields }) {
    const { db, clock, accountId, actor } = context;
    const automation_id = requireAutomation(db, accountId, utr).id;
    const stamp = isoTimestamp(clock.now());
    const columns = {
      ...NO_STEP,
      preheader: '',
      preview_img: '',
      template_json: '',
      template_html: '',
      tracking: 1,
      ...withTemplateCopied(db, accountId, fields),
      user_id: accountId,
      automation_id,
      utr: randomUUID(),
      changed_by: actor.userId,
      created_at: stamp,
      updated_at: stamp,
    };
    const frozen =
      dry_run === 1
        ? null
        : await freezeSchedule(context, requireAutomation(db, accountId, utr), {
            ...columns,
            id: 0,
            position: 0,
            parent_id: null,
            branch: null,
          });
    const { result, effects } = await changed(context, automation_id, { dry_run, only_draft }, (now, isRolledBack) => {
      const automation = requireAutomation(db, accountId, utr);
      requireUnchanged(automation, unchanged_since);
      const { schedule, moves } = insertAt(db, columns, { before, parent, branch });
      if (!isRolledBack) publish(db, automation, schedule, frozen, now);
      touch(context, automation, now);
      return { result: columns.utr, moves, concerns: columns };
    });
    return { utr: result, effects };
  },
});

export const addStep = operation({
  name: 'Add a step other than an e-mail to an automation (addition)',
  description: `if and split let contacts take one of two paths, yes or no, to which e-mails and steps are added; so does wait_until; set_field, move, segment_add and segment_remove change the contact, for which a key pair needs the scope contacts too; webhook tells webhooks; exit ends the run. ${described}`,
  role: 'editor',
  input: Type.Object({
    ...ByUtr.properties,
    ...how,
    ...place,
    kind: { ...choice(...OTHER_KINDS), description: 'What it does.', examples: ['exit'] },
    ...settings,
    waiting_period: mail.waiting_period,
    waiting_type: mail.waiting_type,
  }),
  output: Utr,
  check(context, input, errors) {
    checkPlace(context, input, errors);
    checkSettings(context, input, errors);
  },
  async run(context, { utr, unchanged_since, before, parent, branch, ...fields }) {
    requireScopeOfStep(fields.kind, context);
    const { db, clock, accountId, actor } = context;
    const automation_id = requireAutomation(db, accountId, utr).id;
    const stamp = isoTimestamp(clock.now());
    const columns = {
      ...NO_MAIL,
      kind: fields.kind,
      ...storedSettings(db, accountId, fields.kind, fields),
      event_since: null,
      waiting_period: fields.waiting_period,
      waiting_type: fields.waiting_type,
      user_id: accountId,
      automation_id,
      utr: randomUUID(),
      changed_by: actor.userId,
      created_at: stamp,
      updated_at: stamp,
    };
    const { result, effects } = await changed(context, automation_id, fields, (now) => {
      const automation = requireAutomation(db, accountId, utr);
      requireUnchanged(automation, unchanged_since);
      const { moves } = insertAt(db, columns, { before, parent, branch });
      touch(context, automation, now);
      return { result: columns.utr, moves, concerns: columns };
    });
    return { utr: result, effects };
  },
});

export const changeStep = operation({
  name: 'Change the settings of a step other than an e-mail, or the wait before it (addition)',
  description: `Parameters that are not given keep their value; its kind stays. Contacts who come to the step, or wait at it, go on by the new settings; after another event is awaited, only what happens from then on counts. ${described}`,
  role: 'editor',
  input: Type.Object({
    utr: identifier('The step.'),
    ...how,
    ...settings,
    waiting_period: Type.Optional(mail.waiting_period),
    waiting_type: Type.Optional(mail.waiting_type),
  }),
  output: Updated,
  check(context, { utr, ...fields }, errors) {
    const { db, accountId } = context;
    const { schedule } = requireOtherStep(db, accountId, utr);
    const before = givenSettings(db, schedule);
    const after = { ...before, ...fields };
    checkSettings(context, { ...after, kind: schedule.kind }, errors, keptSettings(before, after));
  },
  async run(context, { utr, unchanged_since, waiting_type, waiting_period, ...fields }) {
    const { db, accountId, actor } = context;
    const { automation_id, kind } = requireOtherStep(db, accountId, utr).schedule;
    requireScopeOfStep(kind, context);
    const { result: updated_at, effects } = await changed(context, automation_id, fields, (now) => {
      const { schedule, automation } = requireOtherStep(db, accountId, utr);
      requireUnchanged(schedule, unchanged_since);
      const before = givenSettings(db, schedule);
      const asked = { ...before, ...fields };
      const settings = {
        ...storedSettings(db, accountId, schedule.kind, asked),
        // A field that was deleted has no name by which it is found.
        ...(keptSettings(before, asked).has('field') && { field: schedule.field, field_id: schedule.field_id }),
      };
      const isOtherEvent = settings.event !== schedule.event || settings.event_filter !== schedule.event_filter;
      const columns = {
        ...settings,
        event_since: isOtherEvent ? Date.parse(now) : schedule.event_since,
        waiting_type: waiting_type ?? schedule.waiting_type,
        waiting_period: waiting_period ?? schedule.waiting_period,
        changed_by: actor.userId,
        updated_at: now,
      };
      const after = { ...schedule, ...columns };
      if (!isDeciding(after) && hasPath(db, schedule)) throw conflict(sentence('step_has_path'));
      db.update(automationSchedules).set(columns).where(eq(automationSchedules.id, schedule.id)).run();
      touch(context, automation, now);
      // Contacts who wait at this step are looked at again, because they may now wait for something else.
      const isMoving = isOtherWait(schedule, after) || schedule.kind === 'wait_until';
      return {
        result: now,
        moves: isMoving ? movesTo(db.$client, automation_id, schedule.position) : null,
        ...(schedule.kind === 'wait_until' && { wait: { before: schedule, after } }),
        concerns: schedule,
      };
    });
    return { updated_at, effects };
  },
});

export const removeStep = operation({
  name: 'Remove a step other than an e-mail of an automation, or ask what that would do (addition)',
  description: `Only without steps on its paths. People who wait for it wait for the next. ${described}`,
  role: 'editor',
  input: Type.Object({ utr: identifier('The step.'), ...how }),
  output: Utr,
  async run(context, { utr, unchanged_since, ...options }) {
    const { db, accountId } = context;
    const { automation_id } = requireOtherStep(db, accountId, utr).schedule;
    const { result, effects } = await changed(context, automation_id, options, (now) => {
      const { schedule, automation } = requireOtherStep(db, accountId, utr);
      requireUnchanged(schedule, unchanged_since);
      if (hasPath(db, schedule)) throw conflict(sentence('step_has_path'));
      const { moves } = removeSchedule(db, schedule);
      touch(context, automation, now);
      return { result: schedule.utr, moves, concerns: schedule };
    });
    return { utr: result, effects };
  },
});

export const changeMail = operation({
  name: 'Change parts of an e-mail of an automation (addition)',
  description: `Parameters that are not given keep their value. Contacts who wait for the e-mail get the changed e-mail, at its new time. ${described}`,
  role: 'editor',
  input: Type.Object({
    ...ByMail.properties,
    ...how,
    sender_id: Type.Optional(mail.sender_id),
    subject: Type.Optional(mail.subject),
    waiting_period: Type.Optional(mail.waiting_period),
    waiting_type: Type.Optional(mail.waiting_type),
    template_id: Type.Optional(mail.template_id),
    ...optionalMail,
  }),
  output: Updated,
  check: checkMail,
  run(context, { utr, unchanged_since, dry_run, only_draft, ...fields }) {
    const { db, accountId } = context;
    const { template_json, template_html, ...plain } = withTemplateCopied(db, accountId, fields);
    const columns = {
      ...plain,
      // A new MJML or HTML template replaces the stored one of either kind.
      ...((template_json !== undefined || template_html !== undefined) && {
        template_json: template_json ?? '',
        template_html: template_html ?? '',
      }),
    };
    return changeMailColumns(context, { utr, unchanged_since, dry_run, only_draft }, columns);
  },
});

/**
 * Changes columns of a mail of an automation. While the automation is live, the changed mail is frozen for the contacts
 * who wait for it. Throws 404, and 409 if the mail was changed since, or cannot be sent.
 */
export async function changeMailColumns(
  context: Context,
  {
    utr,
    unchanged_since,
    ...options
  }: {
    utr: unknown;
    unchanged_since?: string | undefined;
    only_draft?: 0 | 1 | undefined;
    dry_run?: 0 | 1 | undefined;
  },
  columns: Partial<Schedule>,
): Promise<Static<typeof Updated>> {
  const { db, accountId, actor } = context;
  const { schedule: seen, automation: current } = requireMail(db, accountId, utr);
  const { dry_run } = options;
  const frozen = dry_run === 1 ? null : await freezeSchedule(context, current, { ...seen, ...columns });
  const { result: updated_at, effects } = await changed(context, seen.automation_id, options, (now, isRolledBack) => {
    const { schedule: before, automation } = requireMail(db, accountId, utr);
    requireUnchanged(before, unchanged_since);
    // The stored mail must be the one that was frozen.
    if (dry_run !== 1 && before.updated_at !== seen.updated_at) throw conflict(sentence('changed_meanwhile'));
    const after = { ...before, ...columns, changed_by: actor.userId, updated_at: now };
    // Choosing a template replaces everything, so the present content is kept as a version.
    if (columns.template_id !== undefined) closeVersion(db, 'automation_mail', before.id);
    db.update(automationSchedules)
      .set({ ...columns, changed_by: actor.userId, updated_at: now })
      .where(eq(automationSchedules.id, before.id))
      .run();
    if (!isRolledBack) publish(db, automation, after, frozen, now);
    const moves = isOtherWait(before, after) ? movesTo(db.$client, automation.id, before.position) : null;
    return { result: now, moves, concerns: before };
  });
  return { updated_at, effects };
}

export const orderAutomation = operation({
  name: 'Put the e-mails of an automation into another order (addition)',
  description: `Contacts get the e-mails that they have not had in the new order, and none twice. ${described}`,
  role: 'editor',
  input: Type.Object({
    ...ByUtr.properties,
    ...how,
    mails: stringList({
      minItems: 1,
      description:
        'The utrs of all its e-mails and other steps, in their new order; those on the paths of a step follow it.',
    }),
  }),
  output: Updated,
  check(context, { utr, mails = [] }, errors) {
    const utrs = utrsOf(context, utr);
    errors.reference('mails', () => isOrderOf(utrs, mails));
  },
  async run(context, { utr, unchanged_since, mails, ...options }) {
    const { db, accountId } = context;
    const { id } = requireAutomation(db, accountId, utr);
    const { result: updated_at, effects } = await changed(context, id, options, (now) => {
      const automation = requireAutomation(db, accountId, utr);
      requireUnchanged(automation, unchanged_since);
      const steps = listSchedules(db, id);
      const byUtr = new Map(steps.map((step) => [step.utr, step]));
      if (!isOrderOf(new Set(byUtr.keys()), mails)) throw invalid('mails', messages.selected('mails'));
      const ordered = mails.flatMap((utr) => byUtr.get(recordUtr(utr)) ?? []);
      const order = ordered.map((step) => step.id);
      if (inReadingOrder(ordered).some((step, at) => step.id !== order[at]))
        throw invalid('mails', messages.selected('mails'));
      const moves = order.length > 1 ? orderMails(db.$client, id, order) : null;
      touch(context, automation, now);
      return { result: now, moves, concerns: 'everybody' };
    });
    return { updated_at, effects };
  },
});

export const removeMail = operation({
  name: 'Remove an e-mail of an automation, or ask what that would do (addition)',
  description: `The same as deleting it: contacts who wait for it wait for the next e-mail. ${described}`,
  role: 'editor',
  input: Type.Object({ ...ByMail.properties, ...how }),
  output: Utr,
  async run(context, { utr, unchanged_since, ...options }) {
    const { db, accountId } = context;
    const { automation_id } = requireMail(db, accountId, utr).schedule;
    let cancelled: number[] = [];
    const { result, effects } = await changed(context, automation_id, options, (now) => {
      const { schedule, automation } = requireMail(db, accountId, utr);
      requireUnchanged(schedule, unchanged_since);
      const removed = removeSchedule(db, schedule);
      cancelled = removed.cancelled;
      touch(context, automation, now);
      return { result: schedule.utr, moves: removed.moves, concerns: schedule };
    });
    if (options.dry_run !== 1) await cancelDeletedMail(context, cancelled);
    return { utr: result, effects };
  },
});

/** Adds the field errors of the place of a new step. */
function checkPlace(
  { db, accountId }: Context,
  { utr, before, parent, branch }: { utr?: unknown } & GivenPlace,
  errors: FieldErrorCollector,
): void {
  const exists = (place: GivenPlace) =>
    findPlace(listSchedules(db, requireAutomation(db, accountId, utr).id), place) !== null;
  if (before) errors.reference('before', () => exists({ before }));
  if (parent && !branch) errors.add('branch', messages.required('branch'));
  else if (parent) errors.reference('parent', () => exists({ parent, branch }));
}

/** Stores a step at its place. Returns it with the moves of enrolments. Throws 422 if the place is gone. Call inside a transaction. */
function insertAt(db: Db, columns: Omit<Schedule, 'id' | 'position' | 'parent_id' | 'branch'>, place: GivenPlace) {
  const { $client: client } = db;
  const { automation_id } = columns;
  requireRoomForMail(db, automation_id);
  const steps = listSchedules(db, automation_id);
  const where = findPlace(steps, place);
  const field = place.before ? 'before' : 'parent';
  if (where === null) throw invalid(field, messages.selected(field));
  const { at, ...path } = where;
  const { id, position } = insertSchedule(db, { ...columns, ...path });
  const order = steps.map((step) => step.id);
  const moves: OrderChange =
    at < order.length
      ? orderMails(client, automation_id, [...order.slice(0, at), id, ...order.slice(at)], id)
      : movesTo(client, automation_id, position);
  return { schedule: { ...columns, ...path, id, position }, moves };
}

/** Returns the account's step other than a mail with this utr, and the automation. Throws 404. */
function requireOtherStep(
  db: Db,
  accountId: number,
  utr: unknown,
): { schedule: Schedule & { kind: OtherKind }; automation: Automation } {
  const { schedule, automation } = requireStep(db, accountId, utr);
  const { kind } = schedule;
  if (kind === 'mail') throw notFound('Record not found');
  return { schedule: { ...schedule, kind }, automation };
}

/** Returns true if there are steps on the paths of a step. */
function hasPath(db: Db, { id, automation_id }: Schedule): boolean {
  return listSchedules(db, automation_id).some(({ parent_id }) => parent_id === id);
}

type Wait = Pick<Schedule, 'waiting_type' | 'waiting_period'>;

function isOtherWait(before: Wait, after: Wait): boolean {
  return after.waiting_type !== before.waiting_type || after.waiting_period !== before.waiting_period;
}

/**
 * Makes a change and wakes the background thread, or, in a dry run, only finds out its effects. `change` gets the time as an ISO timestamp.
 */
async function changed<Result>(
  context: Context,
  automationId: number,
  { only_draft, dry_run }: { only_draft?: 0 | 1 | undefined; dry_run?: 0 | 1 | undefined },
  change: (now: string, isRolledBack: boolean) => ChangeResult<Result>,
): Promise<{ result: Result | null; effects: Effects }> {
  const now = context.clock.now();
  const isOnlyAsked = dry_run === 1;
  const asked = { automationId, isOnlyAsked, now };
  const result = await withEffects(context, asked, (isRolledBack) => {
    if (only_draft === 1) requireDraft(context.db, automationId);
    return change(isoTimestamp(now), isRolledBack);
  });
  if (!isOnlyAsked) context.wake();
  return result;
}

/** Returns the utrs of the mails of an automation. Throws 404. */
function utrsOf({ db, accountId }: Context, utr: unknown): Set<string> {
  return new Set(listSchedules(db, requireAutomation(db, accountId, utr).id).map((schedule) => schedule.utr));
}

/** Returns true if a list contains each of these utrs once. */
function isOrderOf(utrs: ReadonlySet<string>, order: readonly string[]): boolean {
  const named = new Set(order.map(recordUtr));
  return order.length === utrs.size && named.size === utrs.size && [...named].every((one) => utrs.has(one));
}

function requireUnchanged({ updated_at }: { updated_at: string }, unchangedSince: string | undefined): void {
  if (unchangedSince && unchangedSince !== updated_at) throw conflict(sentence('changed_meanwhile'));
}

/** Throws 409 if an automation is live. */
function requireDraft(db: Db, id: number): void {
  const isLive = and(eq(automations.id, id), eq(automations.status, AUTOMATION_STATUS.live));
  if (db.select({ id: automations.id }).from(automations).where(isLive).get() !== undefined)
    throw conflict(sentence('automation_is_live'));
}

/** Records who changed the automation. */
function touch({ db, actor }: Context, { id }: Automation, updated_at: string): void {
  db.update(automations).set({ changed_by: actor.userId, updated_at }).where(eq(automations.id, id)).run();
}

/** Prepares a changed mail for sending if its automation is live. Throws 409 if the mail cannot be sent. */
function publish(
  db: Db,
  automation: Automation,
  schedule: Schedule,
  frozen: Awaited<ReturnType<typeof freezeSchedule>> | null,
  now: string,
): void {
  if (automation.status !== AUTOMATION_STATUS.live || frozen === null) return;
  if ('problem' in frozen)
    throw conflict(frozen.code === 'sender_unverified' ? frozen.problem : sentence('live_change_broken', frozen));
  createScheduleMailing(db, automation, schedule, frozen, now);
}
