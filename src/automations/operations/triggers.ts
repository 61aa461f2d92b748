/** The trigger of an automation: what a request may set, the columns it is stored in, and how it is shown. */
import Type, { type Static } from 'typebox';
import { namesErased } from '../../audience/contacts/address-rows.ts';
import { isEventName, parseFilter } from '../../audience/events/names.ts';
import { listCustomFields } from '../../audience/fields/custom-fields.ts';
import { findRuleField } from '../../audience/segments/rules.ts';
import type { Db } from '../../database/open.ts';
import { isOwned } from '../../database/ownership.ts';
import { type automations, datedFields, forms, RE_ENTRY, TRIGGER_KINDS } from '../../database/schema/index.ts';
import { invalid } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import { choice, flag, integer, line, nullable, zeroOrOne } from '../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../http/requests/validation.ts';
import type { Context } from '../../operations/operation.ts';
import { type Automation, triggerFieldName } from '../automations.ts';

/** The longest time between a date and the entry by it. */
const MAX_DAYS = 365;
/** The longest time after which a contact may enter again: ten years. */
const MAX_RE_ENTRY_DAYS = 3650;

/** The parts of a trigger in a request. */
export const triggerInput = {
  trigger_kind: Type.Optional({
    ...choice(...TRIGGER_KINDS),
    description:
      'How contacts of the target enter. join: by joining it; event: by trigger_event; date: on a date of theirs; field: when a field changes; form: by confirming a form; hand: only through POST /automations/enter.',
  }),
  trigger_event: Type.Optional(
    line({ description: 'The event by which contacts of the target enter; empty: they enter by joining it.' }),
  ),
  trigger_filter: Type.Optional(
    line({ description: 'Only such events: a property, = != > >= < or <=, and a text or number. Empty: all.' }),
  ),
  trigger_field: Type.Optional(
    line({
      description:
        'Of date: the name of a custom field with dates. Of field: that of a custom field or a field of every contact.',
    }),
  ),
  trigger_value: Type.Optional(
    line({
      description: 'Of field: the value to which it changes, without regard to the case of A to Z. Empty: any value.',
    }),
  ),
  trigger_days: Type.Optional(
    integer({
      maximum: MAX_DAYS,
      description: 'Of date: how many days after the date contacts enter, or before it.',
    }),
  ),
  trigger_before: Type.Optional(Type.Unsafe<0 | 1>(flag('Of date: 1: trigger_days are before the date.'))),
  trigger_hour: Type.Optional(
    integer({
      minimum: 0,
      maximum: 23,
      description: 'Of date: at which hour, in the time zone of the contact or, where it is unknown, of schedules.',
    }),
  ),
  trigger_yearly: Type.Optional(
    Type.Unsafe<0 | 1>(
      flag('Of date: 1: every year on the day of the date, as always for a field of the type yearly-date.'),
    ),
  ),
  trigger_form_id: Type.Optional(integer({ description: 'Of form: its id.' })),
  re_entry: Type.Optional({
    ...choice(...RE_ENTRY),
    description:
      'Who was in it enters again: never; days: re_entry_days after the last entry; key: by an event with another key, or on another date, of the triggers event and date only. Every year means key.',
  }),
  re_entry_days: Type.Optional(
    integer({ minimum: 1, maximum: MAX_RE_ENTRY_DAYS, description: 'Of the re-entry days: how many.' }),
  ),
};
const Given = Type.Object(triggerInput);
type Given = Static<typeof Given>;

/** The trigger of an automation as it is shown. */
export const triggerShown = {
  trigger_kind: { ...choice(...TRIGGER_KINDS), description: 'How contacts of the target enter.' },
  trigger_event: Type.String({ description: 'Of event: its name; otherwise empty.' }),
  trigger_filter: Type.String({ description: 'The filter of that event; empty: none.' }),
  trigger_field: Type.String({ description: 'Of date and field: the name of the field; empty if it was deleted.' }),
  trigger_value: Type.String({ description: 'Of field: the value to which it changes; empty: any.' }),
  trigger_days: integer({ description: 'Of date: how many days after the date, or before it.' }),
  trigger_before: zeroOrOne('Of date: 1: trigger_days are before the date.'),
  trigger_hour: integer({ description: 'Of date: the hour.' }),
  trigger_yearly: zeroOrOne('Of date: 1: every year.'),
  trigger_form_id: nullable(integer(), 'Of form: its id.'),
};

/** Adds the field errors of a trigger that are known without the automation. */
export function checkTrigger({ db, accountId }: Context, input: Partial<Given>, errors: FieldErrorCollector): void {
  const { trigger_event: event, trigger_filter: filter, trigger_field: field, trigger_form_id: form } = input;
  if (event && !isEventName(event)) errors.add('trigger_event', messages.selected('trigger_event'));
  if (field) errors.reference('trigger_field', () => findRuleField(listCustomFields(db, accountId), field) !== null);
  if (form) errors.reference('trigger_form_id', () => isOwned(db, forms, form, accountId));
  for (const [name, text] of [
    ['trigger_filter', filter],
    ['trigger_value', input.trigger_value],
  ] as const)
    if (text && namesErased(db.$client, accountId, [text])) errors.add(name, messages.erased(name));
  if (filter && parseFilter(filter) === null) errors.add('trigger_filter', messages.selected('trigger_filter'));
}

