/** Where people are signed in, and a person's own password and second factor. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../../deps.ts';
import { setSessionCookie } from '../../../http/sessions.ts';
import { changePassword } from '../../../users/own-password.ts';
import { renewRecoveryCodes, switchOffSecondFactor } from '../../../users/second-factor.ts';
import { actorOf, type SignIns } from '../../../users/sign-in.ts';
import { findUser, type User } from '../../../users/users.ts';
import { ApiClient } from '../../api-client.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { type Problems, TextField } from '../../components/field.tsx';
import { Time } from '../../components/figures.tsx';
import { Badge, Card } from '../../components/surface.tsx';
import { Table } from '../../components/table.tsx';
import { languageOf } from '../../page.tsx';
import { callerOf, field } from '../../sign-in/fields.ts';
import { NewPasswordField, passwordProblem } from '../../sign-in/new-password.tsx';
import { sessionOf, viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { backTo, refusal, sendSettings } from './frame.tsx';
import { RecoveryCodes } from './second-factor.tsx';

const UNPROCESSABLE = 422;

interface SessionRow {
  id: number;
  email: string;
  address: string;
  user_agent: string;
  is_current: 0 | 1;
  last_seen_at: string;
}

/** What is wrong with the forms of the page, by field. */
interface Wrong {
  problems?: Problems;
  problem?: string;
}

export async function sessionScreen(app: FastifyInstance, deps: Deps & { signIns: SignIns }): Promise<void> {
  const { db, clock, config, signIns } = deps;

  const requireMe = (request: FastifyRequest): User => {
    const { id, accountId } = sessionOf(request).user;
    const me = findUser(db, accountId, id);
    if (me === undefined) throw new Error('the user of a session is gone');
    return me;
  };

  const show = async (request: FastifyRequest, reply: FastifyReply, { problems, problem = '' }: Wrong = {}) => {
    const { sessions } = await new ApiClient(app, request).get<{ sessions: SessionRow[] }>('/sessions/list');
    const { email, totp_secret: secret, recovery_hashes: left } = requireMe(request);
    const content = (
      <>
        <Sessions sessions={sessions} now={clock.now()} />
        <PasswordForm email={email} problems={problems} />
        <SecondFactor email={email} isOn={secret !== null} left={left.length} problems={problems} />
      </>
    );
    return sendSettings(request, reply, 'sessions', content, problem);
  };

  /** The problems of a form whose `name` must hold the person's password; none when it does. */
  const confirm = async (request: FastifyRequest, name: string): Promise<Problems> => {
    const language = languageOf(request, viewerOf(request));
    const confirmed = await signIns.confirmPassword(requireMe(request), field(request, name), callerOf(request));
    if (confirmed === true) return {};
    const text =
      confirmed === false ? language.say('own.wrong') : language.say('login.wait', { count: confirmed.waitSeconds });
    return { [name]: [text] };
  };

  app.get('/settings/sessions', (request, reply) => show(request, reply));

  app.post<{ Params: { id: string } }>('/settings/sessions/:id/end', async (request, reply) => {
    const path = `/sessions/delete?${new URLSearchParams({ id: request.params.id })}`;
    const answer = await new ApiClient(app, request).send('DELETE', path);
    if (answer.message !== undefined) return backTo(reply, 'sessions', 'ended');
    return show(request, reply.code(answer.status), { problem: refusal(answer) });
  });

  app.post('/settings/sessions/password', async (request, reply) => {
    const me = requireMe(request);
    const password = field(request, 'password');
    const language = languageOf(request, viewerOf(request));
    const faults = passwordProblem(language, password, [me.name, me.email]);
    const problems = Object.keys(faults).length > 0 ? faults : await confirm(request, 'current');
    if (Object.keys(problems).length > 0) return show(request, reply.code(UNPROCESSABLE), { problems });
    const caller = callerOf(request);
    await changePassword(db, me, password, actorOf(me, caller), clock.now());
    // All sessions have ended, this one too; the browser goes on with a new one.
    setSessionCookie(reply, config, signIns.signIn(me, caller).secret);
    return backTo(reply, 'sessions', 'password');
  });

  app.post('/settings/second-factor/off', async (request, reply) => {
    const problems = await confirm(request, 'confirmation');
    if (Object.keys(problems).length > 0) return show(request, reply.code(UNPROCESSABLE), { problems });
    const me = requireMe(request);
    switchOffSecondFactor(db, me, actorOf(me, callerOf(request)), clock.now());
    return backTo(reply, 'sessions', 'second-factor-off');
  });

  app.post('/settings/second-factor/codes', async (request, reply) => {
    const problems = await confirm(request, 'confirmation');
    const me = requireMe(request);
    if (Object.keys(problems).length > 0 || me.totp_secret === null)
      return show(request, reply.code(UNPROCESSABLE), { problems });
    const codes = renewRecoveryCodes(db, me, actorOf(me, callerOf(request)), clock.now());
    return sendSettings(request, reply, 'sessions', <RecoveryCodes codes={codes} />);
  });
}

