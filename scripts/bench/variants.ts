/**
 * Simulates A/B tests at which somebody looks every hour for a day, and stops at the first look that shows a difference. The table says how
 * often this person is wrong: with the intervals that hold at all looks, and with the usual test, which is for one look. The column
 * `covered` is the share of tests whose intervals contain the true rates at all looks.
 *
 *   npm run bench:variants -- [tests]
 */
import { watch } from '../../fixtures/watched-tests.ts';
import { report, type Table } from './report.ts';

const tests = Number(process.argv[2] ?? 20_000);
/** The recipients of each variant, and the true rates of the variants. */
const CASES = [
  [100, [0.2, 0.2]],
  [1000, [0.02, 0.02]],
  [1000, [0.1, 0.1]],
  [500, [0.5, 0.5]],
  [1000, [0.1, 0.1, 0.1]],
  [1000, [0.02, 0.02, 0.02, 0.02]],
  [1000, [0.02, 0.05]],
  [1000, [0.1, 0.112, 0.06]],
  [500, [0.3, 0.5]],
] as const;

const percent = (share: number) => `${(share * 100).toFixed(2)} %`;
const table: Table = {};
for (const arrival of ['at_once', 'one_by_one'] as const)
  for (const [people, rates] of CASES) {
    const { wrong, wrongByOneLook, covered } = watch(1, { tests, people, rates, arrival });
    const name = `${people} people each, ${rates.map((rate) => `${(rate * 100).toFixed(1)} %`).join(' / ')}, ${arrival.replaceAll('_', ' ')}`;
    table[name] = { wrong: percent(wrong), 'wrong by one look': percent(wrongByOneLook), covered: percent(covered) };
  }
report(table, [`${tests} simulated tests each, looked at 24 times`]);
