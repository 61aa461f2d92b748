/** One automation: its mails in their order with the people at each, who is in it, and what one person would get and when. */
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../../clock.ts';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient, ApiFailure } from '../../api-client.ts';
import { StateBadge } from '../../components/campaign-state.tsx';
import { Stats } from '../../components/figures.tsx';
import { Card, Notice } from '../../components/surface.tsx';
import { Table } from '../../components/table.tsx';
import { sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { PersonForecast } from './person-forecast.tsx';
import { type AutomationReport, type Forecast, readSummary, type Summary } from './records.ts';
import { Steps } from './steps.tsx';

export async function automationScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  app.route<{ Params: { utr: string }; Querystring: { email?: string } }>({
    method: READ,
    url: '/automations/:utr',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const api = new ApiClient(app, request);
      const { utr } = request.params;
      const { email = '' } = request.query;
      const summary = await readSummary(api, utr);
      const { report } = await api.get<{ report: AutomationReport }>('/automations/report', { utr });
      const frame = { title: summary.automation_name, section: 'automations' } as const;
      const asked = email === '' ? null : await readForecast(api, utr, email);
      const content = (
        <>
          <Overview summary={summary} report={report} now={clock.now()} />
          <PersonForecast email={email} asked={asked} now={clock.now()} />
        </>
      );
      return sendPage(request, reply, viewer, frame, content);
    },
  });
}

/** The forecast for an address, or what is wrong with the address. */
async function readForecast(api: ApiClient, utr: string, email: string) {
  const answer = await api.send<{ preview: Forecast }>(
    'GET',
    `/automations/preview?${new URLSearchParams({ utr, email })}`,
  );
  if (answer.message !== undefined) return { forecast: answer.message.preview };
  if (answer.errors === undefined || typeof answer.errors === 'string') throw new ApiFailure(answer);
  return { problems: answer.errors };
}

interface OverviewProps {
  summary: Summary;
  report: AutomationReport;
  now: Date;
}

function Overview({ summary, report, now }: OverviewProps) {
  const language = useLanguage();
  const { held_reason: reason } = summary;
  const left = report.people.filter(({ state }) => state === 'left');
  return (
    <>
      {reason !== null && <Notice tone="warn">{language.sentence(reason)}</Notice>}
      <Card title={language.say('automations.people')} action={<StateBadge state={summary.state} />}>
        <Stats
          figures={[
            { label: language.say('automations.people.waiting'), value: language.number(summary.waiting) },
            { label: language.say('automations.people.finished'), value: language.number(summary.finished) },
            { label: language.say('automations.people.left'), value: language.number(summary.left) },
          ]}
        />
        {left.length > 0 && (
          <Table
            caption={language.say('automations.why')}
            rows={left}
            keyOf={({ reason }) => reason ?? ''}
            columns={[
              {
                heading: language.say('automations.why'),
                cell: ({ reason }) => <span class="opening">{language.sentence(reason ?? '–')}</span>,
              },
              {
                heading: language.say('automations.count'),
                isNumber: true,
                cell: ({ count }) => language.number(count),
              },
            ]}
          />
        )}
      </Card>
      <Card title={language.say('automations.steps')}>
        <Steps mails={report.mails} now={now} />
      </Card>
    </>
  );
}
