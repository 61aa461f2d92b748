/** Draws charts with uPlot in the page's colours, and draws them again if the colours change. The arrow keys move the cursor. */
import uPlot from 'uplot';
import type { Series } from '../components/chart.tsx';

interface Data {
  title: string;
  hint: string;
  locale: string;
  labels: string[];
  series: Series[];
  isShare: boolean;
}

const HEIGHT = 200;
/** The width of the labels to the left. */
const AXIS_WIDTH = 48;
/** The minimum width of a label below, the width of each of its characters, and the gap between two labels. */
const LABEL = { least: 90, character: 7, gap: 14 };
const SCHEME = matchMedia('(prefers-color-scheme: dark)');

for (const element of document.querySelectorAll<HTMLElement>('[data-island="chart"]')) {
  start(element, JSON.parse(element.dataset.props ?? '{}'));
}

function start(element: HTMLElement, data: Data): void {
  const readout = document.createElement('p');
  readout.className = 'readout';
  readout.textContent = '\u00a0';
  const canvas = document.createElement('div');
  canvas.className = 'chart-area';
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'application');
  canvas.setAttribute('aria-roledescription', 'chart');
  canvas.setAttribute('aria-label', `${data.title}. ${data.hint}`);
  element.append(readout, canvas);

  const textAt = textsOf(data);
  let chart: uPlot | null = null;
  /** The value that the keys selected last. */
  let selected = data.labels.length;
  const select = () => {
    if (chart === null || selected === data.labels.length) return;
    chart.setCursor({ left: chart.valToPos(selected, 'x'), top: chart.bbox.height / devicePixelRatio / 2 });
  };
  const drawn = () => {
    if (chart !== null) return;
    chart = draw(canvas, readout, data, textAt);
    // uPlot knows the position of a value only after its own microtask.
    queueMicrotask(select);
  };
  // A chart below the window is drawn when it comes near, because drawing keeps a slow phone from answering for a tenth of a second.
  const near = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      near.disconnect();
      drawn();
    },
    { rootMargin: `${HEIGHT}px` },
  );
  near.observe(canvas);
  addEventListener('beforeprint', drawn);
  new ResizeObserver(() => chart?.setSize({ width: canvas.clientWidth, height: HEIGHT })).observe(canvas);
  SCHEME.addEventListener('change', () => {
    if (chart === null) return;
    chart.destroy();
    chart = draw(canvas, readout, data, textAt);
  });
  // A value selected with the keys is announced; one under the mouse is not.
  canvas.addEventListener('focus', () => readout.setAttribute('aria-live', 'polite'));
  canvas.addEventListener('blur', () => readout.removeAttribute('aria-live'));
  canvas.addEventListener('keydown', (event) => {
    const last = data.labels.length - 1;
    const now = chart?.cursor.idx ?? selected;
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    selected = Math.max(0, Math.min(last, next));
    // The value is read out at once, also while the chart is not drawn yet.
    readout.textContent = textAt(selected);
    select();
  });
}

const SHARE = { style: 'percent', maximumFractionDigits: 1 } as const;

/** Returns what is read out of each value. */
function textsOf({ locale, labels, series, isShare }: Data): (at: number) => string {
  const exact = new Intl.NumberFormat(locale, isShare ? SHARE : {});
  return (at) => {
    const parts = series.map(({ label, values, highs }) => {
      const ends = [values, ...(highs ? [highs] : [])].map((theirs) => exact.format(theirs[at] ?? 0));
      return `${label} ${ends.join(' – ')}`;
    });
    return `${labels[at]}: ${parts.join(', ')}`;
  };
}

