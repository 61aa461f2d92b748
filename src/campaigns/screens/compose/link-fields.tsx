/** The fields of link parameters (UTM), of an account or of one campaign. */
import { CheckField, type Problems, TextField } from '../../../ui/components/field.tsx';
import { type PlainKey, useLanguage } from '../../../ui/words/index.ts';

interface Props {
  values: { utm_source: string; utm_medium: string; utm_campaign: string; utm_content: 0 | 1 };
  /** What an empty source means. */
  sourceHint?: string;
  problems?: Problems;
}

/** The fields of the parameters that are added to links. */
export function LinkFields({ values, sourceHint, problems }: Props) {
  const language = useLanguage();
  const text = (name: 'utm_source' | 'utm_medium' | 'utm_campaign', hint?: string) => (
    <TextField
      name={name}
      label={language.say(`links.${name}` satisfies PlainKey)}
      value={values[name]}
      maxLength={255}
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
