/** Charts. A script draws them; without scripts there is only the table of the same numbers. */
import { useLanguage } from '../words/index.ts';
import { Island } from './island.tsx';
import { Table } from './table.tsx';

/** A series of values in a chart. */
export interface Series {
  label: string;
  /** One value for each label of the chart. Losses are negative. For a band: the lower ends of its intervals. */
  values: readonly number[];
  kind: 'bars' | 'line' | 'band';
  /** The upper ends of a band's intervals; absent for other kinds. */
  highs?: readonly number[];
  /** The side of the label on which the bars stand. Set only if a second series has bars on the other side. */
  side?: 'left' | 'right';
  /** The number of a chart colour. */
  colour: 1 | 2 | 3 | 4;
}

/**
 * A chart of numbers over time, or of shares from 0 to 1 if `isShare` is true. `labels` are days or hours, one for each value of a
 * series. `heading` is the word for the labels, such as “Day”.
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
  const format = (value: number) => (isShare ? language.percent(value) : language.number(value));
  const columns = series.map(({ label, values, highs }) => ({
    heading: label,
    isNumber: true,
    cell: (index: number) => [values, ...(highs ? [highs] : [])].map((ends) => format(ends[index] ?? 0)).join(' – '),
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
          keyOf={(index) => index}
          columns={[{ heading, cell: (index: number) => labels[index] }, ...columns]}
        />
      </details>
    </figure>
  );
}
