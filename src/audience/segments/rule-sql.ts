/**
 * Converts segment rules to SQL over a contact `c`. Fields and operators come from an allow-list and operands are bound, so no
 * input becomes SQL text.
 */
import { fold } from '../../database/functions/fold.ts';
import { BY_PERSON, DELIVERY_STATE, MADE_BY, MAILING_ENDED, type SegmentRule } from '../../database/schema/index.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { addDays, yearlyDays } from '../../time/zones.ts';
import { DAY_MS } from '../../units.ts';
import { byField } from '../contacts/contact-fields.ts';
import { type Bind, filterHolds, wordId } from '../events/event-sql.ts';
import { EVENT_FIELD } from '../events/names.ts';
import { customValuePath, type FieldType } from '../fields/custom-fields.ts';
import { isMeasuredNow } from '../tracking-choice.ts';
import { type ActivityType, isActivityType, MAX_MAIL_DAYS } from './rules.ts';

/** SQL: the times in `activity` as values of date fields; empty without activity. */
const ACTIVITY_VALUES = {
  'activity.last': momentOf('last_at'),
  'activity.last_click': momentOf('last_click_at'),
};

function momentOf(column: string, table = 'activity'): string {
  return `ifnull((SELECT strftime('%Y-%m-%dT%H:%M', y.${column} / 1000, 'unixepoch') FROM ${table} y WHERE y.address_id = c.address_id), '')`;
}

const RESERVED_VALUES: Readonly<Record<string, string>> = {
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

/** The operators that negate another operator, each with the operator that it negates. */
const NEGATED: Readonly<Record<string, string>> = {
  'is not': 'is',
  'does not contain': 'contains',
  'does not start with': 'starts with',
  'does not end with': 'ends with',
  'is not blank': 'is blank',
  'is not between': 'is between',
  'is not on': 'is on',
  'is not within': 'is within',
  'is not today': 'is today',
  'is not in the next': 'is in the next',
};

/** SQL text, which is the same for the same rules, and the values of its named parameters. */
export interface Condition {
  text: string;
  values: Record<string, string>;
}

/**
 * Returns the condition that contact `c` matches the rules: 0 or 1, never null. The custom fields of the rules must exist. A field that
 * is not set counts as '', so a positive operator is false for it and its negation is true. Times are compared in UTC, to the minute.
 * @param now ISO timestamp, for the operators about time.
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
    if (isActivityType(type)) return `(${activityHolds({ ...rule, type }, account, now, bind)})`;
    const positive = NEGATED[rule.operator];
    const holdsFor = (value: string) => {
      const holds = positiveHolds({ ...rule, type }, positive ?? rule.operator, value, now, bind);
      return positive === undefined ? `(${holds})` : `NOT (${holds})`;
    };
    const possible = possibleActivity(rule);
    const alsoHolds = possible === null ? '' : ` AND (${possible} = '' OR ${holdsFor(possible)})`;
    return `(${activityKnown(rule)}${holdsFor(fieldValue(rule))}${alsoHolds})`;
  });
  return { text: `(${conditions.join(queryType === 'or' ? ' OR ' : ' AND ')})`, values };
}

/** Returns SQL for the value of a rule's field of contact `c`; empty if it is not set. */
export function fieldValue({ field, customId }: Pick<SegmentRule, 'field' | 'customId'>): string {
  if (customId !== null) return `ifnull(c.custom_values ->> '${customValuePath(customId)}', '')`;
  const reserved = RESERVED_VALUES[field];
  if (reserved === undefined) throw new Error(`a rule names the unknown field ${field}`);
  return reserved;
}

/** Returns the condition that a value, which is SQL, satisfies a rule with this positive operator. */
function positiveHolds(
  rule: SegmentRule & { type: FieldType },
  operator: string,
  value: string,
  now: string,
  bind: Bind,
): string {
  if (operator === 'is blank') return `${value} = ''`;
  const [first = '', second = ''] = rule.operands;
  // NULL for a field that is not set, which makes the whole condition false. A comparison with '' would read the field a second time.
  const setValue = `nullif(${value}, '')`;
  switch (rule.type) {
    case 'text':
      return textHolds(operator, `fold(${value})`, bind(fold(first)));
    case 'number':
      return `ifnull(${numberHolds(operator, `CAST(${setValue} AS REAL)`, rule.operands, bind)}, 0)`;
    case 'datetime-local':
      return `ifnull(${momentHolds(operator, `substr(${setValue} || 'T00:00', 1, 16)`, first, second, now, bind)}, 0)`;
    case 'yearly-date':
      return operator === 'is'
        ? `${value} = ${bind(first)}`
        : `${value} <> '' AND ${yearlyHolds(value, operator === 'is today' ? 0 : Number(first), now.slice(0, 'YYYY-MM-DD'.length), bind)}`;
  }
}

/** Returns the condition that a day of every year is at most `days` days after `today` (YYYY-MM-DD), or `today` itself. */
function yearlyHolds(value: string, days: number, today: string, bind: Bind): string {
  const begin = today.slice(5);
  const end = yearlyDays(addDays(today, days)).at(-1) ?? begin;
  if (days >= 365) return 'true';
  const [from, until] = [bind(begin), bind(end)];
  return begin <= end ? `${value} BETWEEN ${from} AND ${until}` : `(${value} >= ${from} OR ${value} <= ${until})`;
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

/** Returns the condition for a number. Both sides go through the same CAST, so that equal texts are exactly equal numbers. */
function numberHolds(operator: string, value: string, operands: readonly string[], bind: Bind): string {
  const [first, second] = operands.map((operand) => `CAST(${bind(operand)} AS REAL)`);
  if (operator === 'is between') return `${value} BETWEEN ${first} AND ${second}`;
  const comparison = COMPARISONS[operator];
  if (comparison === undefined) throw new Error(`unknown number operator ${operator}`);
  return `${value} ${comparison} ${first}`;
}

/** Returns the condition for a date. An operand without a time means the whole day, from 00:00 to 23:59. A value without a time means 00:00 of its day. */
function momentHolds(operator: string, value: string, first: string, second: string, now: string, bind: Bind): string {
  const toMinute = (text: string) => text.slice(0, 'YYYY-MM-DDTHH:MM'.length);
  const begin = (operand: string) => bind(toMinute(`${operand}T00:00`));
  const end = (operand: string) => bind(toMinute(`${operand}T23:59`));
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
      const since = toMinute(new Date(Date.parse(now) - Number(first) * DAY_MS).toISOString());
      return `${value} BETWEEN ${bind(since)} AND ${bind(toMinute(now))}`;
    }
    default:
      throw new Error(`unknown date operator ${operator}`);
  }
}

