/** The mailings of an automation's mails: freezes and checks the content of a mail, and creates the mailing that sends it. */
import { and, desc, eq } from 'drizzle-orm';
import { findingsInAll, languageCounter } from '../campaigns/shown-mail.ts';
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import { AUTOMATION_STATUS, type HeldCode, mailings, type RecordedFinding, senders } from '../database/schema/index.ts';
import type { Frozen } from '../delivery/compiling/freeze.ts';
import { holdFor } from '../delivery/queue/holds.ts';
import { createMailing } from '../delivery/queue/mailing-state.ts';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';
import { isUnverified } from '../delivery/transport/relays/in-use.ts';
import { Failure } from '../errors/failure.ts';
import { type Said, sentence } from '../errors/sentences.ts';
import { freezeVersions } from '../templates/languages/freeze-versions.ts';
import type { Clock } from '../time/clock.ts';
import { type Automation, audienceOf, type Schedule, shownSource } from './automations.ts';

export interface AutomationDeps {
  db: Db;
  clock: Clock;
  config: Config;
}

/** The frozen content of a mail, and what the check found in the content; null if it was not checked. */
export type CheckedFrozen = Frozen & { findings: RecordedFinding[] | null };

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
export async function freezeOnly(
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

/**
 * Returns what the check finds in a frozen mail and its versions, and the languages of contacts for whom the mail has no version; null if
 * the mail cannot be checked.
 */
export async function findingsIn(
  deps: AutomationDeps,
  automation: Automation,
  schedule: Schedule,
  { frozen }: Frozen,
  findMissingLanguages: ReturnType<typeof languageCounter>,
): Promise<RecordedFinding[] | null> {
  const { db } = deps;
  const findings = await findingsInAll(deps, frozen, (number) => shownSource(db, automation, schedule, number));
  if (findings === null) return null;
  return [...findings, ...(await findMissingLanguages(schedule.languages, audienceOf(db, automation, schedule)))];
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
  const hasSameSenderAndGroup = newest?.sender_id === schedule.sender_id && newest.unsubscribe_group_id === group;
  if (newest !== null && newestContent !== null && hasSameSenderAndGroup && isSameContent(newestContent, frozen)) {
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
