/** The pages for signing in with a password and a code, and for signing out. Signing in with a passkey is in passkey.tsx. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clearSessionCookie, isSecureChannel } from '../../../http/cookies.ts';
import type { Deps } from '../../../operations/deps.ts';
import { Button } from '../../../ui/components/button.tsx';
import { TextField } from '../../../ui/components/field.tsx';
import { takeFlash } from '../../../ui/flash.ts';
import { languageOf, sendBarePage } from '../../../ui/page.tsx';
import { callerOf, field } from '../../../ui/submitted.ts';
import { relyingParty } from '../../passkeys/requests.ts';
import { type SignInResult, type SignIns, signOut } from '../../sign-in.ts';
import { nextPage } from './next-page.ts';
import { beginSession, SignInPanel, sendCode, sendInsecureConnection } from './parts.tsx';
import { PasskeyButton, passkeyPages } from './passkey.tsx';

/** Registers the sign-in pages, with those for passkeys, and signing out. */
export async function loginPages(app: FastifyInstance, deps: Deps & { signIns: SignIns }): Promise<void> {
  const { db, clock, publicUrl, signIns } = deps;

  const show = (request: FastifyRequest, reply: FastifyReply, values: LoginValues) =>
    sendLogin(request, reply, { ...values, withPasskeys: relyingParty(publicUrl(), request.host) !== null });

  await passkeyPages(app, {
    ...deps,
    sendRefusal: (request, reply, result, next) =>
      show(request, reply, { next, problem: refuse(request, reply, result, 'login.passkey.wrong') }),
  });

  app.get<{ Querystring: { next?: unknown } }>('/login', (request, reply) => {
    const { next: path } = request.query;
    const next = nextPage(typeof path === 'string' ? path : undefined);
    if (request.session !== null) return reply.redirect(next, 303);
    if (!isSecureChannel(request, publicUrl())) return sendInsecureConnection(request, reply);
    return show(request, reply, { next });
  });

  app.post('/login', async (request, reply) => {
    if (!isSecureChannel(request, publicUrl())) return sendInsecureConnection(request, reply);
    const email = field(request, 'email');
    const next = nextPage(field(request, 'next'));
    const result = await signIns.withPassword(email, field(request, 'password'), callerOf(request));
    if (result.outcome === 'second-factor') return sendCode(request, reply, { pending: result.pending, next });
    if (result.outcome === 'signed-in') return beginSession(request, reply, deps, { ...result, next });
    return show(request, reply, { email, next, problem: refuse(request, reply, result, 'login.wrong') });
  });

  app.post('/login/code', async (request, reply) => {
    if (!isSecureChannel(request, publicUrl())) return sendInsecureConnection(request, reply);
    const pending = field(request, 'pending');
    const next = nextPage(field(request, 'next'));
    const result = await signIns.withCode(pending, field(request, 'code'), callerOf(request));
    if (result.outcome === 'signed-in') return beginSession(request, reply, deps, { ...result, next });
    return sendCode(request, reply, { pending, next, problem: refuse(request, reply, result, 'login.code.wrong') });
  });

  app.post('/logout', (request, reply) => {
    const { session } = request;
    if (session !== null) signOut(db, session, request.ip, clock.now());
    clearSessionCookie(reply, publicUrl());
    return reply.redirect('/login', 303);
  });
}

/** Sets the status of a refusal. Returns its text: how long the user must wait, otherwise the text of the key `wrong`. */
function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  result: Exclude<SignInResult, { outcome: 'signed-in' }>,
  wrong: 'login.wrong' | 'login.code.wrong' | 'login.passkey.wrong',
): string {
  const language = languageOf(request, null);
  if (result.outcome === 'wait') {
    reply.code(429).header('retry-after', result.seconds);
    return language.say('login.wait', { count: result.seconds });
  }
  reply.code(401);
  return language.say(wrong);
}

interface LoginValues {
  next: string;
  email?: string;
  problem?: string;
}

function sendLogin(
  request: FastifyRequest,
  reply: FastifyReply,
  { email = '', next, problem = '', withPasskeys }: LoginValues & { withPasskeys: boolean },
) {
  const language = languageOf(request, null);
  const title = language.say('login.title');
  const flash = takeFlash(request, reply);
  return sendBarePage(
    request,
    reply,
    title,
    <SignInPanel title={title} problem={problem} news={flash === null ? '' : language.fill(flash.key, flash.values)}>
      <form method="post" action="/login">
        <input type="hidden" name="next" value={next} />
        <TextField
          name="email"
          type="email"
          label={language.say('login.email')}
          value={email}
          autocomplete={withPasskeys ? 'username webauthn' : 'username'}
          required
        />
        <TextField
          name="password"
          type="password"
          label={language.say('login.password')}
          autocomplete="current-password"
          required
          autofocus={email !== ''}
        />
        <Button label={language.say('login.submit')} />
      </form>
      {withPasskeys && <PasskeyButton next={next} />}
      <p class="quiet-text small">{language.say('login.forgotten')}</p>
    </SignInPanel>,
  );
}