/*
 * Rules about mails, opens, clicks and automations. Only people's activity counts: opens and clicks of machines change neither
 * `by_person` nor the times in `activity`. If only a proxy loaded the pictures, it is unknown whether the mail was opened, so
 * rules about not opening are false, too. A click also counts as an open, because many mail programs load no pictures. Mails
 * are those of single sends and automations that a server accepted and that did not come back. For an unmeasured contact, rules
 * about opening and about not opening are both false: rules about not opening require measured mails of measured contacts.
 */

/**
 * SQL: true if the opens and clicks of the contact are recorded now. If they are not, nobody knows whether the contact did not open, or
 * was inactive for some time.
 */
const IS_MEASURED = isMeasuredNow('c.address_id');

/** The operators of `ACTIVITY_VALUES` that mean inactivity for some time. */
const ABSENCE_OPERATORS = ['is blank', 'is before', 'is not on', 'is not between', 'is not within'];

/**
 * For rules about inactivity, returns SQL for the time of the last open by a proxy, when the contact may have been active after all. The
 * time is empty if there is no such open. Returns null for other rules.
 */
function possibleActivity({ field, operator }: Pick<SegmentRule, 'field' | 'operator'>): string | null {
  return field === 'activity.last' && ABSENCE_OPERATORS.includes(operator)
    ? momentOf('last_at', 'proxied_activity')
    : null;
}

/** Returns the condition, followed by AND, without which a rule about inactivity is false for a contact `c`; '' for other rules. */
function activityKnown({ field, operator }: Pick<SegmentRule, 'field' | 'operator'>): string {
  return Object.hasOwn(ACTIVITY_VALUES, field) && ABSENCE_OPERATORS.includes(operator) ? `${IS_MEASURED} AND ` : '';
}

