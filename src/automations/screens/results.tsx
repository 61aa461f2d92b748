/** The page of the results of an automation, compared with its control group. */
import type { FastifyInstance } from 'fastify';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import { Chart } from '../../ui/components/chart.tsx';
import { Card, Notice } from '../../ui/components/surface.tsx';
import { Table } from '../../ui/components/table.tsx';
import { ask } from '../../ui/operations.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import { readSummary } from '../operations/reports.ts';
import { type Results, readResults } from '../operations/results.ts';
import { editAddress, sendAutomationPage } from './changing.tsx';

/** Registers the page of the results of an automation. */
export async function resultsScreen(app: FastifyInstance): Promise<void> {
  pageRoute<ByUtr>(app, '/automations/:utr/results', async (request, reply) => {
    const { utr } = request.params;
    const { automation_name: title } = await ask(request, readSummary, { utr });
    const { results } = await ask(request, readResults, { utr });
    return sendAutomationPage(request, reply, { utr, title }, <ResultsCard {...{ utr, results }} />);
  });
}

type Compared = Pick<Results['values'][number], 'difference' | 'low' | 'high' | 'days_more'>;

/** A row of the table. */
interface Row extends Compared {
  /** What is compared. */
  name: string;
  /** The figure of the contacts who got the mails. */
  treated: string;
  /** The figure of the control group. */
  held_out: string;
  /** Returns the difference for one contact as text. */
  write: (value: number) => string;
  /** The sentence that says what the difference means. */
  verdict: string;
}

function ResultsCard({ utr, results }: { utr: string; results: Results }) {
  const language = useLanguage();
  const { since, treated, held_out } = results;
  if (since === null)
    return (
      <Card title={language.say('automations.results')}>
        <p>{language.say('automations.results.none')}</p>
        <p>
          <a href={editAddress(utr)}>{language.say('automations.results.set')}</a>
        </p>
      </Card>
    );
  const rows = rowsOf(language, results);
  return (
    <div class="stack">
      <Card title={language.say('automations.results')} isList>
        {rows.map((row) => (
          <Notice key={row.name} tone={(row.low ?? 0) > 0 ? 'good' : 'plain'}>
            {row.name}: {row.verdict}
          </Notice>
        ))}
        <Table
          caption={language.say('automations.results')}
          rows={[
            {
              name: language.say('automations.results.contacts'),
              treated: language.number(treated),
              held_out: language.number(held_out),
              difference: null,
              low: null,
              high: null,
              write: String,
            },
            ...rows,
          ]}
          keyOf={({ name }) => name}
          columns={[
            { heading: language.say('automations.results.what'), cell: ({ name }) => name },
            { heading: language.say('automations.results.treated'), isNumber: true, cell: (row) => row.treated },
            { heading: language.say('automations.results.heldOut'), isNumber: true, cell: (row) => row.held_out },
            {
              heading: language.say('automations.results.difference'),
              isNumber: true,
              cell: ({ difference, low, high, write }) =>
                difference === null || low === null || high === null ? (
                  '–'
                ) : (
                  <span class="named">
                    <span>{write(difference)}</span>
                    <span class="small quiet-text">
                      {language.say('automations.results.range', { low: write(low), high: write(high) })}
                    </span>
                  </span>
                ),
            },
          ]}
        />
      </Card>
      {results.goal !== null && results.goal.days.length > 1 && (
        <Card title={language.say('automations.results.overTime')}>
          <Days days={results.goal.days} />
        </Card>
      )}
      <p class="small quiet-text">
        {language.say('automations.results.about', { date: language.dateTime(new Date(since)) })}
      </p>
    </div>
  );
}

/**
 * The chart of the shares that had reached the goal on each day. Its band is the control group's share plus the interval of the difference,
 * where the share of the other contacts is expected.
 */
function Days({ days }: Pick<NonNullable<Results['goal']>, 'days'>) {
  const language = useLanguage();
  const within = (share: number) => Math.min(1, Math.max(0, share));
  return (
    <Chart
      title={language.say('automations.results.overTime')}
      heading={language.say('automations.results.day')}
      labels={days.map(({ day }) => language.calendarDate(day))}
      isShare
      series={[
        {
          label: language.say('automations.results.treated'),
          colour: 1,
          kind: 'line',
          values: days.map(({ treated }) => treated),
        },
        {
          label: language.say('automations.results.heldOut'),
          colour: 2,
          kind: 'line',
          values: days.map(({ held_out }) => held_out),
        },
        {
          label: language.say('automations.results.band'),
          colour: 1,
          kind: 'band',
          values: days.map(({ held_out, low }) => within(held_out + low)),
          highs: days.map(({ held_out, high }) => within(held_out + high)),
        },
      ]}
    />
  );
}

/** Returns the rows of the table: one for the goal, and one for each currency of values. */
function rowsOf(language: Language, { goal, values, treated, held_out }: Results): Row[] {
  const share = (count: number, total: number) =>
    total === 0 ? '–' : `${language.percent(count / total)} (${language.number(count)})`;
  const points = (value: number) =>
    language.say('automations.results.points', { points: language.number(Math.round(value * 1000) / 10 || 0) });
  const reached: Row[] =
    goal === null
      ? []
      : [
          {
            ...goal,
            name: language.say('automations.results.goal'),
            treated: share(goal.treated, treated),
            held_out: share(goal.held_out, held_out),
            write: points,
            verdict: verdictOf(language, goal, treated, {
              amount: (count) => language.say('contacts.count', { count: Math.round(count) }),
              bound: (count) => language.number(Math.round(count)),
            }),
          },
        ];
  return [
    ...reached,
    ...values.map((value): Row => {
      const money = (amount: number) => language.money(amount, value.currency);
      const mean = (sum: number, people: number) => (people === 0 ? '–' : money(sum / people));
      return {
        ...value,
        name:
          value.currency === ''
            ? language.say('automations.results.value')
            : language.say('automations.results.value.currency', { currency: value.currency }),
        treated: mean(value.treated, treated),
        held_out: mean(value.held_out, held_out),
        write: money,
        verdict: verdictOf(language, value, treated, { amount: money, bound: money }),
      };
    }),
  ];
}

/**
 * Returns in words what the mails brought from all `people` who got them together; or that this is not certain yet, and in how many days it
 * may be. `write` returns a total, and a bound of its range, as text.
 */
function verdictOf(
  language: Language,
  { difference, low, high, days_more }: Compared,
  people: number,
  write: Record<'amount' | 'bound', (total: number) => string>,
): string {
  if (difference === null || low === null || high === null) return language.say('automations.results.little');
  if (days_more === null) return language.say('automations.results.noDifference');
  if (days_more > 0) return language.say('automations.results.days', { count: days_more });
  const isMore = low > 0;
  const total = (value: number) => Math.abs(value) * people;
  return language.say(isMore ? 'automations.results.more' : 'automations.results.less', {
    amount: write.amount(total(difference)),
    low: write.bound(total(isMore ? low : high)),
    high: write.bound(total(isMore ? high : low)),
  });
}
