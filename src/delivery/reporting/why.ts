/**
 * Tells why a contact gets a mail or not: each rule that decides on mail of campaigns and automations, with its value now and what would
 * change it.
 */
import type { Database } from 'better-sqlite3';
import { isInactive, isLiveContact } from '../../audience/eligibility.ts';
import { findSuppressionReason } from '../../audience/suppressions.ts';
import { listUnsubscriptions } from '../../audience/unsubscribes.ts';
import { readMailCaps } from '../../database/accounts.ts';
import type { Db } from '../../database/open.ts';
import type { HeldCode, Target } from '../../database/schema/index.ts';
import { type PlainCode, type Said, sentence } from '../../errors/sentences.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { reportedHold } from '../queue/holds.ts';
import { mailsWithinCaps } from '../timing/mail-caps.ts';
import { nextSendingTimeOfAccount } from '../timing/send-window.ts';

/** The rules, in the order in which they are shown. */
export const RULES = [
  'started',
  'hold',
  'hours',
  'local_time',
  'canary',
  'ab_test',
  'warm_up',
  'pace',
  'target',
  'excluded',
  'entry',
  'goal',
  'exit',
  'contact',
  'unsubscribed',
  'group',
  'suppression',
  'inactive',
  'cap',
] as const;

/** A rule with its value at this moment. */
export interface CheckedRule {
  rule: (typeof RULES)[number];
  /** 1 if the rule allows the mail. */
  is_met: 0 | 1;
  /** The value of the rule now, as a sentence. */
  value: Said;
  /** What would make the rule allow the mail; null if the rule allows it. */
  change: Said | null;
  /** The mails that count towards the frequency cap, latest first; only of a rule about a frequency cap. */
  counted_mails?: CountedMail[];
}

interface CountedMail {
  /** The name of the campaign, or of the automation with the subject of its mail. */
  name: string;
  sent_at: string;
}

/** Returns a checked rule; `change` is kept only for a rule that is not met. */
export function checked(rule: CheckedRule['rule'], isMet: boolean, value: Said, change: PlainCode): CheckedRule {
  return { rule, is_met: isMet ? 1 : 0, value, change: isMet ? null : sentence(change) };
}

/** Returns a timestamp as sentences say it: 2026-02-03 09:30 UTC. */
export function minuteOf(timestamp: string): string {
  return `${timestamp.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ')} UTC`;
}

/** A question why an address of an account gets a mail or not. */
export interface Question {
  account: number;
  /** The id of the address; 0 if the account does not know it. */
  address: number;
  /** The normalized address; empty if it is not valid. */
  email: string;
  /** The unsubscribe group of the mail; 0 if it has none. */
  group: number;
  /** True if frequency caps do not apply to the mail. */
  ignoresCaps: boolean;
  now: Date;
  timeZone: string;
}

/** Returns the id of a contact of the account with this address; null if there is none. */
export function findContactAt(client: Database, address: number): number | null {
  const contact = `SELECT c.id FROM contacts c WHERE c.address_id = ? AND ${isLiveContact('c')} ORDER BY c.id LIMIT 1`;
  return client.prepare<[number], number>(contact).pluck().get(address) ?? null;
}

/**
 * Returns the rules about holds and sending hours. `rows` are the records that may have a hold of their own, such as the campaign and its
 * mailing.
 */
export function sendingRules(
  db: Db,
  { account, now, timeZone }: Question,
  rows: readonly { held_code: HeldCode | null; held_reason: Said | null }[],
): CheckedRule[] {
  const { held_reason: held } = reportedHold(db.$client, rows, true);
  const until = nextSendingTimeOfAccount(db, account, now, timeZone);
  const hours =
    until === null ? sentence('why_hours_open') : sentence('why_hours', { time: minuteOf(isoTimestamp(until)) });
  return [
    checked('hold', held === null, held ?? sentence('why_no_hold'), 'why_hold_change'),
    checked('hours', until === null, hours, 'why_hours_change'),
  ];
}