/** SQL: the bits of `deliveries.by_person` that count as an open and as a click. */
const ACTIVE = {
  open: `d.by_person & ${BY_PERSON.opened | BY_PERSON.clicked} <> 0`,
  click: `d.by_person & ${BY_PERSON.clicked} <> 0`,
};
/** SQL: the bits with which there may have been an open or a click, so that rules about their absence are false. */
const MAYBE_ACTIVE = { open: 'd.by_person <> 0', click: ACTIVE.click };

/** SQL: the deliveries `d` of the contact in mailings that may have mails since `since` (SQL). */
const mailsSince = (since: string) => `
  FROM mailings m INDEXED BY mailings_recent CROSS JOIN deliveries d ON d.mailing_id = m.id AND d.address_id = c.address_id
  WHERE m.user_id = c.user_id AND m.owner_kind IN ('single', 'schedule')
    AND ${MAILING_ENDED} >= ${since} AND d.state = ${DELIVERY_STATE.accepted}`;

/**
 * Returns the condition that a rule about activity is true: 0 or 1, never null.
 * @param account The account of the contacts.
 * @param now ISO timestamp.
 * @param bind Binds a value and returns the name of its parameter.
 */
function activityHolds(rule: SegmentRule & { type: ActivityType }, account: number, now: string, bind: Bind): string {
  const [first = '', second = ''] = rule.operands;
  switch (rule.type) {
    case 'mails':
      return mailsHold(rule.operator, first, second, now, bind);
    case 'mail':
      return mailHolds(rule, bind);
    case 'link':
      return `${rule.operator === 'clicked' ? '' : `${IS_MEASURED} AND NOT `}EXISTS (${clicksOf(bind(first), bind(String(account)))})`;
    case 'automation':
      return automationHolds(rule, bind);
    case 'event':
      return eventHolds(rule, account, now, bind);
  }
}

/**
 * Returns the condition that a rule about a reported event is true. “Ever” and “never” read the counters, which stay when events are
 * removed. Other rules read the contact's events of their days by an index.
 */
function eventHolds({ field, operator, operands }: SegmentRule, account: number, now: string, bind: Bind): string {
  const name = wordId(account, field.slice(EVENT_FIELD.length), bind);
  if (operator === 'has happened' || operator === 'has never happened')
    return `${operator === 'has happened' ? '' : 'NOT '}EXISTS (
      SELECT 1 FROM event_totals v WHERE v.address_id = c.address_id AND v.name_id = ${name})`;
  const [least = '', days = '', filter] = operands;
  const since = bind(String(Date.parse(now) - Number(days) * DAY_MS));
  const passes = filter === undefined ? '' : `AND ${filterHolds(filter, account, bind)}`;
  const figure = operator.startsWith('totals') ? 'ifnull(sum(v.value), 0)' : 'count(*)';
  return `(SELECT ${figure} FROM contact_events v INDEXED BY contact_events_person
    WHERE v.address_id = c.address_id AND v.happened_at >= ${since} AND v.name_id = ${name} ${passes})
    ${operator.includes('at least') ? '>=' : '<'} CAST(${bind(least)} AS REAL)`;
}

function mailsHold(operator: string, first: string, second: string, now: string, bind: Bind): string {
  const isCount = operator.startsWith('received');
  const since = Date.parse(now) - Number(isCount ? second : MAX_MAIL_DAYS) * DAY_MS;
  const from = mailsSince(bind(isoTimestamp(new Date(since))));
  const count = `CAST(${bind(first)} AS INTEGER)`;
  const mails = `${from} AND d.updated_at >= ${bind(String(since))}`;
  if (isCount) return `(SELECT count(*) ${mails}) ${operator === 'received at least' ? '>=' : '<'} ${count}`;
  const [verb, quantifier] = operator.split(' ');
  const isActive = (quantifier === 'any' ? ACTIVE : MAYBE_ACTIVE)[verb === 'clicked' ? 'click' : 'open'];
  const isMeasured = quantifier === 'any' ? '' : 'AND d.is_unmeasured = 0';
  const last = `(SELECT ${isActive} AS seen ${mails} ${isMeasured} ORDER BY d.updated_at DESC, d.id DESC LIMIT ${count})`;
  return quantifier === 'any'
    ? `ifnull((SELECT max(seen) FROM ${last}), 0)`
    : `(${IS_MEASURED} AND (SELECT count(*) = ${count} AND sum(seen) = 0 FROM ${last}))`;
}

