/** The filter of the list of contacts: its query parameters, its form, and its choices. */
import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { MAX_LINE_CHARACTERS } from '../../../errors/field-errors.ts';
import { Button } from '../../../ui/components/button.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/components/field.tsx';
import { ask } from '../../../ui/operations.ts';
import { texts } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { fieldLabel, fieldText, findCountry } from '../../../ui/words/known.ts';
import { type ListedContactType, listContactTypes } from '../../contact-types/operations.ts';
import { type Field, listOwnFields } from '../../fields/operations.ts';
import { CONTACT_STATES } from '../../search/contact-filter.ts';
import { CONTACT_ORDERS } from '../../search/find-contacts.ts';
import { listSegments, type Segment } from '../../segments/operations.ts';
import { listGroups } from '../../unsubscribed/groups.ts';
import { RESERVED_FIELDS } from '../contact-fields.ts';

/** The parameters that select contacts, with the same names as those of the search. */
const FILTER_NAMES = ['search', 'contact_type_id', 'segment_id', 'mail_state', 'field', 'value'] as const;

/** The parameters that determine how contacts are shown. */
const VIEW_NAMES = ['order', 'after'] as const;
/** The maximum number of additional columns. */
const MAX_COLUMNS = 6;

export interface PeopleFilter {
  /** The chosen filters, without empty ones. */
  chosen: Partial<Record<(typeof FILTER_NAMES)[number], string>>;
  view: Partial<Record<(typeof VIEW_NAMES)[number], string>>;
  /** The names of additional fields to show. */
  fields: string[];
}

/** Parses the filter of a query or a form. Other parameters are ignored, and long ones are cut off. */
export function readFilter(input: unknown): PeopleFilter {
  const values: Record<string, unknown> = Object.assign(Object.create(null), input);
  const pick = <Name extends string>(names: readonly Name[]): Partial<Record<Name, string>> => {
    const picked: Partial<Record<Name, string>> = {};
    for (const name of names) {
      const value = texts(values[name])[0]?.trim() ?? '';
      if (value !== '') picked[name] = value.slice(0, MAX_LINE_CHARACTERS);
    }
    return picked;
  };
  const chosen = pick(FILTER_NAMES);
  // A field without a value, or a value without a field, is a form that is not filled in completely yet.
  if (chosen.field === undefined || chosen.value === undefined) {
    delete chosen.field;
    delete chosen.value;
  } else if (chosen.field === 'country') {
    // The search finds a country by its English name, whatever the language of the user.
    chosen.value = findCountry(chosen.value)?.name ?? chosen.value;
  }
  return { chosen, view: pick(VIEW_NAMES), fields: texts(values.fields).slice(0, MAX_COLUMNS) };
}

/** Returns the URL of the list with this filter. */
export function listAddress({ chosen, view, fields }: PeopleFilter, changes: Record<string, string> = {}): string {
  const query = new URLSearchParams({ ...chosen, ...view, ...changes });
  for (const field of fields) query.append('fields', field);
  return query.size === 0 ? '/contacts' : `/contacts?${query}`;
}

/** The choices of filters and actions. */
export interface Choices {
  types: readonly ListedContactType[];
  segments: readonly Segment[];
  groups: readonly Static<typeof listGroups.record>[];
  /** Every field of a contact by its name: the reserved ones, then the account's custom ones. */
  fields: readonly Pick<Field, 'field_name' | 'field_type'>[];
}

/** Reads the choices of filters and actions. */
export async function readChoices(request: FastifyRequest): Promise<Choices> {
  const [types, segments, groups, fields] = await Promise.all([
    ask(request, listContactTypes, {}),
    ask(request, listSegments, {}),
    ask(request, listGroups, {}),
    readFields(request),
  ]);
  return { types, segments, groups, fields };
}

/** Reads the reserved fields and the account's custom fields. A custom field replaces a reserved one of the same name. */
export async function readFields(request: FastifyRequest): Promise<Choices['fields']> {
  const reserved = RESERVED_FIELDS.map((field_name) => ({ field_name, field_type: 'text' as const }));
  const own = await ask(request, listOwnFields, {});
  return [...reserved.filter(({ field_name }) => !own.some((field) => field.field_name === field_name)), ...own];
}

/** Fields that every row shows anyway. */
const ALWAYS_SHOWN: readonly string[] = ['first_name', 'last_name', 'email'];

/** The search field above the list of contacts, with the filters below it. */
export function FilterBar({ filter, choices }: { filter: PeopleFilter; choices: Choices }) {
  const language = useLanguage();
  const { chosen, view, fields } = filter;
  const any = { value: '', label: language.say('contacts.any') };
  const isOpen = Object.keys(chosen).some((name) => name !== 'search') || fields.length > 0;
  return (
    <search>
      <form method="get" action="/contacts" id="people-filter" class="people-filter">
        <div class="search">
          <TextField
            type="search"
            name="search"
            label={language.say('contacts.search')}
            value={chosen.search ?? ''}
            placeholder={language.say('contacts.search.hint')}
            autocomplete="off"
          />
          <Button look="plain" icon="search" label={language.say('contacts.find')} />
        </div>
        <details open={isOpen}>
          <summary>{language.say('contacts.filters')}</summary>
          <div class="fields-in-row">
            <SelectField
              name="contact_type_id"
              label={language.say('contacts.type')}
              value={chosen.contact_type_id ?? ''}
              options={[any, ...choices.types.map(({ id, name }) => ({ value: String(id), label: name }))]}
            />
            <SelectField
              name="segment_id"
              label={language.say('contacts.segment')}
              value={chosen.segment_id ?? ''}
              options={[
                any,
                ...choices.segments.map((segment) => ({ value: String(segment.id), label: segment.segment_name })),
              ]}
            />
            <SelectField
              name="mail_state"
              label={language.say('contacts.mail')}
              value={chosen.mail_state ?? ''}
              options={[
                any,
                ...CONTACT_STATES.map((state) => ({ value: state, label: language.say(`contacts.state.${state}`) })),
              ]}
            />
            <SelectField
              name="field"
              label={language.say('contacts.field')}
              value={chosen.field ?? ''}
              options={[
                any,
                ...choices.fields.map(({ field_name: name }) => ({ value: name, label: fieldLabel(language, name) })),
              ]}
            />
            <TextField
              name="value"
              label={language.say('contacts.value')}
              value={fieldText(language, chosen.field ?? '', chosen.value ?? '')}
            />
            <SelectField
              name="order"
              label={language.say('contacts.order')}
              value={view.order === CONTACT_ORDERS[0] ? '' : (view.order ?? '')}
              options={CONTACT_ORDERS.map((order, at) => ({
                // The first one is the default order, which needs no query parameter.
                value: at === 0 ? '' : order,
                label: language.say(`contacts.order.${order}`),
              }))}
            />
          </div>
          <fieldset>
            <legend>{language.say('contacts.columns')}</legend>
            <div class="choices-in-row">
              {choices.fields
                .filter(({ field_name }) => !ALWAYS_SHOWN.includes(field_name))
                .map(({ field_name: name }) => (
                  <CheckField
                    key={name}
                    name="fields"
                    value={name}
                    label={fieldLabel(language, name)}
                    checked={fields.includes(name)}
                  />
                ))}
            </div>
          </fieldset>
          <p class="buttons">
            <Button look="plain" label={language.say('contacts.apply')} />
            <a class="button quiet" href="/contacts">
              {language.say('contacts.clear')}
            </a>
          </p>
        </details>
      </form>
    </search>
  );
}
