/** Draws the rate of campaigns against their size as an SVG that is readable on light and dark pages. */
import type { Table } from './report.ts';

const WIDTH = 720;
const HEIGHT = 320;
const LEFT = 70;
const RIGHT = 20;
const TOP = 40;
const BOTTOM = 50;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #333 } .grid { stroke: #8886 } .ours, .ours-dot { stroke: #1766a8 } .floor { stroke: #a35200 }
  .ours-text { fill: #1766a8 } .floor-text { fill: #a35200 } path { fill: none; stroke-width: 2.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .ours { stroke: #6db3f2 } .floor { stroke: #f0a75a } .ours-text { fill: #6db3f2 } .floor-text { fill: #f0a75a }
  }`;

/** Returns the chart of a table of `bench:sizes`: mails a second, by the service and by the floor, for each number of recipients. */
export function rateChart(table: Table): string {
  const points = Object.entries(table).map(([size, row]) => ({
    size,
    ours: Number(row['mails/s']),
    floor: Number(row['floor/s']),
  }));
  const most = niceAbove(Math.max(...points.flatMap(({ ours, floor }) => [ours, floor])));
  const x = (at: number) => LEFT + (at / Math.max(1, points.length - 1)) * (WIDTH - LEFT - RIGHT - 40) + 20;
  const y = (rate: number) => HEIGHT - BOTTOM - (rate / most) * (HEIGHT - TOP - BOTTOM);
  const spoken = points.map(({ size, ours, floor }) => `${size} recipients: ${ours}, floor ${floor}`).join('; ');
  const line = (kind: 'ours' | 'floor') =>
    `<path class="${kind}" d="${points.map((point, at) => `${at === 0 ? 'M' : 'L'}${x(at)} ${y(point[kind])}`).join('')}"/>`;
  const label = (kind: 'ours' | 'floor', text: string) =>
    `<text class="${kind}-text" x="${x(points.length - 1)}" y="${y(points.at(-1)?.[kind] ?? 0) - 10}" text-anchor="end">${text}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Mails a second. ${spoken}">`,
    `<style>${STYLE}</style>`,
    `<text x="${LEFT}" y="20">Mails a second, by the number of recipients</text>`,
    ...[0, 1, 2, 3, 4].map((step) => {
      const rate = (most / 4) * step;
      return `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(rate)}" y2="${y(rate)}"/><text x="${LEFT - 8}" y="${y(rate) + 4}" text-anchor="end">${rate}</text>`;
    }),
    ...points.map(
      ({ size }, at) => `<text x="${x(at)}" y="${HEIGHT - BOTTOM + 24}" text-anchor="middle">${size}</text>`,
    ),
    line('floor'),
    line('ours'),
    label('floor', 'SMTP client alone'),
    label('ours', 'Sendlark, 100 tracked links'),
    '</svg>\n',
  ].join('\n');
}

/** Returns the next larger number whose quarters are easy to read. */
function niceAbove(rate: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rate)));
  return [1, 2, 4, 6, 8, 10].map((step) => step * power).find((step) => step >= rate) ?? rate;
}
