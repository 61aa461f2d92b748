/** The card for the public URL: its form, and the result of its last check. */

import { MAX_LINE_CHARACTERS } from '../../../errors/field-errors.ts';
import { Button } from '../../../ui/components/button.tsx';
import { type Problems, TextField } from '../../../ui/components/field.tsx';
import { Badge, Card, Notice } from '../../../ui/components/surface.tsx';
import { recordTime } from '../../../ui/record-time.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import type { PublicUrl } from '../operations/public-url.ts';

const TONES = { ok: 'good', warn: 'warn', fail: 'bad' } as const;

export interface AddressForm {
  address: PublicUrl;
  /** The value of the field: the text typed, or else the stored or suggested URL. */
  value: string;
  problems: Problems;
}

/** The card. Without a public URL it explains why one is needed; otherwise it shows the result of the last check. */
export function AddressCard({ address, value, problems, now }: AddressForm & { now: Date }) {
  const language = useLanguage();
  const { url, source } = address;
  return (
    <div id="address">
      <Card title={language.say('address.title')}>
        {source === 'none' && <Notice tone="warn">{language.say('address.none')}</Notice>}
        {source === 'environment' ? (
          <>
            <p class="browser">
              <a href={url}>{url}</a>
            </p>
            <p class="quiet-text">{language.say('address.environment')}</p>
          </>
        ) : (
          <form method="post" action="/settings/sending/address" class="narrow">
            <TextField
              name="public_url"
              label={language.say('address.field')}
              hint={language.say('address.hint')}
              value={value}
              problems={problems}
              inputMode="url"
              autocomplete="url"
              autocapitalize="none"
              spellcheck={false}
              maxLength={MAX_LINE_CHARACTERS}
              required
            />
            <Button label={language.say('address.save')} />
          </form>
        )}
        {source !== 'none' && <LastCheck seen={address.seen} now={now} />}
      </Card>
    </div>
  );
}

function LastCheck({ seen, now }: { seen: PublicUrl['seen']; now: Date }) {
  const language = useLanguage();
  const at = recordTime(seen?.at ?? null);
  return (
    <>
      {seen && at ? (
        <>
          <p class="found">
            <Badge tone={TONES[seen.state]}>{language.say(`health.${seen.state}`)}</Badge>{' '}
            {language.sentence(seen.found)}
          </p>
          {seen.advice.length > 0 && (
            <ul class="advice">
              {seen.advice.map((line) => (
                <li key={line}>{language.sentence(line)}</li>
              ))}
            </ul>
          )}
          <p class="quiet-text">{language.say('health.address.seen', { time: language.relative(at, now) })}</p>
        </>
      ) : (
        <p class="quiet-text">{language.say('health.address.unseen')}</p>
      )}
      <form method="post" action="/settings/sending/address/look">
        <Button look="plain" label={language.say('health.address.look')} />
      </form>
    </>
  );
}
