/** Automations and their steps as records: finds them, adds and removes steps, and tells whom a mail reaches. */
import { and, asc, eq, getTableColumns, isNull, sql } from 'drizzle-orm';
import { listCustomFields } from '../audience/fields/custom-fields.ts';
import type { ShownSource } from '../campaigns/shown-mail.ts';
import type { Db } from '../database/open.ts';
import { ownedBy, recordUtr } from '../database/ownership.ts';
import { preparedOnce } from '../database/prepared.ts';
import { automationSchedules, automations, mailings, type Target } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import type { CheckedAudience } from '../delivery/checks/recipients-check.ts';
import type { OrderChange } from '../delivery/queue/enrolment-state.ts';
import { commandMailing, waitForAcknowledgement } from '../delivery/queue/mailing-state.ts';
import { invalid, notFound } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { asVersion } from '../templates/languages/versions.ts';
import { moveOrStore, movesTo, nextPosition, untilMovesDone } from './move-enrolments.ts';
import { pathsTo } from './path.ts';

export type Automation = typeof automations.$inferSelect;
export type Schedule = typeof automationSchedules.$inferSelect;
/** A step without the code of its mail, which can be megabytes long. Both sizes of the code are in bytes. */
export type ListedSchedule = Omit<Schedule, 'template_json' | 'template_html'> & {
  json_size: number;
  html_size: number;
};

const isOfAccount = ownedBy(automations, sql.placeholder('accountId'));
const automationQuery = preparedOnce((db) =>
  db
    .select()
    .from(automations)
    .where(and(isOfAccount, eq(automations.utr, sql.placeholder('utr'))))
    .prepare(),
);
const stepQuery = preparedOnce((db) =>
  db
    .select()
    .from(automationSchedules)
    .innerJoin(automations, eq(automations.id, automationSchedules.automation_id))
    .where(and(eq(automationSchedules.utr, sql.placeholder('utr')), isOfAccount))
    .prepare(),
);

/** Returns the account's automation with this utr. Throws 404. */
export function requireAutomation(db: Db, accountId: number, utr: unknown): Automation {
  const automation = automationQuery(db).get({ accountId, utr: recordUtr(utr) });
  if (automation === undefined) throw notFound('Record not found');
  return automation;
}

/** Returns the mail with this utr and its automation. Throws 404 if the account has no step with this utr, or the step is not a mail. */
export function requireMail(db: Db, accountId: number, utr: unknown): { schedule: Schedule; automation: Automation } {
  const step = requireStep(db, accountId, utr);
  if (step.schedule.kind !== 'mail') throw notFound('Record not found');
  return step;
}

/** Returns the step with this utr, which may be a mail, and its automation. Throws 404 if the account has no such step. */
export function requireStep(db: Db, accountId: number, utr: unknown): { schedule: Schedule; automation: Automation } {
  const row = stepQuery(db).get({ accountId, utr: recordUtr(utr) });
  if (row === undefined) throw notFound('Record not found');
  return { schedule: row.automation_schedules, automation: row.automations };
}

const { template_json, template_html, ...LISTED } = getTableColumns(automationSchedules);
const SIZES = {
  json_size: sql<number>`octet_length(${template_json})`,
  html_size: sql<number>`octet_length(${template_html})`,
};

const stepsQuery = preparedOnce((db) =>
  db
    .select({ ...LISTED, ...SIZES })
    .from(automationSchedules)
    .where(eq(automationSchedules.automation_id, sql.placeholder('automationId')))
    .orderBy(asc(automationSchedules.position))
    .prepare(),
);

/** Returns the steps of an automation in their order, without the code of mails. */
export function listSchedules(db: Db, automationId: number): ListedSchedule[] {
  return stepsQuery(db).all({ automationId });
}

/**
 * The maximum number of steps of an automation, mails included. It is more than a series over years needs, and small enough
 * that each page and each change can handle all steps.
 */
const MAX_STEPS = 100;

/** Throws 422 if an automation has the maximum number of steps. Call inside the transaction that adds a step. */
export function requireRoomForStep({ $client: client }: Db, automationId: number): void {
  const steps = client
    .prepare<[number], number>('SELECT count(*) FROM automation_schedules WHERE automation_id = ?')
    .pluck()
    .get(automationId);
  if ((steps ?? 0) >= MAX_STEPS) throw invalid('utr', sentence('mails_most', { count: MAX_STEPS }));
}

