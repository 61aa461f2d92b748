/**
 * Simulates sends with good and bad results for docs/canary.md. Prints how many sends are held, and how many mails had been sent by then:
 *
 *   node scripts/bench/canary.ts [RUNS [SEED]]
 */
import { type Rates, simulate } from '../../fixtures/canary-runs.ts';
import { randomOf } from '../../fixtures/random.ts';

const PEOPLE = 100_000;
const runs = Number(process.argv[2] ?? 500);
const random = randomOf(Number(process.argv[3] ?? 1));

const percent = (share: number) => `${Number((share * 100).toFixed(3))} %`;
const row = (cells: (string | number | null)[]) => console.log(`| ${cells.map((cell) => cell ?? '–').join(' | ')} |`);
const name = ({ bounces = 0, complaints = 0 }: Rates) =>
  bounces > 0 ? `${percent(bounces)} bounce` : `${percent(complaints)} complain`;

row(['everywhere in the list', `held in ${runs} sends`, 'mails before the hold: half of them', '95 in 100']);
row(['---', '---:', '---:', '---:']);
const bounces = [0.01, 0.02, 0.03, 0.04, 0.045, 0.06, 0.08, 0.1, 0.2, 0.5];
const complaints = [0.0003, 0.0005, 0.002, 0.003, 0.005, 0.01];
for (const rates of [
  ...bounces.map((share) => ({ bounces: share })),
  ...complaints.map((share) => ({ complaints: share })),
]) {
  const { held, half, most } = simulate({ people: PEOPLE, ratesAt: () => rates }, runs, random);
  row([name(rates), held, half, most]);
}

console.log();
row(['last tenth of the list', 'canary', `held in ${runs} sends`, 'mails before the hold: half of them', '95 in 100']);
row(['---', '---:', '---:', '---:', '---:']);
for (const share of [0.6, 0.8, 0.95])
  for (const canaryPercent of [0, 1, 2, 5]) {
    const ratesAt = (place: number) => ({ bounces: place >= PEOPLE * 0.9 ? share : 0.01 });
    const { held, half, most } = simulate({ people: PEOPLE, ratesAt, canaryPercent }, runs, random);
    row([`${percent(share)} bounce, others 1 %`, `${canaryPercent} %`, held, half, most]);
  }
