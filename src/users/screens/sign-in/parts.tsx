/** Shared parts of the sign-in pages: their panel, the form for a code, the field for a new password, and the start of a session. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import { setSessionCookie } from '../../../http/cookies.ts';
import type { Deps } from '../../../operations/deps.ts';
import { Button } from '../../../ui/components/button.tsx';
import { type Problems, TextField } from '../../../ui/components/field.tsx';
import { Icon } from '../../../ui/components/icon.tsx';
import { Card, Notice, Problem } from '../../../ui/components/surface.tsx';
import { languageOf, sendBarePage } from '../../../ui/page.tsx';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import { passwordFault } from '../../password-rules.ts';
import { signOut } from '../../sign-in.ts';
import { loginPath } from './next-page.ts';

/** The panel around the forms for signing in. `problem` and `news` are messages above the form; empty texts show none. */
export function SignInPanel({
  title,
  problem = '',
  news = '',
  children,
}: {
  title: string;
  problem?: string;
  news?: string;
  children: ComponentChildren;
}) {
  return (
    <div class="sign-in">
      <p class="brand">
        <Icon name="lark" />
        <span>Sendlark</span>
      </p>
      <Card>
        <h1>{title}</h1>
        <Problem>{problem}</Problem>
        {news && (
          <Notice tone="good" isNews>
            {news}
          </Notice>
        )}
        {children}
      </Card>
    </div>
  );
}

/** Sends the page that explains why signing in over this connection is not possible, and how to add TLS. */
export function sendInsecureConnection(request: FastifyRequest, reply: FastifyReply) {
  const language = languageOf(request, null);
  const title = language.say('unsafe.title');
  return sendBarePage(
    request,
    reply.code(403),
    title,
    <SignInPanel title={title}>
      <p>{language.say('unsafe.why')}</p>
      <p>{language.say('unsafe.cure')}</p>
      <p>{language.say('unsafe.tunnel')}</p>
    </SignInPanel>,
  );
}

/** Sends the form for the code of the second factor. `pending` proves that the password was right. */
export function sendCode(
  request: FastifyRequest,
  reply: FastifyReply,
  { pending, next, problem = '', news = '' }: { pending: string; next: string; problem?: string; news?: string },
) {
  const language = languageOf(request, null);
  const title = language.say('login.code.title');
  return sendBarePage(
    request,
    reply,
    title,
    <SignInPanel title={title} problem={problem} news={news}>
      <form method="post" action="/login/code">
        <input type="hidden" name="pending" value={pending} />
        <input type="hidden" name="next" value={next} />
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
        <Button label={language.say('login.submit')} />
      </form>
      <p class="quiet-text small">{language.say('login.code.lost')}</p>
      <p class="small">
        <a href={loginPath(next)}>{language.say('login.again')}</a>
      </p>
    </SignInPanel>,
  );
}

/** The form field `password` for a new password. */
export function NewPasswordField({ problems }: { problems: Problems | undefined }) {
  const language = useLanguage();
  return (
    <TextField
      name="password"
      type="password"
      label={language.say('welcome.password')}
      hint={language.say('password.hint')}
      autocomplete="new-password"
      minLength={12}
      required
      problems={problems}
    />
  );
}

/** Returns the fault of a new password as the problem of the field `password`; an empty object if the password is accepted. */
export function passwordProblem(language: Language, password: string, person: readonly string[]): Problems {
  const fault = passwordFault(password, person);
  return fault === null ? {} : { password: [language.say(`password.${fault}`)] };
}

/** Sets the cookie of a new session and opens `next`. A user who was signed in with this browser before is signed out. */
export function beginSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { db, clock, publicUrl }: Pick<Deps, 'db' | 'clock' | 'publicUrl'>,
  { secret, next = '/' }: { secret: string; next?: string },
) {
  if (request.session !== null) signOut(db, request.session, request.ip, clock.now());
  setSessionCookie(reply, publicUrl(), secret);
  return reply.redirect(next, 303);
}
