/** The results of a campaign: its deliveries, its activity by the hour, and the results of its canary by domain. */
import type { ComponentChildren } from 'preact';
import type { ReportedHour, ShownDeliveryState } from '../../delivery/reporting/mailing-report.ts';
import type { RecipientActivity } from '../../delivery/reporting/recipients.ts';
import { stored } from '../../errors/stored.ts';
import { Chart } from '../../ui/components/chart.tsx';
import { Stats } from '../../ui/components/figures.tsx';
import { Card, Notice } from '../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../ui/components/table.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import { HOUR_MS } from '../../units.ts';
import type { BestHour, Report, Summary, UsualRates } from '../operations/reports.ts';
import { Findings } from './findings.tsx';
import { Waits } from './waits.tsx';

/** The maximum number of hours in the chart, counted from the start. Most opens and clicks happen within them. */
const MAX_HOURS = 72;

interface ReportProps {
  summary: Summary;
  report: Report;
  usual: UsualRates;
}

/** The results of a campaign, those in `children` first. What changes while the campaign is sent is updated while the page is open. */
export function Overview({ summary, report, usual, children }: ReportProps & { children: ComponentChildren }) {
  const language = useLanguage();
  const isSending = summary.state === 'preparing' || summary.state === 'sending';
  return (
    <>
      <div id="mailing-results" class="stack">
        {children}
        {report.funnel.kept > 0 && <KeptNotice report={report} />}
        {report.held_code === 'sending_held' && (
          <Notice tone="warn">{language.fullSentence(report.held_reason ?? '')}</Notice>
        )}
        {isSending && <Waits {...report} />}
        <Watched utr={summary.utr} watch={report.watch} isHeld={summary.state === 'held'} isKept={isAllKept(report)} />
        <Results summary={summary} report={report} usual={usual} />
      </div>
      {report.hours.some(({ opens, clicks }) => opens + clicks > 0) && (
        <Hours hours={report.hours} startsAt={summary.starts_at} />
      )}
      {report.devices.length > 0 && <Devices devices={report.devices} opens_by_class={report.opens_by_class} />}
      {report.best_hour !== null && <BestHourCard results={report.best_hour} />}
      {report.findings !== null && report.findings.length > 0 && (
        <Card title={language.say('campaigns.findings')}>
          <Findings findings={report.findings} />
        </Card>
      )}
    </>
  );
}

/** The rates of recipients who got the mail at their best hour, compared with those who got it at the start. */
function BestHourCard({ results }: { results: BestHour }) {
  const language = useLanguage();
  const { at_best_hour, at_start, compared_at, opened_more, clicked_more } = results;
  const title = language.say('best.title');
  const share = (count: number, { delivered }: { delivered: number }) =>
    delivered === 0 ? '–' : language.percent(count / delivered);
  const rows = [
    { name: language.say('campaigns.opened'), kind: 'opened' as const, more: opened_more },
    { name: language.say('campaigns.clicked'), kind: 'clicked' as const, more: clicked_more },
  ];
  return (
    <Card title={title} isList>
      <Table
        caption={title}
        rows={rows}
        keyOf={({ kind }) => kind}
        columns={[
          { heading: title, cell: ({ name }) => name },
          {
            heading: language.say('best.atHour', { count: at_best_hour.delivered }),
            cell: ({ kind }) => share(at_best_hour[kind], at_best_hour),
          },
          {
            heading: language.say('best.atStart', { count: at_start.delivered }),
            cell: ({ kind }) => share(at_start[kind], at_start),
          },
          { heading: language.say('best.difference'), cell: ({ more }) => differenceText(language, more, compared_at) },
        ]}
      />
    </Card>
  );
}

/** Returns the difference between both groups in words, or that it is too early to compare them. */
function differenceText(language: Language, more: BestHour['opened_more'], comparedAt: string): string {
  if (more === null) {
    const time = recordTime(comparedAt);
    return language.say('best.early', { day: time === null ? '' : language.dateTime(time) });
  }
  const points = (share: number) => language.number(Math.round(Math.abs(share) * 1000) / 10);
  if (more.low > 0) return language.say('best.more', { low: points(more.low), high: points(more.high) });
  if (more.high < 0) return language.say('best.less', { low: points(more.high), high: points(more.low) });
  return language.say('best.none', { low: points(more.low), high: points(more.high) });
}

