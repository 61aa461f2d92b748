/**
 * Operations of the contract for automations, and an operation that reads one automation for its screen: the trigger, the
 * steps in their order, and the numbers of contacts in it.
 */
import { randomUUID } from 'node:crypto';
import { and, eq, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { listCustomFields } from '../../audience/fields/custom-fields.ts';
import { checkedTargets, hasTargets } from '../../audience/segments/segments.ts';
import { changerName, templateSource } from '../../campaigns/single-sends.ts';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { isOwned, ownedBy, recordId, recordUtr } from '../../database/ownership.ts';
import { readRecord, recordObject } from '../../database/record-json.ts';
import {
  AUTOMATION_STATUS,
  AUTOMATION_TYPE,
  AWAITED,
  automationSchedules,
  automations,
  BRANCHES,
  RE_ENTRY,
  STEP_KINDS,
  unsubscribeGroups,
} from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { withFirsts } from '../../delivery/queue/enrolment-state.ts';
import { commandMailing, waitForAcknowledgement } from '../../delivery/queue/mailing-state.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import {
  choice,
  described,
  eitherOrderQuery,
  idAsText,
  identifier,
  identifiersOrUtrs,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  optionalFlag,
  softStamps,
  stamps,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import { processLog } from '../../log.ts';
import { isReadOnly } from '../../operations/callers.ts';
import { type Context, listOperation, operation, recordOperation } from '../../operations/operation.ts';
import { designToken } from '../../templates/designs/designs.ts';
import { isoTimestamp } from '../../time/clock.ts';
import {
  type Automation,
  insertSchedule,
  type ListedSchedule,
  listSchedules,
  requireAutomation,
  triggerFieldName,
} from '../automations.ts';
import { isBackfilling } from '../backfill.ts';
import { setLive } from '../go-live.ts';
import { listMailings } from '../schedule-mailings.ts';
import { insertDraft, markDraft } from '../status.ts';
import { COPY_MS, LOCK_WAIT_MS, removeCopy } from '../unfinished-copies.ts';
import { requireScopeOfStep } from './step-kinds.ts';
import { triggerShown } from './triggers.ts';

const AutomationRecord = Type.Object({
  id: integer(),
  user_id: integer(),
  automation_for: integer({
    description: 'The id of the contact type or segment that the automation sends to; 0 while no target is chosen.',
  }),
  automation_for_table: Type.String({
    description:
      'contacts if automation_for is the id of a contact type, segments if it is the id of a segment; empty while no target is chosen.',
  }),
  automation_name: Type.String(),
  exit_criteria: integer(),
  unsubscribe_group_id: idAsText(),
  automation_type: integer({ description: '1: welcome, 2: custom.' }),
  utr: Type.String(),
  status: integer({ description: '0: draft; 1: live.' }),
  live_at: nullable(Type.String()),
  total_triggered: integer({ description: 'The number of e-mails whose sending was started.' }),
  total_delivered: integer({
    description: 'The number of e-mails that the SMTP server accepted and that have not bounced.',
  }),
  total_unique_opens: integer({ description: 'The number of recipients who opened an e-mail.' }),
  total_opens: integer(),
  total_bounces: integer({ description: 'The number of e-mails that bounced: refused or returned.' }),
  total_unsubscribe: integer({
    description: 'The number of recipients who unsubscribed through an e-mail of the automation.',
  }),
  ...softStamps,
});
const ListedAutomation = Type.Object({
  ...AutomationRecord.properties,
  automation_schedule_count: integer({ description: 'The number of e-mails of the automation.' }),
});

/** The units of a waiting time. */
export const WAITING_TYPES = ['instantly', 'days', 'hours'] as const;
/** The format in which the API writes the target of an automation. */
export const TARGET = 'contacts_<contact type id> or segments_<segment id>';
/** The input of an operation on one automation. */
export const ByUtr = Type.Object({ utr: identifier('The automation.') });

/** SQL: the sum of a counter over all mailings of an automation. */
const total = (counter: string) =>
  sql`(SELECT ifnull(sum(${sql.raw(counter)}), 0) FROM mailings WHERE automation_id = ${automations.id})`;
const computed = {
  total_triggered: total('triggered'),
  total_delivered: total('delivered'),
  total_unique_opens: total('unique_opens'),
  total_opens: total('total_opens'),
  total_bounces: total('bounces'),
  total_unsubscribe: total('unsubscribes'),
  automation_schedule_count: sql`(SELECT count(*) FROM automation_schedules WHERE automation_id = ${automations.id} AND kind = 'mail')`,
};
const from = sql`${automations}`;

export const listAutomations = listOperation({
  name: 'List the automations',
  role: 'viewer',
  input: eitherOrderQuery,
  as: 'automations',
  record: ListedAutomation,
  select: ({ accountId }, part) => ({
    record: recordObject(ListedAutomation, automations, computed),
    from,
    where: ownedBy(automations, accountId),
    id: automations.id,
    part,
  }),
});

/** Adds the field errors of an automation's target and topic (unsubscribe group). */
export function checkAutomation(
  { db, accountId }: Context,
  { automation_for, unsubscribe_group_id: group }: { automation_for?: string; unsubscribe_group_id?: number },
  errors: FieldErrorCollector,
): void {
  if (automation_for) errors.reference('automation_for', () => hasTargets(db, accountId, [automation_for]));
  if (group) errors.reference('unsubscribe_group_id', () => isOwned(db, unsubscribeGroups, group, accountId));
}

export const createAutomation = operation({
  name: 'Create an automation',
  role: 'editor',
  input: Type.Object({
    type: described(choice('welcome', 'custom'), 'welcome or custom.'),
    automation_for: Type.Optional(line({ description: TARGET })),
    automation_name: line(),
    unsubscribe_group_id: integer({ description: '0: not chosen yet.' }),
    exit_criteria: optionalFlag(
      'Addition. 0: a contact exits only after the last e-mail; 1: a contact exits also when leaving the target.',
    ),
  }),
  output: Type.Object({ utr: Type.String() }),
  check: checkAutomation,
  run({ db, clock, accountId }, { type, automation_for, unsubscribe_group_id, exit_criteria = 0, automation_name }) {
    const [target] = checkedTargets(automation_for ? [automation_for] : []);
    const now = isoTimestamp(clock.now());
    const utr = randomUUID();
    insertDraft(db, {
      user_id: accountId,
      automation_for: Number(target?.id ?? 0),
      automation_for_table: target?.table ?? '',
      automation_name,
      exit_criteria,
      unsubscribe_group_id: String(unsubscribe_group_id),
      automation_type: AUTOMATION_TYPE[type],
      utr,
      created_at: now,
      updated_at: now,
    });
    return { utr };
  },
});

export const duplicateAutomation = operation({
  name: 'Duplicate an automation',
  role: 'editor',
  input: ByUtr,
  output: Type.Object({ utr: Type.String() }),
  async run(context, { utr: sourceUtr }) {
    const { db, clock, config, accountId } = context;
    const now = isoTimestamp(clock.now());
    const { id: sourceId, ...source } = requireAutomation(db, accountId, sourceUtr);
    const utr = randomUUID();
    const automation_name = [...`Copy of ${source.automation_name}`].slice(0, MAX_LINE_CHARACTERS).join('');
    const steps = listSchedules(db, sourceId);
    for (const { kind } of steps) requireScopeOfStep(kind, context);
    /** The ids of the copied steps, by the ids of the original steps. */
    const copies = new Map<number, number>();
    let automation_id: number | undefined;
    let copiedSteps = 0;
    const copy = () => {
      // The copy counts as deleted until all its steps are copied.
      automation_id ??= insertDraft(db, {
        ...source,
        automation_name,
        utr,
        deleted_at: now,
        created_at: now,
        updated_at: now,
      });
      const own = { automation_id, created_at: now, updated_at: now };
      const until = performance.now() + COPY_MS;
      for (const { id } of steps.slice(copiedSteps)) {
        if (performance.now() >= until) return true;
        copies.set(id, copyStep(db, id, { ...own, utr: randomUUID() }, copies));
        copiedSteps += 1;
      }
      db.update(automations).set({ deleted_at: null }).where(eq(automations.id, automation_id)).run();
      return false;
    };
    try {
      await inChunks(db.$client, copy, LOCK_WAIT_MS);
    } catch (error) {
      // Look for the copy by its utr: if its first transaction was rolled back, another automation may have its id by now.
      const begun = db.select({ id: automations.id }).from(automations).where(eq(automations.utr, utr)).get();
      if (begun !== undefined)
        await removeCopy(db, begun.id).catch((err) => {
          const fields = { automation: begun.id, err };
          processLog(config)(fields, 'an unfinished copy of an automation is kept until the next start', 'error');
        });
      throw error;
    }
    return { utr };
  },
});

/**
 * Copies a step. Returns the id of the copy. Throws 409 if the step was removed meanwhile.
 * @param own The columns in which the copy differs.
 * @param copies The ids of the steps copied so far, by the ids of the original steps.
 */
function copyStep(
  db: Db,
  id: number,
  own: { automation_id: number; utr: string; created_at: string; updated_at: string },
  copies: ReadonlyMap<number, number>,
): number {
  const schedule = db.select().from(automationSchedules).where(eq(automationSchedules.id, id)).get();
  if (schedule === undefined) throw conflict(sentence('changed_meanwhile'));
  const { id: _original, parent_id, ...step } = schedule;
  // A deciding step comes before the steps on its paths, so it has been copied already.
  const parent = parent_id === null ? null : (copies.get(parent_id) ?? null);
  return insertSchedule(db, { ...step, ...own, parent_id: parent }).id;
}

export const readAutomation = recordOperation({
  name: 'Read an automation',
  role: 'viewer',
  input: ByUtr,
  as: 'automation',
  record: AutomationRecord,
  json: ({ db, accountId }, { utr }) => {
    const where = and(ownedBy(automations, accountId), eq(automations.utr, recordUtr(utr)));
    return readRecord(db, recordObject(AutomationRecord, automations, computed), from, where);
  },
});

export const setAutomationLive = operation({
  name: 'Set an automation live',
  description:
    'From then on contacts enter by the trigger of the automation. The automation needs a target, a topic (unsubscribe group) and at least one e-mail.',
  role: 'editor',
  input: Type.Object({
    ...ByUtr.properties,
    backfill: optionalFlag(
      'Addition. 1: the contacts who are in the target now enter, too; POST /automations/enter-all says how many.',
    ),
  }),
  run: (context, { utr, backfill }) =>
    setLive(context, context.accountId, utr, {
      isBackfilled: backfill === 1,
      isByProgram: context.actor.userId === null,
    }),
});

export const pauseAutomation = operation({
  name: 'Pause an automation',
  description: 'All contacts keep their place, and continue from it when the automation is live again.',
  role: 'editor',
  input: ByUtr,
  async run(context, { utr }) {
    const automation = requireAutomation(context.db, context.accountId, utr);
    if (automation.status !== AUTOMATION_STATUS.live) throw notFound('Record not found');
    await stop(context, [automation], 'pause');
  },
});

export const deleteAutomation = operation({
  name: 'Delete an automation',
  role: 'editor',
  input: ByUtr,
  run: (context, { utr }) => stop(context, [requireAutomation(context.db, context.accountId, utr)], 'cancel'),
});

export const deleteAutomations = operation({
  name: 'Delete several automations',
  role: 'editor',
  input: Type.Object({ strIds: identifiersOrUtrs('Ids or utrs of automations.') }),
  async run(context, { strIds = [] }) {
    const { db, accountId } = context;
    const byId = new Map<number, Automation>();
    for (const idOrUtr of strIds) {
      const utr = recordUtr(idOrUtr);
      const which = utr === '' ? eq(automations.id, recordId(idOrUtr)) : eq(automations.utr, utr);
      const where = and(ownedBy(automations, accountId), which);
      const automation = db.select().from(automations).where(where).get();
      if (automation === undefined) throw notFound('Record not found');
      byId.set(automation.id, automation);
    }
    if (byId.size === 0) throw notFound('Record not found');
    await stop(context, [...byId.values()], 'cancel');
  },
});

/**
 * Moves automations to draft and pauses their mails, or deletes the automations and cancels their mails. When the promise resolves, no
 * further delivery of them starts.
 */
async function stop(
  { db, clock, wake }: Context,
  records: readonly Automation[],
  command: 'pause' | 'cancel',
): Promise<void> {
  const now = isoTimestamp(clock.now());
  const states = command === 'cancel' ? (['sending', 'paused', 'held'] as const) : (['sending', 'held'] as const);
  const write = () =>
    records.flatMap(({ id }) => {
      markDraft(db, id, { updated_at: now, ...(command === 'cancel' && { deleted_at: now }) });
      const mailings = states.flatMap((state) => listMailings(db, id, state));
      return mailings.filter((mailing) => commandMailing(db.$client, mailing.id, command));
    });
  const stopped = inTransaction(db, write);
  wake();
  for (const { id } of stopped) await waitForAcknowledgement(db.$client, id);
}

const SeriesMail = Type.Object({
  utr: Type.String(),
  subject: Type.String(),
  preheader: Type.String(),
  sender_id: integer(),
  waiting_period: integer(),
  waiting_type: choice(...WAITING_TYPES),
  template_id: integer(),
  preview_img: Type.String(),
  content: choice('none', 'template', 'json', 'html'),
  html_size: integer({
    description: 'The size of the HTML of the e-mail in bytes; 0 if the e-mail has no HTML of its own.',
  }),
  tracking: zeroOrOne(),
  languages: Type.Array(Type.String(), {
    description: 'The languages of the versions of the e-mail, as ISO 639-1 codes.',
  }),
  ...stamps,
  changed_by: nullable(Type.String()),
  design_url: Type.String(),
});
const SeriesStep = Type.Object({
  utr: Type.String(),
  kind: { ...choice(...STEP_KINDS), description: 'What the step does.' },
  subject: Type.String({ description: 'The subject of an e-mail; empty for other kinds.' }),
  waiting_period: integer(),
  waiting_type: choice(...WAITING_TYPES),
  parent: nullable(Type.String(), 'utr of the deciding step on whose path the step is; null on the main path.'),
  branch: { ...nullable(choice(...BRANCHES)), description: 'The path of the deciding step on which the step is.' },
  segment_id: nullable(
    integer(),
    'if: the segment whose contacts take the path yes. segment_add and segment_remove: the segment that changes.',
  ),
  segment_name: nullable(
    Type.String(),
    'The name of that segment. Null if the segment was deleted; then all contacts take the path no, and no segment changes.',
  ),
  share: nullable(integer(), 'split: the percentage of contacts who take the path yes.'),
  contact_type_id: nullable(integer(), 'move: the list (contact type) to which contacts are moved.'),
  contact_type_name: nullable(
    Type.String(),
    'The name of that list. Null if the list was deleted; then no contact is moved.',
  ),
  field: nullable(
    Type.String(),
    'set_field, or a wait for a date: the name of the field. Null if the field was deleted; then nothing is set, and no date comes.',
  ),
  value: nullable(
    Type.String(),
    'set_field: the new value; an empty value clears the field. webhook: a note that is sent with the event.',
  ),
  until: { ...nullable(choice(...AWAITED)), description: 'wait_until: what contacts wait for.' },
  event: nullable(Type.String(), 'A wait for an event: the name of the event.'),
  event_filter: nullable(
    Type.String(),
    'A wait for an event: the filter by a property of the event; empty: every event of this name counts.',
  ),
  weekday: nullable(integer(), 'A wait for a weekday: 1 (Monday) to 7 (Sunday).'),
  hour: nullable(
    integer(),
    'A wait for an hour: the hour. A wait for a date or weekday: the hour of that day from which on contacts go on.',
  ),
  timeout_hours: nullable(
    integer(),
    'A wait for an event or date: the number of hours after which contacts take the path no.',
  ),
  updated_at: isoTimestampSchema(),
});
export type SeriesStep = Static<typeof SeriesStep>;
const Series = Type.Object({
  utr: Type.String(),
  automation_name: Type.String(),
  automation_for: Type.String({ description: `${TARGET}; empty while no target is chosen.` }),
  unsubscribe_group_id: integer(),
  exit_criteria: integer(),
  ...triggerShown,
  goal_segment_id: nullable(integer(), 'A contact who joins this segment has reached the goal and exits.'),
  exit_segment_id: nullable(integer(), 'A contact who joins this segment exits.'),
  re_entry: { ...choice(...RE_ENTRY), description: 'When a contact who was in the automation may enter again.' },
  re_entry_days: integer({
    description: 'If re_entry is days: the number of days after the last entry; otherwise unused.',
  }),
  hold_out: integer({ description: 'The percentage of entering contacts who get nothing, for comparison.' }),
  ignores_caps: zeroOrOne(),
  automation_type: integer({ description: '1: welcome, 2: custom.' }),
  is_live: zeroOrOne('1: the automation is live.'),
  is_entering: zeroOrOne(
    '1: all contacts of the target or a segment are entering in the background; this continues only while the automation is live.',
  ),
  updated_at: isoTimestampSchema(),
  changed_by: nullable(Type.String()),
  people: Type.Object(
    {
      waiting: integer({ description: 'The number of contacts who wait for the next step or have a queued e-mail.' }),
      due_now: integer({
        description:
          'The number of waiting contacts whose next step is due; if the automation is paused, they take the step as soon as it is live.',
      }),
      queued: integer({ description: 'The number of waiting contacts for whom an e-mail is queued.' }),
    },
    { description: 'The numbers of contacts in the automation.' },
  ),
  mails: Type.Array(SeriesMail, { description: 'The e-mails, in the order in which they are sent.' }),
  steps: Type.Array(SeriesStep, { description: 'All steps, e-mails included, in the order in which they are read.' }),
});
export type Series = Static<typeof Series>;
export type SeriesMail = Static<typeof SeriesMail>;

export const readSeries = operation({
  name: 'Read an automation as it is composed, with its e-mails in their order (addition)',
  role: 'viewer',
  input: ByUtr,
  output: Type.Object({ series: Series }),
  run(context, { utr }) {
    const { db, clock, accountId, actor, publicUrl, tokens } = context;
    const automation = requireAutomation(db, accountId, utr);
    const { automation_for: target, automation_for_table: table } = automation;
    const now = clock.now();
    const schedules = listSchedules(db, automation.id);
    const designUrl = (mail: string) =>
      `${publicUrl()}/design/${designToken(tokens, 'schedule', mail, actor.userId ?? 0, now)}`;
    const series = {
      ...automation,
      automation_for: target === 0 ? '' : `${table}_${target}`,
      trigger_field: triggerFieldName(db, automation),
      unsubscribe_group_id: Number(automation.unsubscribe_group_id),
      is_live: automation.status === AUTOMATION_STATUS.live ? (1 as const) : (0 as const),
      is_entering: isBackfilling(db.$client, automation.id) ? (1 as const) : (0 as const),
      changed_by: changerName(db, automation),
      people: peopleInSeries(db, automation, now),
      mails: schedules
        .filter(({ kind }) => kind === 'mail')
        .map((schedule) => ({
          ...shownMail(db, schedule),
          design_url: isReadOnly(context) ? '' : designUrl(schedule.utr),
        })),
      steps: schedules.map((schedule) => shownStep(db, schedule, schedules)),
    };
    return { series };
  },
});

/** Returns a step in the form of the API: with the utr of the step on whose path it is, and names for ids. `all`: all steps of the automation. */
function shownStep(db: Db, step: ListedSchedule, all: readonly ListedSchedule[]): SeriesStep {
  const { parent_id, segment_id, contact_type_id, field_id } = step;
  const nameOf = (nameFrom: string, id: number | null) =>
    db.$client
      .prepare<[number | null, number], string>(
        `SELECT ${nameFrom} WHERE id = ? AND user_id = ? AND deleted_at IS NULL`,
      )
      .pluck()
      .get(id, step.user_id) ?? null;
  const custom = listCustomFields(db, step.user_id).find(({ id }) => id === field_id);
  return {
    ...step,
    parent: all.find(({ id }) => id === parent_id)?.utr ?? null,
    segment_name: nameOf('segment_name FROM segments', segment_id),
    contact_type_name: nameOf('name FROM contact_types', contact_type_id),
    field: step.field ?? custom?.field_name ?? null,
  };
}

/** Returns a mail in the form of the API, without its code: with the source of its content, and the name of the user who changed it last. */
function shownMail(db: Db, schedule: ListedSchedule): Omit<SeriesMail, 'design_url'> {
  return {
    ...schedule,
    tracking: schedule.tracking === 0 ? 0 : 1,
    languages: (schedule.languages ?? []).map(({ language }) => language),
    content: contentSource(db, schedule),
    changed_by: changerName(db, schedule),
  };
}

function contentSource(db: Db, { json_size, html_size, template_id }: ListedSchedule): SeriesMail['content'] {
  if (json_size > 0) return 'json';
  if (html_size > 0) return 'html';
  return templateSource(db, template_id);
}

/**
 * Returns the number of active enrolments in an automation, how many of these are due at `now`, and how many of these have a
 * queued mail.
 */
function peopleInSeries(db: Db, { id }: Automation, now: Date) {
  const row = db.$client
    .prepare<Record<string, number>, { waiting: number; due_now: number; queued: number }>(`
      SELECT (SELECT ifnull(sum(people), 0) FROM enrolment_counts WHERE automation_id = @id AND state = 'active') AS waiting,
        (${withFirsts('@id')} SELECT ifnull(sum((SELECT count(*) FROM enrolments d INDEXED BY enrolments_place
            WHERE d.automation_id = @id AND d.position = e.position AND d.state = 'active' AND d.delivery_id IS NULL AND d.due_at <= @now)), 0)
          FROM firsts CROSS JOIN enrolments e ON e.id = firsts.id) AS due_now,
        (SELECT ifnull(sum(people), 0) FROM enrolment_counts WHERE automation_id = @id AND state = 'active' AND is_queued = 1) AS queued`)
    .get({ id, now: now.getTime() });
  return { waiting: row?.waiting ?? 0, due_now: row?.due_now ?? 0, queued: row?.queued ?? 0 };
}
