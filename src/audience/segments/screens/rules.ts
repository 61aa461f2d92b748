/** The rules of a segment in the form: read from the form or a segment, and converted to the input of an operation. */

import { storedReason } from '../../../errors/reason-in-english.ts';
import { texts } from '../../../ui/submitted.ts';
import { findCountry } from '../../../ui/words/known.ts';
import { eventOfField } from '../../events/names.ts';
import type { Segment } from '../operations.ts';
import { ACTIVITY_FIELDS, ACTIVITY_OPERATORS, MAX_RULES, NOT_ARRIVED, OPERATORS, operatorsOf } from '../rules.ts';
import type { RuleField } from './choices.ts';

/** A rule as the form has it. */
export interface Rule {
  field: string;
  operator: string;
  /** The values of the rule; the second is the end of a range, the third the filter of an event. */
  values: [string, string, string];
}

/** The content of the form of a segment. */
export interface Draft {
  name: string;
  typeId: string;
  join: 'and' | 'or';
  rules: Rule[];
}

const NEW_RULE: Rule = { field: 'first_name', operator: 'is', values: ['', '', ''] };

/** Returns the form of a new segment, with one empty rule. */
export function emptyDraft(typeId: string): Draft {
  return { name: '', typeId, join: 'and', rules: [NEW_RULE] };
}

/** Returns a segment as its form has it. */
export function draftOf(segment: Segment): Draft {
  return {
    name: segment.segment_name,
    typeId: String(segment.contact_type_id),
    join: segment.query_type === 'or' ? 'or' : 'and',
    rules: rulesOf(segment),
  };
}

/** Returns the rules of a segment. Each operator takes its values from the list, left to right. Reasons get their stored form. */
function rulesOf({ select_field, select_operator, value }: Segment): Rule[] {
  let used = 0;
  return select_field.map((field, at) => {
    const operator = select_operator[at] ?? '';
    const count = operandCount(operator);
    const [from = '', to = '', filter = ''] = value.slice(used, used + count);
    used += count;
    return { field, operator, values: [from, operator === NOT_ARRIVED ? storedReason(to) : to, filter] };
  });
}

/** Reads the form. A rule whose field was changed gets an operator that fits it. */
export function readDraft(body: unknown, fields: readonly RuleField[]): Draft {
  const values: Record<string, unknown> = Object.assign(Object.create(null), body);
  const text = (name: string) => texts(values[name])[0] ?? '';
  const indices = Object.keys(values)
    .flatMap((name) => /^field(\d{1,4})$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
    .slice(0, MAX_RULES);
  const rules = indices.map((at) =>
    withFittingOperator(
      {
        field: text(`field${at}`),
        operator: text(`operator${at}`),
        values: [text(`value${at}`), text(`until${at}`), text(`filter${at}`)],
      },
      fields,
    ),
  );
  return {
    name: text('segment_name'),
    typeId: text('contact_type_id'),
    join: text('query_type') === 'or' ? 'or' : 'and',
    rules,
  };
}

/** Returns the rule with the first operator that fits its field, unless its own operator fits. */
function withFittingOperator(rule: Rule, fields: readonly RuleField[]): Rule {
  const operators = operatorsFor(rule.field, fields);
  const [first = ''] = operators;
  if (operators.length === 0 || operators.includes(rule.operator)) return rule;
  const { field, values } = rule;
  // Values are kept only for fields of contacts: a value of a contact is not the name of a mail.
  return { field, operator: first, values: isActivityField(field) ? ['', '', ''] : values };
}

function isActivityField(field: string): boolean {
  return Object.hasOwn(ACTIVITY_FIELDS, field) || eventOfField(field) !== null;
}

/** Returns the form after a click: `add` adds a rule, `remove` with an index removes one. The last rule stays. */
export function afterClick(draft: Draft, action: string): Draft {
  const removed = /^remove(\d{1,4})$/.exec(action)?.[1];
  if (action === 'add' && draft.rules.length < MAX_RULES) return { ...draft, rules: [...draft.rules, NEW_RULE] };
  if (removed === undefined || draft.rules.length < 2) return draft;
  return { ...draft, rules: draft.rules.filter((_, at) => at !== Number(removed)) };
}

/** Returns the type of a field; undefined for an unknown one. An event can be named before it happens. */
export function typeOf(name: string, fields: readonly RuleField[]): RuleField['field_type'] | undefined {
  const field = fields.find(({ field_name }) => field_name === name);
  return field?.field_type ?? (eventOfField(name) === null ? undefined : 'event');
}

/** Returns the operators for the type of a field; none for an unknown field. */
export function operatorsFor(name: string, fields: readonly RuleField[]): string[] {
  const type = typeOf(name, fields);
  return type === undefined ? [] : Object.keys(operatorsOf(type));
}

/** Returns how many values an operator takes, which is the same for every type with the operator. */
export function operandCount(operator: string): number {
  const all = [...Object.values(OPERATORS), ...Object.values(ACTIVITY_OPERATORS)];
  return all.find((ofType) => Object.hasOwn(ofType, operator))?.[operator] ?? 0;
}

/** Returns the values of a rule that its operator takes. */
export function operandsOf({ operator, values }: Rule): string[] {
  return values.slice(0, operandCount(operator));
}

/** Returns true if a rule has every value that its operator takes. */
export function isFilledIn(rule: Rule): boolean {
  return !operandsOf(rule).includes('');
}

/** Returns the rules as operations take them. A country is stored by its English name, whatever the language of the user. */
export function submittedRules({ rules, typeId, join }: Omit<Draft, 'name'>) {
  const english = (rule: Rule, value: string) =>
    rule.field === 'country' ? (findCountry(value)?.name ?? value) : value;
  return {
    ...(typeId && { contact_type_id: typeId }),
    query_type: join,
    select_field: rules.map(({ field }) => field),
    select_operator: rules.map(({ operator }) => operator),
    value: rules.flatMap((rule) => operandsOf(rule).map((value) => english(rule, value))),
  };
}

export type SubmittedRules = ReturnType<typeof submittedRules>;