/** Returns true if the test outbox kept every mail that was handed over. */
function isAllKept({ funnel }: Report): boolean {
  return funnel.kept > 0 && funnel.kept === funnel.delivered;
}

/** Says above all figures that the mails are in the test outbox, so that they stayed on this machine. */
function KeptNotice({ report }: { report: Report }) {
  const { funnel, courier } = report;
  const language = useLanguage();
  return (
    <Notice tone="warn">
      {language.say(isAllKept(report) ? 'campaigns.kept.all' : 'campaigns.kept.some', { count: funnel.kept })}{' '}
      {courier !== 'outbox' && `${language.say('campaigns.kept.before')} `}
      <a href="/outbox">{language.say('campaigns.kept.see')}</a>
    </Notice>
  );
}

function Results({ summary, report, usual }: ReportProps) {
  const language = useLanguage();
  if (report.funnel.recipients === 0) {
    return (
      <Card>
        <p class="quiet-text">
          {language.say(summary.state === 'draft' ? 'campaigns.nothing.draft' : 'campaigns.nothing.yet')}
        </p>
      </Card>
    );
  }
  return (
    <>
      <Rates summary={summary} report={report} usual={usual} />
      <Funnel summary={summary} report={report} />
      {report.reasons.length > 0 && <Reasons utr={summary.utr} reasons={report.reasons} />}
    </>
  );
}

/** The rates of the campaign, each compared with the average of the campaigns before; nothing until a recipient has got the mail. */
function Rates({ summary: { utr }, report: { funnel, tracking }, usual }: ReportProps) {
  const language = useLanguage();
  const received = funnel.delivered - funnel.kept;
  const measured = tracking === 1 ? received - funnel.unmeasured : 0;
  if (received === 0) return null;
  const rate = (name: keyof UsualRates, count: number, total: number, filter: string) => ({
    label: language.say(`campaigns.rate.${name}`),
    ...(total > 0
      ? {
          value: language.percent(count / total),
          detail: difference(language, count / total, usual[name]),
          ...(count > 0 && { href: `/campaigns/${utr}/recipients?${filter}` }),
        }
      : { value: language.say('campaigns.rate.unmeasured') }),
  });
  return (
    <section class="card headline">
      <Stats
        figures={[
          rate('delivered', received, funnel.recipients, 'state=accepted'),
          rate('opened', funnel.people_opens, measured, 'did=opened'),
          rate('clicked', funnel.people_clicks, measured, 'did=clicked'),
          rate('unsubscribed', funnel.unsubscribes, received, 'did=unsubscribed'),
        ]}
      />
    </section>
  );
}

/** Returns in words how many percentage points a share is above or below the usual share. */
export function difference(language: Language, share: number, usual: number | null): string {
  if (usual === null) return language.say('campaigns.rate.first');
  const points = Math.round((share - usual) * 1000) / 10;
  if (points === 0) return language.say('campaigns.rate.same');
  return language.say(points > 0 ? 'campaigns.rate.above' : 'campaigns.rate.below', {
    count: Math.abs(points),
  });
}

