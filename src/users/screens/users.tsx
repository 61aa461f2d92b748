/** The page of the account's users: invite a user, change a role, make a new sign-in link, remove a user. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Said } from '../../errors/sentences.ts';
import type { ById } from '../../http/pages/layout.ts';
import { Button } from '../../ui/components/button.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { form, SentForm } from '../../ui/components/form.tsx';
import { Badge, Card, Notice } from '../../ui/components/surface.tsx';
import { Table } from '../../ui/components/table.tsx';
import { type Attempt, ask, attempt } from '../../ui/operations.ts';
import { languageOf } from '../../ui/page.tsx';
import type { Submitted } from '../../ui/record-screens.ts';
import { backTo, sendSettings } from '../../ui/settings/frame.tsx';
import { sessionOf, viewerOf } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { INVITATION_DAYS } from '../operations/invitation.ts';
import { deleteUser, inviteUser, listUsers, makeLoginLink, updateUser } from '../operations/users.ts';

type UserRow = Static<typeof listUsers.record>;

const INVITATION_FORM = form(inviteUser.input, [
  { name: 'email', label: 'login.email', attributes: { type: 'email' } },
  { name: 'name', label: 'users.name' },
  { name: 'role', label: 'users.role', hint: 'users.roles', option: (language, role) => language.say(`role.${role}`) },
]);

/** What the page shows after a form was submitted. */
interface Outcome {
  link?: {
    email: string;
    url: string;
    /** Why the invitation was not mailed; null if it was mailed. Undefined for other links, which the owner passes on. */
    notMailed?: Said | null;
  };
  /** The submitted values of the invitation and their problems. */
  refusedForm?: Pick<Submitted, 'values' | 'problems'>;
  problem?: string;
}

/** Registers the page of users. */
export async function userScreen(app: FastifyInstance): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, outcome: Outcome = {}) => {
    const users = await ask(request, listUsers, {});
    const content = (
      <Users users={users} me={sessionOf(request).user.id} now={app.deps.clock.now()} outcome={outcome} />
    );
    return sendSettings(request, reply, 'users', content, outcome.problem);
  };

  app.get('/settings/users', (request, reply) => show(request, reply));

  app.post('/settings/users', async (request, reply) => {
    const values = INVITATION_FORM.read(request);
    const language = languageOf(request, viewerOf(request)).code;
    const invited = await attempt(request, inviteUser, { ...values, language });
    if ('output' in invited) {
      const { link: url, not_mailed: notMailed } = invited.output;
      return show(request, reply, { link: { email: String(values.email), url, notMailed } });
    }
    const { status, problems, problem } = invited;
    return show(request, reply.code(status), { refusedForm: { values, problems }, problem });
  });

  app.post<ById>('/settings/users/:id/role', async (request, reply) => {
    const attempted = await attempt(request, updateUser, { ...request.params, role: field(request, 'role') });
    return sendResult(request, reply, attempted, 'changed');
  });

  app.post<ById>('/settings/users/:id/link', async (request, reply) => {
    const { link: url } = await ask(request, makeLoginLink, request.params);
    return show(request, reply, { link: { email: field(request, 'email'), url } });
  });

  app.post<ById>('/settings/users/:id/remove', async (request, reply) =>
    sendResult(request, reply, await attempt(request, deleteUser, request.params), 'removed'),
  );

  function sendResult(
    request: FastifyRequest,
    reply: FastifyReply,
    attempted: Attempt<void>,
    success: 'changed' | 'removed',
  ) {
    if ('output' in attempted) return backTo(reply, 'users', `settings.done.${success}`);
    return show(request, reply.code(attempted.status), { problem: attempted.text });
  }
}

