/** Draws charts with uPlot in the colours of the page, and again when the colours change. The arrow keys move the cursor of a chart. */
import uPlot from 'uplot';
import type { Series } from '../components/chart.tsx';

/** The properties of the island. */
interface Data {
  title: string;
  hint: string;
  locale: string;
  labels: string[];
  series: Series[];
  isShare: boolean;
}

/** The height of a chart in pixels. */
const HEIGHT = 200;
/** The width of the labels to the left of a chart, in pixels. */
const AXIS_WIDTH = 48;
/** The minimum width of a label below a chart, the width of one of its characters, and the gap between two labels, in pixels. */
const LABEL = { minimum: 90, character: 7, gap: 14 };
/** The share of the space of a value that bars take, their maximum width in pixels, and the share of the width that rounds their corners. */
const BAR = { share: 0.72, maxWidth: 28, rounding: 0.2 };
const DARK_SCHEME = matchMedia('(prefers-color-scheme: dark)');

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
  /** The index of the value that the keys selected last; the number of values before the keys were used. */
  let selected = data.labels.length;
  const moveCursor = () => {
    if (chart === null || selected === data.labels.length) return;
    chart.setCursor({ left: chart.valToPos(selected, 'x'), top: chart.bbox.height / devicePixelRatio / 2 });
  };
  const drawOnce = () => {
    if (chart !== null) return;
    chart = draw(canvas, readout, data, textAt);
    // uPlot knows the position of a value only after a microtask of its own.
    queueMicrotask(moveCursor);
  };
  // A chart below the window is drawn when the user scrolls near it, because drawing blocks a slow phone for a tenth of a second.
  const near = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      near.disconnect();
      drawOnce();
    },
    { rootMargin: `${HEIGHT}px` },
  );
  near.observe(canvas);
  addEventListener('beforeprint', drawOnce);
  new ResizeObserver(() => chart?.setSize({ width: canvas.clientWidth, height: HEIGHT })).observe(canvas);
  DARK_SCHEME.addEventListener('change', () => {
    if (chart === null) return;
    chart.destroy();
    chart = draw(canvas, readout, data, textAt);
  });
  // Screen readers announce a value that the keys select, but not a value under the mouse.
  canvas.addEventListener('focus', () => readout.setAttribute('aria-live', 'polite'));
  canvas.addEventListener('blur', () => readout.removeAttribute('aria-live'));
  canvas.addEventListener('keydown', (event) => {
    const last = data.labels.length - 1;
    const current = chart?.cursor.idx ?? selected;
    const next = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    selected = Math.max(0, Math.min(last, next));
    // The text is shown at once, even if the chart is not drawn yet.
    readout.textContent = textAt(selected);
    moveCursor();
  });
}

const SHARE = { style: 'percent', maximumFractionDigits: 1 } as const;

/** Returns a function that returns the text about the values at an index: the label, and the value of each series. */
function textsOf({ locale, labels, series, isShare }: Data): (index: number) => string {
  const exact = new Intl.NumberFormat(locale, isShare ? SHARE : {});
  return (index) => {
    const parts = series.map(({ label, values, highs }) => {
      const ends = [values, ...(highs ? [highs] : [])].map((numbers) => exact.format(numbers[index] ?? 0));
      return `${label} ${ends.join(' – ')}`;
    });
    return `${labels[index]}: ${parts.join(', ')}`;
  };
}

/** Draws the chart. The readout shows the values under its cursor. */
function draw(
  canvas: HTMLElement,
  readout: HTMLElement,
  { locale, labels, series, isShare }: Data,
  textAt: (index: number) => string,
): uPlot {
  const number = new Intl.NumberFormat(locale, isShare ? SHARE : { notation: 'compact' });
  const colour = (name: string) => colourOf(canvas, name);
  const quiet = colour('quiet');
  const grid = { stroke: colour('line'), width: 1 };
  const font = `12px ${getComputedStyle(canvas).fontFamily}`;
  const bars = (side: Series['side']) =>
    side === undefined
      ? uPlot.paths.bars?.({ size: [BAR.share, BAR.maxWidth], radius: BAR.rounding })
      : uPlot.paths.bars?.({
          size: [BAR.share / 2, BAR.maxWidth / 2],
          radius: BAR.rounding,
          align: side === 'left' ? -1 : 1,
        });
  // Straight lines between values, because a smooth curve would show values that were not measured.
  const line = uPlot.paths.linear?.();
  const longest = Math.max(...labels.map((label) => label.length));
  const labelWidth = Math.max(LABEL.minimum, longest * LABEL.character + LABEL.gap);
  const isFlat = series.every(({ values }) => values.every((value) => value === 0));
  // The first intervals of a band are wide and would leave no height for the lines, so only its last interval counts for the scale.
  const scaled = series.flatMap(({ kind, values, highs = [] }) =>
    kind === 'band' ? [...values.slice(-1), ...highs.slice(-1)] : values,
  );
  // A band is drawn between two invisible lines.
  const drawn = series.flatMap((each) =>
    each.kind === 'band' ? [each, { ...each, values: each.highs ?? [] }] : [each],
  );
  // uPlot counts the series from 1, because 0 is the x axis.
  const bands = drawn.flatMap((each, index): uPlot.Band[] =>
    each.kind === 'band' && drawn[index + 1]?.label === each.label
      ? [{ series: [index + 2, index + 1], fill: colour(`band series-${each.colour}`) }]
      : [],
  );
  // Bars begin at zero, because their length shows the value.
  const scaleEnd = { pad: 0.1, soft: 0, mode: 1 } as const;
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
          : uPlot.rangeNum(Math.min(...scaled), Math.max(...scaled), { min: scaleEnd, max: scaleEnd }),
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
        values: (_chart, splits) => splits.map((index) => labels[index] ?? ''),
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
          const { idx: index } = chart.cursor;
          if (index !== null && index !== undefined) readout.textContent = textAt(index);
        },
      ],
    },
  };
  return new uPlot(options, [[...labels.keys()], ...drawn.map((each) => [...each.values])], canvas);
}

/** Returns every nth index below `length`, counted from the last index, which is the most interesting one. */
function everyNth(length: number, n: number): number[] {
  return [...Array(length).keys()].filter((index) => (length - 1 - index) % Math.max(1, n) === 0);
}

/** Returns the colour that the style sheet gives the class `name`, in a form that the canvas understands. */
function colourOf(parent: HTMLElement, name: string): string {
  const probe = document.createElement('i');
  probe.className = `colour ${name}`;
  parent.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
