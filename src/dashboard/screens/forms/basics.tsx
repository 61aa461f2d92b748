/** Where people go, who writes to them and in which language: asked for a new form, and in the builder. */
import { type Problems, SelectField } from '../../components/field.tsx';
import { useLanguage } from '../../words/index.ts';
import type { Choices, Draft } from './records.ts';

interface BasicsProps {
  typed: Pick<Draft, 'contact_type_id' | 'sender_id' | 'language'>;
  choices: Choices;
  problems: Problems;
}

export function Basics({ typed, choices, problems }: BasicsProps) {
  const language = useLanguage();
  return (
    <>
      <SelectField
        name="contact_type_id"
        label={language.say('forms.type')}
        options={choices.types.map(({ id, name }) => ({ value: String(id), label: name }))}
        value={typed.contact_type_id}
        problems={problems}
      />
      <SelectField
        name="sender_id"
        label={language.say('forms.sender')}
        options={choices.senders.map((sender) => ({
          value: String(sender.id),
          label: `${sender.from_name} <${sender.from_email}>`,
        }))}
        value={typed.sender_id}
        problems={problems}
      />
      <SelectField
        name="language"
        label={language.say('forms.language')}
        hint={language.say('forms.language.hint')}
        options={[
          { value: 'en', label: 'English' },
          { value: 'de', label: 'Deutsch' },
        ]}
        value={typed.language}
        problems={problems}
      />
    </>
  );
}
