/** Shared parts of the list of forms, the builder, and the page for a new form: the state of a form, and its basic settings. */

import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { LANGUAGE_NAMES } from '../../languages.ts';
import { type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { Badge } from '../../ui/components/surface.tsx';
import { useLanguage } from '../../ui/words/index.ts';
import type { Form } from '../operations/forms.ts';
import type { Choices, Draft } from './draft.ts';

/** The state of a form in a word: on, off, or on but unable to accept subscriptions. */
export function FormState({ form: { off_code: code } }: { form: Pick<Form, 'off_code'> }) {
  const language = useLanguage();
  if (code === null) return <Badge tone="good">{language.say('forms.state.on')}</Badge>;
  if (code === 'off') return <Badge>{language.say('forms.state.off')}</Badge>;
  return <Badge tone="warn">{language.say('forms.state.broken')}</Badge>;
}

interface BasicsProps {
  typed: Pick<Draft, 'name' | 'contact_type_id' | 'sender_id' | 'language'>;
  choices: Choices;
  problems: Problems;
}

/** The fields for the name, the contact type of subscribers, the sender of the confirmation mail, and the language. */
export function Basics({ typed, choices, problems }: BasicsProps) {
  const language = useLanguage();
  return (
    <>
      <TextField
        name="name"
        label={language.say('forms.name')}
        hint={language.say('forms.name.hint')}
        value={typed.name}
        maxLength={MAX_LINE_CHARACTERS}
        autocomplete="off"
        required
        problems={problems}
      />
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
        options={Object.entries(LANGUAGE_NAMES).map(([value, label]) => ({ value, label }))}
        value={typed.language}
        problems={problems}
      />
    </>
  );
}
