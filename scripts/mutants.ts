/**
 * Makes small faults in `src`, one at a time, and says how many the unit tests notice: a comparison turned, a constant changed, a call left
 * out, a condition negated, in code and in SQL. The places are random and the same for the same seed; at least half are in the core. It
 * works in copies of the tree. For each fault it runs up to six test files of the changed file, the nearest first, until one fails or
 * takes too long. Types are not checked, though `npm test` checks them: a fault counts only where a test notices it.
 *
 *     npm run test:mutants -- [count] [seed] [--also=FOLDER]
 *
 * `--also` draws only places that another tree has as well, so that the shares of two commits can be compared. Each result is kept in
 * test/output/ at once; the same command goes on after a stop.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { randomOf } from '../fixtures/random.ts';
import { Copy } from './mutants/copy.ts';
import { type Change, type Place, placesOf } from './mutants/places.ts';
import { nearestTests, testFiles } from './test/choose.ts';

const CORE = /^src\/(delivery|audience|automations)\//;
/** Texts, and what only browsers run. */
const NOT_DRAWN = /\/(words|styles|islands|browser)\//;
const MAX_TEST_FILES = 6;
const COPIES = 2;

interface Mutant {
  id: string;
  file: string;
  code: string;
  change: Change;
}

/** A line of the file of results. */
interface Result {
  id: string;
  /** The test that failed; null if all of them passed. */
  noticed: string | null;
  tests: readonly string[];
  seconds: number;
}

const { values, positionals } = parseArgs({ options: { also: { type: 'string' } }, allowPositionals: true });
const [count = 120, seed = 1] = positionals.map(Number);
const output = `test/output/mutants-${count}-${seed}.jsonl`;
const unitTests = new Set(testFiles().unit);
const mutants = draw(count, seed);
const results = readResults();
const left = mutants.filter(({ id }) => !results.has(id));
/** Whether a test file passes without a fault. One that fails by itself says nothing. */
const passes = new Map<string, boolean>();

mkdirSync('test/output', { recursive: true });
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
await Promise.all(Array.from({ length: COPIES }, () => work()));
console.log(table());
for (const mutant of mutants) {
  const result = results.get(mutant.id);
  if (result?.noticed === null)
    console.log(`survived: ${described(mutant)}\n  tests: ${result.tests.join(' ') || 'none'}`);
}

async function work(): Promise<void> {
  const copy = new Copy();
  process.once('exit', () => copy.remove());
  for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
    const from = performance.now();
    const tests = nearestTests(mutant.file)
      .filter((file) => unitTests.has(file))
      .slice(0, MAX_TEST_FILES);
    const noticed = await noticedBy(copy, mutant, tests);
    const result = { id: mutant.id, noticed, tests, seconds: Math.round((performance.now() - from) / 1000) };
    results.set(mutant.id, result);
    appendFileSync(output, `${JSON.stringify({ ...result, fault: described(mutant) })}\n`);
    console.log(
      `${results.size} of ${mutants.length}: ${noticed === null ? 'survived' : 'noticed'}, ${described(mutant)}`,
    );
  }
}

/** The first test that fails because of a fault. */
async function noticedBy(copy: Copy, mutant: Mutant, tests: readonly string[]): Promise<string | null> {
  const { file, code, change } = mutant;
  if (tests.length === 0) return null;
  copy.write(file, code.slice(0, change.start) + change.text + code.slice(change.end));
  const failure = await copy.run(tests);
  copy.write(file, code);
  if (failure === null) return null;
  const isClean = passes.get(failure.file) ?? (await copy.run([failure.file])) === null;
  passes.set(failure.file, isClean);
  if (isClean) return failure.title;
  const others = tests.slice(tests.indexOf(failure.file) + 1);
  return noticedBy(copy, mutant, others);
}

function draw(count: number, seed: number): Mutant[] {
  const random = randomOf(seed);
  const files = globSync('src/**/*.{ts,tsx}')
    .filter((file) => !NOT_DRAWN.test(file))
    .sort();
  const core = files.filter((file) => CORE.test(file));
  const others = files.filter((file) => !CORE.test(file));
  const half = Math.ceil(count / 2);
  const drawn = [...drawFrom(core, half, random), ...drawFrom(others, count - half, random)];
  // In a random order, so that a part of the results is a sample too.
  return drawn.sort((a, b) => (a.id < b.id ? -1 : 1));
}

function drawFrom(files: readonly string[], count: number, random: () => number): Mutant[] {
  const places = files.flatMap((file) => {
    const code = readFileSync(file, 'utf8');
    const isShared = sharedPlaces(file);
    return placesOf(file, code)
      .filter(isShared)
      .map((place) => ({ file, code, place }));
  });
  // Where functions have moved, two trees have the same places in another order.
  places.sort((a, b) => (a.place.key < b.place.key ? -1 : 1));
  return Array.from({ length: Math.min(count, places.length) }, () =>
    places.splice(Math.floor(random() * places.length), 1),
  )
    .flat()
    .map(({ file, code, place }) => {
      const change = place.changes[Math.floor(random() * place.changes.length)] ?? place.changes[0];
      const id = createHash('sha256').update(`${place.key}\n${change.text}`).digest('hex').slice(0, 16);
      return { id, file, code, change };
    });
}

/** Whether the other tree has a place of a file as well. */
function sharedPlaces(file: string): (place: Place) => boolean {
  if (values.also === undefined) return () => true;
  const other = join(values.also, file);
  if (!existsSync(other)) return () => false;
  const keys = new Set(placesOf(file, readFileSync(other, 'utf8')).map(({ key }) => key));
  return ({ key }) => keys.has(key);
}

function readResults(): Map<string, Result> {
  const drawn = new Set(mutants.map(({ id }) => id));
  const lines = existsSync(output) ? readFileSync(output, 'utf8').split('\n') : [];
  const kept = lines.filter((line) => line !== '').map((line): Result => JSON.parse(line));
  return new Map(kept.filter(({ id }) => drawn.has(id)).map((result) => [result.id, result]));
}

/** The line before and after the change. */
function described({ file, code, change }: Mutant): string {
  const line = code.slice(0, change.start).split('\n').length;
  const from = code.lastIndexOf('\n', change.start) + 1;
  const to = `${code}\n`.indexOf('\n', change.end);
  const before = `${code.slice(from, change.start)}⟦${code.slice(change.start, change.end)}⟧${code.slice(change.end, to)}`;
  return `${file}:${line} ${before.trim().replaceAll(/\s+/g, ' ')} → ⟦${change.text}⟧`;
}

/** How many faults of each folder were noticed. */
function table(): string {
  const folders = new Set(mutants.map(({ file }) => file.split('/').slice(0, 2).join('/')));
  const rows = [
    ...[...folders].sort().map((name) => row(name, ({ file }) => file === name || file.startsWith(`${name}/`))),
    row('core', ({ file }) => CORE.test(file)),
    row('others', ({ file }) => !CORE.test(file)),
    row('all', () => true),
  ];
  return rows.join('\n');
}

function row(name: string, isMeant: (mutant: Mutant) => boolean): string {
  const all = mutants.filter(isMeant);
  const noticed = all.filter(({ id }) => typeof results.get(id)?.noticed === 'string').length;
  const percent = all.length === 0 ? '' : `${Math.round((100 * noticed) / all.length)} %`;
  return `${name.padEnd(24)} ${`${noticed} of ${all.length}`.padStart(12)} ${percent.padStart(6)}`;
}
