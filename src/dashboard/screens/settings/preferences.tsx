/** What a person sets for themselves: name, language, colours, shortcuts. */
import { LANGUAGE_CODES, LANGUAGE_NAMES, type LanguageCode } from '../../../http/pages/languages.ts';
import { Button } from '../../components/button.tsx';
import { CheckField, type Problems, SelectField, TextField } from '../../components/field.tsx';
import { Card } from '../../components/surface.tsx';
import type { ColourScheme } from '../../viewer.ts';
import { useLanguage } from '../../words/index.ts';

/** The person as the API gives them. */
export interface Me {
  name: string;
  language: 'browser' | LanguageCode;
  colour_scheme: ColourScheme;
  shortcuts: 0 | 1;
}

export function Preferences({ me, problems }: { me: Me; problems: Problems | undefined }) {
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
