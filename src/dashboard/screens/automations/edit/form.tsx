/** The fields of an automation: its name, who enters it, its unsubscribe group and when people leave. */

import { CapField } from '../../../../sending-times/screens/cap-field.tsx';
import type { Choices } from '../../../../single-sends/screens/compose/choices.ts';
import { CheckField, type Problems, SelectField, TextField } from '../../../components/field.tsx';
import { useLanguage } from '../../../words/index.ts';

export interface AutomationFields {
  automation_name: string;
  automation_for: string;
  unsubscribe_group_id: string;
  exit_criteria: string;
  /** Missing where the account limits nothing. */
  ignores_caps?: string;
}

export function AutomationFieldset({
  given,
  choices: { targets, groups },
  problems,
}: {
  given: AutomationFields;
  choices: Choices;
  problems: Problems;
}) {
  const language = useLanguage();
  const none = { value: '', label: language.say('compose.choose') };
  return (
    <>
      <TextField
        name="automation_name"
        label={language.say('compose.name')}
        hint={language.say('compose.name.hint')}
        value={given.automation_name}
        maxLength={255}
        autocomplete="off"
        required
        problems={problems}
      />
      <SelectField
        name="automation_for"
        label={language.say('automations.who')}
        hint={language.say('automations.who.hint')}
        value={given.automation_for}
        options={[
          none,
          ...targets.map(({ value, kind, name, people }) => ({
            value,
            label: language.say(`automations.target.${kind}`, { name, count: people }),
          })),
        ]}
        problems={problems}
      />
      <SelectField
        name="unsubscribe_group_id"
        label={language.say('compose.group')}
        hint={language.say('automations.group.hint')}
        value={given.unsubscribe_group_id}
        options={[
          { value: '0', label: language.say('compose.choose') },
          ...groups.map(({ id, group_name: label }) => ({ value: String(id), label })),
        ]}
        problems={problems}
      />
      {groups.length === 0 && (
        <p>
          {language.say('compose.group.none')} <a href="/settings/groups">{language.say('automations.group.add')}</a>
        </p>
      )}
      {given.ignores_caps !== undefined && (
        <CapField name="ignores_caps" kind="automation" value={given.ignores_caps} />
      )}
      <CheckField name="exit_criteria" label={language.say('automations.exit')} checked={given.exit_criteria === '1'} />
    </>
  );
}
