/** How the audience grew and shrank over the last 30 days. */
import { Chart } from '../../components/chart.tsx';
import { Stats } from '../../components/figures.tsx';
import { Card } from '../../components/surface.tsx';
import { useLanguage } from '../../words/index.ts';
import type { Day, Overview } from './overview.ts';

export function Audience({ audience: { contacts, days } }: Pick<Overview, 'audience'>) {
  const language = useLanguage();
  const total = (count: (day: Day) => number) => days.reduce((sum, day) => sum + count(day), 0);
  const lost = ({ deleted, unsubscribed, suppressed }: Day) => deleted + unsubscribed + suppressed;
  const title = language.say('home.audience.title');
  const series = (label: string, colour: 1 | 2 | 3 | 4, count: (day: Day) => number) => ({
    label,
    colour,
    kind: 'bars' as const,
    values: days.map(count),
  });
  return (
    <Card title={title}>
      <Stats
        figures={[
          { label: language.say('home.audience.now'), value: language.number(contacts) },
          { label: language.say('home.audience.joined'), value: language.number(total(({ added }) => added)) },
          { label: language.say('home.audience.lost'), value: language.number(total(lost)) },
        ]}
      />
      {total(({ added }) => added) + total(lost) === 0 ? (
        <p class="quiet-text">{language.say('home.audience.none')}</p>
      ) : (
        <Chart
          title={title}
          heading={language.say('home.audience.day')}
          labels={days.map(({ day }) => language.calendarDay(day))}
          series={[
            series(language.say('home.audience.joined'), 1, ({ added }) => added),
            series(language.say('home.audience.lost'), 2, (day) => -lost(day)),
          ]}
        />
      )}
    </Card>
  );
}
