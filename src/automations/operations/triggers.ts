/** The trigger of an automation: the parameters of a request, their checks, the columns that store the trigger, and how the API shows it. */
import Type, { type Static } from 'typebox';
import { namesErased } from '../../audience/contacts/erased-addresses.ts';
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

/** The maximum number of days between a date and the entry by this date. */
const MAX_DAYS = 365;
/** The maximum number of days after which a contact may enter again: ten years. */
const MAX_RE_ENTRY_DAYS = 3650;

/** The parameters of a trigger in a request. */
export const triggerInput = {
  trigger_kind: Type.Optional({
    ...choice(...TRIGGER_KINDS),
    description:
      'How contacts of the target enter. join: when they join the target; event: by trigger_event; date: on a date in one of their fields; field: when a field changes; form: when they confirm a form; hand: only through POST /automations/enter.',
  }),
  trigger_event: Type.Optional(
    line({
      description:
        'The name of the event by which contacts of the target enter. If empty, contacts enter when they join the target.',
    }),
  ),
  trigger_filter: Type.Optional(
    line({
      description:
        'Only events that pass this filter count: a property, then = != > >= < or <=, then a text or number. If empty, every event of this name counts.',
    }),
  ),
  trigger_field: Type.Optional(
    line({
      description:
        'Trigger date: the name of a custom field with dates. Trigger field: the name of a custom field or of a field of every contact.',
    }),
  ),
  trigger_value: Type.Optional(
    line({
      description:
        'Trigger field: the value to which the field must change; the case of A to Z does not matter. If empty, every change counts.',
    }),
  ),
  trigger_days: Type.Optional(
    integer({
      maximum: MAX_DAYS,
      description: 'Trigger date: how many days after the date contacts enter, or before it with trigger_before.',
    }),
  ),
  trigger_before: Type.Optional(flag('Trigger date: 1: trigger_days are days before the date, not after it.')),
  trigger_hour: Type.Optional(
    integer({
      minimum: 0,
      maximum: 23,
      description:
        'Trigger date: the hour of the entry in the time zone of the contact; if that is unknown, in the time zone of the setting TIME_ZONE.',
    }),
  ),
  trigger_yearly: Type.Optional(
    flag(
      'Trigger date: 1: contacts enter every year on the day of the date. Always 1 for a field of the type yearly-date.',
    ),
  ),
  trigger_form_id: Type.Optional(integer({ description: 'Trigger form: the id of the form.' })),
  re_entry: Type.Optional({
    ...choice(...RE_ENTRY),
    description:
      'When a contact who was in the automation may enter again. never: not again; days: re_entry_days after the last entry; key: by an event with another key, or on another date, which works only with the triggers event and date. With trigger_yearly 1, always key.',
  }),
  re_entry_days: Type.Optional(
    integer({
      minimum: 1,
      maximum: MAX_RE_ENTRY_DAYS,
      description: 'If re_entry is days: the number of days after the last entry.',
    }),
  ),
};
const TriggerInput = Type.Object(triggerInput);
type TriggerInput = Static<typeof TriggerInput>;

/** The trigger of an automation in an answer of the API. */
export const triggerShown = {
  trigger_kind: { ...choice(...TRIGGER_KINDS), description: 'How contacts of the target enter.' },
  trigger_event: Type.String({ description: 'Trigger event: the name of the event; otherwise empty.' }),
  trigger_filter: Type.String({ description: 'Trigger event: the filter of the event; empty if every event counts.' }),
  trigger_field: Type.String({
    description: 'Triggers date and field: the name of the field; empty if the field was deleted.',
  }),
  trigger_value: Type.String({
    description: 'Trigger field: the value to which the field must change; empty if every change counts.',
  }),
  trigger_days: integer({
    description: 'Trigger date: how many days after the date contacts enter, or before it with trigger_before.',
  }),
  trigger_before: zeroOrOne('Trigger date: 1: trigger_days are days before the date, not after it.'),
  trigger_hour: integer({ description: 'Trigger date: the hour of the entry.' }),
  trigger_yearly: zeroOrOne('Trigger date: 1: contacts enter every year on the day of the date.'),
  trigger_form_id: nullable(integer(), 'Trigger form: the id of the form.'),
};

