/**
 * Operations that change automations and their steps, both drafts and live ones (additions to the contract). Each change can first
 * be tried in a dry run.
 */
import { and, eq } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { checkedTargets, hasSegment } from '../../audience/segments/segments.ts';
import { capOption, templateCode } from '../../campaigns/operations/drafts.ts';
import type { Db } from '../../database/open.ts';
import { recordUtr } from '../../database/ownership.ts';
import { AUTOMATION_STATUS, automationSchedules, automations, BRANCHES } from '../../database/schema/index.ts';
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
  optionalFlag,
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
  insertSchedule,
  listSchedules,
  removeSchedule,
  requireAutomation,
  requireMail,
  requireRoomForStep,
  requireStep,
  type Schedule,
  waitForCancellation,
} from '../automations.ts';
import { endBackfills } from '../backfill.ts';
import { requireRoomForEvent } from '../go-live.ts';
import { movesTo, orderSteps } from '../move-enrolments.ts';
import { findPlace, type GivenPlace, inReadingOrder, isDeciding } from '../path.ts';
import { createScheduleMailing, freezeSchedule } from '../schedule-mailings.ts';
import { ByUtr, checkAutomation, TARGET, WAITING_TYPES } from './automations.ts';
import { type ChangeResult, Effects, withEffects } from './effects.ts';
import { ByMail, checkMail, MAX_WAITING_PERIOD, newStep } from './mails.ts';
import {
  checkSettings,
  givenSettings,
  keptSettings,
  NO_MAIL,
  NO_SETTINGS,
  OTHER_KINDS,
  type OtherKind,
  requireScopeOfStep,
  settingsInput,
  storedSettings,
} from './step-kinds.ts';
import { checkTrigger, triggerColumns, triggerInput } from './triggers.ts';

/** The largest control group in percent. At least as many contacts get the mails as do not. */
const MAX_HOLD_OUT = 50;

/** The options of every change. */
const changeOptions = {
  unchanged_since: unchangedSince(),
  only_draft: optionalFlag('1: the change is refused with 409 while the automation is live.'),
  dry_run: optionalFlag('1: nothing is changed; the answer says what would happen to contacts.'),
};
const effectsNote =
  'effects says what happens to the waiting contacts, by the step for which they wait before and after the change.';
const Updated = Type.Object({ updated_at: nullable(isoTimestampSchema()), effects: Effects });
const Utr = Type.Object({ utr: nullable(Type.String()), effects: Effects });

const mail = {
  sender_id: integer({ description: 'The id of the sender.' }),
  subject: line({ minLength: 1 }),
  waiting_period: integer({ maximum: MAX_WAITING_PERIOD, description: 'Days or hours to wait.' }),
  waiting_type: choice(...WAITING_TYPES),
  template_id: integer({ description: 'The id of the template.' }),
};
/** The place of a new step, which may be a mail. */
const place = {
  before: Type.Optional(
    line({
      description:
        'utr of the step before which the new step is inserted, on the same path. If empty, the new step comes last on the path of parent.',
    }),
  ),
  parent: Type.Optional(
    line({
      description:
        'utr of the deciding step (such as if or split) on one of whose paths the new step comes last. If empty, the new step comes last on the main path.',
    }),
  ),
  branch: Type.Optional({ ...choice(...BRANCHES), description: 'The path of parent.' }),
};
/** What a mail stores in the columns that only other kinds of steps use. */
const NO_STEP = { kind: 'mail' as const, languages: null, event_since: null, ...NO_SETTINGS };
const optionalMail = {
  preheader: Type.Optional(line({ description: 'The text that mail programs show behind the subject.' })),
  preview_img: Type.Optional(line({ description: "The template's preview_image." })),
  ...templateCode,
  tracking: trackingFlag(),
};

