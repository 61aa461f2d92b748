/**
 * Turns segment rules into SQL over a contact `c`. Fields and operators come from an allow-list and operands are bound, so no input
 * becomes SQL text.
 */
import { fold } from '../../database/functions/fold.ts';
import type { SegmentRule } from '../../database/schema/index.ts';
import { byField, customValuePath, type FieldType } from '../contacts/contact-fields.ts';
import { ACTIVITY_VALUES, activityHolds, activityKnown, possibleActivity } from './activity-sql.ts';

const DAY_MS = 86_400_000;

const RESERVED: Readonly<Record<string, string>> = {
  ...byField(
    {
      email: 'c.email',
      alt_email: "ifnull(c.alt_email, '')",
      country: "ifnull((SELECT name FROM countries WHERE id = c.country_id), '')",
    },
    (name) => `c.${name}`,
  ),
  created_at: 'c.created_at',
  ...ACTIVITY_VALUES,
};

const NEGATED: Readonly<Record<string, string>> = {
  'is not': 'is',
  'does not contain': 'contains',
  'does not start with': 'starts with',
  'does not end with': 'ends with',
  'is not blank': 'is blank',
  'is not between': 'is between',
  'is not on': 'is on',
  'is not within': 'is within',
};

/** SQL text, which is the same for the same rules, and the values of its named parameters. */
export interface Condition {
  text: string;
  values: Record<string, string>;
}

/** Binds a value and gives the name of its parameter. */
type Bind = (value: string) => string;

/**
 * The condition that contact `c` matches the rules: 0 or 1, never null. The custom fields of the rules must exist. A field that is not
 * set counts as '', so that a positive operator does not hold for it and its negation does.
 * @param now ISO timestamp, for the operators about time. Times are compared in UTC, to the minute.
 */
export function ruleCondition(
  account: number,
  rules: readonly SegmentRule[],
  queryType: 'and' | 'or' | null,
  now: string,
): Condition {
  const values: Record<string, string> = {};
  const bind: Bind = (value) => {
    const name = `rule${Object.keys(values).length}`;
    values[name] = value;
    return `@${name}`;
  };
  const conditions = rules.map((rule) => {
    const { type } = rule;
    if (type === 'mails' || type === 'mail' || type === 'link' || type === 'automation')
      return `(${activityHolds({ ...rule, type }, account, now, bind)})`;
    const positive = NEGATED[rule.operator];
    const holdsFor = (value: string) => {
      const holds = positiveHolds({ ...rule, type }, positive ?? rule.operator, value, now, bind);
      return positive === undefined ? `(${holds})` : `NOT (${holds})`;
    };
    const possible = possibleActivity(rule);
    const unless = possible === null ? '' : ` AND (${possible} = '' OR ${holdsFor(possible)})`;
    return `(${activityKnown(rule)}${holdsFor(fieldValue(rule))}${unless})`;
  });
  return { text: `(${conditions.join(queryType === 'or' ? ' OR ' : ' AND ')})`, values };
}

/** The value of a rule's field as SQL over a contact `c`; empty when it is not set. */
export function fieldValue({ field, customId }: Pick<SegmentRule, 'field' | 'customId'>): string {
  if (customId !== null) return `ifnull(c.custom_values ->> '${customValuePath(customId)}', '')`;
  const reserved = RESERVED[field];
  if (reserved === undefined) throw new Error(`a rule names the unknown field ${field}`);
  return reserved;
}

function positiveHolds(
  rule: SegmentRule & { type: FieldType },
  operator: string,
  value: string,
  now: string,
  bind: Bind,
): string {
  if (operator === 'is blank') return `${value} = ''`;
  const [first = '', second = ''] = rule.operands;
  switch (rule.type) {
    case 'text':
      return textHolds(operator, `fold(${value})`, bind(fold(first)));
    case 'number':
      return `${value} <> '' AND ${numberHolds(operator, `CAST(${value} AS REAL)`, rule.operands, bind)}`;
    case 'datetime-local':
      return `${value} <> '' AND ${momentHolds(operator, `substr(${value} || 'T00:00', 1, 16)`, first, second, now, bind)}`;
  }
}

function textHolds(operator: string, value: string, operand: string): string {
  switch (operator) {
    case 'is':
      return `${value} = ${operand}`;
    case 'contains':
      return `instr(${value}, ${operand}) > 0`;
    case 'starts with':
      return `substr(${value}, 1, length(${operand})) = ${operand}`;
    case 'ends with':
      return `substr(${value}, -length(${operand})) = ${operand}`;
    default:
      throw new Error(`unknown text operator ${operator}`);
  }
}

const COMPARISONS: Readonly<Record<string, string>> = {
  is: '=',
  'is greater than': '>',
  'is less than': '<',
  'is equal or greater than': '>=',
  'is equal or less than': '<=',
};

/** Both sides go through the same CAST, so that equal texts are exactly equal numbers. */
function numberHolds(operator: string, value: string, operands: readonly string[], bind: Bind): string {
  const [first, second] = operands.map((operand) => `CAST(${bind(operand)} AS REAL)`);
  if (operator === 'is between') return `${value} BETWEEN ${first} AND ${second}`;
  const comparison = COMPARISONS[operator];
  if (comparison === undefined) throw new Error(`unknown number operator ${operator}`);
  return `${value} ${comparison} ${first}`;
}

/** An operand without a time means the whole day, from 00:00 to 23:59. A value without a time means 00:00 of its day. */
function momentHolds(operator: string, value: string, first: string, second: string, now: string, bind: Bind): string {
  const begin = (operand: string) => bind(`${operand}T00:00`.slice(0, 16));
  const end = (operand: string) => bind(`${operand}T23:59`.slice(0, 16));
  switch (operator) {
    case 'is on':
      return `substr(${value}, 1, 10) = ${bind(first.slice(0, 10))}`;
    case 'is before':
      return `${value} < ${begin(first)}`;
    case 'is after':
      return `${value} > ${end(first)}`;
    case 'is between':
      return `${value} BETWEEN ${begin(first)} AND ${end(second)}`;
    case 'is within': {
      const since = new Date(Date.parse(now) - Number(first) * DAY_MS).toISOString().slice(0, 16);
      return `${value} BETWEEN ${bind(since)} AND ${bind(now.slice(0, 16))}`;
    }
    default:
      throw new Error(`unknown date operator ${operator}`);
  }
}