function Sessions({ sessions, now }: { sessions: readonly SessionRow[]; now: Date }) {
  const language = useLanguage();
  return (
    <Table
      caption={language.say('settings.sessions')}
      rows={sessions}
      keyOf={({ id }) => id}
      columns={[
        {
          heading: language.say('sessions.browser'),
          cell: ({ user_agent: agent, is_current: isCurrent }) => (
            <>
              <span class="browser">{agent || language.say('audit.unknown')}</span>{' '}
              {isCurrent === 1 && <Badge tone="good">{language.say('sessions.current')}</Badge>}
            </>
          ),
        },
        { heading: language.say('users.user'), cell: ({ email }) => email },
        { heading: language.say('audit.from'), cell: ({ address }) => address },
        {
          heading: language.say('sessions.lastSeen'),
          cell: ({ last_seen_at: at }) => <Time at={new Date(at)} now={now} />,
        },
        {
          heading: language.say('users.actions'),
          cell: ({ id }) => (
            <form method="post" action={`/settings/sessions/${id}/end`}>
              <Button look="plain">{language.say('sessions.end')}</Button>
            </form>
          ),
        },
      ]}
    />
  );
}

/** Tells password managers whose password a form is about. */
function Username({ email }: { email: string }) {
  return <input type="text" name="username" value={email} autocomplete="username" readOnly hidden />;
}

function PasswordForm({ email, problems }: { email: string; problems: Problems | undefined }) {
  const language = useLanguage();
  return (
    <Card title={language.say('own.password.title')}>
      <form method="post" action="/settings/sessions/password" class="narrow">
        <Username email={email} />
        <TextField
          name="current"
          type="password"
          label={language.say('own.current')}
          autocomplete="current-password"
          required
          problems={problems}
        />
        <NewPasswordField problems={problems} />
        <p class="quiet-text small">{language.say('own.password.text')}</p>
        <Button>{language.say('own.password.submit')}</Button>
      </form>
    </Card>
  );
}

function SecondFactor({
  email,
  isOn,
  left,
  problems,
}: {
  email: string;
  isOn: boolean;
  left: number;
  problems: Problems | undefined;
}) {
  const language = useLanguage();
  if (!isOn) {
    return (
      <Card title={language.say('factor.title')}>
        <p class="quiet-text">{language.say('factor.off.text')}</p>
        <LinkButton href="/settings/second-factor" look="plain">
          {language.say('factor.on.start')}
        </LinkButton>
      </Card>
    );
  }
  return (
    <Card title={language.say('factor.title')} action={<Badge tone="good">{language.say('factor.isOn')}</Badge>}>
      <p class="quiet-text">{language.say('factor.left', { count: left })}</p>
      <form method="post" action="/settings/second-factor/codes" class="narrow">
        <Username email={email} />
        <TextField
          name="confirmation"
          type="password"
          label={language.say('own.current')}
          autocomplete="current-password"
          required
          problems={problems}
        />
        <div class="buttons">
          <Button look="plain">{language.say('factor.codes.renew')}</Button>
          <button type="submit" class="danger" formAction="/settings/second-factor/off">
            {language.say('factor.off.submit')}
          </button>
        </div>
      </form>
    </Card>
  );
}
