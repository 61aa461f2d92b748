/** What an import does with people who are there already, with empty cells, with a segment, with automations and with subscriptions. */
import { Button } from '../../../components/button.tsx';
import { SelectField } from '../../../components/field.tsx';
import { Card } from '../../../components/surface.tsx';
import { useLanguage } from '../../../words/index.ts';
import { texts } from '../filter.ts';
import type { Choices, ImportPlan } from '../records.ts';

/** From which mail everybody is marked as unsubscribed, where it is no group. */
const ALL_MAIL = 'all';

/** The options of a form as the API takes them. */
export function optionFields(body: Readonly<Record<string, unknown>>): Record<string, string> {
  const [existing = 'update'] = texts(body.existing);
  const [empty_cells = 'keep'] = texts(body.empty_cells);
  const [to_segment_id = ''] = texts(body.to_segment_id);
  const [start_automations = '1'] = texts(body.start_automations);
  const [from = ''] = texts(body.unsubscribe);
  return {
    existing,
    empty_cells,
    to_segment_id,
    start_automations,
    unsubscribe: from === '' ? '0' : '1',
    unsubscribe_groups_id: from === ALL_MAIL ? '' : from,
  };
}

/** The options of a plan as the fields of a form. */
function chosenIn(plan: ImportPlan) {
  return {
    existing: plan.existing,
    empty_cells: plan.empty_cells,
    to_segment_id: String(plan.to_segment_id ?? ''),
    start_automations: String(plan.start_automations),
    unsubscribe: plan.unsubscribe === 0 ? '' : String(plan.unsubscribe_groups_id ?? ALL_MAIL),
  };
}

/** The form that shows what other options would do. */
export function ImportOptions({ action, plan, choices }: { action: string; plan: ImportPlan; choices: Choices }) {
  const language = useLanguage();
  const chosen = chosenIn(plan);
  const segments = choices.segments.filter(({ contact_type_id }) => contact_type_id === plan.contact_type_id);
  return (
    <Card title={language.say('import.options')}>
      <form method="post" action={action}>
        <SelectField
          name="existing"
          label={language.say('import.options.existing')}
          value={chosen.existing}
          options={[
            { value: 'update', label: language.say('import.options.existing.update') },
            { value: 'keep', label: language.say('import.options.existing.keep') },
          ]}
        />
        <SelectField
          name="empty_cells"
          label={language.say('import.options.cells')}
          value={chosen.empty_cells}
          options={[
            { value: 'keep', label: language.say('import.options.cells.keep') },
            { value: 'clear', label: language.say('import.options.cells.clear') },
          ]}
        />
        <SelectField
          name="to_segment_id"
          label={language.say('import.options.segment')}
          value={chosen.to_segment_id}
          options={[
            { value: '', label: language.say('import.options.none') },
            ...segments.map(({ id, segment_name }) => ({ value: String(id), label: segment_name })),
          ]}
        />
        <SelectField
          name="start_automations"
          label={language.say('import.options.automations')}
          value={chosen.start_automations}
          options={[
            { value: '1', label: language.say('import.options.automations.start') },
            { value: '0', label: language.say('import.options.automations.none') },
          ]}
        />
        <SelectField
          name="unsubscribe"
          label={language.say('import.options.unsubscribe')}
          value={chosen.unsubscribe}
          options={[
            { value: '', label: language.say('import.options.none') },
            { value: ALL_MAIL, label: language.say('import.options.unsubscribe.all') },
            ...choices.groups.map(({ id, group_name: name }) => ({
              value: String(id),
              label: language.say('import.options.unsubscribe.group', { name }),
            })),
          ]}
        />
        <div class="buttons">
          <Button look="plain">{language.say('import.options.show')}</Button>
        </div>
      </form>
    </Card>
  );
}

/** The same options within the form that starts the import. */
export function HiddenOptions({ plan }: { plan: ImportPlan }) {
  return (
    <>
      {Object.entries(chosenIn(plan)).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}
