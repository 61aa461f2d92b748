/** Whether the limits of mails per person hold for a campaign. */
import type { FastifyRequest } from 'fastify';
import { SelectField } from '../../dashboard/components/field.tsx';
import { ask } from '../../dashboard/operations.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { readCaps } from '../operations.ts';

/** Whether the account limits how many mails a person gets. */
export async function readHasCaps(request: FastifyRequest): Promise<boolean> {
  return (await ask(request, readCaps, {})).caps.length > 0;
}

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
