/** The users of the account: invite, change role, make a new link, remove. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../../deps.ts';
import { type ApiAnswer, ApiClient, refusalOf, refusalText } from '../../api-client.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { type Problems, SelectField, TextField } from '../../components/field.tsx';
import { Time } from '../../components/figures.tsx';
import { Badge, Card, Notice } from '../../components/surface.tsx';
import { Table } from '../../components/table.tsx';
import { field } from '../../sign-in/fields.ts';
import { sessionOf } from '../../signed-in.ts';
import type { Role } from '../../viewer.ts';
import { useLanguage } from '../../words/index.ts';
import { backTo, sendSettings } from './frame.tsx';

interface UserRow {
  id: number;
  email: string;
  name: string;
  role: Role;
  has_password: 0 | 1;
  has_second_factor: 0 | 1;
  last_seen_at: string | null;
}

/** What is shown above the list after a form was sent. */
interface Outcome {
  link?: { email: string; url: string };
  form?: { email: string; name: string; problems: Problems };
  problem?: string;
}

export async function userScreen(app: FastifyInstance, { clock }: Deps): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, outcome: Outcome = {}) => {
    const { users } = await new ApiClient(app, request).get<{ users: UserRow[] }>('/users/list');
    const content = <Users users={users} me={sessionOf(request).user.id} now={clock.now()} outcome={outcome} />;
    return sendSettings(request, reply, 'users', content, outcome.problem);
  };

  app.get('/settings/users', (request, reply) => show(request, reply));

  app.post('/settings/users', async (request, reply) => {
    const [email, name, role] = [field(request, 'email'), field(request, 'name'), field(request, 'role')];
    const answer: ApiAnswer<{ link: string }> = await new ApiClient(app, request).send('POST', '/users/invite', {
      email,
      name,
      role,
    });
    if (answer.message !== undefined) return show(request, reply, { link: { email, url: answer.message.link } });
    const { problems, problem } = refusalOf(answer);
    return show(request, reply.code(answer.status), { form: { email, name, problems }, problem });
  });

  app.post<{ Params: { id: string } }>('/settings/users/:id/role', async (request, reply) => {
    const fields = { id: request.params.id, role: field(request, 'role') };
    const answer = await new ApiClient(app, request).send('POST', '/users/update', fields);
    return after(request, reply, answer, 'changed');
  });

  app.post<{ Params: { id: string } }>('/settings/users/:id/link', async (request, reply) => {
    const fields = { id: request.params.id };
    const answer: ApiAnswer<{ link: string }> = await new ApiClient(app, request).send('POST', '/users/link', fields);
    if (answer.message === undefined) return show(request, reply.code(answer.status), { problem: refusalText(answer) });
    return show(request, reply, { link: { email: field(request, 'email'), url: answer.message.link } });
  });

  app.post<{ Params: { id: string } }>('/settings/users/:id/remove', async (request, reply) => {
    const path = `/users/delete?${new URLSearchParams({ id: request.params.id })}`;
    return after(request, reply, await new ApiClient(app, request).send('DELETE', path), 'removed');
  });

  function after(request: FastifyRequest, reply: FastifyReply, answer: ApiAnswer<string>, done: 'changed' | 'removed') {
    if (answer.message !== undefined) return backTo(reply, 'users', `settings.done.${done}`);
    return show(request, reply.code(answer.status), { problem: refusalText(answer) });
  }
}

function Users({
  users,
  me,
  now,
  outcome: { link, form },
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
        <Notice tone="good" isNews>
          <p>{language.say('users.link', { email: link.email })}</p>
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
          { heading: language.say('users.user'), cell: (user) => <Person user={user} isMe={user.id === me} /> },
          { heading: language.say('users.state'), cell: (user) => <State user={user} now={now} /> },
          { heading: language.say('users.role'), cell: (user) => <RoleOf user={user} /> },
          { heading: language.say('users.actions'), cell: (user) => <Actions user={user} /> },
        ]}
      />
      <Card title={language.say('users.invite.title')}>
        <p class="quiet-text">{language.say('users.invite.text')}</p>
        <form method="post" action="/settings/users" class="narrow">
          <TextField
            name="email"
            type="email"
            label={language.say('login.email')}
            value={form?.email ?? ''}
            autocomplete="off"
            required
            problems={form?.problems}
          />
          <TextField
            name="name"
            label={language.say('users.name')}
            value={form?.name ?? ''}
            problems={form?.problems}
          />
          <SelectField
            name="role"
            label={language.say('users.role')}
            hint={language.say('users.roles')}
            options={roleOptions(language)}
            value="editor"
            problems={form?.problems}
          />
          <Button icon="plus">{language.say('users.invite.submit')}</Button>
        </form>
      </Card>
    </>
  );
}

function roleOptions(language: ReturnType<typeof useLanguage>) {
  return (['viewer', 'editor', 'owner'] as const).map((role) => ({ value: role, label: language.say(`role.${role}`) }));
}

function Person({ user: { name, email }, isMe }: { user: UserRow; isMe: boolean }) {
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

/** The role, and the dialog in which it is changed. */
function RoleOf({ user }: { user: UserRow }) {
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
            {roleOptions(language).map(({ value, label }) => (
              <option key={value} value={value} selected={value === role}>
                {label}
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
        <Button look="plain">{language.say('users.newLink')}</Button>
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