/** The numbers of recipients by state and activity, each with a link to these recipients. */
function Funnel({ summary, report }: { summary: Summary; report: Report }) {
  const language = useLanguage();
  const { funnel, tracking } = report;
  const delivered = funnel.delivered - funnel.kept;
  const ofDelivered = (count: number) =>
    delivered === 0 ? undefined : language.say('campaigns.ofDelivered', { share: language.percent(count / delivered) });
  const figure = (label: string, count: number, detail?: string) => ({
    label,
    value: language.number(count),
    ...(detail !== undefined && { detail }),
  });
  const ofActivity = (activityFigure: ReturnType<typeof figure>, count: number, did: RecipientActivity) => ({
    ...activityFigure,
    ...(count > 0 && { href: `/campaigns/${summary.utr}/recipients?did=${did}` }),
  });
  const ofState = (label: string, count: number, state: ShownDeliveryState, detail?: string) => ({
    ...figure(label, count, detail),
    ...(count > 0 && { href: `/campaigns/${summary.utr}/recipients?state=${state}` }),
  });
  const measured = Math.max(0, delivered - funnel.unmeasured);
  const ofMeasured = (count: number) =>
    funnel.unmeasured === 0
      ? ofDelivered(count)
      : language.say('campaigns.ofMeasured', { share: language.percent(count / measured) });
  // Until the first recipient has got the mail, nobody counts as unmeasured, and the figures are 0.
  const measuredFigure = (label: string, count: number) =>
    tracking === 1 && (measured > 0 || funnel.unmeasured === 0)
      ? figure(label, count, ofMeasured(count))
      : { label, value: '–' };
  return (
    <Card title={language.say('campaigns.results')}>
      <Stats
        figures={[
          {
            ...figure(language.say('campaigns.recipients'), funnel.recipients),
            href: `/campaigns/${summary.utr}/recipients`,
          },
          ofState(
            language.say('campaigns.delivered'),
            delivered,
            'accepted',
            language.say('campaigns.ofRecipients', { share: language.percent(delivered / funnel.recipients) }),
          ),
          ...(funnel.kept > 0 ? [ofState(language.say('delivery.kept'), funnel.kept, 'kept')] : []),
          ofActivity(
            measuredFigure(language.say('campaigns.opened'), funnel.people_opens),
            funnel.people_opens,
            'opened',
          ),
          ofActivity(
            measuredFigure(language.say('campaigns.clicked'), funnel.people_clicks),
            funnel.people_clicks,
            'clicked',
          ),
          ofActivity(
            figure(language.say('campaigns.unsubscribed'), funnel.unsubscribes, ofDelivered(funnel.unsubscribes)),
            funnel.unsubscribes,
            'unsubscribed',
          ),
        ]}
      />
      <Stats
        figures={[
          ofState(language.say('campaigns.waiting'), summary.recipients - summary.finished, 'queued'),
          ofState(language.say('campaigns.bounced'), funnel.bounces, 'bounced'),
          ofState(language.say('campaigns.failed'), funnel.failed, 'failed'),
          ofState(language.say('campaigns.suppressed'), funnel.suppressed, 'suppressed'),
          ofState(language.say('campaigns.cancelled'), funnel.cancelled, 'cancelled'),
        ]}
      />
      {tracking === 1 && delivered > 0 && funnel.unmeasured > 0 && (
        <p class="small quiet-text">
          {language.say('campaigns.measured', { share: language.percent(measured / delivered) })}
        </p>
      )}
      <TrackingNote {...report} />
    </Card>
  );
}

/** Says that opens and clicks are not recorded, or how many of them are by proxies and bots; nothing if all are by people. */
function TrackingNote({
  tracking,
  opens_by_class: { proxied, machine },
  machine_clicks,
}: Pick<Report, 'tracking' | 'opens_by_class' | 'machine_clicks'>) {
  const language = useLanguage();
  if (tracking === 0) return <p class="small quiet-text">{language.say('campaigns.untracked')}</p>;
  if (proxied + machine + machine_clicks === 0) return null;
  return (
    <p class="small quiet-text">
      {language.say('campaigns.ofPeople')}
      {proxied > 0 && ` ${language.say('campaigns.proxied', { count: proxied })}`}
      {machine + machine_clicks > 0 &&
        ` ${language.say('campaigns.machines', {
          opens: language.say('campaigns.machines.opens', { count: machine }),
          clicks: language.say('campaigns.machines.clicks', { count: machine_clicks }),
        })}`}
    </p>
  );
}

