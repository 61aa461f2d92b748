/** What a person sets for themselves: name, language, colours, shortcuts. */
import type { Static } from 'typebox';
import { Button } from '../../dashboard/components/button.tsx';
import { CheckField, type Problems, SelectField, TextField } from '../../dashboard/components/field.tsx';
import { Card } from '../../dashboard/components/surface.tsx';
import { useLanguage } from '../../dashboard/words/index.ts';
import { LANGUAGE_CODES, LANGUAGE_NAMES } from '../../languages.ts';
import type { readMe } from '../operations/me.ts';

export function Preferences({ me, problems }: { me: Static<typeof readMe.record>; problems: Problems | undefined }) {
  const language = useLanguage();
  return (
    <Card title={language.say('own.title')}>
      <form method="post" action="/settings/account" class="narrow">
        <TextField
          name="name"
          label={language.say('users.name')}
          value={me.name}
          autocomplete="name"
          problems={problems}
        />
        <SelectField
          name="language"
          label={language.say('own.language')}
          options={[
            { value: 'browser', label: language.say('own.language.browser') },
            ...LANGUAGE_CODES.map((code) => ({ value: code, label: LANGUAGE_NAMES[code] })),
          ]}
          value={me.language}
          problems={problems}
        />
        <SelectField
          name="colour_scheme"
          label={language.say('own.colours')}
          options={(['system', 'light', 'dark'] as const).map((value) => ({
            value,
            label: language.say(`own.colours.${value}`),
          }))}
          value={me.colour_scheme}
          problems={problems}
        />
        <CheckField name="shortcuts" label={language.say('own.shortcuts')} checked={me.shortcuts === 1} />
        <Button>{language.say('users.save')}</Button>
      </form>
    </Card>
  );
}
