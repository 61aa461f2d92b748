/** The form of a relay, and the question before it is deleted. */
import { Button, LinkButton } from '../../dashboard/components/button.tsx';
import { Confirm } from '../../dashboard/components/confirm.tsx';
import { type Problems, SelectField, TextField } from '../../dashboard/components/field.tsx';
import { Card, Notice } from '../../dashboard/components/surface.tsx';
import { useLanguage } from '../../dashboard/words/index.ts';
import type { Relay, Ways } from '../operations/relays.ts';

/** The fields of the form except the password, which is never shown. */
export interface Values {
  name: string;
  host: string;
  security: string;
  port: string;
  username: string;
  rate: string;
  connections: string;
}

export const NEW_RELAY: Values = {
  name: '',
  host: '',
  security: 'starttls',
  port: '587',
  username: '',
  rate: '0',
  connections: '20',
};

/** What is stored of a relay, for its form. */
export function valuesOf({ name, host, security, port, username, rate, connections }: Relay): Values {
  return { name, host, security, port: `${port}`, username, rate: `${rate}`, connections: `${connections}` };
}

/** The form; `stored` is the relay that is changed, null for a new one. */
export function RelayForm({
  stored,
  values,
  problems,
  ways,
}: {
  stored: Relay | null;
  values: Values;
  problems: Problems;
  ways: Ways;
}) {
  const language = useLanguage();
  const input = (name: Exclude<keyof Values, 'security'>) => ({
    name,
    label: language.say(`relays.field.${name}`),
    value: values[name],
    autocomplete: 'off',
    problems,
  });
  const count = { type: 'text', inputMode: 'numeric', required: true } as const;
  const isKept = stored?.has_password === 1;
  const startsNow = stored === null && ways.queued > 0 && ways.environment.length === 0;
  return (
    <Card title={stored === null ? language.say('relays.add') : language.say('relays.change', { name: stored.name })}>
      {ways.has_public_url === 0 && (
        <Notice tone="warn">
          {language.say('relays.noAddress')}{' '}
          <a href="/settings/sending#address">{language.say('relays.noAddress.go')}</a>
        </Notice>
      )}
      {startsNow && <Notice tone="warn">{language.say('relays.queued', { count: ways.queued })}</Notice>}
      <form method="post" action={`/settings/sending/${stored?.id ?? 'new'}`} class="narrow">
        <TextField {...input('name')} hint={language.say('relays.hint.name')} maxLength={255} required />
        <TextField
          {...input('host')}
          hint={language.say('relays.hint.host')}
          autocapitalize="none"
          spellcheck={false}
          required
        />
        <SelectField
          name="security"
          label={language.say('relays.field.security')}
          hint={language.say('relays.hint.security')}
          options={(['starttls', 'implicit', 'none'] as const).map((value) => ({
            value,
            label: language.say(`relays.security.${value}`),
          }))}
          value={values.security}
          problems={problems}
        />
        <TextField {...input('port')} {...count} />
        <TextField
          {...input('username')}
          hint={language.say('relays.hint.username')}
          autocapitalize="none"
          spellcheck={false}
        />
        <TextField
          name="password"
          type="password"
          label={language.say('relays.field.password')}
          hint={language.say(isKept ? 'relays.hint.password.kept' : 'relays.hint.password')}
          autocomplete="new-password"
          problems={problems}
        />
        <TextField {...input('rate')} {...count} hint={language.say('relays.hint.rate')} />
        <TextField {...input('connections')} {...count} />
        <div class="buttons">
          <Button>{language.say(stored === null ? 'relays.add.submit' : 'relays.save')}</Button>
          <LinkButton look="plain" href="/settings/sending">
            {language.say(stored === null ? 'confirm.cancel' : 'relays.back')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}

/** The button that asks before it deletes; `next` is the relay that takes over, null where there is none. */
export function DeleteRelay({ relay, next, ways }: { relay: Relay; next: string | null; ways: Ways }) {
  const language = useLanguage();
  const { queued, environment } = ways;
  const isUsed = environment.length === 0;
  if (isUsed && next === null && queued > 0) {
    return <p class="quiet-text">{language.say('relays.delete.refused', { count: queued })}</p>;
  }
  return (
    <p>
      <Confirm
        id="delete"
        action={`/settings/sending/${relay.id}/delete`}
        label={language.say('relays.delete')}
        title={language.say('relays.delete.title', { name: relay.name })}
      >
        <p>{language.say('relays.delete.text')}</p>
        {!isUsed && <p>{language.say('relays.delete.unused')}</p>}
        {isUsed && queued === 0 && <p>{language.say('relays.delete.none')}</p>}
        {isUsed && next === null && <p>{language.say('relays.delete.last')}</p>}
        {isUsed && next !== null && queued > 0 && <p>{language.say('relays.delete.next', { count: queued, next })}</p>}
      </Confirm>
    </p>
  );
}