function Users({
  users,
  me,
  now,
  outcome: { link, refusedForm },
}: {
  users: readonly UserRow[];
  me: number;
  now: Date;
  outcome: Outcome;
}) {
  const language = useLanguage();
  return (
    <>
      {link && (
        <Notice tone={link.notMailed ? 'warn' : 'good'} isNews reloads="/settings/users">
          {link.notMailed === undefined ? (
            <p>{language.say('users.link', { email: link.email })}</p>
          ) : (
            <>
              <p>
                {link.notMailed === null
                  ? language.say('users.mailed', { email: link.email })
                  : language.say('users.notMailed', {
                      email: link.email,
                      reason: language.fullSentence(link.notMailed),
                    })}
              </p>
              <p>{language.say('users.mailed.link', { count: INVITATION_DAYS })}</p>
            </>
          )}
          <p>
            <code class="once">{link.url}</code>
          </p>
        </Notice>
      )}
      <Table
        caption={language.say('settings.users')}
        rows={users}
        keyOf={({ id }) => id}
        columns={[
          { heading: language.say('users.user'), cell: (user) => <NameAndAddress user={user} isMe={user.id === me} /> },
          { heading: language.say('users.state'), cell: (user) => <State user={user} now={now} /> },
          { heading: language.say('users.role'), cell: (user) => <RoleAndDialog user={user} /> },
          { heading: language.say('users.actions'), cell: (user) => <Actions user={user} /> },
        ]}
      />
      <Card title={language.say('users.invite.title')}>
        <p class="quiet-text">{language.say('users.invite.text')}</p>
        <SentForm
          form={INVITATION_FORM}
          action="/settings/users"
          values={{ role: 'editor' }}
          {...refusedForm}
          submit={language.say('users.invite.submit')}
          icon="plus"
        />
      </Card>
    </>
  );
}

function NameAndAddress({ user: { name, email }, isMe }: { user: UserRow; isMe: boolean }) {
  const language = useLanguage();
  return (
    <>
      {name || email} {isMe && <Badge>{language.say('users.you')}</Badge>}
      {name && <small class="quiet-text second-line">{email}</small>}
    </>
  );
}

function State({ user, now }: { user: UserRow; now: Date }) {
  const language = useLanguage();
  if (user.has_password === 0) return <Badge tone="warn">{language.say('users.invited')}</Badge>;
  return (
    <>
      {user.last_seen_at === null ? (
        language.say('users.signedOut')
      ) : (
        <Time at={new Date(user.last_seen_at)} now={now} />
      )}{' '}
      {user.has_second_factor === 1 && <Badge tone="good">{language.say('users.secondFactor')}</Badge>}
    </>
  );
}

/** The role of a user, and the dialog that changes the role. */
function RoleAndDialog({ user }: { user: UserRow }) {
  const language = useLanguage();
  const { id, email, role } = user;
  return (
    <div class="in-row">
      {language.say(`role.${role}`)}
      <Confirm
        id={`role-${id}`}
        action={`/settings/users/${id}/role`}
        look="plain"
        label={language.say('users.role.change')}
        title={language.say('users.role.title', { email })}
      >
        <p>{language.say('users.role.text')}</p>
        <p>{language.say('users.roles')}</p>
        <div class="field">
          <label for={`role-of-${id}`}>{language.say('users.role')}</label>
          <select id={`role-of-${id}`} name="role">
            {(['viewer', 'editor', 'owner'] as const).map((option) => (
              <option key={option} value={option} selected={option === role}>
                {language.say(`role.${option}`)}
              </option>
            ))}
          </select>
        </div>
      </Confirm>
    </div>
  );
}

function Actions({ user: { id, email } }: { user: UserRow }) {
  const language = useLanguage();
  return (
    <div class="buttons">
      <form method="post" action={`/settings/users/${id}/link`} class="in-row">
        <input type="hidden" name="email" value={email} />
        <Button look="plain" label={language.say('users.newLink')} />
      </form>
      <Confirm
        id={`remove-${id}`}
        action={`/settings/users/${id}/remove`}
        label={language.say('users.remove')}
        title={language.say('users.remove.title', { email })}
      >
        <p>{language.say('users.remove.text')}</p>
      </Confirm>
    </div>
  );
}
