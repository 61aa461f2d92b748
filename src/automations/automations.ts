/**
 * Automations and their steps as records. Finds them, moves an automation from draft to live, creates the mailings of its
 * mails, and removes a mail.
 */
import { isDeepStrictEqual } from 'node:util';
import { and, asc, desc, eq, getTableColumns, isNull, sql } from 'drizzle-orm';
import { listCustomFields } from '../audience/fields/custom-fields.ts';
import { segmentProblem } from '../audience/segments/broken-rules.ts';
import { hasTargets } from '../audience/segments/segments.ts';
import { checkFailure, findingsInAll, languageCounter, type ShownSource } from '../campaigns/shown-mail.ts';
import { targetNames } from '../campaigns/single-sends.ts';
import type { Config } from '../config.ts';
import { readMailRule } from '../database/accounts.ts';
import type { Db } from '../database/open.ts';
import { ownedBy, recordUtr } from '../database/ownership.ts';
import {
  AUTOMATION_STATUS,
  automationSchedules,
  automations,
  type HeldCode,
  mailings,
  type RecordedFinding,
  senders,
  type Target,
} from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import type { CheckedAudience } from '../delivery/checks/recipients-check.ts';
import type { Frozen } from '../delivery/compiling/freeze.ts';
import { findPublicUrl } from '../delivery/links/public-url.ts';
import type { OrderChange } from '../delivery/queue/enrolment-state.ts';
import { holdFor } from '../delivery/queue/holds.ts';
import { commandMailing, createMailing, waitForAcknowledgement } from '../delivery/queue/mailing-state.ts';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';
import { isUnverified } from '../delivery/transport/relays/in-use.ts';
import { conflict, Failure, invalid, notFound } from '../errors/failure.ts';
import { type Said, sentence } from '../errors/sentences.ts';
import { freezeVersions } from '../templates/languages/freeze-versions.ts';
import { asVersion } from '../templates/languages/versions.ts';
import { type Clock, isoTimestamp } from '../time/clock.ts';
import { startBackfill } from './backfill.ts';
import { moveOrStore, movesTo, nextPosition, untilMovesDone } from './move-enrolments.ts';
import { pathsTo } from './path.ts';
import { markLive } from './status.ts';

export type Automation = typeof automations.$inferSelect;
export type Schedule = typeof automationSchedules.$inferSelect;
/** A step without the code of its mail, which can be megabytes long. Both sizes of the code are in bytes. */
export type ListedSchedule = Omit<Schedule, 'template_json' | 'template_html'> & {
  json_size: number;
  html_size: number;
};

export interface AutomationDeps {
  db: Db;
  clock: Clock;
  config: Config;
}

interface AutomationActionDeps extends AutomationDeps {
  wake(): void;
}

/** Returns the account's automation with this utr. Throws 404. */
export function requireAutomation(db: Db, accountId: number, utr: unknown): Automation {
  const where = and(ownedBy(automations, accountId), eq(automations.utr, recordUtr(utr)));
  const automation = db.select().from(automations).where(where).get();
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
  const row = db
    .select()
    .from(automationSchedules)
    .innerJoin(automations, eq(automations.id, automationSchedules.automation_id))
    .where(and(eq(automationSchedules.utr, recordUtr(utr)), ownedBy(automations, accountId)))
    .get();
  if (row === undefined) throw notFound('Record not found');
  return { schedule: row.automation_schedules, automation: row.automations };
}

const { template_json, template_html, ...LISTED } = getTableColumns(automationSchedules);
const SIZES = {
  json_size: sql<number>`octet_length(${template_json})`,
  html_size: sql<number>`octet_length(${template_html})`,
};

