/** The webhooks of an account: the list with the state of each. */
import type { FastifyInstance } from 'fastify';
import { LinkButton } from '../../dashboard/components/button.tsx';
import { Empty } from '../../dashboard/components/surface.tsx';
import { Table } from '../../dashboard/components/table.tsx';
import { ask } from '../../dashboard/operations.ts';
import { sendSettings } from '../../dashboard/screens/settings/frame.tsx';
import { useLanguage } from '../../dashboard/words/index.ts';
import { listWebhooks, type Webhook } from '../operations.ts';
import { State, waitingText } from './state.tsx';
import { webhookScreen } from './webhook.tsx';

/** Registers the list and the pages of one webhook. */
export async function webhookScreens(app: FastifyInstance): Promise<void> {
  app.get('/settings/webhooks', async (request, reply) => {
    const { webhooks } = await ask(request, listWebhooks, {});
    return sendSettings(request, reply, 'webhooks', <Webhooks webhooks={webhooks} now={app.deps.clock.now()} />);
  });
  await webhookScreen(app);
}

function Webhooks({ webhooks, now }: { webhooks: readonly Webhook[]; now: Date }) {
  const language = useLanguage();
  const add = (
    <LinkButton icon="plus" href="/settings/webhooks/new">
      {language.say('webhooks.add')}
    </LinkButton>
  );
  if (webhooks.length === 0)
    return (
      <Empty icon="sliders" title={language.say('webhooks.none.title')} action={add}>
        {language.say('webhooks.none.text')}
      </Empty>
    );
  return (
    <>
      <p class="quiet-text">{language.say('webhooks.text')}</p>
      <Table
        caption={language.say('settings.webhooks')}
        rows={webhooks}
        keyOf={({ id }) => id}
        columns={[
          {
            heading: language.say('webhooks.field.url'),
            cell: ({ id, url, note }) => (
              <>
                <a class="browser" href={`/settings/webhooks/${id}`}>
                  {url}
                </a>
                {note !== '' && <span class="quiet-text second-line browser">{note}</span>}
              </>
            ),
          },
          { heading: language.say('webhooks.state'), cell: (webhook) => <State webhook={webhook} now={now} /> },
          {
            heading: language.say('webhooks.field.events'),
            isNumber: true,
            cell: ({ events }) => language.number(events.length),
          },
          { heading: language.say('webhooks.waits'), cell: (webhook) => waitingText(language, webhook) },
        ]}
      />
      <p>{add}</p>
    </>
  );
}
