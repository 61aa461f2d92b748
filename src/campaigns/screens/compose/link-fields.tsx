/** The form fields of link parameters (UTM), which the settings of an account and of a campaign have in common. */

import { MAX_LINE_CHARACTERS } from '../../../errors/field-errors.ts';
import { CheckField, type Problems, TextField } from '../../../ui/components/field.tsx';
import { type PlainKey, useLanguage } from '../../../ui/words/index.ts';

interface Props {
  values: { utm_source: string; utm_medium: string; utm_campaign: string; utm_content: 0 | 1 };
  /** The hint that says what an empty utm_source means. */
  sourceHint?: string;
  problems?: Problems;
}

export function LinkFields({ values, sourceHint, problems }: Props) {
  const language = useLanguage();
  const text = (name: 'utm_source' | 'utm_medium' | 'utm_campaign', hint?: string) => (
    <TextField
      name={name}
      label={language.say(`links.${name}` satisfies PlainKey)}
      value={values[name]}
      maxLength={MAX_LINE_CHARACTERS}
      autocomplete="off"
      {...(hint && { hint })}
      {...(problems && { problems })}
    />
  );
  return (
    <>
      {text('utm_source', sourceHint)}
      {text('utm_medium')}
      {text('utm_campaign', language.say('links.utm_campaign.hint'))}
      <CheckField
        name="utm_content"
        value="1"
        label={language.say('links.utm_content')}
        checked={values.utm_content === 1}
      />
    </>
  );
}
