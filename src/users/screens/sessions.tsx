/** The page of the sessions of signed-in users. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { ById } from '../../http/pages/layout.ts';
import { Confirm } from '../../ui/components/confirm.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { Badge } from '../../ui/components/surface.tsx';
import { Table } from '../../ui/components/table.tsx';
import { ask } from '../../ui/operations.ts';
import { backTo, sendSettings } from '../../ui/settings/frame.tsx';
import { useLanguage } from '../../ui/words/index.ts';
import { endSession, listSessions } from '../operations/sessions.ts';
import { browserName } from './browser-name.ts';

type SessionRow = Static<typeof listSessions.record>;

/** Registers the page of sessions. */
export async function sessionScreen(app: FastifyInstance): Promise<void> {
  app.get('/settings/sessions', async (request, reply) => {
    const sessions = await ask(request, listSessions, {});
    return sendSettings(request, reply, 'sessions', <Sessions sessions={sessions} now={app.deps.clock.now()} />);
  });

  app.post<ById>('/settings/sessions/:id/end', async (request, reply) => {
    await ask(request, endSession, request.params);
    return backTo(reply, 'sessions', 'settings.done.ended');
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
              <span class="browser" title={agent}>
                {browserName(agent) || language.say('audit.unknown')}
              </span>{' '}
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
      {isCurrent === 0 && <p class="browser">{browserName(agent) || language.say('audit.unknown')}</p>}
      <p>{language.say('sessions.end.text')}</p>
    </Confirm>
  );
}
