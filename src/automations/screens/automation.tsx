/** One automation: its mails in their order with the people at each, who is in it, and what one person would get and when. */
import type { FastifyInstance } from 'fastify';
import { measured } from '../../dashboard/components/campaign-list.tsx';
import { StateBadge } from '../../dashboard/components/campaign-state.tsx';
import { Stats, Time } from '../../dashboard/components/figures.tsx';
import { Card, Notice } from '../../dashboard/components/surface.tsx';
import { Table } from '../../dashboard/components/table.tsx';
import { ask } from '../../dashboard/operations.ts';
import { sendPage } from '../../dashboard/page.tsx';
import { texts } from '../../dashboard/sign-in/fields.ts';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { READ } from '../../http/pages/layout.ts';
import { readWindow } from '../../sending-times/operations.ts';
import type { Target } from '../../single-sends/screens/compose/choices.ts';
import { readChoices } from '../../single-sends/screens/compose/choices.ts';
import { Waits } from '../../single-sends/screens/waits.tsx';
import type { Clock } from '../../time/clock.ts';
import { type Report, type ReportedMail, readReport } from '../operations/report.ts';
import { readSeries, type Series } from '../operations/series.ts';
import { readSummary, type Summary } from '../operations/summaries.ts';
import { mailAddress } from './changing.tsx';
import { PersonForecast, readForecast } from './forecast.tsx';
import { Actions } from './state.tsx';

export async function automationScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  app.route<{ Params: { utr: string }; Querystring: { email?: string } }>({
    method: READ,
    url: '/automations/:utr',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const { utr } = request.params;
      const [email = ''] = texts(request.query.email);
      const summary = await ask(request, readSummary, { utr });
      const frame = {
        title: summary.automation_name,
        section: 'automations',
        back: { href: '/automations', label: 'nav.automations' },
      } as const;
      const [{ report }, { series }, { targets }, asked, times] = await Promise.all([
        ask(request, readReport, { utr }),
        ask(request, readSeries, { utr }),
        readChoices(request),
        readForecast(request, utr, email),
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
  report: Report;
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

interface StepsProps {
  utr: string;
  mails: readonly ReportedMail[];
  now: Date;
  /** Whether each mail leads to where it is changed. */
  canChange: boolean;
}

export function Steps({ utr, mails, now, canChange }: StepsProps) {
  const language = useLanguage();
  if (mails.length === 0) return <p class="quiet-text">{language.say('automations.noMails')}</p>;
  return (
    <ol class="mail-steps">
      {mails.map((mail, at) => (
        <li key={mail.utr ?? `deleted-${at}`} class={mail.utr === null ? 'deleted' : undefined}>
          <p class="small quiet-text">
            <Wait mail={mail} />
          </p>
          <h3>
            {canChange && mail.utr !== null ? (
              <a href={mailAddress(utr, mail.utr)}>
                <bdi>{mail.subject}</bdi>
              </a>
            ) : (
              <bdi>{mail.subject}</bdi>
            )}
          </h3>
          <p>
            {mail.waiting === 0 || mail.utr === null ? (
              language.say('automations.waiting.none')
            ) : (
              <a href={mailAddress(utr, mail.utr, 'waiting')}>
                {language.say('automations.waiting', { count: mail.waiting })}
              </a>
            )}
            {mail.next_due_at !== null && (
              <>
                {' '}
                {language.say('automations.next')} <Time at={new Date(mail.next_due_at)} now={now} />
              </>
            )}
          </p>
          <dl class="inline-figures">
            <Figure label={language.say('mailings.delivered')} value={language.number(mail.delivered - mail.kept)} />
            {mail.kept > 0 && <Figure label={language.say('delivery.kept')} value={language.number(mail.kept)} />}
            <Figure label={language.say('mailings.opened')} value={language.share(mail.people_opens, measured(mail))} />
            <Figure label={language.say('mailings.left')} value={language.number(mail.unsubscribes)} />
            <Figure label={language.say('mailings.bounced')} value={language.number(mail.bounces)} />
          </dl>
        </li>
      ))}
    </ol>
  );
}

/** How long after the one before it a mail comes; a deleted one never. */
export function Wait({
  mail: { utr, waiting_type: unit, waiting_period: period },
}: {
  mail: Pick<ReportedMail, 'utr' | 'waiting_type' | 'waiting_period'>;
}) {
  const language = useLanguage();
  if (utr === null) return <>{language.say('automations.deleted')}</>;
  if (unit === null || unit === 'instantly' || !period) return <>{language.say('automations.atOnce')}</>;
  const key = unit === 'days' ? 'automations.after.days' : 'automations.after.hours';
  return <>{language.say(key, { count: period })}</>;
}

function Figure({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}
