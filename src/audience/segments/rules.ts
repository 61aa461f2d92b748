/**
 * Parses segment rules: their fields, the operators of each type of field, the number of operands of each operator, and which
 * operands are valid.
 */
import type { Db } from '../../database/open.ts';
import type { SegmentRule } from '../../database/schema/index.ts';
import { messages } from '../../errors/field-errors.ts';
import { storedReason } from '../../errors/reason-in-english.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { reservedField } from '../contacts/contact-fields.ts';
import { EVENT_FIELD, eventOfField, parseFilter } from '../events/names.ts';
import { type CustomField, FIELD_TYPES, type FieldType, isValidValue } from '../fields/custom-fields.ts';

/** The maximum number of rules of a segment. All its rules are conditions of one statement, and SQLite limits how deep conditions nest. */
export const MAX_RULES = 100;

/** The operators of contact fields by type, each with its number of operands. */
export const OPERATORS: Readonly<Record<FieldType, Readonly<Record<string, number>>>> = {
  text: {
    is: 1,
    'is not': 1,
    contains: 1,
    'does not contain': 1,
    'starts with': 1,
    'does not start with': 1,
    'ends with': 1,
    'does not end with': 1,
    'is blank': 0,
    'is not blank': 0,
  },
  number: {
    is: 1,
    'is not': 1,
    'is greater than': 1,
    'is less than': 1,
    'is equal or greater than': 1,
    'is equal or less than': 1,
    'is between': 2,
    'is not between': 2,
    'is blank': 0,
    'is not blank': 0,
  },
  'datetime-local': {
    'is on': 1,
    'is not on': 1,
    'is before': 1,
    'is after': 1,
    'is between': 2,
    'is not between': 2,
    'is within': 1,
    'is not within': 1,
    'is blank': 0,
    'is not blank': 0,
  },
  'yearly-date': {
    'is today': 0,
    'is not today': 0,
    'is in the next': 1,
    'is not in the next': 1,
    is: 1,
    'is not': 1,
    'is blank': 0,
    'is not blank': 0,
  },
};

/** The maximum N of "last N days". */
export const MAX_DAYS = 36_500;
/** The maximum N of "in the next N days" for a day of every year. */
export const MAX_NEXT_DAYS = 365;
/** The operators of contact fields by which contacts match as time passes. */
const TIME_OPERATORS = /(within|today|in the next)$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?$/;

/** The rules of a segment as three arrays, which `parseRules` reads. */
export interface RuleArrays {
  select_field?: readonly string[];
  select_operator?: readonly string[];
  value?: readonly string[];
}

/**
 * Parses the three arrays of a segment. Each operator takes its operands from `value`, left to right. Operands that are
 * missing, left over or of the wrong type are field errors, returned as pairs of field and text. An absent array adds no error,
 * because the schema check has already reported it.
 * @param findNamed Finds the mails and automations that rules refer to. Without it, rules about mails, opens and clicks are not allowed.
 */
export function parseRules(
  fields: readonly CustomField[],
  { select_field, select_operator, value = [] }: RuleArrays,
  findNamed?: NamedFinder,
): { rules: SegmentRule[]; errors: [string, Said][] } {
  const rules: SegmentRule[] = [];
  const errors: [string, Said][] = [];
  const known = (select_field ?? []).map(
    (name) => findRuleField(fields, name) ?? (findNamed === undefined ? null : findActivityField(name)),
  );
  if (known.includes(null)) errors.push(['select_field', messages.selected('select_field')]);
  if (select_field === undefined || select_operator === undefined || errors.length > 0) return { rules, errors };
  if (select_operator.length < known.length) errors.push(['select_operator', messages.required('select_operator')]);
  let used = 0;
  select_operator.forEach((text, at) => {
    const field = known[at];
    const operator = text.toLowerCase().replace(/\s+/g, ' ');
    const count = field ? operandCount(field.type, operator) : undefined;
    if (!field || count === undefined) {
      errors.push(['select_operator', messages.selected('select_operator')]);
      return;
    }
    const operands = value.slice(used, used + count);
    used += count;
    const [first = ''] = operands;
    const named = field.type === 'mail' || field.type === 'automation' ? findNamed?.(field.type, first) : undefined;
    if (operands.length < count || operands.includes('')) errors.push(['value', messages.required('value')]);
    else if (
      named === null ||
      !operands.every((operand, index) => isValidOperand(field.type, operator, operand, index))
    )
      errors.push(['value', messages.selected('value')]);
    if (operator === NOT_ARRIVED) operands[1] = storedReason(operands[1] ?? '');
    rules.push({ ...field, operator, operands, ...(named && { named }) });
  });
  if (countMailsRules(rules) > MAX_MAILS_RULES)
    errors.push(['select_field', sentence('segment_mails_rules_most', { count: MAX_MAILS_RULES })]);
  if (used < value.length && errors.length === 0) errors.push(['value', messages.selected('value')]);
  return { rules, errors };
}

