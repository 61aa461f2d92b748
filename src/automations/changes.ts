/** Changing an automation and its mails, also while it is live and people wait in it. */
import { randomUUID } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import { checkedTargets } from '../audience/segments/targets.ts';
import { isoTimestamp } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { ownedBy, recordUtr } from '../database/ownership.ts';
import { AUTOMATION_STATUS, automationSchedules, automations } from '../database/schema/index.ts';
import type { Frozen } from '../delivery/content/freeze.ts';
import { conflict, invalid, notFound } from '../failure.ts';
import { messages } from '../field-errors.ts';
import { SENTENCES, sentence } from '../sentences.ts';
import { closeVersion } from '../templates/mail-content.ts';
import {
  type Automation,
  type AutomationActionDeps,
  freezeSchedule,
  insertSchedule,
  listSchedules,
  requireAutomation,
  requireRoomForMail,
  type Schedule,
} from './automations.ts';
import { type Effects, withEffects } from './effects.ts';
import { movesTo, orderMails } from './places.ts';
import { cancelDeletedMail, removeSchedule } from './schedule-deletion.ts';
import { createScheduleMailing } from './schedule-mailings.ts';

/** Who changes something, the `updated_at` that they have seen, if they say it, and whether they only ask what would happen. */
export interface Change {
  /** Null for a program. */
  userId: number | null;
  unchangedSince?: string | undefined;
  isOnlyAsked: boolean;
}

/** What was stored, null if it was only asked, and what it does to people. */
export interface Changed<Result> {
  result: Result | null;
  effects: Effects;
}

/** What a change of an automation may set. */
export interface AutomationInput {
  automation_name?: string;
  /** `contacts_<id>` or `segments_<id>`; empty: none. */
  automation_for?: string;
  unsubscribe_group_id?: number;
  exit_criteria?: 0 | 1;
  ignores_caps?: 0 | 1;
}

/** What a change of a mail may set. */
export type MailInput = Partial<
  Pick<
    Schedule,
    | 'sender_id'
    | 'subject'
    | 'preheader'
    | 'waiting_period'
    | 'waiting_type'
    | 'template_id'
    | 'preview_img'
    | 'template_json'
    | 'template_html'
    | 'tracking'
  >
>;

/**
 * Changes what is given of an automation; gives the new `updated_at`. Throws 404; 409 when it was changed since `unchangedSince`, and 422
 * for what cannot change while it is live: its group, with which its mails are prepared, and that it has a target.
 */
export async function changeAutomation(
  deps: AutomationActionDeps,
  accountId: number,
  utr: unknown,
  {
    automation_name: name,
    automation_for,
    unsubscribe_group_id: group,
    exit_criteria: exit,
    ignores_caps: ignores,
  }: AutomationInput,
  { userId, unchangedSince, isOnlyAsked }: Change,
): Promise<Changed<string>> {
  const { db, clock } = deps;
  const now = clock.now();
  const { id: automationId } = requireAutomation(db, accountId, utr, 'Record not found');
  return withEffects(deps, { automationId, isOnlyAsked, now }, () => {
    const before = requireAutomation(db, accountId, utr, 'Record not found');
    requireUnchanged(before, unchangedSince);
    const [target] = checkedTargets(automation_for ? [automation_for] : []);
    if (before.status === AUTOMATION_STATUS.live) {
      if (group !== undefined && String(group) !== before.unsubscribe_group_id)
        throw invalid('unsubscribe_group_id', SENTENCES.group_of_live);
      if (automation_for !== undefined && target === undefined)
        throw invalid('automation_for', messages.required('automation_for'));
    }
    const updated_at = isoTimestamp(now);
    db.update(automations)
      .set({
        automation_name: name ?? before.automation_name,
        exit_criteria: exit ?? before.exit_criteria,
        ignores_caps: ignores ?? before.ignores_caps,
        automation_for: automation_for === undefined ? before.automation_for : Number(target?.id ?? 0),
        automation_for_table: automation_for === undefined ? before.automation_for_table : (target?.table ?? ''),
        unsubscribe_group_id: group === undefined ? before.unsubscribe_group_id : String(group),
        changed_by: userId,
        updated_at,
      })
      .where(eq(automations.id, before.id))
      .run();
    return { result: updated_at, moves: null };
  });
}