/** Returns the steps of an automation in their order, without the code of mails. */
export function listSchedules(db: Db, automationId: number): ListedSchedule[] {
  return db
    .select({ ...LISTED, ...SIZES })
    .from(automationSchedules)
    .where(eq(automationSchedules.automation_id, automationId))
    .orderBy(asc(automationSchedules.position))
    .all();
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

/** The maximum number of live automations of an account. */
const MAX_LIVE = 100;
/** The maximum number of live automations that one event starts. A request can report a thousand events, and each starts all of these automations. */
const MAX_LIVE_BY_EVENT = 20;

/** SQL: counts the live automations of account @user_id other than automation @id. */
const OTHER_LIVE = `
  SELECT count(*) FROM automations INDEXED BY automations_user
  WHERE user_id = @user_id AND id <> @id AND status = ${AUTOMATION_STATUS.live} AND deleted_at IS NULL`;

/** Throws 409 if the account has the maximum number of other live automations. */
function requireRoomForLive({ $client: client }: Db, { id, user_id }: Automation): void {
  const live = client.prepare<[object], number>(OTHER_LIVE).pluck().get({ id, user_id }) ?? 0;
  if (live >= MAX_LIVE) throw conflict(sentence('live_most', { count: MAX_LIVE }));
}

/**
 * Throws 409 if the event that triggers an automation already starts the maximum number of other live automations. Does nothing if
 * `trigger_event` is empty, because then no event triggers the automation.
 */
export function requireRoomForEvent(
  { $client: client }: Db,
  { id, user_id, trigger_event }: Pick<Automation, 'id' | 'user_id' | 'trigger_event'>,
): void {
  if (trigger_event === '') return;
  const ofEvent = `${OTHER_LIVE} AND trigger_kind = 'event' AND trigger_event = @trigger_event`;
  const live = client.prepare<[object], number>(ofEvent).pluck().get({ id, user_id, trigger_event }) ?? 0;
  if (live >= MAX_LIVE_BY_EVENT) throw conflict(sentence('live_most_event', { count: MAX_LIVE_BY_EVENT }));
}

interface GoingLive {
  /** True if the contacts who are already in the target of the automation enter it, too. */
  isBackfilled?: boolean;
  /** True if a program sets the automation live, not a user of the dashboard. Then errors that the check finds can prevent it. */
  isByProgram: boolean;
}

/**
 * Moves a draft to live and freezes its mails. With `isBackfilled`, the contacts who are already in its target enter it, also if
 * the automation is live already. Throws 409 with the problem that the owner must fix first. With `isByProgram`, an error that
 * the check finds is such a problem if the account's rules say so.
 */
export async function setLive(
  deps: AutomationActionDeps,
  accountId: number,
  utr: unknown,
  how: GoingLive,
): Promise<void> {
  // Freezing takes a while. If the automation, a mail or a sender is changed meanwhile, freeze again, so that contacts get the
  // content that the owner sees.
  for (let isLive = false; !isLive; ) isLive = await trySetLive(deps, accountId, utr, how);
  deps.wake();
}

/**
 * Returns the automation and its mails, with their senders. Throws 409 if something other than the content of the mails prevents the
 * automation from going live.
 */
function requireReadiness(db: Db, accountId: number, utr: unknown) {
  const automation = requireAutomation(db, accountId, utr);
  if (automation.unsubscribe_group_id === '0') throw conflict(sentence('live_no_group'));
  const target = targetNames(targetOf(automation));
  if (target.length === 0 || automation.automation_for === 0 || !hasTargets(db, automation.user_id, target))
    throw conflict(sentence('live_no_target'));
  requireRoomForLive(db, automation);
  requireRoomForEvent(db, automation);
  if (isTriggerGone(db, automation)) throw conflict(sentence('live_no_trigger'));
  const broken = automation.automation_for_table === 'segments' ? segmentProblem(db, automation.automation_for) : null;
  if (broken !== null) throw conflict(sentence('live_no_segment', { problem: broken }));
  const mails = db
    .select()
    .from(automationSchedules)
    .where(and(eq(automationSchedules.automation_id, automation.id), eq(automationSchedules.kind, 'mail')))
    .orderBy(asc(automationSchedules.position))
    .all()
    .map((schedule) => ({
      schedule,
      sender: db.select().from(senders).where(eq(senders.id, schedule.sender_id)).get(),
    }));
  if (mails.length === 0) throw conflict(sentence('live_no_mail'));
  return { automation, mails };
}

/** Tries once to do what `setLive` does. Returns false if something changed while the mails were being frozen. */
async function trySetLive(
  deps: AutomationActionDeps,
  accountId: number,
  utr: unknown,
  { isBackfilled = false, isByProgram }: GoingLive,
): Promise<boolean> {
  const { db, clock } = deps;
  const current = requireAutomation(db, accountId, utr);
  if (current.status === AUTOMATION_STATUS.live) {
    if (isBackfilled) startBackfill(db.$client, current, 0);
    return true;
  }
  const before = requireReadiness(db, accountId, utr);
  const { automation } = before;
  const frozen = new Map<Schedule, CheckedFrozen>();
  const findMissingLanguages = languageCounter(db, accountId);
  // A user of the dashboard sees what the check found on the page of each mail, so errors stop only programs.
  const stopsErrors = isByProgram && readMailRule(db, accountId, 'stops_errors') === 1;
  for (const { schedule } of before.mails) {
    const result = await freezeOnly(deps, schedule);
    if ('problem' in result) throw conflict(problemOf('live_mail_broken', schedule, result));
    const findings = await findingsIn(deps, automation, schedule, result, findMissingLanguages);
    if (stopsErrors) requireNoErrors(schedule, findings ?? []);
    frozen.set(schedule, { ...result, findings });
  }
  const now = clock.now();
  return inTransaction(db, () => {
    if (!isDeepStrictEqual(requireReadiness(db, accountId, utr), before)) return false;
    for (const [schedule, content] of frozen)
      createScheduleMailing(db, automation, schedule, content, isoTimestamp(now));
    markLive(db, automation.id, now);
    if (isBackfilled) startBackfill(db.$client, automation, 0);
    for (const { id } of listMailings(db, automation.id, 'paused')) commandMailing(db.$client, id, 'resume');
    return true;
  });
}

/** Throws 409 if the check found an error in a mail or in one of its versions. */
function requireNoErrors(schedule: Schedule, findings: readonly RecordedFinding[]): void {
  const problem = checkFailure(findings);
  if (problem !== null) throw conflict(problemOf('live_mail_broken', schedule, { problem, code: 'check_failed' }));
}

/**
 * Returns what the check finds in a frozen mail and its versions, and the languages of contacts for whom the mail has no version; null if
 * the mail cannot be checked.
 */
async function findingsIn(
  { db, config }: AutomationDeps,
  automation: Automation,
  schedule: Schedule,
  { frozen }: Frozen,
  findMissingLanguages: ReturnType<typeof languageCounter>,
): Promise<RecordedFinding[] | null> {
  const deps = { db, publicUrl: () => findPublicUrl(db.$client, config).url };
  const findings = await findingsInAll(deps, frozen, (number) => shownSource(db, automation, schedule, number));
  if (findings === null) return null;
  return [...findings, ...(await findMissingLanguages(schedule.languages, audienceOf(db, automation, schedule)))];
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

/** The frozen content of a mail, and what the check found in the content; null if it was not checked. */
type CheckedFrozen = Frozen & { findings: RecordedFinding[] | null };

/**
 * Returns the frozen content of an automation's mail, or the problem that the owner must fix first. If the automation is live, the
 * content is checked, because contacts will get it.
 */
export async function freezeSchedule(
  deps: AutomationDeps,
  automation: Automation,
  schedule: Schedule,
): Promise<CheckedFrozen | { problem: Said; code: HeldCode }> {
  const frozen = await freezeOnly(deps, schedule);
  if ('problem' in frozen) return frozen;
  if (automation.status !== AUTOMATION_STATUS.live) return { ...frozen, findings: null };
  const findMissingLanguages = languageCounter(deps.db, automation.user_id);
  const findings = await findingsIn(deps, automation, schedule, frozen, findMissingLanguages).catch(
    (error: unknown) => {
      // If the check fails, for example because the compiling thread ended, the mail is sent unchecked.
      if (error instanceof Failure) return null;
      throw error;
    },
  );
  return { ...frozen, findings };
}

/** Returns the frozen content of a mail, unchecked, or the problem that the owner must fix first. */
async function freezeOnly(
  { db, config }: AutomationDeps,
  schedule: Schedule,
): Promise<Frozen | { problem: Said; code: HeldCode }> {
  const sender = db.select().from(senders).where(eq(senders.id, schedule.sender_id)).get();
  if (sender === undefined || sender.deleted_at !== null)
    return { problem: sentence('mail_sender_deleted'), code: 'sender_deleted' };
  if (isUnverified(db.$client, config, sender))
    return { problem: holdFor('sender_unverified').held_reason, code: 'sender_unverified' };
  const frozen = await freezeVersions(db, config, schedule, sender);
  return 'problem' in frozen ? { ...frozen, code: 'content_invalid' } : frozen;
}

/** Returns the problem of a mail in a sentence that names the mail, or as it is if the sender is unverified. */
export function problemOf(
  code: 'live_mail_broken' | 'held_mail',
  { subject }: Pick<Schedule, 'subject'>,
  { problem, code: reason }: { problem: Said; code: HeldCode },
): Said {
  return reason === 'sender_unverified' ? problem : sentence(code, { subject, problem });
}

/** Returns the name of the field in a trigger; empty if the trigger has no field or the field was deleted. */
export function triggerFieldName(db: Db, { user_id, trigger_field, trigger_field_id: id }: Automation): string {
  if (id === null) return trigger_field;
  return listCustomFields(db, user_id).find((field) => field.id === id)?.field_name ?? '';
}

/** Returns true if the field or form of an automation's trigger was deleted. */
function isTriggerGone(db: Db, automation: Automation): boolean {
  const { trigger_kind: kind, trigger_form_id: form } = automation;
  if (kind === 'date' || kind === 'field') return triggerFieldName(db, automation) === '';
  return kind === 'form' && db.get(sql`SELECT 1 FROM forms WHERE id = ${form}`) === undefined;
}

/** Returns the mailings of an automation in this state. */
export function listMailings(db: Db, automationId: number, state: 'sending' | 'paused' | 'held'): { id: number }[] {
  const where = and(eq(mailings.automation_id, automationId), eq(mailings.state, state));
  return db.select({ id: mailings.id }).from(mailings).where(where).all();
}

/** Returns the newest mailing of a schedule, or null. */
function findScheduleMailing(
  db: Db,
  scheduleId: number,
): Pick<typeof mailings.$inferSelect, 'id' | 'revision' | 'content' | 'sender_id' | 'unsubscribe_group_id'> | null {
  return (
    db
      .select({
        id: mailings.id,
        revision: mailings.revision,
        content: mailings.content,
        sender_id: mailings.sender_id,
        unsubscribe_group_id: mailings.unsubscribe_group_id,
      })
      .from(mailings)
      .where(and(eq(mailings.owner_kind, 'schedule'), eq(mailings.owner_id, scheduleId)))
      .orderBy(desc(mailings.revision))
      .limit(1)
      .get() ?? null
  );
}

/**
 * Creates a mailing with the frozen content of an automation's mail. If the newest mailing of the mail has the same content, sender and
 * group, only records in that mailing what the check found. Call inside a transaction.
 */
export function createScheduleMailing(
  db: Db,
  automation: Automation,
  schedule: Schedule,
  { frozen, links: urls, destinations, findings }: CheckedFrozen,
  now: string,
): void {
  const newest = findScheduleMailing(db, schedule.id);
  const newestContent: FrozenContent | null = newest === null ? null : JSON.parse(newest.content);
  const group = Number(automation.unsubscribe_group_id);
  const hasSameSender = newest?.sender_id === schedule.sender_id && newest.unsubscribe_group_id === group;
  if (newest !== null && newestContent !== null && hasSameSender && isSameContent(newestContent, frozen)) {
    db.update(mailings).set({ findings }).where(eq(mailings.id, newest.id)).run();
    return;
  }
  const mailing = {
    user_id: schedule.user_id,
    owner_kind: 'schedule' as const,
    owner_id: schedule.id,
    automation_id: automation.id,
    revision: (newest?.revision ?? 0) + 1,
    unsubscribe_group_id: group,
    sender_id: schedule.sender_id,
    // Recipients who are already queued get the new content. The key of the Message-ID stays, because an earlier attempt may have used it.
    content: JSON.stringify({ ...frozen, message_key: newestContent?.message_key ?? frozen.message_key }),
    findings,
    created_at: now,
  };
  createMailing(db, mailing, urls, destinations);
}

/** Compares content without the sender's details, because every mail gets the sender's current details when it is sent. */
function isSameContent(a: FrozenContent, b: FrozenContent): boolean {
  const contentOf = ({ content, variants = [], language = '' }: FrozenContent) =>
    JSON.stringify([content, variants, language]);
  return contentOf(a) === contentOf(b);
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