/** Returns the number of operands of an operator; undefined if fields of this type have no such operator. */
function operandCount(type: SegmentRule['type'], operator: string): number | undefined {
  const operators = operatorsOf(type);
  return Object.hasOwn(operators, operator) ? operators[operator] : undefined;
}

/** Returns the operators of a type of field, each with its number of operands. */
export function operatorsOf(type: SegmentRule['type']): Readonly<Record<string, number>> {
  return { ...OPERATORS, ...ACTIVITY_OPERATORS }[type];
}

/** Returns true if contacts can begin or cease to match the rules without being changed: as time passes, or by their activity. */
export function dependsOnTime(rules: readonly SegmentRule[]): boolean {
  return rules.some((rule) => TIME_OPERATORS.test(rule.operator) || isActivityRule(rule));
}

/** Returns the field of rules about activity or events with this name, in any case; null if there is none. */
function findActivityField(text: string): Pick<SegmentRule, 'field' | 'customId' | 'type'> | null {
  const event = eventOfField(text);
  if (event !== null) return { field: `${EVENT_FIELD}${event}`, customId: null, type: 'event' };
  const field = text.toLowerCase();
  const type = Object.hasOwn(ACTIVITY_FIELDS, field) ? ACTIVITY_FIELDS[field] : undefined;
  return type === undefined ? null : { field, customId: null, type };
}

/** Returns the field of contacts with this name, in any case; null if there is none. */
export function findRuleField(
  fields: readonly CustomField[],
  text: string,
): Pick<SegmentRule, 'field' | 'customId' | 'type'> | null {
  const name = text.toLowerCase();
  // A custom field may have the name of a field that a later release added. The custom field keeps its meaning.
  const custom = fields.find(({ field_name }) => field_name.toLowerCase() === name);
  const type = parseFieldType(custom?.field_type);
  if (custom !== undefined && type !== null) return { field: custom.field_name, customId: custom.id, type };
  if (name === 'created_at') return { field: name, customId: null, type: 'datetime-local' };
  return reservedField(name) === undefined ? null : { field: name, customId: null, type: 'text' };
}

function parseFieldType(stored: string | undefined): FieldType | null {
  return FIELD_TYPES.find((type) => type === stored) ?? null;
}

function isValidOperand(type: SegmentRule['type'], operator: string, operand: string, at: number): boolean {
  if (isActivityType(type)) return isActivityOperand(type, operator, operand, at);
  if (operator.endsWith('in the next')) return /^\d{1,3}$/.test(operand) && Number(operand) <= MAX_NEXT_DAYS;
  if (operator.endsWith('within')) return /^\d{1,5}$/.test(operand) && Number(operand) <= MAX_DAYS;
  return isValidValue(type, operand) && (type !== 'datetime-local' || MOMENT.test(operand));
}

/** The types of rules that do not compare a value of the contact. */
export type ActivityType = Exclude<SegmentRule['type'], FieldType>;

/** Returns true if rules of this type do not compare a value of the contact. */
export function isActivityType(type: SegmentRule['type']): type is ActivityType {
  return !FIELD_TYPES.some((fieldType) => fieldType === type);
}

/**
 * The fields of rules about activity, except events, whose field is `event.` and the name of the event. The dot keeps
 * them apart from custom fields, whose names contain none.
 */
export const ACTIVITY_FIELDS: Readonly<Record<string, SegmentRule['type']>> = {
  'activity.last': 'datetime-local',
  'activity.last_click': 'datetime-local',
  'activity.mails': 'mails',
  'activity.mail': 'mail',
  'activity.link': 'link',
  'activity.automation': 'automation',
};

/** The operator of rules about a mail whose second operand is a reason. */
export const NOT_ARRIVED = 'did not arrive because';

