/** The choice of the contact type that people are imported into, or the name of a new one. */
import { type Problems, SelectField, TextField } from '../../../components/field.tsx';
import { useLanguage } from '../../../words/index.ts';
import type { Choices } from '../records.ts';
import { NEW_TYPE } from './new-type.ts';

/** Where the account has no contact type, `proposed` is the name of the first. */
export function TypeChoice({
  choices,
  type = '',
  newType,
  proposed,
  problems,
}: {
  choices: Choices;
  type?: string;
  newType?: string | undefined;
  proposed: string;
  problems?: Problems | undefined;
}) {
  const language = useLanguage();
  return (
    <>
      {choices.types.length > 0 && (
        <SelectField
          name="contact_type_id"
          label={language.say('import.type')}
          hint={language.say('import.type.hint')}
          value={type}
          problems={problems}
          options={[
            ...choices.types.map(({ id, name }) => ({ value: String(id), label: name })),
            { value: NEW_TYPE, label: language.say('import.type.new') },
          ]}
        />
      )}
      <TextField
        name="name"
        label={language.say('import.type.name')}
        hint={language.say('import.type.name.hint')}
        value={newType ?? (choices.types.length === 0 ? proposed : '')}
        maxLength={255}
        problems={problems}
      />
    </>
  );
}
