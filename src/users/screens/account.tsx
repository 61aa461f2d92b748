/** The page of the user's own account: language, colours and shortcuts, password, second factor and passkeys. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { setSessionCookie } from '../../http/cookies.ts';
import { LANGUAGE_CODES, LANGUAGE_NAMES } from '../../languages.ts';
import type { Deps } from '../../operations/deps.ts';
import { Button } from '../../ui/components/button.tsx';
import { CheckField, type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { Card } from '../../ui/components/surface.tsx';
import { DENSITIES, type Density, densityOf, keepDensity } from '../../ui/density.ts';
import { ask, attempt } from '../../ui/operations.ts';
import { languageOf } from '../../ui/page.tsx';
import { backTo, sendSettings } from '../../ui/settings/frame.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { callerOf, field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { changeOwnSettings, readMe } from '../operations/me.ts';
import { listOwnPasskeys } from '../operations/passkeys.ts';
import { relyingParty } from '../passkeys/requests.ts';
import { actorOf, type SignIns } from '../sign-in.ts';
import { changePassword } from '../users.ts';
import { CurrentPassword, type OwnForms, ownForms } from './own-forms.tsx';
import { Passkeys, passkeyScreen } from './passkeys.tsx';
import { SecondFactor, secondFactorScreen } from './second-factor.tsx';
import { NewPasswordField, passwordProblem } from './sign-in/parts.tsx';

/** Registers the page of the user's own account. */
export async function accountScreen(app: FastifyInstance, deps: Deps & { signIns: SignIns }): Promise<void> {
  const { db, clock, publicUrl, signIns } = deps;

  const own: OwnForms = {
    ...ownForms(deps),
    async show(request, reply, { problems, problem = '' } = {}) {
      const [me, passkeys] = await Promise.all([ask(request, readMe, {}), ask(request, listOwnPasskeys, {})]);
      const { email, totp_secret: secret, recovery_hashes: hashes } = own.requireMe(request);
      const content = (
        <>
          <Preferences me={me} density={densityOf(request)} problems={problems} />
          <PasswordForm email={email} problems={problems} />
          <SecondFactor email={email} isOn={secret !== null} codesLeft={hashes.length} problems={problems} />
          <Passkeys
            passkeys={passkeys}
            email={email}
            address={relyingParty(publicUrl(), request.host) === null ? publicUrl() : null}
            now={clock.now()}
            problems={problems}
          />
        </>
      );
      return sendSettings(request, reply, 'account', content, problem);
    },
  };

  app.get('/settings/account', (request, reply) => own.show(request, reply));

  app.post('/settings/account', async (request, reply) => {
    const fields = {
      name: field(request, 'name'),
      language: field(request, 'language'),
      colour_scheme: field(request, 'colour_scheme'),
      shortcuts: field(request, 'shortcuts') === '1' ? 1 : 0,
    };
    const changed = await attempt(request, changeOwnSettings, fields);
    if ('output' in changed) {
      keepDensity(reply, field(request, 'density'));
      return backTo(reply, 'account', 'settings.done.changed');
    }
    return own.show(request, reply.code(changed.status), changed);
  });

  app.post('/settings/account/password', async (request, reply) => {
    const me = own.requireMe(request);
    const password = field(request, 'password');
    const language = languageOf(request, viewerOf(request));
    const faults = passwordProblem(language, password, [me.name, me.email]);
    const problems = Object.keys(faults).length > 0 ? faults : await own.confirm(request, 'current');
    if (Object.keys(problems).length > 0) return own.show(request, reply.code(422), { problems });
    const caller = callerOf(request);
    const isChanged = await changePassword(db, me, password, actorOf(me, caller), clock.now());
    if (!isChanged) return reply.redirect('/login', 303);
    // Changing the password has ended all sessions of the user, so the browser gets a new session.
    setSessionCookie(reply, publicUrl(), signIns.signIn(me, caller).secret);
    return backTo(reply, 'account', 'settings.done.password');
  });

  await secondFactorScreen(app, { ...deps, own });
  await passkeyScreen(app, { ...deps, own });
}

function PasswordForm({ email, problems }: { email: string; problems: Problems | undefined }) {
  const language = useLanguage();
  return (
    <Card title={language.say('own.password.title')}>
      <form method="post" action="/settings/account/password" class="narrow">
        <CurrentPassword name="current" email={email} problems={problems} />
        <NewPasswordField problems={problems} />
        <p class="quiet-text small">{language.say('own.password.text')}</p>
        <Button look="plain" label={language.say('own.password.submit')} />
      </form>
    </Card>
  );
}

function Preferences({
  me,
  density,
  problems,
}: {
  me: Static<typeof readMe.record>;
  density: Density;
  problems: Problems | undefined;
}) {
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
        <SelectField
          name="density"
          label={language.say('own.density')}
          hint={language.say('own.density.hint')}
          options={DENSITIES.map((value) => ({ value, label: language.say(`own.density.${value}`) }))}
          value={density}
        />
        <CheckField name="shortcuts" label={language.say('own.shortcuts')} checked={me.shortcuts === 1} />
        <Button label={language.say('users.save')} />
      </form>
    </Card>
  );
}
