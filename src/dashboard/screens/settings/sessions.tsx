/** Where people are signed in. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../../deps.ts';
import { ApiClient, refusalText } from '../../api-client.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Time } from '../../components/figures.tsx';
import { Badge } from '../../components/surface.tsx';
import { Table } from '../../components/table.tsx';
import { useLanguage } from '../../words/index.ts';
import { backTo, sendSettings } from './frame.tsx';

interface SessionRow {
  id: number;
  email: string;
  address: string;
  user_agent: string;
  is_current: 0 | 1;
  last_seen_at: string;
}

export async function sessionScreen(app: FastifyInstance, { clock }: Deps): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, problem = '') => {
    const { sessions } = await new ApiClient(app, request).get<{ sessions: SessionRow[] }>('/sessions/list');
    return sendSettings(request, reply, 'sessions', <Sessions sessions={sessions} now={clock.now()} />, problem);
  };

  app.get('/settings/sessions', (request, reply) => show(request, reply));

  app.post<{ Params: { id: string } }>('/settings/sessions/:id/end', async (request, reply) => {
    const path = `/sessions/delete?${new URLSearchParams({ id: request.params.id })}`;
    const answer = await new ApiClient(app, request).send('DELETE', path);
    if (answer.message !== undefined) return backTo(reply, 'sessions', 'settings.done.ended');
    return show(request, reply.code(answer.status), refusalText(answer));
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
          cell: (session) => <End session={session} />,
        },
      ]}
    />
  );
}

function End({ session: { id, email, user_agent: agent, is_current: isCurrent } }: { session: SessionRow }) {
  const language = useLanguage();
  return (
    <Confirm
      id={`end-${id}`}
      action={`/settings/sessions/${id}/end`}
      label={language.say('sessions.end')}
      title={language.say(isCurrent === 1 ? 'sessions.end.own' : 'sessions.end.title', { email })}
    >
      {isCurrent === 0 && <p class="browser">{agent || language.say('audit.unknown')}</p>}
      <p>{language.say('sessions.end.text')}</p>
    </Confirm>
  );
}
