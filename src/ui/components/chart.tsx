/** Charts: drawn by a script if there is one, and always shown as a table of the same numbers. */
import { useLanguage } from '../words/index.ts';
import { Island } from './island.tsx';
import { Table } from './table.tsx';

/**
 * One row of bars, one line, or a band of intervals whose lower ends are the values. `colour` is the number of a chart
 * colour. Losses can be negative numbers.
 */
export interface Series {
  label: string;
  values: readonly number[];
  kind: 'bars' | 'line' | 'band';
  /** Of a band: the upper ends. */
  highs?: readonly number[];
  /** On which side of the label its bars stand, where another row has bars on the other side. */
  side?: 'left' | 'right';
  colour: 1 | 2 | 3 | 4;
}

/**
 * Numbers over time, or shares from 0 to 1 with `isShare`. `labels` are the days or hours, one for each value of a
 * series; `heading` is the word for them.
 */
export function Chart({
  title,
  heading,
  labels,
  series,
  isShare = false,
}: {
  title: string;
  heading: string;
  labels: readonly string[];
  series: readonly Series[];
  isShare?: boolean;
}) {
  const language = useLanguage();
  const write = (value: number) => (isShare ? language.percent(value) : language.number(value));
  const columns = series.map(({ label, values, highs }) => ({
    heading: label,
    isNumber: true,
    cell: (at: number) => [values, ...(highs ? [highs] : [])].map((ends) => write(ends[at] ?? 0)).join(' – '),
  }));
  return (
    <figure class="chart">
      <figcaption>
        {series.map(({ label, colour, kind }) => (
          <span key={label} class={`legend series-${colour} ${kind}`}>
            {label}
          </span>
        ))}
      </figcaption>
      <Island
        name="chart"
        data={{ title, hint: language.say('chart.keys'), locale: language.locale, labels, series, isShare }}
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