/** The operators of rules about activity and events by type, each with its number of operands. An operator has the same number for every type. */
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
    'clicked the link': 2,
    'was a recipient': 1,
    bounced: 1,
    failed: 1,
    'was skipped': 1,
    'was cancelled': 1,
    [NOT_ARRIVED]: 2,
    unsubscribed: 1,
  },
  link: { clicked: 1, 'did not click': 1 },
  automation: { 'is in': 1, 'is not in': 1, 'has finished': 1, 'has not finished': 1 },
  event: {
    'happened at least': 2,
    'happened fewer than': 2,
    'totals at least': 2,
    'totals less than': 2,
    'happened at least with': 3,
    'happened fewer than with': 3,
    'totals at least with': 3,
    'totals less than with': 3,
    'has happened': 0,
    'has never happened': 0,
  },
};

/** The maximum number of days that rules about mails look back, including rules about the last mails. */
export const MAX_MAIL_DAYS = 365;
/** The maximum number of mails that a rule counts or examines. */
export const MAX_MAILS = 50;
/** The maximum length of the URL of a link. */
export const MAX_URL = 2048;
/** The maximum length of a reason in its stored form, whose quotes and backslashes are escaped. */
export const MAX_REASON = 1000;
/** The maximum number of rules about received mails in one segment, because each examines every mailing of its days for each contact. */
const MAX_MAILS_RULES = 5;

/** Returns how many rules examine all mailings of a number of days. */
export function countMailsRules(rules: readonly Pick<SegmentRule, 'type'>[]): number {
  return rules.filter(({ type }) => type === 'mails').length;
}

/**
 * Returns true if a rule is about mails, opens, clicks, automations or events, so that contacts begin or cease to match
 * without being changed.
 */
export function isActivityRule({ field, type }: Pick<SegmentRule, 'field' | 'type'>): boolean {
  return Object.hasOwn(ACTIVITY_FIELDS, field) || type === 'event';
}

/** Returns true if an operand of a rule is valid, without a check of what it refers to. `at` is its place among the operands. */
function isActivityOperand(type: ActivityType, operator: string, operand: string, at: number): boolean {
  if (type === 'event') return isEventOperand(operator, operand, at);
  if (type === 'mails')
    return (
      /^\d{1,3}$/.test(operand) && Number(operand) >= 1 && Number(operand) <= (at === 0 ? MAX_MAILS : MAX_MAIL_DAYS)
    );
  if (operator === 'clicked the link' && at === 1) return /^\d{1,6}$/.test(operand);
  if (operator === NOT_ARRIVED && at === 1) return operand.length <= MAX_REASON;
  return operand.length <= (type === 'link' ? MAX_URL : 255);
}

/**
 * Returns true if an operand of a rule about events is valid. The operands are a number of events or a sum of their values, a number of
 * days, and a filter by a property.
 */
function isEventOperand(operator: string, operand: string, at: number): boolean {
  if (at === 2) return parseFilter(operand) !== null;
  if (at === 1) return /^\d{1,5}$/.test(operand) && Number(operand) >= 1 && Number(operand) <= MAX_DAYS;
  return operator.startsWith('totals') ? isValidValue('number', operand) : /^[1-9]\d{0,5}$/.test(operand);
}

type NamedFinder = (type: 'mail' | 'automation', utr: string) => SegmentRule['named'] | null;

/** SQL: the record of the account @account with @utr, by the type of the rule. */
const NAMED = {
  mail: `SELECT 'single' AS kind, id FROM single_sends WHERE utr = @utr AND user_id = @account
    UNION ALL SELECT 'schedule', s.id FROM automation_schedules s CROSS JOIN automations a ON a.id = s.automation_id AND a.deleted_at IS NULL
      WHERE s.utr = @utr AND s.user_id = @account AND s.kind = 'mail'`,
  automation: `SELECT 'automation' AS kind, id FROM automations WHERE utr = @utr AND user_id = @account AND deleted_at IS NULL`,
};

/** Returns a function that finds what an account's rules refer to by utr: single sends, mails of automations, automations. */
export function namedFinder(db: Db, accountId: number): NamedFinder {
  return (type, utr) =>
    db.$client.prepare<[{ utr: string; account: number }], NonNullable<SegmentRule['named']>>(NAMED[type]).get({
      utr,
      account: accountId,
    }) ?? null;
}
