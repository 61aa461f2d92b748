/** The second step of signing in: a code of the authenticator app, or a recovery code. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/field.tsx';
import { languageOf, sendBarePage } from '../page.tsx';
import { loginPath } from './next-page.ts';
import { SignInPanel } from './panel.tsx';

/** Sends the form for the code; `pending` proves the password, `news` is what was done before. */
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
        <Button>{language.say('login.submit')}</Button>
      </form>
      <p class="quiet-text small">{language.say('login.code.lost')}</p>
      <p class="small">
        <a href={loginPath(next)}>{language.say('login.again')}</a>
      </p>
    </SignInPanel>,
  );
}
