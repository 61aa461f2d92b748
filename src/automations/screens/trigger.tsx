/** The trigger of an automation on pages: its fields in the form, and sentences about it. */
import type { FastifyRequest } from 'fastify';
import { type Field, listOwnFields, listReservedFields } from '../../audience/fields/operations.ts';
import { listNames } from '../../audience/segments/operations.ts';
import type { Target } from '../../campaigns/screens/compose/targets.ts';
import { TRIGGER_KINDS } from '../../database/schema/index.ts';
import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { listForms } from '../../forms/operations/forms.ts';
import { CheckField, type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { ask } from '../../ui/operations.ts';
import { field } from '../../ui/submitted.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import { fieldLabel } from '../../ui/words/known.ts';
import type { Series } from '../operations/automations.ts';
import type { CountedTrigger } from '../operations/trigger-count.ts';
import type { triggerShown } from '../operations/triggers.ts';
import { EventFields } from './event-fields.tsx';

/** The hour of the entry that the form proposes. */
const DEFAULT_HOUR = '9';

/** The events, fields and forms that the form of a trigger offers. */
export interface TriggerChoices {
  /** The names of events. */
  events: readonly string[];
  fields: readonly Field[];
  forms: readonly { id: number; name: string }[];
}

/** Reads the events, fields and forms of the account. */
export async function readTriggerChoices(request: FastifyRequest): Promise<TriggerChoices> {
  const [{ events }, own, { reservedFields }, { forms }] = await Promise.all([
    ask(request, listNames, {}),
    ask(request, listOwnFields, {}),
    ask(request, listReservedFields, {}),
    ask(request, listForms, {}),
  ]);
  return { events, fields: [...own, ...reservedFields], forms };
}

/** The fields of a trigger as the form sends them. A form that was opened before an update may not have all fields. */
export type TriggerFields = { [Name in keyof typeof triggerShown]?: string };

/** Returns the fields of a trigger in a submitted form. */
export function submittedTrigger(request: FastifyRequest): TriggerFields {
  const kind = field(request, 'trigger_kind');
  const trigger_form_id = field(request, 'trigger_form_id');
  return {
    trigger_event: field(request, 'trigger_event').trim(),
    trigger_filter: field(request, 'trigger_filter').trim(),
    ...(kind !== '' && {
      trigger_kind: kind,
      trigger_field: field(request, 'trigger_field'),
      trigger_value: field(request, 'trigger_value').trim(),
      trigger_days: field(request, 'trigger_days').trim() || '0',
      trigger_before: field(request, 'trigger_before') === '1' ? '1' : '0',
      trigger_hour: field(request, 'trigger_hour') || DEFAULT_HOUR,
      trigger_yearly: field(request, 'trigger_yearly') === '1' ? '1' : '0',
      ...(trigger_form_id !== '' && { trigger_form_id }),
    }),
  };
}

/** Returns the values of the form fields for a stored trigger. */
export function storedTrigger(series: Series): Required<TriggerFields> {
  return {
    trigger_kind: series.trigger_kind,
    trigger_event: series.trigger_event,
    trigger_filter: series.trigger_filter,
    trigger_field: series.trigger_field,
    trigger_value: series.trigger_value,
    trigger_days: String(series.trigger_days),
    trigger_before: String(series.trigger_before),
    trigger_hour: series.trigger_kind === 'date' ? String(series.trigger_hour) : DEFAULT_HOUR,
    trigger_yearly: String(series.trigger_yearly),
    trigger_form_id: String(series.trigger_form_id ?? ''),
  };
}

/** The form fields of a trigger: its kind, and what each kind needs. The style sheet shows only the fields of the chosen kind. */
export function TriggerFieldset({
  values,
  choices: { events, fields, forms },
  problems,
}: {
  values: TriggerFields;
  choices: TriggerChoices;
  problems: Problems;
}) {
  const language = useLanguage();
  const none = { value: '', label: language.say('word.choose') };
  return (
    <div class="trigger">
      <SelectField
        name="trigger_kind"
        label={language.say('automations.kind')}
        hint={language.say('automations.kind.hint')}
        value={values.trigger_kind ?? 'join'}
        options={TRIGGER_KINDS.map((value) => ({ value, label: language.say(`automations.kind.${value}`) }))}
        problems={problems}
      />
      <p class="of-join small quiet-text">{language.say('automations.who.hint')}</p>
      <div class="of-event">
        <EventFields
          names={['trigger_event', 'trigger_filter']}
          values={[values.trigger_event ?? '', values.trigger_filter ?? '']}
          events={events}
          hint={language.say('automations.event.hint')}
          problems={problems}
        />
      </div>
      <div class="of-date of-field">
        <SelectField
          name="trigger_field"
          label={language.say('automations.kind.field.label')}
          hint={language.say('automations.kind.field.hint')}
          value={values.trigger_field ?? ''}
          options={[none, ...fields.map(({ field_name: value }) => ({ value, label: fieldLabel(language, value) }))]}
          problems={problems}
        />
      </div>
      <div class="of-field">
        <TextField
          name="trigger_value"
          label={language.say('automations.kind.value')}
          hint={language.say('automations.kind.value.hint')}
          value={values.trigger_value ?? ''}
          maxLength={MAX_LINE_CHARACTERS}
          autocomplete="off"
          problems={problems}
        />
      </div>
      <div class="of-date">
        <TextField
          name="trigger_days"
          label={language.say('automations.kind.days')}
          hint={language.say('automations.kind.days.hint')}
          value={values.trigger_days ?? '0'}
          maxLength={3}
          autocomplete="off"
          problems={problems}
        />
        <SelectField
          name="trigger_before"
          label={language.say('automations.kind.before')}
          value={values.trigger_before ?? '0'}
          options={(['0', '1'] as const).map((value) => ({
            value,
            label: language.say(`automations.kind.before.${value}`),
          }))}
          problems={problems}
        />
        <SelectField
          name="trigger_hour"
          label={language.say('automations.kind.hour')}
          hint={language.say('automations.kind.hour.hint')}
          value={values.trigger_hour ?? DEFAULT_HOUR}
          options={Array.from({ length: 24 }, (_, hour) => ({ value: String(hour), label: `${hour}:00` }))}
          problems={problems}
        />
        <CheckField
          name="trigger_yearly"
          label={language.say('automations.kind.yearly')}
          checked={values.trigger_yearly === '1'}
        />
      </div>
      <div class="of-form">
        <SelectField
          name="trigger_form_id"
          label={language.say('automations.kind.form.label')}
          value={values.trigger_form_id ?? ''}
          options={[none, ...forms.map(({ id, name }) => ({ value: String(id), label: name }))]}
          problems={problems}
        />
      </div>
    </div>
  );
}

/** Returns the trigger in words, such as “The event purchase of a contact in the list Customers”. */
export function triggerText(
  language: Language,
  series: Series,
  { kind, name }: Target,
  forms: TriggerChoices['forms'],
): string {
  const { trigger_event: event, trigger_filter: filter, trigger_value: value } = series;
  const fieldName = series.trigger_field === '' ? null : fieldLabel(language, series.trigger_field);
  const form = forms.find(({ id }) => id === series.trigger_form_id)?.name;
  switch (series.trigger_kind) {
    case 'join':
      return language.say(`automations.who.${kind}`, { name });
    case 'event':
      return filter === ''
        ? language.say(`automations.who.event.${kind}`, { name, event })
        : language.say(`automations.who.filtered.${kind}`, { name, event, filter });
    case 'date':
      if (fieldName === null) break;
      return language.say(`automations.who.date.${kind}`, {
        name,
        field: fieldName,
        when: whenText(language, series),
        hour: `${series.trigger_hour}:00`,
      });
    case 'field':
      if (fieldName === null) break;
      return value === ''
        ? language.say(`automations.who.anyField.${kind}`, { name, field: fieldName })
        : language.say(`automations.who.field.${kind}`, { name, field: fieldName, value });
    case 'form':
      if (form === undefined) break;
      return language.say(`automations.who.form.${kind}`, { name, form });
    case 'hand':
      return language.say(`automations.who.hand.${kind}`, { name });
  }
  return language.say('automations.who.gone');
}

/** Returns in words how many contacts met the trigger in the last days; null if contacts enter only by hand or no target is chosen. */
export function triggerCountText(
  language: Language,
  { contacts: count, coming, days, is_complete }: CountedTrigger,
  { trigger_kind }: Pick<Series, 'trigger_kind'>,
): string | null {
  if (count === null) return trigger_kind === 'field' ? language.say('automations.who.unknown') : null;
  if (count + (coming ?? 0) === 0) {
    if (is_complete === 0) return language.say('automations.who.counting');
    if (coming !== null) return language.say('automations.who.noDates', { days });
  }
  const past = language.say(is_complete === 1 ? 'automations.who.count' : 'automations.who.countAtLeast', {
    count,
    days,
  });
  if (coming === null) return past;
  const ahead = is_complete === 1 ? 'automations.who.coming' : 'automations.who.comingAtLeast';
  return `${past} ${language.say(ahead, { count: coming, days })}`;
}

/** Returns in words on which day contacts enter: on the date of a field, or some days before or after it. */
function whenText(language: Language, { trigger_yearly, trigger_days: count, trigger_before }: Series): string {
  const often = trigger_yearly === 1 ? 'yearly' : 'once';
  if (count === 0) return language.say(`automations.when.${often}.on`);
  return language.say(`automations.when.${often}.${trigger_before === 1 ? 'before' : 'after'}`, { count });
}