type Columns = Partial<typeof automations.$inferInsert>;

/**
 * Returns the columns to set for a changed trigger, and lets the dates of its field be found. Throws 422 if a part that its kind needs is
 * missing. Call inside the transaction of the change; `now` is epoch milliseconds.
 */
export function triggerColumns(db: Db, before: Automation, input: Given, now: number): Columns {
  const kind = kindAfter(before, input);
  const { trigger_event = before.trigger_event, trigger_form_id = before.trigger_form_id } = input;
  if (kind === 'event' && trigger_event === '') throw invalid('trigger_event', messages.required('trigger_event'));
  if (kind === 'form' && !trigger_form_id) throw invalid('trigger_form_id', messages.required('trigger_form_id'));
  const field = kind === 'date' || kind === 'field' ? fieldAfter(db, before, input, kind) : null;
  const yearly = input.trigger_yearly ?? before.trigger_yearly;
  const trigger_yearly = kind === 'date' && (field?.type === 'yearly-date' || yearly === 1) ? 1 : 0;
  // A date of another year, or a renewed date, is a further entry.
  const isOfDates = kind === 'date' && (trigger_yearly === 1 || before.trigger_kind !== 'date');
  const re_entry =
    input.re_entry === undefined || trigger_yearly === 1 ? (isOfDates ? 'key' : input.re_entry) : input.re_entry;
  if ((re_entry ?? before.re_entry) === 'days' && !(input.re_entry_days ?? before.re_entry_days))
    throw invalid('re_entry_days', messages.required('re_entry_days'));
  const hasKeys = kind === 'event' || kind === 'date';
  const isOther = kind !== before.trigger_kind || before.re_entry !== 'key';
  if (re_entry === 'key' && !hasKeys && isOther) throw invalid('re_entry', sentence('re_entry_without_keys'));
  const columns = {
    trigger_kind: kind,
    trigger_event: kind === 'event' ? trigger_event : '',
    trigger_field_id: field?.customId ?? null,
    trigger_field: field === null || field.customId !== null ? '' : field.field,
    trigger_value: input.trigger_value ?? before.trigger_value,
    trigger_days: input.trigger_days ?? before.trigger_days,
    trigger_before: input.trigger_before ?? before.trigger_before,
    trigger_hour: input.trigger_hour ?? before.trigger_hour,
    trigger_yearly,
    trigger_form_id: kind === 'form' ? trigger_form_id : null,
  } as const;
  const hasOtherDates =
    columns.trigger_kind !== before.trigger_kind ||
    columns.trigger_field_id !== before.trigger_field_id ||
    columns.trigger_days !== before.trigger_days ||
    columns.trigger_before !== before.trigger_before ||
    columns.trigger_hour !== before.trigger_hour ||
    columns.trigger_yearly !== before.trigger_yearly;
  if (kind === 'date' && field?.customId)
    db.insert(datedFields)
      .values({ field_id: field.customId, user_id: before.user_id, filled_to: 0 })
      .onConflictDoNothing()
      .run();
  return {
    ...columns,
    trigger_filter: input.trigger_filter,
    // By a trigger without keys, nobody entered again by key.
    re_entry: re_entry ?? (before.re_entry === 'key' && !hasKeys && isOther ? 'never' : undefined),
    re_entry_days: input.re_entry_days,
    // Dates that came while the automation had another trigger start nothing.
    ...(hasOtherDates && {
      dates_checked_to: kind === 'date' ? now : null,
      dates_since: kind === 'date' ? now : null,
    }),
  };
}

/** Returns the kind of trigger after a change. Requests from before there were kinds set the event alone. */
function kindAfter({ trigger_kind: before }: Automation, { trigger_kind, trigger_event: event }: Given) {
  if (trigger_kind !== undefined) return trigger_kind;
  if (event) return 'event';
  return event === '' && before === 'event' ? 'join' : before;
}

function fieldAfter(db: Db, before: Automation, input: Given, kind: 'date' | 'field') {
  const name = input.trigger_field ?? triggerFieldName(db, before);
  const field = findRuleField(listCustomFields(db, before.user_id), name);
  if (name === '') throw invalid('trigger_field', messages.required('trigger_field'));
  const isDated = field !== null && field.customId !== null && field.type !== 'number';
  if (field === null || field.field === 'created_at' || (kind === 'date' && !isDated))
    throw invalid('trigger_field', messages.selected('trigger_field'));
  return field;
}
