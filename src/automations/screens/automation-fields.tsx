/** The settings of an automation in the forms that create and edit it: their fields, and their values in a submitted form. */
import type { FastifyRequest } from 'fastify';
import type { Choices } from '../../campaigns/screens/compose/step.tsx';
import { targetOptions } from '../../campaigns/screens/compose/targets.ts';
import { RE_ENTRY } from '../../database/schema/index.ts';
import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { CapField } from '../../senders/sending-times/screens/times.tsx';
import { CheckField, type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { RECIPE_BY_NAME, type RecipeName } from '../recipes.ts';
import { submittedTrigger, type TriggerChoices, type TriggerFields, TriggerFieldset } from './trigger.tsx';

/** The number of days before a contact enters again that the form proposes. */
export const DEFAULT_RE_ENTRY_DAYS = 90;

/** The fields of the form of an automation, as texts. */
export interface AutomationFields extends TriggerFields {
  automation_name: string;
  automation_for: string;
  unsubscribe_group_id: string;
  exit_criteria: string;
  goal_segment_id?: string;
  exit_segment_id?: string;
  re_entry?: string;
  re_entry_days?: string;
  hold_out?: string;
  /** Absent if the account has no frequency caps. */
  ignores_caps?: string;
}

/** Returns the values of a submitted form. Fields that the form did not have are absent. */
export function submittedFields(request: FastifyRequest): AutomationFields {
  const ignores_caps = field(request, 'ignores_caps');
  const [goal, exit] = [field(request, 'goal_segment_id'), field(request, 'exit_segment_id')];
  const holdOut = field(request, 'hold_out').trim();
  const [reEntry, days] = [field(request, 're_entry'), field(request, 're_entry_days').trim()];
  return {
    automation_name: field(request, 'automation_name').trim(),
    automation_for: field(request, 'automation_for'),
    unsubscribe_group_id: field(request, 'unsubscribe_group_id') || '0',
    exit_criteria: field(request, 'exit_criteria') === '1' ? '1' : '0',
    ...submittedTrigger(request),
    ...(goal !== '' && { goal_segment_id: goal }),
    ...(exit !== '' && { exit_segment_id: exit }),
    ...(reEntry !== '' && { re_entry: reEntry }),
    ...(days !== '' && { re_entry_days: days }),
    ...(holdOut !== '' && { hold_out: holdOut }),
    ...(ignores_caps !== '' && { ignores_caps }),
  };
}

/** Returns true if a recipe is for a segment, because its contacts exit when they leave the segment. */
export function isForSegment(recipe: RecipeName | undefined): boolean {
  return recipe !== undefined && RECIPE_BY_NAME[recipe].exit_criteria === 1;
}

/** The fields of the form of an automation. */
export function AutomationFieldset({
  values,
  choices: { targets, groups },
  triggers,
  problems,
  recipe,
}: {
  values: AutomationFields;
  choices: Choices;
  /** Absent in the form for a new automation. */
  triggers?: TriggerChoices;
  problems: Problems;
  /** The recipe of a new automation, which fixes how contacts enter and exit; undefined without a recipe. */
  recipe?: RecipeName | undefined;
}) {
  const language = useLanguage();
  const trigger = recipe === undefined ? values.trigger_kind : RECIPE_BY_NAME[recipe].trigger.trigger_kind;
  // In the form for a new automation without a recipe, contacts can only enter by joining the target.
  const mayHaveOtherTriggers = triggers !== undefined || (trigger !== undefined && trigger !== 'join');
  const none = { value: '', label: language.say('word.choose') };
  const offered = isForSegment(recipe) ? targets.filter(({ kind }) => kind === 'segment') : targets;
  return (
    <>
      <TextField
        name="automation_name"
        label={language.say('compose.name')}
        hint={language.say('compose.name.hint')}
        value={values.automation_name}
        maxLength={MAX_LINE_CHARACTERS}
        autocomplete="off"
        required
        problems={problems}
      />
      <SelectField
        name="automation_for"
        label={language.say(mayHaveOtherTriggers ? 'automations.target' : 'automations.who')}
        hint={language.say(mayHaveOtherTriggers ? 'automations.target.hint' : 'automations.who.hint')}
        value={values.automation_for}
        options={[
          none,
          ...offered.map(({ value, kind, name, people }) => ({
            value,
            label: language.say(`automations.target.${kind}`, { name, count: people }),
          })),
        ]}
        problems={problems}
      />
      {triggers !== undefined && (
        <>
          <TriggerFieldset values={values} choices={triggers} problems={problems} />
          <RunFields {...{ values, targets, problems }} />
        </>
      )}
      <SelectField
        name="unsubscribe_group_id"
        label={language.say('compose.group')}
        hint={language.say('automations.group.hint')}
        value={values.unsubscribe_group_id}
        options={[
          { value: '0', label: language.say('word.choose') },
          ...groups.map(({ id, group_name: label }) => ({ value: String(id), label })),
        ]}
        problems={problems}
      />
      {groups.length === 0 && (
        <p>
          {language.say('compose.group.none')}{' '}
          <a href="/unsubscribes/topics">{language.say('automations.group.add')}</a>
        </p>
      )}
      {values.ignores_caps !== undefined && (
        <CapField name="ignores_caps" kind="automation" value={values.ignores_caps} />
      )}
      {recipe === undefined && (
        <CheckField
          name="exit_criteria"
          label={language.say('automations.exit')}
          checked={values.exit_criteria === '1'}
        />
      )}
    </>
  );
}

/** The fields that say which segments end the run of a contact, when a contact may enter again, and how large the control group is. */
function RunFields({
  values,
  targets,
  problems,
}: {
  values: AutomationFields;
  targets: Choices['targets'];
  problems: Problems;
}) {
  const language = useLanguage();
  return (
    <>
      {(['goal', 'exit'] as const).map((end) => (
        <SelectField
          key={end}
          name={`${end}_segment_id`}
          label={language.say(`automations.${end}Segment`)}
          hint={language.say(`automations.${end}Segment.hint`)}
          value={values[`${end}_segment_id`] ?? '0'}
          options={[{ value: '0', label: language.say('automations.noSegment') }, ...targetOptions(targets, 'segment')]}
          problems={problems}
        />
      ))}
      <div class="re-entry">
        <SelectField
          name="re_entry"
          label={language.say('automations.reEntry')}
          hint={language.say('automations.reEntry.hint')}
          value={values.re_entry ?? 'never'}
          options={RE_ENTRY.map((value) => ({ value, label: language.say(`automations.reEntry.${value}`) }))}
          problems={problems}
        />
        <div class="of-days">
          <TextField
            name="re_entry_days"
            label={language.say('automations.reEntry.afterDays')}
            value={values.re_entry_days ?? String(DEFAULT_RE_ENTRY_DAYS)}
            maxLength={4}
            autocomplete="off"
            problems={problems}
          />
        </div>
      </div>
      <TextField
        name="hold_out"
        label={language.say('automations.holdOut')}
        hint={language.say('automations.holdOut.hint')}
        value={values.hold_out ?? '0'}
        maxLength={2}
        autocomplete="off"
        problems={problems}
      />
    </>
  );
}
