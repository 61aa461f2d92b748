/** Segment rules as bound SQL over a contact `c`. Nothing from outside becomes SQL text: fields and operators are of an allow-list. */
import { type SQL, sql } from 'drizzle-orm';
import { fold } from '../database/fold.ts';
import type { SegmentRule } from '../database/schema.ts';
import { customValuePath } from './fields.ts';

const DAY = 86_400_000;

const RESERVED: Readonly<Record<string, SQL>> = {
  first_name: sql`c.first_name`,
  last_name: sql`c.last_name`,
  email: sql`c.email`,
  alt_email: sql`ifnull(c.alt_email, '')`,
  country: sql`ifnull((SELECT name FROM countries WHERE id = c.country_id), '')`,
  state: sql`c.state`,
  city: sql`c.city`,
  address_line1: sql`c.address_line1`,
  address_line2: sql`c.address_line2`,
  state_province_region: sql`c.state_province_region`,
  postal_code: sql`c.postal_code`,
  created_at: sql`c.created_at`,
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

/**
 * The condition that contact `c` matches, 0 or 1 and never null. A field that is unset, or no longer in `liveFields`, has the
 * value ''; a positive operator never holds for it and a negated one always does (decisions §3).
 * @param now wire time, for the operators that look at the clock. Moments are UTC, to the minute.
 */
export function ruleCondition(
  rules: readonly SegmentRule[],
  queryType: 'and' | 'or' | null,
  liveFields: ReadonlySet<number>,
  now: string,
): SQL {
  const conditions = rules.map((rule) => {
    const positive = NEGATED[rule.operator];
    const value = ruleValue(rule, liveFields);
    if (positive === undefined) return sql`(${holds(rule, rule.operator, value, now)})`;
    return sql`NOT (${holds(rule, positive, value, now)})`;
  });
  return sql`(${sql.join(conditions, queryType === 'or' ? sql` OR ` : sql` AND `)})`;
}

function ruleValue({ field, customId }: SegmentRule, liveFields: ReadonlySet<number>): SQL {
  if (customId !== null) {
    return liveFields.has(customId) ? sql`ifnull(c.custom_values ->> ${customValuePath(customId)}, '')` : sql`''`;
  }
  const reserved = RESERVED[field];
  if (reserved === undefined) throw new Error(`a rule names the unknown field ${field}`);
  return reserved;
}

function holds(rule: SegmentRule, operator: string, value: SQL, now: string): SQL {
  if (operator === 'is blank') return sql`${value} = ''`;
  const [first = '', second = ''] = rule.operands;
  switch (rule.type) {
    case 'text':
      return textHolds(operator, sql`fold(${value})`, fold(first));
    case 'number':
      return sql`${value} <> '' AND ${numberHolds(operator, sql`CAST(${value} AS REAL)`, sql`CAST(${first} AS REAL)`, sql`CAST(${second} AS REAL)`)}`;
    case 'datetime-local':
      return sql`${value} <> '' AND ${momentHolds(operator, sql`substr(${value} || 'T00:00', 1, 16)`, first, second, now)}`;
  }
}

function textHolds(operator: string, value: SQL, operand: string): SQL {
  switch (operator) {
    case 'is':
      return sql`${value} = ${operand}`;
    case 'contains':
      return sql`instr(${value}, ${operand}) > 0`;
    case 'starts with':
      return sql`substr(${value}, 1, length(${operand})) = ${operand}`;
    case 'ends with':
      return sql`substr(${value}, -length(${operand})) = ${operand}`;
    default:
      throw new Error(`unknown text operator ${operator}`);
  }
}

function numberHolds(operator: string, value: SQL, first: SQL, second: SQL): SQL {
  switch (operator) {
    case 'is':
      return sql`${value} = ${first}`;
    case 'is greater than':
      return sql`${value} > ${first}`;
    case 'is less than':
      return sql`${value} < ${first}`;
    case 'is equal or greater than':
      return sql`${value} >= ${first}`;
    case 'is equal or less than':
      return sql`${value} <= ${first}`;
    case 'is between':
      return sql`${value} BETWEEN ${first} AND ${second}`;
    default:
      throw new Error(`unknown number operator ${operator}`);
  }
}

/** An operand that is a day stands for all of it: it begins at 00:00 and ends at 23:59. A value that is a day is its 00:00. */
function momentHolds(operator: string, value: SQL, first: string, second: string, now: string): SQL {
  const begin = (operand: string) => `${operand}T00:00`.slice(0, 16);
  const end = (operand: string) => `${operand}T23:59`.slice(0, 16);
  switch (operator) {
    case 'is on':
      return sql`substr(${value}, 1, 10) = ${first.slice(0, 10)}`;
    case 'is before':
      return sql`${value} < ${begin(first)}`;
    case 'is after':
      return sql`${value} > ${end(first)}`;
    case 'is between':
      return sql`${value} BETWEEN ${begin(first)} AND ${end(second)}`;
    case 'is within': {
      const since = new Date(Date.parse(now) - Number(first) * DAY).toISOString().slice(0, 16);
      return sql`${value} BETWEEN ${since} AND ${now.slice(0, 16)}`;
    }
    default:
      throw new Error(`unknown date operator ${operator}`);
  }
}
