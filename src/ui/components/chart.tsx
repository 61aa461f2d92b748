/** Charts: drawn by a script if there is one, and always shown as a table of the same numbers. */
import { useLanguage } from '../words/index.ts';
import { Island } from './island.tsx';
import { Table } from './table.tsx';

/** One row of bars or one line. `colour` is the number of a chart colour. Losses can be negative numbers. */
export interface Series {
  label: string;
  values: readonly number[];
  kind: 'bars' | 'line';
  /** On which side of the label its bars stand, where another row has bars on the other side. */
  side?: 'left' | 'right';
  colour: 1 | 2 | 3 | 4;
}

/** Numbers over time. `labels` are the days or hours, one for each value of a series; `heading` is the word for them. */
export function Chart({
  title,
  heading,
  labels,
  series,
}: {
  title: string;
  heading: string;
  labels: readonly string[];
  series: readonly Series[];
}) {
  const language = useLanguage();
  const columns = series.map(({ label, values }) => ({
    heading: label,
    isNumber: true,
    cell: (at: number) => language.number(values[at] ?? 0),
  }));
  return (
    <figure class="chart">
      <figcaption>
        {series.map(({ label, colour }) => (
          <span key={label} class={`legend series-${colour}`}>
            {label}
          </span>
        ))}
      </figcaption>
      <Island
        name="chart"
        data={{ title, hint: language.say('chart.keys'), locale: language.locale, labels, series }}
      />
      <details>
        <summary>{language.say('chart.numbers')}</summary>
        <Table
          caption={title}
          rows={[...labels.keys()].reverse()}
          keyOf={(at) => at}
          columns={[{ heading, cell: (at: number) => labels[at] }, ...columns]}
        />
      </details>
    </figure>
  );
}