/** Returns the rules about the contact: whether it exists, is unsubscribed, suppressed or inactive, and the frequency caps. */
export function contactRules(db: Db, question: Question): CheckedRule[] {
  const client = db.$client;
  const { account, address, group } = question;
  const exists = findContactAt(client, address) !== null;
  const unsubscriptions = listUnsubscriptions(client, account, address);
  const fromAll = unsubscriptions.find(({ unsubscribe_groups_id: id }) => id === null);
  const fromGroup = unsubscriptions.find(({ unsubscribe_groups_id: id }) => id !== null && id === group);
  const since = (entry: { created_at: string }) => sentence('why_unsubscribed', { time: minuteOf(entry.created_at) });
  const suppression = findSuppressionReason(client, account, address);
  const inactive = client
    .prepare<[number], 0 | 1>(`SELECT ${isInactive('p')} FROM (SELECT ? AS address_id) p`)
    .pluck()
    .get(address);
  return [
    checked('contact', exists, sentence(exists ? 'why_contact' : 'why_no_contact'), 'why_contact_change'),
    checked(
      'unsubscribed',
      !fromAll,
      fromAll ? since(fromAll) : sentence('why_not_unsubscribed'),
      'why_unsubscribed_change',
    ),
    checked(
      'group',
      !fromGroup,
      fromGroup ? since(fromGroup) : sentence('why_not_unsubscribed'),
      'why_unsubscribed_change',
    ),
    checked('suppression', suppression === null, suppression ?? sentence('why_not_suppressed'), 'why_lift'),
    checked('inactive', inactive !== 1, sentence(inactive === 1 ? 'inactive' : 'why_active'), 'why_inactive_change'),
    ...capRules(db, question),
  ];
}

/** Returns a rule for each frequency cap of the account, or a single rule that is met if there are none. */
function capRules(db: Db, { account, address, ignoresCaps, now, timeZone }: Question): CheckedRule[] {
  const caps = readMailCaps(db, account);
  if (caps.length === 0 || ignoresCaps)
    return [checked('cap', true, sentence(ignoresCaps ? 'why_cap_ignored' : 'why_no_cap'), 'why_cap_change')];
  const client = db.$client;
  return mailsWithinCaps(client, address, caps, now.getTime(), timeZone).map(({ counted, mails, days }) => {
    const used = counted.length;
    const rule = checked('cap', used < mails, sentence('why_cap', { used, mails, days }), 'why_cap_change');
    const counted_mails = counted.map(({ mailing_id, updated_at }) => ({
      name: client.prepare<[number], string>(MAILING_NAME).pluck().get(mailing_id) ?? '',
      sent_at: isoTimestamp(new Date(updated_at)),
    }));
    return { ...rule, counted_mails };
  });
}

/** SQL for the name of the campaign of a mailing, or of its automation with the subject of the mail. */
const MAILING_NAME = `
  SELECT iif(m.owner_kind = 'single', (SELECT single_send_name FROM single_sends WHERE id = m.owner_id),
    au.automation_name || ifnull(': ' || (SELECT subject FROM automation_schedules WHERE id = m.owner_id), ''))
  FROM mailings m LEFT JOIN automations au ON au.id = m.automation_id WHERE m.id = ?`;

/**
 * Returns the names of the targets that have the address as a member. If `address` is null, returns the names of all of them.
 */
export function targetNamesOf(client: Database, targets: readonly Target[], address: number | null): string {
  const names = {
    contacts: client
      .prepare<[object], string>(
        `SELECT name FROM contact_types t WHERE id = @id AND deleted_at IS NULL AND (@address IS NULL OR EXISTS (
          SELECT 1 FROM contacts WHERE contact_type_id = t.id AND address_id = @address AND deleted_at IS NULL))`,
      )
      .pluck(),
    segments: client
      .prepare<[object], string>(
        `SELECT segment_name FROM segments g WHERE id = @id AND deleted_at IS NULL AND (@address IS NULL OR EXISTS (
          SELECT 1 FROM segment_recipients WHERE segment_id = g.id AND address_id = @address AND is_removed = 0))`,
      )
      .pluck(),
  };
  return targets.flatMap(({ table, id }) => names[table].get({ id: Number(id), address }) ?? []).join(', ');
}

/** Returns the rule about the list or segments of a mail. */
export function targetRule(client: Database, targets: readonly Target[], address: number): CheckedRule {
  const names = targetNamesOf(client, targets, address);
  const value =
    names === ''
      ? sentence('why_not_in_target', { names: targetNamesOf(client, targets, null) || '–' })
      : sentence('why_in', { names });
  return checked('target', names !== '', value, 'why_target_change');
}

/** Returns the rule about excluded targets, or about segments that end an automation. It is met if the contact is in none of them. */
export function outsideRule(
  client: Database,
  rule: 'excluded' | 'goal' | 'exit',
  targets: readonly Target[],
  address: number,
): CheckedRule {
  const names = targetNamesOf(client, targets, address);
  const value =
    names === '' ? sentence(targets.length === 0 ? 'why_none_set' : 'why_in_none') : sentence('why_in', { names });
  return checked(rule, names === '', value, 'why_outside_change');
}