/**
 * Adds a mail, before the mail with the utr `before`, or at the end where that is empty; gives its utr. Throws 404, 422 when `before` is
 * no mail of the automation, and 409 when it is live and could not send this mail.
 */
export async function addMail(
  deps: AutomationActionDeps,
  accountId: number,
  utr: unknown,
  { before, ...input }: Required<MailInput> & { before: unknown },
  { userId, unchangedSince, isOnlyAsked }: Change,
): Promise<Changed<string>> {
  const { db, clock, wake } = deps;
  const now = clock.now();
  const stamp = isoTimestamp(now);
  const automation = requireAutomation(db, accountId, utr, 'Record not found');
  const mailUtr = randomUUID();
  const columns = {
    ...input,
    user_id: accountId,
    automation_id: automation.id,
    utr: mailUtr,
    changed_by: userId,
    created_at: stamp,
    updated_at: stamp,
  };
  const frozen = isOnlyAsked ? null : await freezeSchedule(deps, { ...columns, id: 0, position: 0 });
  const changed = await withEffects(deps, { automationId: automation.id, isOnlyAsked, now }, (isTaken) => {
    const current = requireAutomation(db, accountId, utr, 'Record not found');
    requireUnchanged(current, unchangedSince);
    requireRoomForMail(db, current.id);
    const mails = listSchedules(db, current.id);
    const order = mails.map(({ id }) => id);
    const at = before ? mails.findIndex((mail) => mail.utr === recordUtr(before)) : order.length;
    if (at === -1) throw invalid('before', messages.selected('before'));
    const { id, position } = insertSchedule(db, columns);
    const moves =
      at < order.length
        ? orderMails(db.$client, current.id, [...order.slice(0, at), id, ...order.slice(at)], id)
        : movesTo(db.$client, current.id, position);
    if (!isTaken) publish(db, current, { ...columns, id, position }, frozen, stamp);
    touch(db, current, userId, stamp);
    return { result: mailUtr, moves };
  });
  if (!isOnlyAsked) wake();
  return changed;
}

/**
 * Changes what is given of a mail; gives its new `updated_at`. Throws 404, and 409 when it was changed since `unchangedSince`, or the
 * automation is live and could not send the mail.
 */
export async function changeMail(
  deps: AutomationActionDeps,
  accountId: number,
  utr: unknown,
  input: MailInput,
  { userId, unchangedSince, isOnlyAsked }: Change,
): Promise<Changed<string>> {
  const { db, clock, wake } = deps;
  const { template_json, template_html, ...plain } = input;
  const columns = {
    ...plain,
    // A new MJML or HTML template replaces whichever of the two was there.
    ...((template_json !== undefined || template_html !== undefined) && {
      template_json: template_json ?? '',
      template_html: template_html ?? '',
    }),
  };
  const now = clock.now();
  const stamp = isoTimestamp(now);
  const { schedule: seen } = requireMail(db, accountId, utr);
  const frozen = isOnlyAsked ? null : await freezeSchedule(deps, { ...seen, ...columns });
  const changed = await withEffects(deps, { automationId: seen.automation_id, isOnlyAsked, now }, (isTaken) => {
    const { schedule: before, automation } = requireMail(db, accountId, utr);
    requireUnchanged(before, unchangedSince);
    // What was frozen must be what is stored.
    if (!isOnlyAsked && before.updated_at !== seen.updated_at) throw conflict(SENTENCES.changed_meanwhile);
    const after = { ...before, ...columns, changed_by: userId, updated_at: stamp };
    // Choosing a template replaces everything, so what was there before is kept.
    if (input.template_id !== undefined) closeVersion(db, 'automation_mail', before.id);
    db.update(automationSchedules)
      .set({ ...columns, changed_by: userId, updated_at: stamp })
      .where(eq(automationSchedules.id, before.id))
      .run();
    const hasOtherWait = after.waiting_type !== before.waiting_type || after.waiting_period !== before.waiting_period;
    if (!isTaken) publish(db, automation, after, frozen, stamp);
    return { result: stamp, moves: hasOtherWait ? movesTo(db.$client, automation.id, before.position) : null };
  });
  if (!isOnlyAsked) wake();
  return changed;
}

