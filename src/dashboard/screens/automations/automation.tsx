/** One automation: its mails in their order with the people at each, who is in it, and what one person would get and when. */
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../../clock.ts';
import { READ } from '../../../http/pages/layout.ts';
import { readWindow } from '../../../sending-times/operations.ts';
import type { Target } from '../../../single-sends/screens/compose/choices.ts';
import { readChoices } from '../../../single-sends/screens/compose/choices.ts';
import { Waits } from '../../../single-sends/screens/waits.tsx';
import { ApiClient } from '../../api-client.ts';
import { StateBadge } from '../../components/campaign-state.tsx';
import { Stats } from '../../components/figures.tsx';
import { Card, Notice } from '../../components/surface.tsx';
import { Table } from '../../components/table.tsx';
import { ask } from '../../operations.ts';
import { sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { readSeries, type Series } from './edit/series.ts';
import { Actions } from './edit/state.tsx';
import { PersonForecast } from './person-forecast.tsx';
import { type AutomationReport, readForecast, readSummary, type Summary } from './records.ts';
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
      const frame = {
        title: summary.automation_name,
        section: 'automations',
        back: { href: '/automations', label: 'nav.automations' },
      } as const;
      const [series, { targets }, asked, times] = await Promise.all([
        readSeries(api, utr),
        readChoices(request),
        readForecast(api, utr, email),
        ask(request, readWindow, {}),
      ]);
      const target = targets.find(({ value }) => value === series.automation_for);
      const canChange = viewer.role !== 'viewer';
      const content = (
        <>
          <WhoEnters series={series} target={target} />
          {summary.state === 'live' && <Waits waits_until={times.waits_until} />}
          {canChange && <Actions series={series} target={target} />}
          <Overview {...{ summary, report, canChange }} now={clock.now()} />
          <PersonForecast email={email} asked={asked} now={clock.now()} isTrial={series.is_live === 0} />
        </>
      );
      return sendPage(request, reply, viewer, frame, content);
    },
  });
}

/** Who enters the automation, in words, and when people leave it. */
function WhoEnters({ series, target }: { series: Series; target: Target | undefined }) {
  const language = useLanguage();
  const id = target?.value.split('_').at(-1);
  return (
    <Card title={language.say('automations.who')}>
      {target === undefined ? (
        <p>{language.say('automations.who.nobody')}</p>
      ) : (
        <p>
          {language.say(`automations.who.${target.kind}`, { name: target.name })}{' '}
          <a href={target.kind === 'segment' ? `/people/segments/${id}` : `/people?contact_type_id=${id}`}>
            {language.say('automations.who.now', { count: target.people })}
          </a>
        </p>
      )}
      <p class="quiet-text">
        {language.say(series.exit_criteria === 1 ? 'automations.leave.target' : 'automations.leave.end')}
      </p>
    </Card>
  );
}

interface OverviewProps {
  summary: Summary;
  report: AutomationReport;
  now: Date;
  canChange: boolean;
}

function Overview({ summary, report, now, canChange }: OverviewProps) {
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
        <Steps utr={summary.utr} mails={report.mails} now={now} canChange={canChange} />
      </Card>
    </>
  );
}
