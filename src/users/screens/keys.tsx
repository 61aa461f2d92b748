/** The key pairs with which programs call the API: creating, showing once, revoking. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { Button } from '../../ui/components/button.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { Badge, Card, Empty, Notice } from '../../ui/components/surface.tsx';
import { Table } from '../../ui/components/table.tsx';
import { ask } from '../../ui/operations.ts';
import { backTo, sendSettings } from '../../ui/settings/frame.tsx';
import { useLanguage } from '../../ui/words/index.ts';
import { listKeys, makeKey, revokeKey } from '../operations/keys.ts';

type KeyRow = Static<typeof listKeys.record>;
type NewKey = Static<typeof makeKey.output>['key'];

export async function keyScreen(app: FastifyInstance): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, made: NewKey | null) => {
    const keys = await ask(request, listKeys, {});
    return sendSettings(request, reply, 'keys', <Keys keys={keys} made={made} />);
  };

  app.get('/settings/keys', (request, reply) => show(request, reply, null));

  app.post('/settings/keys', async (request, reply) => show(request, reply, (await ask(request, makeKey, {})).key));

  app.post<{ Params: { id: string } }>('/settings/keys/:id/revoke', async (request, reply) => {
    await ask(request, revokeKey, request.params);
    return backTo(reply, 'keys', 'settings.done.revoked');
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
        <Empty title={language.say('keys.none.title')}>{language.say('keys.none.text')}</Empty>
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
