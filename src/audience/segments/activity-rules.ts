/** Rules about what people got and did with it: their fields, their operators, and the mails and automations that they name. */
import type { Db } from '../../database/open.ts';
import { prepared } from '../../database/prepared.ts';
import type { SegmentRule } from '../../database/schema/index.ts';
import type { FieldType } from '../contacts/contact-fields.ts';

/** What a rule compares that is not a value of a contact. */
export type ActivityType = Exclude<SegmentRule['type'], FieldType>;

/** The fields of such rules. The dot keeps them apart from custom fields, whose names have none. */
export const ACTIVITY_FIELDS: Readonly<Record<string, SegmentRule['type']>> = {
  'activity.last': 'datetime-local',
  'activity.last_click': 'datetime-local',
  'activity.mails': 'mails',
  'activity.mail': 'mail',
  'activity.link': 'link',
  'activity.automation': 'automation',
};

/** The operators by type, each with the number of operands it takes. An operator takes as many wherever it occurs. */
export const ACTIVITY_OPERATORS: Readonly<Record<ActivityType, Readonly<Record<string, number>>>> = {
  mails: {
    'received at least': 2,
    'received fewer than': 2,
    'opened any of the last': 1,
    'opened none of the last': 1,
    'clicked any of the last': 1,
    'clicked none of the last': 1,
  },
  mail: {
    got: 1,
    'did not get': 1,
    opened: 1,
    'got and did not open': 1,
    clicked: 1,
    'got and did not click': 1,
  },
  link: { clicked: 1, 'did not click': 1 },
  automation: { 'is in': 1, 'is not in': 1, 'has finished': 1, 'has not finished': 1 },
};

/** How many days rules about mails look back: those about the last mails, too. */
export const MAX_MAIL_DAYS = 365;
/** The most mails that a rule counts or looks at. */
export const MAX_MAILS = 50;
const MAX_URL = 2048;
/** The most rules about mails received in one segment: each looks at every mailing of its days, for each contact. */
export const MAX_MAILS_RULES = 5;

/** How many rules look at all mailings of some days. */
export function countMailsRules(rules: readonly Pick<SegmentRule, 'type'>[]): number {
  return rules.filter(({ type }) => type === 'mails').length;
}

/** Whether a rule is about mails, opens, clicks or automations, so that people begin or cease to match without being changed. */
export function isActivityRule({ field }: Pick<SegmentRule, 'field'>): boolean {
  return Object.hasOwn(ACTIVITY_FIELDS, field);
}

/** Whether an operand of a rule is valid, except for what it names. `at` is its place among the operands. */
export function isActivityOperand(type: ActivityType, operand: string, at: number): boolean {
  if (type === 'mails')
    return (
      /^\d{1,3}$/.test(operand) && Number(operand) >= 1 && Number(operand) <= (at === 0 ? MAX_MAILS : MAX_MAIL_DAYS)
    );
  return operand.length <= (type === 'link' ? MAX_URL : 255);
}

/** Gives what an operand names in the account of the segment; null when it names nothing there. */
export type NamedFinder = (type: 'mail' | 'automation', utr: string) => SegmentRule['named'] | null;

const NAMED = {
  mail: `SELECT 'single' AS kind, id FROM single_sends WHERE utr = @utr AND user_id = @account
    UNION ALL SELECT 'schedule', s.id FROM automation_schedules s CROSS JOIN automations a ON a.id = s.automation_id AND a.deleted_at IS NULL
      WHERE s.utr = @utr AND s.user_id = @account`,
  automation: `SELECT 'automation' AS kind, id FROM automations WHERE utr = @utr AND user_id = @account AND deleted_at IS NULL`,
};

/** Finds what rules of an account name by utr: single sends, mails of automations, automations. */
export function namedFinder(db: Db, accountId: number): NamedFinder {
  return (type, utr) =>
    prepared<[{ utr: string; account: number }], NonNullable<SegmentRule['named']>>(db.$client, NAMED[type]).get({
      utr,
      account: accountId,
    }) ?? null;
}
