/** Switching the second factor on: a QR code for the authenticator app, its first code, and the recovery codes. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import encodeQR from 'qr';
import type { Deps } from '../../../deps.ts';
import { switchOnSecondFactor } from '../../../users/second-factor.ts';
import { actorOf } from '../../../users/sign-in.ts';
import { isTotpSecret, newTotpSecret, totpUrl } from '../../../users/totp.ts';
import { findUser } from '../../../users/users.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { type Problems, TextField } from '../../components/field.tsx';
import { Card, Notice } from '../../components/surface.tsx';
import { languageOf } from '../../page.tsx';
import { callerOf, field } from '../../sign-in/fields.ts';
import { sessionOf, viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { sendSettings } from './frame.tsx';

const UNPROCESSABLE = 422;

export async function secondFactorScreen(app: FastifyInstance, { db, clock, publicUrl }: Deps): Promise<void> {
  const show = (request: FastifyRequest, reply: FastifyReply, secret: string, problems?: Problems) => {
    const url = totpUrl(secret, viewerOf(request).email, `Sendlark ${new URL(publicUrl()).hostname}`);
    return sendSettings(request, reply, 'sessions', <Setup secret={secret} url={url} problems={problems} />);
  };

  app.get('/settings/second-factor', (request, reply) => show(request, reply, newTotpSecret()));

  app.post('/settings/second-factor', (request, reply) => {
    const { id, accountId } = sessionOf(request).user;
    const me = findUser(db, accountId, id);
    const secret = field(request, 'secret');
    if (me === undefined || me.totp_secret !== null || !isTotpSecret(secret))
      return reply.redirect('/settings/sessions', 303);
    const actor = actorOf(me, callerOf(request));
    const codes = switchOnSecondFactor(db, me, secret, field(request, 'code'), actor, clock.now());
    if (codes === null) {
      const text = languageOf(request, viewerOf(request)).say('factor.on.wrong');
      return show(request, reply.code(UNPROCESSABLE), secret, { code: [text] });
    }
    return sendSettings(request, reply, 'sessions', <RecoveryCodes codes={codes} />);
  });
}

/** New recovery codes, shown this once. */
export function RecoveryCodes({ codes }: { codes: readonly string[] }) {
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
      <LinkButton href="/settings/sessions">{language.say('factor.codes.done')}</LinkButton>
    </Card>
  );
}

function Setup({ secret, url, problems }: { secret: string; url: string; problems: Problems | undefined }) {
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
        <Button>{language.say('factor.on.submit')}</Button>
      </form>
    </Card>
  );
}

/** A QR code, dark on light in every theme, since not every camera reads the opposite. */
function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQR(text, 'raw', { border: 4 });
  const path = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg class="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label={label}>
      <path d={path} />
    </svg>
  );
}
