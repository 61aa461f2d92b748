/** The key pairs by which programs call the API: make, see once, revoke. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ApiAnswer, ApiClient, refusalText } from '../../api-client.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Time } from '../../components/figures.tsx';
import { Badge, Card, Empty, Notice } from '../../components/surface.tsx';
import { Table } from '../../components/table.tsx';
import { useLanguage } from '../../words/index.ts';
import { backTo, sendSettings } from './frame.tsx';

interface KeyRow {
  id: number;
  public_key: string;
  created_at: string;
  revoked_at: string | null;
}

interface NewKey {
  public_key: string;
  secret_key: string;
}

export async function keyScreen(app: FastifyInstance): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, made: NewKey | null = null, problem = '') => {
    const { keys } = await new ApiClient(app, request).get<{ keys: KeyRow[] }>('/keys/list');
    return sendSettings(request, reply, 'keys', <Keys keys={keys} made={made} />, problem);
  };

  app.get('/settings/keys', (request, reply) => show(request, reply));

  app.post('/settings/keys', async (request, reply) => {
    const answer: ApiAnswer<{ key: NewKey }> = await new ApiClient(app, request).send('POST', '/keys/create');
    return show(request, reply.code(answer.status), answer.message?.key, refusalText(answer));
  });

  app.post<{ Params: { id: string } }>('/settings/keys/:id/revoke', async (request, reply) => {
    const path = `/keys/delete?${new URLSearchParams({ id: request.params.id })}`;
    const answer = await new ApiClient(app, request).send('DELETE', path);
    if (answer.message !== undefined) return backTo(reply, 'keys', 'settings.done.revoked');
    return show(request, reply.code(answer.status), null, refusalText(answer));
  });
}

function Keys({ keys, made }: { keys: readonly KeyRow[]; made: NewKey | null }) {
  const language = useLanguage();
  return (
    <>
      {made && (
        <Notice tone="good" isNews>
          <p>{language.say('keys.made')}</p>
          <dl>
            <dt>PublicKey</dt>
            <dd>
              <code class="once">{made.public_key}</code>
            </dd>
            <dt>SecretKey</dt>
            <dd>
              <code class="once">{made.secret_key}</code>
            </dd>
          </dl>
        </Notice>
      )}
      {keys.length === 0 ? (
        <Empty icon="sliders" title={language.say('keys.none.title')}>
          {language.say('keys.none.text')}
        </Empty>
      ) : (
        <Table
          caption={language.say('settings.keys')}
          rows={keys}
          keyOf={({ id }) => id}
          columns={[
            { heading: language.say('keys.public'), cell: ({ public_key }) => <code>{public_key}</code> },
            { heading: language.say('keys.createdAt'), cell: ({ created_at }) => <Time at={new Date(created_at)} /> },
            { heading: language.say('keys.state'), cell: (key) => <State {...key} /> },
          ]}
        />
      )}
      <Card title={language.say('keys.make.title')}>
        <p class="quiet-text">{language.say('keys.make.text')}</p>
        <form method="post" action="/settings/keys">
          <Button icon="plus">{language.say('keys.make.submit')}</Button>
        </form>
      </Card>
    </>
  );
}

function State({ id, public_key: publicKey, revoked_at: revokedAt }: KeyRow) {
  const language = useLanguage();
  if (revokedAt !== null)
    return <Badge>{language.say('keys.revoked', { day: language.date(new Date(revokedAt)) })}</Badge>;
  return (
    <Confirm
      id={`revoke-${id}`}
      action={`/settings/keys/${id}/revoke`}
      label={language.say('keys.revoke')}
      title={language.say('keys.revoke.title')}
    >
      <p>{language.say('keys.revoke.text', { key: publicKey })}</p>
    </Confirm>
  );
}