function Reasons({ utr, reasons }: { utr: string; reasons: Report['reasons'] }) {
  const language = useLanguage();
  const title = language.say('campaigns.reasons');
  return (
    <Card title={title} isList>
      <Table
        caption={title}
        rows={reasons}
        keyOf={({ state, reason }) => `${state} ${stored(reason)}`}
        columns={[
          {
            heading: language.say('campaigns.reason'),
            cell: ({ state, reason }) => (
              <a href={`/campaigns/${utr}/recipients?${new URLSearchParams({ state, reason: stored(reason) })}`}>
                <bdi class="capitalized">{language.sentence(reason)}</bdi>
              </a>
            ),
          },
          { heading: language.say('word.status'), cell: ({ state }) => language.say(`delivery.${state}`) },
          numberColumn(language, 'campaigns.people', 'count'),
        ]}
      />
    </Card>
  );
}

/** Opens and clicks by the kind of device, and how many opens hide their device. */
function Devices({ devices, opens_by_class: { proxied } }: Pick<Report, 'devices' | 'opens_by_class'>) {
  const language = useLanguage();
  const title = language.say('campaigns.devices');
  const [opens, clicks] = (['opens', 'clicks'] as const).map((kind) =>
    devices.reduce((sum, { [kind]: count }) => sum + count, 0),
  );
  const countColumn = (kind: 'opens' | 'clicks', total = 0) => ({
    heading: language.say(`campaigns.${kind}`),
    isNumber: true,
    cell: ({ [kind]: count }: (typeof devices)[number]) => (
      <span>
        {language.number(count)}
        {total > 0 && <span class="small quiet-text"> ({language.percent(count / total)})</span>}
      </span>
    ),
  });
  return (
    <Card title={title} isList>
      <Table
        caption={title}
        rows={devices}
        keyOf={({ device }) => device}
        columns={[
          {
            heading: language.say('campaigns.devices.device'),
            cell: ({ device }) => language.say(`campaigns.devices.${device}`),
          },
          countColumn('opens', opens),
          countColumn('clicks', clicks),
        ]}
      />
      <p class="small quiet-text">
        {language.say('campaigns.devices.about')}
        {proxied > 0 && ` ${language.say('campaigns.devices.hidden', { count: proxied })}`}
      </p>
    </Card>
  );
}

function Hours({ hours, startsAt }: { hours: readonly ReportedHour[]; startsAt: string }) {
  const language = useLanguage();
  const title = language.say('campaigns.hours');
  const shown = sinceStart(hours, recordTime(startsAt)?.getTime() ?? Number.POSITIVE_INFINITY);
  const series = (label: string, colour: 1 | 2 | 3, count: (hour: ReportedHour | undefined) => number) => ({
    label,
    colour,
    kind: 'bars' as const,
    side: colour === 1 ? ('left' as const) : ('right' as const),
    values: shown.map(({ counts }) => count(counts)),
  });
  return (
    <Card title={title}>
      <Chart
        title={title}
        heading={language.say('campaigns.hour')}
        labels={shown.map(({ at }) => language.hour(at))}
        series={[
          series(language.say('campaigns.opens'), 1, (hour) =>
            hour ? hour.opens - hour.machine_opens - hour.proxied_opens : 0,
          ),
          series(language.say('campaigns.clicks'), 2, (hour) => (hour ? hour.clicks - hour.machine_clicks : 0)),
        ]}
      />
    </Card>
  );
}

/** Returns the hours from the start of the campaign to the last open or click, at most MAX_HOURS, including hours without events. */
function sinceStart(hours: readonly ReportedHour[], start: number): { at: Date; counts: ReportedHour | undefined }[] {
  const known = hours.filter(({ opens, clicks }) => opens + clicks > 0);
  const byTime = new Map(known.map((hour) => [recordTime(hour.hour)?.getTime() ?? 0, hour]));
  const times = [...byTime.keys()];
  const first = Math.min(start - (start % HOUR_MS), ...times);
  const count = Math.min((Math.max(...times) - first) / HOUR_MS + 1, MAX_HOURS);
  return Array.from({ length: count }, (_, at) => first + at * HOUR_MS).map((time) => ({
    at: new Date(time),
    counts: byTime.get(time),
  }));
}

type Watch = NonNullable<Report['watch']>;

