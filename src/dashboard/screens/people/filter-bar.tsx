/** The search field, the filters and the choice of columns above the list of people. */
import { Button } from '../../components/button.tsx';
import { CheckField, SelectField, TextField } from '../../components/field.tsx';
import { useLanguage } from '../../words/index.ts';
import { fieldLabel } from './field-label.ts';
import type { PeopleFilter } from './filter.ts';
import type { Choices } from './records.ts';

/** The first is the order of the list where none is chosen, so its value is empty, and the address of the page short. */
const ORDERS = ['newest', 'oldest', 'email'] as const;
const STATES = ['mailable', 'unsubscribed', 'suppressed'] as const;
/** Every row shows these already. */
const ALWAYS_SHOWN: readonly string[] = ['first_name', 'last_name', 'email'];

export function FilterBar({ filter, choices }: { filter: PeopleFilter; choices: Choices }) {
  const language = useLanguage();
  const { chosen, view, fields } = filter;
  const any = { value: '', label: language.say('people.any') };
  const isOpen = Object.keys(chosen).some((name) => name !== 'search') || fields.length > 0 || view.order !== undefined;
  return (
    <search>
      <form method="get" action="/people" id="people-filter" class="people-filter">
        <div class="search">
          <TextField
            type="search"
            name="search"
            label={language.say('people.search')}
            value={chosen.search ?? ''}
            placeholder={language.say('people.search.hint')}
            autocomplete="off"
          />
          <Button look="plain" icon="search">
            {language.say('people.find')}
          </Button>
        </div>
        <details open={isOpen}>
          <summary>{language.say('people.filters')}</summary>
          <div class="fields-in-row">
            <SelectField
              name="contact_type_id"
              label={language.say('people.type')}
              value={chosen.contact_type_id ?? ''}
              options={[any, ...choices.types.map(({ id, name }) => ({ value: String(id), label: name }))]}
            />
            <SelectField
              name="segment_id"
              label={language.say('people.segment')}
              value={chosen.segment_id ?? ''}
              options={[any, ...choices.segments.map((one) => ({ value: String(one.id), label: one.segment_name }))]}
            />
            <SelectField
              name="mail_state"
              label={language.say('people.mail')}
              value={chosen.mail_state ?? ''}
              options={[
                any,
                ...STATES.map((state) => ({ value: state, label: language.say(`people.state.${state}`) })),
              ]}
            />
            <SelectField
              name="field"
              label={language.say('people.field')}
              value={chosen.field ?? ''}
              options={[
                any,
                ...choices.fields.map(({ field_name: name }) => ({ value: name, label: fieldLabel(language, name) })),
              ]}
            />
            <TextField name="value" label={language.say('people.value')} value={chosen.value ?? ''} />
            <SelectField
              name="order"
              label={language.say('people.order')}
              value={view.order === ORDERS[0] ? '' : (view.order ?? '')}
              options={ORDERS.map((order, at) => ({
                value: at === 0 ? '' : order,
                label: language.say(`people.order.${order}`),
              }))}
            />
          </div>
          <fieldset>
            <legend>{language.say('people.columns')}</legend>
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
            <Button look="plain">{language.say('people.apply')}</Button>
            <a class="button quiet" href="/people">
              {language.say('people.clear')}
            </a>
          </p>
        </details>
      </form>
    </search>
  );
}
