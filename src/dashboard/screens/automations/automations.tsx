/** The automations of the account, with their figures. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../../../deps.ts';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient } from '../../api-client.ts';
import { Badge, Empty } from '../../components/surface.tsx';
import { Pager, Table } from '../../components/table.tsx';
import { languageOf, sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { automationScreen } from './automation.tsx';
import { type Automation, stateOf } from './records.ts';

const ROWS = 50;

/** Registers the list and the page of one automation. */
export async function automationScreens(app: FastifyInstance, { clock }: Deps): Promise<void> {
  app.route<{ Querystring: { before?: string } }>({
    method: READ,
    url: '/automations',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const { before } = request.query;
      const query = { order: 'newest', limit: String(ROWS + 1), ...(before !== undefined && { before_id: before }) };
      const { automations } = await new ApiClient(app, request).get<{ automations: Automation[] }>(
        '/automations',
        query,
      );
      const frame = { title: languageOf(request, viewer).say('nav.automations'), section: 'automations' } as const;
      const content = <Automations automations={automations} isLater={before !== undefined} />;
      return sendPage(request, reply, viewer, frame, content);
    },
  });
  await app.register(automationScreen, { clock });
}

/** `automations` has one more than a page shows where there is a further page. */
function Automations({ automations, isLater }: { automations: readonly Automation[]; isLater: boolean }) {
  const language = useLanguage();
  const shown = automations.slice(0, ROWS);
  if (shown.length === 0 && !isLater) {
    return (
      <Empty icon="path" title={language.say('automations.empty.title')}>
        {language.say('automations.empty.text')}
      </Empty>
    );
  }
  const share = (part: number, whole: number) => (whole === 0 ? '–' : language.percent(part / whole));
  return (
    <>
      <Table
        caption={language.say('nav.automations')}
        rows={shown}
        keyOf={({ id }) => id}
        columns={[
          {
            heading: language.say('automations.name'),
            cell: ({ utr, automation_name: name }) => (
              <a href={`/automations/${utr}`}>
                <bdi>{name}</bdi>
              </a>
            ),
          },
          {
            heading: language.say('automations.state'),
            cell: (automation) => {
              const { key, tone } = stateOf(automation);
              return <Badge tone={tone}>{language.say(key)}</Badge>;
            },
          },
          {
            heading: language.say('automations.mails'),
            isNumber: true,
            cell: ({ automation_schedule_count: count = 0 }) => language.number(count),
          },
          {
            heading: language.say('automations.delivered'),
            isNumber: true,
            cell: ({ total_delivered: count }) => language.number(count),
          },
          {
            heading: language.say('automations.opened'),
            isNumber: true,
            cell: (row) => share(row.total_unique_opens, row.total_delivered),
          },
          {
            heading: language.say('automations.left'),
            isNumber: true,
            cell: (row) => share(row.total_unsubscribe, row.total_delivered),
          },
        ]}
      />
      <Pager
        first={isLater ? '/automations' : null}
        next={automations.length > ROWS ? `/automations?before=${shown.at(-1)?.id}` : null}
      />
    </>
  );
}
