/** The pages of a login link: the user chooses a name and a password and is then signed in. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseAddress } from '../../../audience/contacts/addresses.ts';
import { isSecureChannel } from '../../../http/cookies.ts';
import type { Deps } from '../../../operations/deps.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { type Problems, TextField } from '../../../ui/components/field.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { languageOf, sendBarePage } from '../../../ui/page.tsx';
import { callerOf, field } from '../../../ui/submitted.ts';
import { findLoginLink, type LoginLink, useLoginLink } from '../../login-links.ts';
import { hashPassword } from '../../passwords.ts';
import type { SignIns } from '../../sign-in.ts';
import { findUserByEmail } from '../../users.ts';
import {
  beginSession,
  NewPasswordField,
  passwordProblem,
  SignInPanel,
  sendCode,
  sendInsecureConnection,
} from './parts.tsx';

const MAX_NAME = 255;

/** Registers the pages that a login link opens. */
export async function welcomePages(app: FastifyInstance, deps: Deps & { signIns: SignIns }): Promise<void> {
  const { db, clock, publicUrl, signIns } = deps;

  // The link has its secret in the fragment, which does not reach the server. So a script moves the secret into the form and submits it.
  app.get('/welcome', (request, reply) => {
    if (!isSecureChannel(request, publicUrl())) return sendInsecureConnection(request, reply);
    const language = languageOf(request, null);
    const title = language.say('welcome.title');
    return sendBarePage(
      request,
      reply,
      title,
      <SignInPanel title={title}>
        <Island name="welcome">
          <form method="post" action="/welcome/open">
            <TextField
              name="secret"
              label={language.say('welcome.secret')}
              hint={language.say('welcome.secret.hint')}
              autocomplete="off"
              required
            />
            <Button label={language.say('welcome.continue')} />
          </form>
        </Island>
      </SignInPanel>,
    );
  });

  app.post('/welcome/open', (request, reply) => {
    if (!isSecureChannel(request, publicUrl())) return sendInsecureConnection(request, reply);
    const secret = field(request, 'secret').trim();
    const link = findLoginLink(db, secret, clock.now());
    if (link === null) return sendExpired(request, reply);
    return sendPasswordForm(request, reply, secret, link, {
      name: link.user?.name ?? '',
      email: link.user?.email ?? '',
    });
  });

  app.post('/welcome', async (request, reply) => {
    if (!isSecureChannel(request, publicUrl())) return sendInsecureConnection(request, reply);
    const secret = field(request, 'secret');
    const link = findLoginLink(db, secret, clock.now());
    if (link === null) return sendExpired(request, reply);
    const name = field(request, 'name').trim();
    const email = link.user?.email ?? field(request, 'email').trim();
    const password = field(request, 'password');
    const address = parseAddress(email);
    const language = languageOf(request, null);
    const isTaken = link.user === null && address !== null && findUserByEmail(db, address) !== undefined;
    const problems: Problems = {
      ...((name === '' || name.length > MAX_NAME) && { name: [language.say('welcome.name.problem')] }),
      ...(address === null && { email: [language.say('welcome.email.problem')] }),
      ...(isTaken && { email: [language.say('welcome.email.taken')] }),
      ...passwordProblem(language, password, [name, email]),
    };
    if (address === null || Object.keys(problems).length > 0) {
      return sendPasswordForm(request, reply.code(422), secret, link, { name, email, problems });
    }
    const passwordHash = await hashPassword(password);
    const user = useLoginLink(db, secret, { address, name, passwordHash }, request.ip, clock.now());
    if (user === null) return sendExpired(request, reply);
    const result = signIns.afterPassword(user, callerOf(request));
    if (result.outcome === 'signed-in') return beginSession(request, reply, deps, result);
    // The second factor is still required, because the link replaces only the password. If the user opens the sign-in page instead of
    // typing the code, a message there says that the password is new.
    setFlash(reply, 'good', 'welcome.saved');
    return sendCode(request, reply, { pending: result.pending, next: '/', news: language.say('welcome.code') });
  });
}

/** Sends the form for name and password, and for the e-mail address if the link is for the first owner, who is no user yet. */
function sendPasswordForm(
  request: FastifyRequest,
  reply: FastifyReply,
  secret: string,
  { user }: LoginLink,
  { name, email, problems }: { name: string; email: string; problems?: Problems },
) {
  const language = languageOf(request, null);
  const title = language.say(user?.password_hash ? 'welcome.again.title' : 'welcome.title');
  return sendBarePage(
    request,
    reply,
    title,
    <SignInPanel title={title}>
      <form method="post" action="/welcome">
        <input type="hidden" name="secret" value={secret} />
        <TextField
          name="name"
          label={language.say('welcome.name')}
          value={name}
          autocomplete="name"
          required
          problems={problems}
        />
        <TextField
          name="email"
          type="email"
          label={language.say('login.email')}
          value={email}
          autocomplete="username"
          readOnly={user !== null}
          required
          problems={problems}
        />
        <NewPasswordField problems={problems} />
        <Button label={language.say('welcome.submit')} />
      </form>
    </SignInPanel>,
  );
}

function sendExpired(request: FastifyRequest, reply: FastifyReply) {
  const language = languageOf(request, null);
  const title = language.say('welcome.expired.title');
  return sendBarePage(
    request,
    reply.code(410),
    title,
    <SignInPanel title={title}>
      <p>{language.say('welcome.expired.text')}</p>
      <LinkButton href="/login" look="plain" label={language.say('login.title')} />
    </SignInPanel>,
  );
}
