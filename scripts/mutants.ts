/**
 * Makes small faults in copies of `src`, one at a time, and prints how many of them the unit tests notice. A fault is, for example, a
 * reversed comparison, a changed constant, a removed call or a negated condition, in code or in SQL. The places of the faults are random,
 * but the same for the same seed; at least half are in the core. For each fault the script runs up to six test files that are near the
 * changed file, the nearest first, until one fails or takes too long. Types are not checked, though `npm test` checks them: a fault is
 * noticed only if a test fails.
 *
 *     npm run test:mutants -- [count] [seed] [--also=FOLDER]
 *
 * With `--also` it draws only places that the tree in FOLDER has as well, so that the shares of two commits can be compared. It stores each
 * result in test/output/ at once, and the same command continues after a stop.
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
/** Folders without faults: they hold texts, or code that only browsers run. */
const EXCLUDED = /\/(words|styles|islands|browser)\//;
const MAX_TEST_FILES = 6;
const COPIES = 2;

interface Mutant {
  /** Identifies the fault in the stored results. */
  id: string;
  file: string;
  /** The content of the file without the fault. */
  code: string;
  change: Change;
}

/** A line of the stored results. */
interface Result {
  /** The id of the mutant. */
  id: string;
  /** The title of the test that failed; null if all tests passed. */
  noticed: string | null;
  /** The test files that were chosen. */
  tests: readonly string[];
  seconds: number;
}

const { values, positionals } = parseArgs({ options: { also: { type: 'string' } }, allowPositionals: true });
const [count = 120, seed = 1] = positionals.map(Number);
const output = `test/output/mutants-${count}-${seed}.jsonl`;
const unitTests = new Set(testFiles().unit);
const mutants = draw(count, seed);
const results = readResults();
const queue = mutants.filter(({ id }) => !results.has(id));
/** True for a test file that passes without a fault. A file that fails even then says nothing about a fault. */
const passesWithoutFault = new Map<string, boolean>();

mkdirSync('test/output', { recursive: true });
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
await Promise.all(Array.from({ length: COPIES }, () => work()));
console.log(table());
for (const mutant of mutants) {
  const result = results.get(mutant.id);
  if (result?.noticed === null)
    console.log(`survived: ${describe(mutant)}\n  tests: ${result.tests.join(' ') || 'none'}`);
}

/** Tests mutants of the queue in one copy of the tree until the queue is empty. */
async function work(): Promise<void> {
  const copy = new Copy();
  process.once('exit', () => copy.remove());
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const started = performance.now();
    const tests = nearestTests(mutant.file)
      .filter((file) => unitTests.has(file))
      .slice(0, MAX_TEST_FILES);
    const noticed = await findFailingTest(copy, mutant, tests);
    const result = { id: mutant.id, noticed, tests, seconds: Math.round((performance.now() - started) / 1000) };
    results.set(mutant.id, result);
    appendFileSync(output, `${JSON.stringify({ ...result, fault: describe(mutant) })}\n`);
    console.log(
      `${results.size} of ${mutants.length}: ${noticed === null ? 'survived' : 'noticed'}, ${describe(mutant)}`,
    );
  }
}

/** Returns the title of the first test that fails because of the fault, or null if none does. */
async function findFailingTest(copy: Copy, mutant: Mutant, tests: readonly string[]): Promise<string | null> {
  const { file, code, change } = mutant;
  if (tests.length === 0) return null;
  copy.write(file, code.slice(0, change.start) + change.text + code.slice(change.end));
  const failure = await copy.run(tests);
  copy.write(file, code);
  if (failure === null) return null;
  const passes = passesWithoutFault.get(failure.file) ?? (await copy.run([failure.file])) === null;
  passesWithoutFault.set(failure.file, passes);
  if (passes) return failure.title;
  const laterTests = tests.slice(tests.indexOf(failure.file) + 1);
  return findFailingTest(copy, mutant, laterTests);
}

function draw(count: number, seed: number): Mutant[] {
  const random = randomOf(seed);
  const files = globSync('src/**/*.{ts,tsx}')
    .filter((file) => !EXCLUDED.test(file))
    .sort();
  const core = files.filter((file) => CORE.test(file));
  const others = files.filter((file) => !CORE.test(file));
  const half = Math.ceil(count / 2);
  const drawn = [...drawFrom(core, half, random), ...drawFrom(others, count - half, random)];
  // Ids are hashes, so this order is random and the results of an unfinished run are a sample too.
  return drawn.sort((a, b) => (a.id < b.id ? -1 : 1));
}

function drawFrom(files: readonly string[], count: number, random: () => number): Mutant[] {
  const places = files.flatMap((file) => {
    const code = readFileSync(file, 'utf8');
    const isShared = sharedWithOtherTree(file);
    return placesOf(file, code)
      .filter(isShared)
      .map((place) => ({ file, code, place }));
  });
  // Two trees have the same places in another order if functions have moved, so the places are put in order of their keys.
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

/** Returns a function that says whether the tree of `--also` has a place of this file too. Without `--also` all places count. */
function sharedWithOtherTree(file: string): (place: Place) => boolean {
  if (values.also === undefined) return () => true;
  const other = join(values.also, file);
  if (!existsSync(other)) return () => false;
  const keys = new Set(placesOf(file, readFileSync(other, 'utf8')).map(({ key }) => key));
  return ({ key }) => keys.has(key);
}

/** The results that an earlier run of the same command has stored, by the id of the mutant. */
function readResults(): Map<string, Result> {
  const ids = new Set(mutants.map(({ id }) => id));
  const lines = existsSync(output) ? readFileSync(output, 'utf8').split('\n') : [];
  const stored = lines.filter((line) => line !== '').map((line): Result => JSON.parse(line));
  return new Map(stored.filter(({ id }) => ids.has(id)).map((result) => [result.id, result]));
}

/** The place of a fault, its line of code, and the text that it puts there. */
function describe({ file, code, change }: Mutant): string {
  const line = code.slice(0, change.start).split('\n').length;
  const from = code.lastIndexOf('\n', change.start) + 1;
  const to = `${code}\n`.indexOf('\n', change.end);
  const before = `${code.slice(from, change.start)}⟦${code.slice(change.start, change.end)}⟧${code.slice(change.end, to)}`;
  return `${file}:${line} ${before.trim().replaceAll(/\s+/g, ' ')} → ⟦${change.text}⟧`;
}

/** A text with a row for each folder: how many faults were noticed, of how many. */
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

function row(name: string, belongs: (mutant: Mutant) => boolean): string {
  const members = mutants.filter(belongs);
  const noticed = members.filter(({ id }) => typeof results.get(id)?.noticed === 'string').length;
  const percent = members.length === 0 ? '' : `${Math.round((100 * noticed) / members.length)} %`;
  return `${name.padEnd(24)} ${`${noticed} of ${members.length}`.padStart(12)} ${percent.padStart(6)}`;
}
