/** The addresses of an account to which events are sent: the list with the state of each. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../../../deps.ts';
import { ApiClient } from '../../../api-client.ts';
import { LinkButton } from '../../../components/button.tsx';
import { Time } from '../../../components/figures.tsx';
import { Badge, Empty } from '../../../components/surface.tsx';
import { Table } from '../../../components/table.tsx';
import { recordTime } from '../../../record-time.ts';
import { useLanguage } from '../../../words/index.ts';
import { sendSettings } from '../frame.tsx';
import { failureText, type Webhook, waitingText, webhookState } from './records.ts';

export async function webhookScreen(app: FastifyInstance, { clock }: Deps): Promise<void> {
  app.get('/settings/webhooks', async (request, reply) => {
    const { webhooks } = await new ApiClient(app, request).get<{ webhooks: Webhook[] }>('/webhooks');
    return sendSettings(request, reply, 'webhooks', <Webhooks webhooks={webhooks} now={clock.now()} />);
  });
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

/** Whether it is on; if not, why, and what went wrong last. */
export function State({ webhook, now }: { webhook: Webhook; now: Date }) {
  const language = useLanguage();
  const { tone, text } = webhookState(language, webhook);
  const { disabled_reason: reason, failed_at: failedAt, failure, failures } = webhook;
  const at = recordTime(failedAt);
  return (
    <div>
      <Badge tone={tone}>{text}</Badge>
      {reason !== null && <span class="second-line">{language.sentence(reason)}</span>}
      {failures > 0 && failure !== '' && (
        <span class="second-line quiet-text browser">
          <Time at={at} now={now} />: {failureText(language, failure)}
        </span>
      )}
    </div>
  );
}
