/**
 * Two-factor authentication: switching it on with a QR code and the app's first code, the recovery codes, and switching it off.
 * Each action requires the password.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import encodeQR from 'qr';
import type { Deps } from '../../operations/deps.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { type Problems, TextField } from '../../ui/components/field.tsx';
import { Badge, Card, Notice } from '../../ui/components/surface.tsx';
import { languageOf } from '../../ui/page.tsx';
import { backTo, sendSettings } from '../../ui/settings/frame.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { callerOf, field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { renewRecoveryCodes, switchOffSecondFactor, switchOnSecondFactor } from '../second-factor.ts';
import { actorOf } from '../sign-in.ts';
import { isTotpSecret, newTotpSecret, totpUrl } from '../totp.ts';
import { CurrentPassword, type OwnForms } from './own-forms.tsx';

/** Registers the pages of the second factor. */
export async function secondFactorScreen(
  app: FastifyInstance,
  { db, clock, publicUrl, own }: Deps & { own: OwnForms },
): Promise<void> {
  const show = (request: FastifyRequest, reply: FastifyReply, secret: string, problems?: Problems) => {
    const { email } = viewerOf(request);
    const url = totpUrl(secret, email, `Sendlark ${new URL(publicUrl()).hostname}`);
    return sendSettings(
      request,
      reply,
      'account',
      <Setup secret={secret} url={url} email={email} problems={problems} />,
    );
  };

  app.get('/settings/second-factor', (request, reply) => show(request, reply, newTotpSecret()));

  app.post('/settings/second-factor', async (request, reply) => {
    const me = own.requireMe(request);
    const secret = field(request, 'secret');
    if (me.totp_secret !== null || !isTotpSecret(secret)) return reply.redirect('/settings/account', 303);
    // Without the password, anybody with access to an open session could connect the account to their own phone.
    const problems = await own.confirm(request, 'confirmation');
    if (Object.keys(problems).length > 0) return show(request, reply.code(422), secret, problems);
    const actor = actorOf(me, callerOf(request));
    const codes = switchOnSecondFactor(db, me, secret, field(request, 'code'), actor, clock.now());
    if (codes === null) {
      const text = languageOf(request, viewerOf(request)).say('factor.on.wrong');
      return show(request, reply.code(422), secret, { code: [text] });
    }
    return sendSettings(request, reply, 'account', <RecoveryCodes codes={codes} />);
  });

  app.post('/settings/second-factor/off', async (request, reply) => {
    const problems = await own.confirm(request, 'confirmation');
    if (Object.keys(problems).length > 0) return own.show(request, reply.code(422), { problems });
    const me = own.requireMe(request);
    switchOffSecondFactor(db, me, actorOf(me, callerOf(request)), clock.now());
    return backTo(reply, 'account', 'settings.done.secondFactorOff');
  });

  app.post('/settings/second-factor/codes', async (request, reply) => {
    const problems = await own.confirm(request, 'confirmation');
    const me = own.requireMe(request);
    if (Object.keys(problems).length > 0 || me.totp_secret === null)
      return own.show(request, reply.code(422), { problems });
    const codes = renewRecoveryCodes(db, me, actorOf(me, callerOf(request)), clock.now());
    return sendSettings(request, reply, 'account', <RecoveryCodes codes={codes} />);
  });
}

/** New recovery codes, which are shown only once. */
function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const language = useLanguage();
  return (
    <Card title={language.say('factor.codes.title')}>
      <Notice tone="warn" isNews>
        {language.say('factor.codes.text')}
      </Notice>
      <ul class="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <LinkButton href="/settings/account" label={language.say('factor.codes.done')} />
    </Card>
  );
}

function Setup({
  secret,
  url,
  email,
  problems,
}: {
  secret: string;
  url: string;
  email: string;
  problems: Problems | undefined;
}) {
  const language = useLanguage();
  return (
    <Card title={language.say('factor.on.title')}>
      <p>{language.say('factor.on.scan')}</p>
      <QrCode text={url} label={language.say('factor.on.qr')} />
      <p class="small">
        {language.say('factor.on.type')} <code class="once">{secret.match(/.{4}/g)?.join(' ')}</code>
      </p>
      <form method="post" action="/settings/second-factor" class="narrow">
        <input type="hidden" name="secret" value={secret} />
        <TextField
          name="code"
          label={language.say('login.code.label')}
          hint={language.say('factor.on.hint')}
          autocomplete="one-time-code"
          inputMode="numeric"
          required
          problems={problems}
        />
        <CurrentPassword name="confirmation" email={email} problems={problems} />
        <Button label={language.say('factor.on.submit')} />
      </form>
    </Card>
  );
}

/** A QR code. It is dark on light in every colour scheme, because not every camera reads inverted codes. */
function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQR(text, 'raw', { border: 4 });
  const path = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg class="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label={label}>
      <path d={path} />
    </svg>
  );
}

/** Shows whether two-factor authentication is on, and how to switch it on, renew its recovery codes or switch it off. */
export function SecondFactor({
  email,
  isOn,
  codesLeft,
  problems,
}: {
  email: string;
  isOn: boolean;
  codesLeft: number;
  problems: Problems | undefined;
}) {
  const language = useLanguage();
  if (!isOn) {
    return (
      <Card title={language.say('factor.title')}>
        <p class="quiet-text">{language.say('factor.off.text')}</p>
        <LinkButton href="/settings/second-factor" look="plain" label={language.say('factor.on.start')} />
      </Card>
    );
  }
  return (
    <Card title={language.say('factor.title')} action={<Badge tone="good">{language.say('factor.isOn')}</Badge>}>
      <p class="quiet-text">{language.say('factor.left', { count: codesLeft })}</p>
      <form method="post" action="/settings/second-factor/codes" class="narrow">
        <CurrentPassword name="confirmation" email={email} problems={problems} />
        <div class="buttons">
          <Button look="plain" label={language.say('factor.codes.renew')} />
          <button type="submit" class="danger" formAction="/settings/second-factor/off">
            {language.say('factor.off.submit')}
          </button>
        </div>
      </form>
    </Card>
  );
}