function mailHolds({ operator, operands, named }: SegmentRule, bind: Bind): string {
  if (named === undefined) throw new Error('a rule about a mail does not say which');
  const outcome = (columns: string) => `ifnull((
    SELECT ${columns} FROM mailings m INDEXED BY mailings_of_owner CROSS JOIN deliveries d ON d.mailing_id = m.id AND d.address_id = c.address_id
    WHERE m.owner_kind = ${bind(named.kind)} AND m.owner_id = ${bind(String(named.id))}), 0)`;
  const got = `max(d.state = ${DELIVERY_STATE.accepted})`;
  const gotMeasured = `max(d.state = ${DELIVERY_STATE.accepted} AND d.is_unmeasured = 0)`;
  switch (operator) {
    case 'got':
      return outcome(got);
    case 'did not get':
      return `NOT ${outcome(got)}`;
    case 'opened':
      return outcome(`max(${ACTIVE.open})`);
    case 'clicked':
      return outcome(`max(${ACTIVE.click})`);
    case 'got and did not open':
      return `(${IS_MEASURED} AND ${outcome(`${gotMeasured} > max(${MAYBE_ACTIVE.open})`)})`;
    case 'got and did not click':
      return `(${IS_MEASURED} AND ${outcome(`${gotMeasured} > max(${MAYBE_ACTIVE.click})`)})`;
    case 'clicked the link':
      return outcome(
        `max(${ACTIVE.click} AND EXISTS (SELECT 1 FROM events e INDEXED BY events_link WHERE e.mailing_id = m.id AND e.kind = 'click'
          AND e.link_number = ${bind(String(Number(operands[1])))} AND e.delivery_id = d.id AND e.made_by = ${MADE_BY.person}))`,
      );
    case 'was a recipient':
      return outcome('1');
    case 'bounced':
    case 'failed':
      return outcome(`max(d.state = ${DELIVERY_STATE[operator]})`);
    case 'was skipped':
      return outcome(`max(d.state = ${DELIVERY_STATE.suppressed})`);
    case 'was cancelled':
      return outcome(`max(d.state = ${DELIVERY_STATE.cancelled})`);
    case 'did not arrive because':
      return outcome(
        `max(d.state <> ${DELIVERY_STATE.accepted} AND d.reply IS NOT NULL AND reply_kind(d.reply) = ${bind(operands[1] ?? '')})`,
      );
    case 'unsubscribed':
      return outcome('max(d.unsubscribed_at IS NOT NULL)');
    default:
      throw new Error(`unknown operator ${operator} of a mail`);
  }
}

/**
 * Returns SQL for the contact's clicks on links to this URL, as it was written in the mail, in any mail of single sends and
 * automations. The links are looked up once for all contacts, because other accounts may have any number of mails with the same URL.
 */
function clicksOf(url: string, account: string): string {
  return `WITH own AS MATERIALIZED (SELECT l.mailing_id, l.number FROM links l INDEXED BY links_url
      CROSS JOIN mailings m ON m.id = l.mailing_id AND m.user_id = ${account} AND m.owner_kind IN ('single', 'schedule') WHERE l.url = ${url})
    SELECT 1 FROM own CROSS JOIN deliveries d ON d.mailing_id = own.mailing_id AND d.address_id = c.address_id AND ${ACTIVE.click}
    CROSS JOIN events e ON e.mailing_id = own.mailing_id AND e.link_number = own.number AND e.delivery_id = d.id AND e.kind = 'click' AND e.made_by = ${MADE_BY.person}`;
}

function automationHolds({ operator, named }: SegmentRule, bind: Bind): string {
  if (named === undefined) throw new Error('a rule about an automation does not say which');
  const state = operator.endsWith('finished') ? 'finished' : 'active';
  const isNegated = operator === 'is not in' || operator === 'has not finished';
  return `${isNegated ? 'NOT ' : ''}EXISTS (SELECT 1 FROM enrolments n
    WHERE n.automation_id = ${bind(String(named.id))} AND n.address_id = c.address_id AND n.state = '${state}')`;
}
