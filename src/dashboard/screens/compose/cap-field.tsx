/** Whether the limits of mails per person hold for a mailing or an automation. */

import { SelectField } from '../../components/field.tsx';
import { useLanguage } from '../../words/index.ts';

/** The choice; `kind` is what it is for. */
export function CapField({ name, kind, value }: { name: string; kind: 'mailing' | 'automation'; value: string }) {
  const language = useLanguage();
  const isMailing = kind === 'mailing';
  return (
    <SelectField
      name={name}
      label={language.say('caps.field')}
      value={value}
      options={[
        { value: '0', label: language.say(isMailing ? 'caps.holds' : 'caps.holds.automation') },
        { value: '1', label: language.say(isMailing ? 'caps.ignored' : 'caps.ignored.automation') },
      ]}
    />
  );
}