function draw(
  canvas: HTMLElement,
  readout: HTMLElement,
  { locale, labels, series, isShare }: Data,
  textAt: (at: number) => string,
): uPlot {
  const number = new Intl.NumberFormat(locale, isShare ? SHARE : { notation: 'compact' });
  const colour = (name: string) => colourOf(canvas, name);
  const quiet = colour('quiet');
  const grid = { stroke: colour('line'), width: 1 };
  const font = `12px ${getComputedStyle(canvas).fontFamily}`;
  const bars = (side: Series['side']) =>
    side === undefined
      ? uPlot.paths.bars?.({ size: [0.72, 28], radius: 0.2 })
      : uPlot.paths.bars?.({ size: [0.36, 14], radius: 0.2, align: side === 'left' ? -1 : 1 });
  // Straight lines between values, because a smooth curve would show values that were not measured.
  const line = uPlot.paths.linear?.();
  const values = series.flatMap((each) => each.values);
  const longest = Math.max(...labels.map((label) => label.length));
  const labelWidth = Math.max(LABEL.least, longest * LABEL.character + LABEL.gap);
  const isFlat = values.every((value) => value === 0);
  // An interval is wide at first, and would leave no height for the lines: only its last one decides on the scale.
  const scaled = series.flatMap(({ kind, values, highs = [] }) =>
    kind === 'band' ? [...values.slice(-1), ...highs.slice(-1)] : values,
  );
  // A band is drawn between two invisible lines.
  const drawn = series.flatMap((each) =>
    each.kind === 'band' ? [each, { ...each, values: each.highs ?? [] }] : [each],
  );
  const bands = drawn.flatMap((each, at): uPlot.Band[] =>
    each.kind === 'band' && drawn[at + 1]?.label === each.label
      ? [{ series: [at + 2, at + 1], fill: colour(`band series-${each.colour}`) }]
      : [],
  );
  // Bars begin at zero, because their length shows the value.
  const end = { pad: 0.1, soft: 0, mode: 1 } as const;
  const options: uPlot.Options = {
    width: canvas.clientWidth,
    height: HEIGHT,
    // Room for half of the last label, which stands below the last value.
    padding: [null, labelWidth / 3, null, null],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: false, range: [-0.6, labels.length - 0.4] },
      y: {
        range: isFlat
          ? [0, isShare ? 1 : 4]
          : uPlot.rangeNum(Math.min(...scaled), Math.max(...scaled), { min: end, max: end }),
      },
    },
    axes: [
      {
        font,
        stroke: quiet,
        grid: { show: false },
        ticks: { show: false },
        size: 28,
        splits: (chart) =>
          everyNth(labels.length, Math.ceil((labels.length * labelWidth) / (chart.width - AXIS_WIDTH))),
        values: (_chart, splits) => splits.map((at) => labels[at] ?? ''),
      },
      {
        font,
        stroke: quiet,
        grid,
        ticks: { show: false },
        size: AXIS_WIDTH,
        incrs: [1, 2, 5]
          .flatMap((step) => [...Array(9).keys()].map((power) => step * 10 ** (isShare ? power - 3 : power)))
          .sort((a, b) => a - b),
        values: (_chart, splits) => splits.map((value) => number.format(value)),
      },
    ],
    series: [
      {},
      ...drawn.map((each): uPlot.Series => {
        if (each.kind === 'band') return { label: each.label, width: 0, points: { show: false } };
        const stroke = colour(`series-${each.colour}`);
        const paths = each.kind === 'bars' ? bars(each.side) : line;
        return {
          label: each.label,
          stroke,
          width: each.kind === 'bars' ? 0 : 2,
          // A single value has no line to either side, so it is shown as a point.
          points: { show: each.kind === 'line' && labels.length === 1, size: 10, fill: stroke },
          ...(each.kind === 'bars' && { fill: stroke }),
          ...(paths && { paths }),
        };
      }),
    ],
    bands,
    hooks: {
      setCursor: [
        (chart) => {
          const at = chart.cursor.idx;
          if (at !== null && at !== undefined) readout.textContent = textAt(at);
        },
      ],
    },
  };
  return new uPlot(options, [[...labels.keys()], ...drawn.map((each) => [...each.values])], canvas);
}

/** Returns every nth index, counted from the last one, which is the most interesting. */
function everyNth(length: number, n: number): number[] {
  return [...Array(length).keys()].filter((at) => (length - 1 - at) % Math.max(1, n) === 0);
}

/** Returns the colour that the style sheet gives a class, in a form that the canvas understands. */
function colourOf(parent: HTMLElement, name: string): string {
  const probe = document.createElement('i');
  probe.className = `colour ${name}`;
  parent.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