interface WatchedProps {
  utr: string;
  watch: Report['watch'];
  isHeld: boolean;
  /** True if the test outbox kept every mail so far. */
  isKept: boolean;
}

/**
 * The progress of the first batch, and the results by domain; nothing for a campaign that has neither, such as one whose audience is too
 * small for a first batch.
 */
function Watched({ utr, watch, isHeld, isKept }: WatchedProps) {
  const language = useLanguage();
  if (watch === null) return null;
  const { canary_stage: stage, domains } = watch;
  const isFirstBatch = stage === 'choosing' || stage === 'sending' || stage === 'waiting';
  if (!isFirstBatch && domains.length === 0) return null;
  const title = language.say(stage === null ? 'campaigns.domains' : 'campaigns.first');
  return (
    <>
      {isFirstBatch && (
        <Card title={title}>
          <p>{firstBatchText(language, watch, isHeld, isKept)}</p>
        </Card>
      )}
      {domains.length > 0 && <Domains utr={utr} domains={domains} />}
    </>
  );
}

/** Returns the progress of the first batch in words. */
function firstBatchText(
  language: Language,
  { canary_recipients: count, ...watch }: Watch,
  isHeld: boolean,
  isKept: boolean,
): string {
  if (isHeld) return language.say('campaigns.first.held', { count });
  const time = recordTime(watch.continues_at ?? '');
  if (time !== null)
    return language.say(isKept ? 'campaigns.first.kept' : 'campaigns.first.waits', {
      count,
      time: `${language.dateTime(time)} ${language.zone}`,
    });
  return count === 0 ? language.say('campaigns.first.chosen') : language.say('campaigns.first.sent', { count });
}

/** The results by recipient domain. */
function Domains({ utr, domains }: Pick<Watch, 'domains'> & { utr: string }) {
  const language = useLanguage();
  const title = language.say('campaigns.domains');
  const rows = domains.map((row) => ({ ...row, received: row.delivered - row.kept }));
  // For each column: the name of its count, its heading, whether it is a bad result, and the state in the filter of its links.
  const figures = [
    ['mails', 'campaigns.domains.mails', false, null],
    ['received', 'campaigns.delivered', false, 'accepted'],
    ...(domains.some(({ kept }) => kept > 0) ? ([['kept', 'delivery.kept', false, 'kept']] as const) : []),
    ['bounces', 'campaigns.bounced', true, 'bounced'],
    ['failed', 'campaigns.failed', true, 'failed'],
    ['complaints', 'campaigns.domains.complaints', true, null],
    ['waiting', 'campaigns.waiting', false, null],
  ] as const;
  return (
    <Card title={title} isList>
      <Table
        caption={title}
        rows={rows}
        keyOf={({ domain }) => domain}
        columns={[
          {
            heading: language.say('campaigns.domains.domain'),
            cell: ({ domain }) =>
              domain === '' ? (
                language.say('campaigns.domains.others')
              ) : (
                <a href={`/campaigns/${utr}/recipients?${new URLSearchParams({ domain })}`}>
                  <bdi>{domain}</bdi>
                </a>
              ),
          },
          ...figures.map(([key, heading, isBad, state]) => ({
            heading: language.say(heading),
            isNumber: true,
            cell: (row: (typeof rows)[number]) => {
              const count = <Count count={row[key]} mails={row.mails} isBad={isBad} />;
              if (state === null || row[key] === 0 || row.domain === '') return count;
              const query = new URLSearchParams({ domain: row.domain, state });
              return <a href={`/campaigns/${utr}/recipients?${query}`}>{count}</a>;
            },
          })),
        ]}
      />
    </Card>
  );
}

/** A count; a bad result also shows its share of the mails. Narrow windows hide zeros. */
function Count({ count, mails, isBad }: { count: number; mails: number; isBad: boolean }) {
  const language = useLanguage();
  if (count === 0) return <span class="zero">{language.number(0)}</span>;
  return (
    <span>
      {language.number(count)}
      {isBad && <span class="small quiet-text"> ({language.percent(count / mails)})</span>}
    </span>
  );
}