/** Stores a step at the end of its automation. Returns its id and position. Call inside a transaction. */
export function insertSchedule(
  db: Db,
  columns: typeof automationSchedules.$inferInsert,
): Pick<Schedule, 'id' | 'position'> {
  const lowestFree = nextPosition(db.$client, columns.automation_id);
  const { id } = db.insert(automationSchedules).values(columns).returning({ id: automationSchedules.id }).get();
  // A step's position is its id, which is higher than all earlier ids, unless moved steps already have higher positions.
  const position = Math.max(id, lowestFree);
  db.update(automationSchedules).set({ position }).where(eq(automationSchedules.id, id)).run();
  return { id, position };
}

/** Returns the target of an automation; an empty list if no target has been chosen yet. */
export function targetOf({ automation_for: id, automation_for_table: table }: Automation): Target[] {
  return table === 'contacts' || table === 'segments' ? [{ id: String(id), table }] : [];
}

/** Returns a segment as a target; an empty list if `id` is null. */
export function segmentTarget(id: number | null): Target[] {
  return id === null ? [] : [{ id: String(id), table: 'segments' }];
}

/**
 * Returns the contacts whom a mail of an automation would reach now: the contacts of the target who meet all conditions on the way to
 * the mail, except those in the segment of the goal or of the exit rule.
 */
export function audienceOf(db: Db, automation: Automation, { id }: Pick<Schedule, 'id'>): CheckedAudience {
  const conditions = pathsTo(listSchedules(db, automation.id), id).filter(({ step }) => step.kind === 'if');
  const segmentsOf = (branch: Schedule['branch']) =>
    conditions.flatMap((path) => (path.branch === branch ? segmentTarget(path.step.segment_id) : []));
  return {
    targets: targetOf(automation),
    excluded: [
      ...segmentTarget(automation.goal_segment_id),
      ...segmentTarget(automation.exit_segment_id),
      ...segmentsOf('no'),
    ],
    within: segmentsOf('yes'),
    groupId: Number(automation.unsubscribe_group_id),
  };
}

/** Returns the version of an automation's mail with this number, in the form that previews and checks take. 0 means the mail itself. */
export function shownSource(db: Db, automation: Automation, schedule: Schedule, number: number): ShownSource {
  return {
    ...asVersion(db, schedule, number),
    single_send: null,
    recipient_id: targetOf(automation),
    exclude_specific_recipient_id: [],
  };
}

/** Returns the name of the field in a trigger; empty if the trigger has no field or the field was deleted. */
export function triggerFieldName(db: Db, { user_id, trigger_field, trigger_field_id: id }: Automation): string {
  if (id === null) return trigger_field;
  return listCustomFields(db, user_id).find((field) => field.id === id)?.field_name ?? '';
}

/** Deletes the account's mail with this utr. Throws 404. When the promise resolves, no further delivery of the mail starts. */
export async function deleteMail(deps: { db: Db; wake(): void }, accountId: number, utr: unknown): Promise<void> {
  const { db } = deps;
  const requireExisting = () => {
    const where = and(
      ownedBy(automationSchedules, accountId),
      eq(automationSchedules.utr, recordUtr(utr)),
      eq(automationSchedules.kind, 'mail'),
    );
    const schedule = db.select().from(automationSchedules).where(where).get();
    if (schedule === undefined) throw notFound('Record not found');
    return schedule;
  };
  const { automation_id } = requireExisting();
  await untilMovesDone(db.$client, automation_id);
  const cancelled = inTransaction(db, () => {
    const removed = removeSchedule(db, requireExisting());
    moveOrStore(db.$client, automation_id, removed.moves);
    return removed.cancelled;
  });
  await waitForCancellation(deps, cancelled);
  await untilMovesDone(db.$client, automation_id);
}

/**
 * Removes a step and cancels its mailings. Returns the moves of the enrolments that waited for the step, and the ids of the cancelled
 * mailings. Call inside a transaction.
 */
export function removeSchedule(
  db: Db,
  { id, automation_id, position }: Schedule,
): { moves: OrderChange; cancelled: number[] } {
  db.delete(automationSchedules).where(eq(automationSchedules.id, id)).run();
  const cancelled = db
    .select({ id: mailings.id })
    .from(mailings)
    .where(and(eq(mailings.owner_kind, 'schedule'), eq(mailings.owner_id, id), isNull(mailings.finished_at)))
    .all()
    .map((mailing) => mailing.id)
    .filter((mailing) => commandMailing(db.$client, mailing, 'cancel'));
  return { moves: { ...movesTo(db.$client, automation_id, position), isRemoval: true }, cancelled };
}

/** Waits until the delivery worker has acknowledged that these mailings are cancelled. Then no further delivery of them starts. */
export async function waitForCancellation(
  { db, wake }: { db: Db; wake(): void },
  cancelled: readonly number[],
): Promise<void> {
  wake();
  for (const id of cancelled) await waitForAcknowledgement(db.$client, id);
}