/** Adds the field errors of a trigger that do not depend on the automation. */
export function checkTrigger(
  { db, accountId }: Context,
  input: Partial<TriggerInput>,
  errors: FieldErrorCollector,
): void {
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
 * Returns the columns to set for a changed trigger. If contacts enter by dates in a field, starts to make these dates findable. Throws 422
 * if a parameter that the trigger needs is missing. Call inside the transaction of the change; `now` is epoch milliseconds.
 */
export function triggerColumns(db: Db, before: Automation, input: TriggerInput, now: number): Columns {
  const kind = kindAfter(before, input);
  const { trigger_event = before.trigger_event, trigger_form_id = before.trigger_form_id } = input;
  if (kind === 'event' && trigger_event === '') throw invalid('trigger_event', messages.required('trigger_event'));
  if (kind === 'form' && !trigger_form_id) throw invalid('trigger_form_id', messages.required('trigger_form_id'));
  const field = kind === 'date' || kind === 'field' ? fieldAfter(db, before, input, kind) : null;
  const wantsYearly = (input.trigger_yearly ?? before.trigger_yearly) === 1;
  const trigger_yearly = kind === 'date' && (field?.type === 'yearly-date' || wantsYearly) ? 1 : 0;
  // By default contacts enter again on another date, such as in the next year; if the trigger is yearly, always.
  const isNewlyDated = kind === 'date' && before.trigger_kind !== 'date' && input.re_entry === undefined;
  const re_entry = trigger_yearly === 1 || isNewlyDated ? 'key' : input.re_entry;
  if ((re_entry ?? before.re_entry) === 'days' && !(input.re_entry_days ?? before.re_entry_days))
    throw invalid('re_entry_days', messages.required('re_entry_days'));
  const hasKeys = kind === 'event' || kind === 'date';
  // Older automations can have re-entry by key although their trigger has no keys. They keep it until the kind of trigger changes.
  const isRefused = !hasKeys && (kind !== before.trigger_kind || before.re_entry !== 'key');
  if (re_entry === 'key' && isRefused) throw invalid('re_entry', sentence('re_entry_without_keys'));
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
    // The new trigger has no keys, so re-entry by key becomes re-entry never.
    re_entry: re_entry ?? (before.re_entry === 'key' && isRefused ? 'never' : undefined),
    re_entry_days: input.re_entry_days,
    // Dates that came while the automation had another trigger let nobody enter.
    ...(hasOtherDates && {
      dates_checked_to: kind === 'date' ? now : null,
      dates_since: kind === 'date' ? now : null,
    }),
  };
}

/** Returns the kind of trigger after a change. Older programs set only the event, without the kind. */
function kindAfter({ trigger_kind: before }: Automation, { trigger_kind, trigger_event: event }: TriggerInput) {
  if (trigger_kind !== undefined) return trigger_kind;
  if (event) return 'event';
  return event === '' && before === 'event' ? 'join' : before;
}

/** Returns the field of a trigger after a change. Throws 422 if it is missing, or if contacts cannot enter by this field. */
function fieldAfter(db: Db, before: Automation, input: TriggerInput, kind: 'date' | 'field') {
  const name = input.trigger_field ?? triggerFieldName(db, before);
  const field = findRuleField(listCustomFields(db, before.user_id), name);
  if (name === '') throw invalid('trigger_field', messages.required('trigger_field'));
  const isDated = field !== null && field.customId !== null && field.type !== 'number';
  if (field === null || field.field === 'created_at' || (kind === 'date' && !isDated))
    throw invalid('trigger_field', messages.selected('trigger_field'));
  return field;
}
