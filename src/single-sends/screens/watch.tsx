/** What came of the first part of a mailing, or of one that is held because of its results, by recipient domain. */
import { Card } from '../../dashboard/components/surface.tsx';
import { Table } from '../../dashboard/components/table.tsx';
import { recordTime } from '../../dashboard/record-time.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import type { Report } from '../operations/reports.ts';

type Watch = NonNullable<Report['watch']>;

/** `isKept`: the outbox took every mail so far. Nothing for a mailing of which nothing was counted, such as one with an audience too small for a first part. */
export function Watched({ watch, isHeld, isKept }: { watch: Report['watch']; isHeld: boolean; isKept: boolean }) {
  const language = useLanguage();
  if (watch === null) return null;
  const { canary_stage: stage, domains } = watch;
  const isAhead = stage === 'choosing' || stage === 'sending' || stage === 'waiting';
  if (!isAhead && domains.length === 0) return null;
  const title = language.say(stage === null ? 'mailings.domains' : 'mailings.first');
  return (
    <>
      {isAhead && (
        <Card title={title}>
          <p>{progressText(language, watch, isHeld, isKept)}</p>
        </Card>
      )}
      {domains.length > 0 && <Domains domains={domains} />}
    </>
  );
}

function progressText(
  language: ReturnType<typeof useLanguage>,
  { canary_recipients: count, ...watch }: Watch,
  isHeld: boolean,
  isKept: boolean,
): string {
  if (isHeld) return language.say('mailings.first.held', { count });
  const time = recordTime(watch.continues_at ?? '');
  if (time !== null)
    return language.say(isKept ? 'mailings.first.kept' : 'mailings.first.waits', {
      count,
      time: `${language.dateTime(time)} ${language.zone}`,
    });
  return count === 0 ? language.say('mailings.first.chosen') : language.say('mailings.first.sent', { count });
}

function Domains({ domains }: Pick<Watch, 'domains'>) {
  const language = useLanguage();
  const title = language.say('mailings.domains');
  const rows = domains.map((row) => ({ ...row, received: row.delivered - row.kept }));
  const figures = [
    ['mails', 'mailings.domains.mails', false],
    ['received', 'mailings.delivered', false],
    ...(domains.some(({ kept }) => kept > 0) ? ([['kept', 'delivery.kept', false]] as const) : []),
    ['bounces', 'mailings.bounced', true],
    ['failed', 'mailings.failed', true],
    ['complaints', 'mailings.domains.complaints', true],
    ['waiting', 'mailings.waiting', false],
  ] as const;
  return (
    <section class="list">
      <header class="card-head">
        <h2>{title}</h2>
      </header>
      <Table
        caption={title}
        rows={rows}
        keyOf={({ domain }) => domain}
        columns={[
          {
            heading: language.say('mailings.domains.domain'),
            cell: ({ domain }) => (domain === '' ? language.say('mailings.domains.others') : <bdi>{domain}</bdi>),
          },
          ...figures.map(([key, heading, isBad]) => ({
            heading: language.say(heading),
            isNumber: true,
            cell: (row: (typeof rows)[number]) => <Count count={row[key]} mails={row.mails} isBad={isBad} />,
          })),
        ]}
      />
    </section>
  );
}

/** A count, of bad results with their share in the mails. Narrow windows leave out what is 0. */
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
