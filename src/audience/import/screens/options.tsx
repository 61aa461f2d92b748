/** The options of an import, as a form and as parameters. */
import { Button } from '../../../ui/components/button.tsx';
import { SelectField } from '../../../ui/components/field.tsx';
import { Card } from '../../../ui/components/surface.tsx';
import { texts } from '../../../ui/submitted.ts';
import { type PlainKey, useLanguage } from '../../../ui/words/index.ts';
import type { Choices } from '../../contacts/screens/filter.tsx';
import type { Plan } from '../operations/uploads.ts';

/** The parameter for the domains that are corrected. */
export const CORRECTED = 'correct_domains';

/** The option to unsubscribe all contacts from all mail rather than from one topic. */
const ALL_MAIL = 'all';

/**
 * Returns the values of the form for the options of a plan, by parameter. The form has one field for the two parameters `unsubscribe` and
 * `unsubscribe_groups_id`.
 */
function optionValues(plan: Plan) {
  return {
    existing: plan.existing,
    empty_cells: plan.empty_cells,
    to_segment_id: String(plan.to_segment_id ?? ''),
    start_automations: String(plan.start_automations),
    unsubscribe: plan.unsubscribe === 0 ? '' : String(plan.unsubscribe_groups_id ?? ALL_MAIL),
  };
}
type OptionName = keyof ReturnType<typeof optionValues>;

const OPTION_LABELS = {
  existing: 'import.options.existing',
  empty_cells: 'import.options.cells',
  to_segment_id: 'import.options.segment',
  start_automations: 'import.options.automations',
  unsubscribe: 'import.options.unsubscribe',
} as const satisfies Record<OptionName, PlainKey>;

/** Returns the parameters for a submitted form: the inverse of `optionValues`. */
export function optionParameters(input: unknown): Record<string, string | string[]> {
  const values: Record<string, unknown> = Object(input);
  const chosen = Object.keys(OPTION_LABELS).map((name) => [name, texts(values[name])[0]]);
  const { unsubscribe: scope = '', ...options } = Object.fromEntries(chosen.filter(([, value]) => value !== undefined));
  return {
    ...options,
    unsubscribe: scope === '' ? '0' : '1',
    unsubscribe_groups_id: scope === ALL_MAIL ? '' : scope,
    [CORRECTED]: texts(values[CORRECTED]),
  };
}

/** The form that shows the preview with other options. */
export function ImportOptions({ action, plan, choices }: { action: string; plan: Plan; choices: Choices }) {
  const language = useLanguage();
  const option = (value: string, label: PlainKey) => ({ value, label: language.say(label) });
  const none = option('', 'import.options.none');
  const segments = choices.segments.filter(({ contact_type_id }) => contact_type_id === plan.contact_type_id);
  const options: Record<OptionName, { value: string; label: string }[]> = {
    existing: [option('update', 'import.options.existing.update'), option('keep', 'import.options.existing.keep')],
    empty_cells: [option('keep', 'import.options.cells.keep'), option('clear', 'import.options.cells.clear')],
    to_segment_id: [none, ...segments.map(({ id, segment_name }) => ({ value: String(id), label: segment_name }))],
    start_automations: [
      option('1', 'import.options.automations.start'),
      option('0', 'import.options.automations.none'),
    ],
    unsubscribe: [
      none,
      option(ALL_MAIL, 'import.options.unsubscribe.all'),
      ...choices.groups.map(({ id, group_name: name }) => ({
        value: String(id),
        label: language.say('import.options.unsubscribe.group', { name }),
      })),
    ],
  };
  return (
    <Card title={language.say('import.options')}>
      <form method="post" action={action}>
        {correctedDomains(plan).map(hiddenInput)}
        {optionEntries(plan).map(([name, value]) => (
          <SelectField
            key={name}
            name={name}
            label={language.say(OPTION_LABELS[name])}
            value={value}
            options={options[name]}
          />
        ))}
        <div class="buttons">
          <Button look="plain" label={language.say('import.options.show')} />
        </div>
      </form>
    </Card>
  );
}

/** The options of a plan as hidden inputs of the form that starts the import. */
export function HiddenOptions({ plan }: { plan: Plan }) {
  return <>{[...optionEntries(plan), ...correctedDomains(plan)].map(hiddenInput)}</>;
}

/** A hidden input for a parameter and its value. */
export const hiddenInput = ([name, value]: readonly [string, string]) => (
  <input key={`${name} ${value}`} type="hidden" name={name} value={value} />
);

const correctedDomains = ({ correct_domains }: Plan) => correct_domains.map((domain) => [CORRECTED, domain] as const);

/** Returns `optionValues` as pairs of parameter and value, in the order of the form. */
export function optionEntries(plan: Plan) {
  return Object.entries(optionValues(plan)) as [OptionName, string][];
}
