/** Signing in with a password, the second step with a code, and signing out. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../deps.ts';
import { clearSessionCookie, isSafeWay, setSessionCookie } from '../../http/sessions.ts';
import { audit } from '../../users/audit.ts';
import { endSession } from '../../users/sessions.ts';
import type { SignInResult, SignIns } from '../../users/sign-in.ts';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/field.tsx';
import { languageOf, sendBarePage } from '../page.tsx';
import type { Language } from '../words/index.ts';
import { callerOf, field } from './fields.ts';
import { SignInPanel } from './panel.tsx';
import { sendUnsafeWay } from './unsafe-way.tsx';

const UNAUTHORIZED = 401;
const TOO_MANY_REQUESTS = 429;

export async function loginPages(app: FastifyInstance, deps: Deps & { signIns: SignIns }): Promise<void> {
  const { db, clock, config, signIns } = deps;

  app.get('/login', (request, reply) => {
    if (request.session !== null) return reply.redirect('/', 303);
    if (!isSafeWay(request, config)) return sendUnsafeWay(request, reply);
    return sendLogin(request, reply);
  });

  app.post('/login', async (request, reply) => {
    if (!isSafeWay(request, config)) return sendUnsafeWay(request, reply);
    const email = field(request, 'email');
    const result = await signIns.withPassword(email, field(request, 'password'), callerOf(request));
    if (result.outcome === 'second-factor') return sendCode(request, reply, result.pending);
    return finish(request, reply, result, (problem) => sendLogin(request, reply, { email, problem }), 'login.wrong');
  });

  app.post('/login/code', async (request, reply) => {
    if (!isSafeWay(request, config)) return sendUnsafeWay(request, reply);
    const pending = field(request, 'pending');
    const result = await signIns.withCode(pending, field(request, 'code'), callerOf(request));
    return finish(request, reply, result, (problem) => sendCode(request, reply, pending, problem), 'login.code.wrong');
  });

  app.post('/logout', (request, reply) => {
    const { session } = request;
    if (session !== null) {
      const { id, accountId, email } = session.user;
      endSession(db, session.id);
      const actor = { userId: id, name: email, address: request.ip };
      audit(db, { accountId, actor, action: 'signed_out' }, clock.now());
    }
    clearSessionCookie(reply, config);
    return reply.redirect('/login', 303);
  });

  /** Begins the session, or shows the form again with what is wrong. */
  function finish(
    request: FastifyRequest,
    reply: FastifyReply,
    result: Exclude<SignInResult, { outcome: 'second-factor' }> | SignInResult,
    again: (problem: string) => unknown,
    wrong: 'login.wrong' | 'login.code.wrong',
  ) {
    const language = languageOf(request, null);
    if (result.outcome === 'signed-in') {
      // Whoever was signed in with this browser before is signed out: the cookie is about to be overwritten.
      if (request.session !== null) endSession(db, request.session.id);
      setSessionCookie(reply, config, result.secret);
      return reply.redirect('/', 303);
    }
    if (result.outcome === 'wait') {
      reply.code(TOO_MANY_REQUESTS).header('retry-after', result.seconds);
      return again(language.say('login.wait', { count: result.seconds }));
    }
    reply.code(UNAUTHORIZED);
    return again(language.say(wrong));
  }
}

function sendLogin(request: FastifyRequest, reply: FastifyReply, { email = '', problem = '' } = {}) {
  const language = languageOf(request, null);
  const title = language.say('login.title');
  return sendBarePage(
    request,
    reply,
    title,
    <SignInPanel title={title} problem={problem}>
      <form method="post" action="/login">
        <TextField
          name="email"
          type="email"
          label={language.say('login.email')}
          value={email}
          autocomplete="username"
          required
        />
        <TextField
          name="password"
          type="password"
          label={language.say('login.password')}
          autocomplete="current-password"
          required
        />
        <Button>{language.say('login.submit')}</Button>
      </form>
      <p class="quiet-text small">{language.say('login.forgotten')}</p>
    </SignInPanel>,
  );
}

function sendCode(request: FastifyRequest, reply: FastifyReply, pending: string, problem = '') {
  const language: Language = languageOf(request, null);
  const title = language.say('login.code.title');
  return sendBarePage(
    request,
    reply,
    title,
    <SignInPanel title={title} problem={problem}>
      <form method="post" action="/login/code">
        <input type="hidden" name="pending" value={pending} />
        <TextField
          name="code"
          label={language.say('login.code.label')}
          hint={language.say('login.code.hint')}
          autocomplete="one-time-code"
          autoCapitalize="none"
          spellcheck={false}
          required
          autofocus
        />
        <Button>{language.say('login.submit')}</Button>
      </form>
      <p class="small">
        <a href="/login">{language.say('login.again')}</a>
      </p>
    </SignInPanel>,
  );
}