export const changeAutomation = operation({
  name: 'Change parts of an automation (addition)',
  description: `Absent parameters keep their value. The topic (unsubscribe group) of a live automation cannot change. ${effectsNote}`,
  role: 'editor',
  input: Type.Object({
    ...ByUtr.properties,
    ...changeOptions,
    automation_name: Type.Optional(line({ minLength: 1 })),
    automation_for: Type.Optional(line({ description: TARGET })),
    unsubscribe_group_id: Type.Optional(integer({ description: '0: not chosen yet.' })),
    exit_criteria: Type.Optional(flag('1: contacts exit also when they leave the target.')),
    ...triggerInput,
    goal_segment_id: Type.Optional(
      integer({
        description:
          'Contacts who join this segment have reached the goal and exit; contacts in the segment do not enter. 0: no goal.',
      }),
    ),
    exit_segment_id: Type.Optional(
      integer({
        description: 'Contacts who join this segment exit; contacts in the segment do not enter. 0: no such segment.',
      }),
    ),
    hold_out: Type.Optional(
      integer({
        maximum: MAX_HOLD_OUT,
        description:
          'The percentage of contacts entering from now on who get nothing, so that the results can compare the other contacts with them.',
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
    const { result: updated_at, effects } = await makeChange(context, id, fields, (now) => {
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
      const changesExits =
        isOtherTarget ||
        fields.exit_criteria !== undefined ||
        fields.goal_segment_id !== undefined ||
        fields.exit_segment_id !== undefined;
      return { result: now, moves: null, concerns: changesExits ? 'everybody' : 'nobody' };
    });
    return { updated_at, effects };
  },
});

export const addMail = operation({
  name: 'Add an e-mail to an automation, also before other steps (addition)',
  description: `An e-mail that is added before a step is sent to the contacts who have not passed that place. ${effectsNote}`,
  role: 'editor',
  input: Type.Object({
    ...ByUtr.properties,
    ...changeOptions,
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
    const { db, accountId } = context;
    const automation_id = requireAutomation(db, accountId, utr).id;
    const columns = {
      ...NO_STEP,
      preheader: '',
      preview_img: '',
      template_json: '',
      template_html: '',
      tracking: 1,
      ...withTemplateCopied(db, accountId, fields),
      ...newStep(context, automation_id),
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
    const { result, effects } = await makeChange(
      context,
      automation_id,
      { dry_run, only_draft },
      (now, isRolledBack) => {
        const automation = requireAutomation(db, accountId, utr);
        requireUnchanged(automation, unchanged_since);
        const { schedule, moves } = insertAt(db, columns, { before, parent, branch });
        if (!isRolledBack) publish(db, automation, schedule, frozen, now);
        touch(context, automation, now);
        return { result: columns.utr, moves, concerns: columns };
      },
    );
    return { utr: result, effects };
  },
});

export const addStep = operation({
  name: 'Add a step other than an e-mail to an automation (addition)',
  description: `if, split, and wait_until for an event or date let contacts take one of two paths, yes or no, to which other steps are added. set_field, move, segment_add and segment_remove change the contact, so a key pair also needs the scope contacts. webhook sends an event to webhooks. exit ends the run of the contact. ${effectsNote}`,
  role: 'editor',
  input: Type.Object({
    ...ByUtr.properties,
    ...changeOptions,
    ...place,
    kind: { ...choice(...OTHER_KINDS), description: 'What the step does.', examples: ['exit'] },
    ...settingsInput,
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
    const { db, accountId } = context;
    const automation_id = requireAutomation(db, accountId, utr).id;
    const columns = {
      ...NO_MAIL,
      kind: fields.kind,
      ...storedSettings(db, accountId, fields.kind, fields),
      event_since: null,
      waiting_period: fields.waiting_period,
      waiting_type: fields.waiting_type,
      ...newStep(context, automation_id),
    };
    const { result, effects } = await makeChange(context, automation_id, fields, (now) => {
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
  description: `Absent parameters keep their value; the kind of a step cannot change. The new settings apply to contacts who wait at the step or come to it. If the step now waits for another event, only events from now on count. ${effectsNote}`,
  role: 'editor',
  input: Type.Object({
    utr: identifier('The step.'),
    ...changeOptions,
    ...settingsInput,
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
    const { result: updated_at, effects } = await makeChange(context, automation_id, fields, (now) => {
      const { schedule, automation } = requireOtherStep(db, accountId, utr);
      requireUnchanged(schedule, unchanged_since);
      const before = givenSettings(db, schedule);
      const wanted = { ...before, ...fields };
      const settings = {
        ...storedSettings(db, accountId, schedule.kind, wanted),
        // Keep the stored field, because a field that was deleted cannot be found by its name.
        ...(keptSettings(before, wanted).has('field') && { field: schedule.field, field_id: schedule.field_id }),
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
      if (!isDeciding(after) && hasStepsOnPaths(db, schedule)) throw conflict(sentence('step_has_path'));
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
  name: 'Remove a step other than an e-mail from an automation, or ask what that would do (addition)',
  description: `A step with other steps on its paths cannot be removed. Contacts who wait for the removed step wait for the next one. ${effectsNote}`,
  role: 'editor',
  input: Type.Object({ utr: identifier('The step.'), ...changeOptions }),
  output: Utr,
  async run(context, { utr, unchanged_since, ...options }) {
    const { db, accountId } = context;
    const { automation_id } = requireOtherStep(db, accountId, utr).schedule;
    const { result, effects } = await makeChange(context, automation_id, options, (now) => {
      const { schedule, automation } = requireOtherStep(db, accountId, utr);
      requireUnchanged(schedule, unchanged_since);
      if (hasStepsOnPaths(db, schedule)) throw conflict(sentence('step_has_path'));
      const { moves } = removeSchedule(db, schedule);
      touch(context, automation, now);
      return { result: schedule.utr, moves, concerns: schedule };
    });
    return { utr: result, effects };
  },
});

export const changeMail = operation({
  name: 'Change parts of an e-mail of an automation (addition)',
  description: `Absent parameters keep their value. Contacts who wait for the e-mail get the changed e-mail, at its new time. ${effectsNote}`,
  role: 'editor',
  input: Type.Object({
    ...ByMail.properties,
    ...changeOptions,
    ...Type.Partial(Type.Object(mail)).properties,
    ...optionalMail,
  }),
  output: Updated,
  check: checkMail,
  run(context, { utr, unchanged_since, dry_run, only_draft, ...fields }) {
    const { db, accountId } = context;
    const { template_json, template_html, ...plain } = withTemplateCopied(db, accountId, fields);
    const columns = {
      ...plain,
      // A new MJML or HTML template replaces both stored templates, of which only one can be used.
      ...((template_json !== undefined || template_html !== undefined) && {
        template_json: template_json ?? '',
        template_html: template_html ?? '',
      }),
    };
    return changeMailColumns(context, { utr, unchanged_since, dry_run, only_draft }, columns);
  },
});

/**
 * Changes columns of a mail of an automation. While the automation is live, the changed mail is frozen, so that the contacts who
 * wait for the mail get the change. Throws 404 if there is no such mail, and 409 if the mail has changed since `unchanged_since`, or
 * cannot be sent.
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
  const { schedule: original, automation: current } = requireMail(db, accountId, utr);
  const { automation_id } = original;
  const { dry_run } = options;
  const frozen = dry_run === 1 ? null : await freezeSchedule(context, current, { ...original, ...columns });
  const { result: updated_at, effects } = await makeChange(context, automation_id, options, (now, isRolledBack) => {
    const { schedule: before, automation } = requireMail(db, accountId, utr);
    requireUnchanged(before, unchanged_since);
    // The stored mail must still be the mail that was frozen.
    if (dry_run !== 1 && before.updated_at !== original.updated_at) throw conflict(sentence('changed_meanwhile'));
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
  name: 'Put the steps of an automation into another order (addition)',
  description: `Contacts get the e-mails that they have not had yet in the new order, and no e-mail twice. ${effectsNote}`,
  role: 'editor',
  input: Type.Object({
    ...ByUtr.properties,
    ...changeOptions,
    mails: stringList({
      minItems: 1,
      description:
        'The utrs of all steps of the automation, e-mails included, in their new order. The steps on the paths of a step follow that step.',
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
    const { result: updated_at, effects } = await makeChange(context, id, options, (now) => {
      const automation = requireAutomation(db, accountId, utr);
      requireUnchanged(automation, unchanged_since);
      const steps = listSchedules(db, id);
      const byUtr = new Map(steps.map((step) => [step.utr, step]));
      if (!isOrderOf(new Set(byUtr.keys()), mails)) throw invalid('mails', messages.selected('mails'));
      const ordered = mails.flatMap((utr) => byUtr.get(recordUtr(utr)) ?? []);
      const order = ordered.map((step) => step.id);
      if (inReadingOrder(ordered).some((step, at) => step.id !== order[at]))
        throw invalid('mails', messages.selected('mails'));
      const moves = order.length > 1 ? orderSteps(db.$client, id, order) : null;
      touch(context, automation, now);
      return { result: now, moves, concerns: 'everybody' };
    });
    return { updated_at, effects };
  },
});

export const removeMail = operation({
  name: 'Remove an e-mail from an automation, or ask what that would do (addition)',
  description: `Deletes the e-mail. Contacts who wait for the e-mail wait for the next step. ${effectsNote}`,
  role: 'editor',
  input: Type.Object({ ...ByMail.properties, ...changeOptions }),
  output: Utr,
  async run(context, { utr, unchanged_since, ...options }) {
    const { db, accountId } = context;
    const { automation_id } = requireMail(db, accountId, utr).schedule;
    let cancelled: number[] = [];
    const { result, effects } = await makeChange(context, automation_id, options, (now) => {
      const { schedule, automation } = requireMail(db, accountId, utr);
      requireUnchanged(schedule, unchanged_since);
      const removed = removeSchedule(db, schedule);
      cancelled = removed.cancelled;
      touch(context, automation, now);
      return { result: schedule.utr, moves: removed.moves, concerns: schedule };
    });
    if (options.dry_run !== 1) await waitForCancellation(context, cancelled);
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

/** Stores a step at a place. Returns the step, and the moves of enrolments. Throws 422 if there is no such place. Call inside a transaction. */
function insertAt(db: Db, columns: Omit<Schedule, 'id' | 'position' | 'parent_id' | 'branch'>, place: GivenPlace) {
  const { $client: client } = db;
  const { automation_id } = columns;
  requireRoomForStep(db, automation_id);
  const steps = listSchedules(db, automation_id);
  const foundPlace = findPlace(steps, place);
  const field = place.before ? 'before' : 'parent';
  if (foundPlace === null) throw invalid(field, messages.selected(field));
  const { at, ...path } = foundPlace;
  const { id, position } = insertSchedule(db, { ...columns, ...path });
  const order = steps.map((step) => step.id);
  const moves: OrderChange =
    at < order.length
      ? orderSteps(client, automation_id, [...order.slice(0, at), id, ...order.slice(at)], id)
      : movesTo(client, automation_id, position);
  return { schedule: { ...columns, ...path, id, position }, moves };
}

/** Returns the step with this utr and its automation. Throws 404 if the account has no step with this utr, or the step is a mail. */
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

/** Returns true if other steps are on the paths of a step. */
function hasStepsOnPaths(db: Db, { id, automation_id }: Schedule): boolean {
  return listSchedules(db, automation_id).some(({ parent_id }) => parent_id === id);
}

type Wait = Pick<Schedule, 'waiting_type' | 'waiting_period'>;

function isOtherWait(before: Wait, after: Wait): boolean {
  return after.waiting_type !== before.waiting_type || after.waiting_period !== before.waiting_period;
}

/**
 * Makes a change and wakes the background thread. In a dry run, only finds out the effects of the change. `change` gets the time as an ISO
 * timestamp. Throws 409 with `only_draft` if the automation is live.
 */
async function makeChange<Result>(
  context: Context,
  automationId: number,
  { only_draft, dry_run }: { only_draft?: 0 | 1 | undefined; dry_run?: 0 | 1 | undefined },
  change: (now: string, isRolledBack: boolean) => ChangeResult<Result>,
): Promise<{ result: Result | null; effects: Effects }> {
  const now = context.clock.now();
  const isDryRun = dry_run === 1;
  const result = await withEffects(context, { automationId, isDryRun, now }, (isRolledBack) => {
    if (only_draft === 1) requireDraft(context.db, automationId);
    return change(isoTimestamp(now), isRolledBack);
  });
  if (!isDryRun) context.wake();
  return result;
}

/** Returns the utrs of all steps of an automation. Throws 404 if the account has no such automation. */
function utrsOf({ db, accountId }: Context, utr: unknown): Set<string> {
  return new Set(listSchedules(db, requireAutomation(db, accountId, utr).id).map((schedule) => schedule.utr));
}

/** Returns true if `order` contains each of these utrs once, and nothing else. */
function isOrderOf(utrs: ReadonlySet<string>, order: readonly string[]): boolean {
  const named = new Set(order.map(recordUtr));
  return order.length === utrs.size && named.size === utrs.size && [...named].every((utr) => utrs.has(utr));
}

/** Throws 409 if a record has changed since this timestamp. Does nothing if the timestamp is absent or empty. */
function requireUnchanged({ updated_at }: { updated_at: string }, unchangedSince: string | undefined): void {
  if (unchangedSince && unchangedSince !== updated_at) throw conflict(sentence('changed_meanwhile'));
}

/** Throws 409 if an automation is live. */
function requireDraft(db: Db, id: number): void {
  const isLive = and(eq(automations.id, id), eq(automations.status, AUTOMATION_STATUS.live));
  if (db.select({ id: automations.id }).from(automations).where(isLive).get() !== undefined)
    throw conflict(sentence('automation_is_live'));
}

/** Records when and by whom the automation was changed. */
function touch({ db, actor }: Context, { id }: Automation, updated_at: string): void {
  db.update(automations).set({ changed_by: actor.userId, updated_at }).where(eq(automations.id, id)).run();
}

/** If the automation is live, creates the mailing of a new or changed mail. Throws 409 if the mail cannot be sent. */
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
