/** Moves an automation from draft to live: checks that nothing prevents it, freezes its mails, and lets contacts enter. */
import { isDeepStrictEqual } from 'node:util';
import { and, asc, eq, sql } from 'drizzle-orm';
import { segmentProblem } from '../audience/segments/broken-rules.ts';
import { hasTargets } from '../audience/segments/segments.ts';
import { checkFailure, languageCounter } from '../campaigns/shown-mail.ts';
import { targetNames } from '../campaigns/single-sends.ts';
import { readMailRule } from '../database/accounts.ts';
import type { Db } from '../database/open.ts';
import { AUTOMATION_STATUS, automationSchedules, type RecordedFinding, senders } from '../database/schema/index.ts';
import { inTransaction } from '../database/transaction.ts';
import { commandMailing } from '../delivery/queue/mailing-state.ts';
import { conflict } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';
import { isoTimestamp } from '../time/clock.ts';
import { type Automation, requireAutomation, type Schedule, targetOf, triggerFieldName } from './automations.ts';
import { startBackfill } from './backfill.ts';
import {
  type AutomationDeps,
  type CheckedFrozen,
  createScheduleMailing,
  findingsIn,
  freezeOnly,
  listMailings,
  problemOf,
} from './schedule-mailings.ts';
import { markLive } from './status.ts';

interface AutomationActionDeps extends AutomationDeps {
  wake(): void;
}

/** The maximum number of live automations of an account. */
const MAX_LIVE = 100;
/**
 * The maximum number of live automations that one event starts. A request can report a thousand events, and each of them starts all of these
 * automations.
 */
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

/** Returns true if the field or form of an automation's trigger was deleted. */
function isTriggerGone(db: Db, automation: Automation): boolean {
  const { trigger_kind: kind, trigger_form_id: form } = automation;
  if (kind === 'date' || kind === 'field') return triggerFieldName(db, automation) === '';
  return kind === 'form' && db.get(sql`SELECT 1 FROM forms WHERE id = ${form}`) === undefined;
}