/** Puts the mails of an automation into the order of these utrs, which must be all of them; gives the new `updated_at`. Throws 404, 409, 422. */
export async function reorderMails(
  deps: AutomationActionDeps,
  accountId: number,
  utr: unknown,
  utrs: readonly string[],
  { userId, unchangedSince, isOnlyAsked }: Change,
): Promise<Changed<string>> {
  const { db, clock, wake } = deps;
  const now = clock.now();
  const { id: automationId } = requireAutomation(db, accountId, utr, 'Record not found');
  const changed = await withEffects(deps, { automationId, isOnlyAsked, now }, () => {
    const automation = requireAutomation(db, accountId, utr, 'Record not found');
    requireUnchanged(automation, unchangedSince);
    const byUtr = new Map(listSchedules(db, automationId).map((mail) => [mail.utr, mail.id]));
    const order = utrs.flatMap((given) => byUtr.get(recordUtr(given)) ?? []);
    if (order.length !== byUtr.size || new Set(order).size !== order.length || order.length !== utrs.length)
      throw invalid('mails', messages.selected('mails'));
    const moves = order.length > 1 ? orderMails(db.$client, automationId, order) : null;
    return { result: touch(db, automation, userId, isoTimestamp(now)), moves };
  });
  if (!isOnlyAsked) wake();
  return changed;
}

/** Removes a mail like the deletion of a schedule; gives its utr. Throws 404, and 409 when it was changed since `unchangedSince`. */
export async function removeMail(
  deps: AutomationActionDeps,
  accountId: number,
  utr: unknown,
  { userId, unchangedSince, isOnlyAsked }: Change,
): Promise<Changed<string>> {
  const { db, clock } = deps;
  const now = clock.now();
  const { schedule: seen } = requireMail(db, accountId, utr);
  let cancelled: number[] = [];
  const changed = await withEffects(deps, { automationId: seen.automation_id, isOnlyAsked, now }, () => {
    const { schedule, automation } = requireMail(db, accountId, utr);
    requireUnchanged(schedule, unchangedSince);
    const removed = removeSchedule(db, schedule);
    cancelled = removed.cancelled;
    touch(db, automation, userId, isoTimestamp(now));
    return { result: schedule.utr, moves: removed.moves };
  });
  if (!isOnlyAsked) await cancelDeletedMail(deps, cancelled);
  return changed;
}

/** The account's mail of an automation with this utr, and the automation; throws 404. */
export function requireMail(db: Db, accountId: number, utr: unknown): { schedule: Schedule; automation: Automation } {
  const found = db
    .select()
    .from(automationSchedules)
    .innerJoin(automations, eq(automations.id, automationSchedules.automation_id))
    .where(and(eq(automationSchedules.utr, recordUtr(utr)), ownedBy(automations, accountId)))
    .get();
  if (found === undefined) throw notFound('Record not found');
  return { schedule: found.automation_schedules, automation: found.automations };
}

function requireUnchanged({ updated_at }: { updated_at: string }, unchangedSince: string | undefined): void {
  if (unchangedSince && unchangedSince !== updated_at) throw conflict(SENTENCES.changed_meanwhile);
}

/** Notes who changed the series; gives the stamp. */
function touch(db: Db, { id }: Automation, userId: number | null, updated_at: string): string {
  db.update(automations).set({ changed_by: userId, updated_at }).where(eq(automations.id, id)).run();
  return updated_at;
}

/** Prepares a changed mail for sending if its automation is live; throws 409 when it cannot be sent. */
function publish(
  db: Db,
  automation: Automation,
  schedule: Schedule,
  frozen: Frozen | { problem: string } | null,
  now: string,
): void {
  if (automation.status !== AUTOMATION_STATUS.live || frozen === null) return;
  if ('problem' in frozen) throw conflict(sentence('live_change_broken', frozen));
  createScheduleMailing(db, automation, schedule, frozen, now);
}
