/** Chooses test files: those of the unit run and the system run, and those that a change concerns. */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { type Imports, reachedFrom, readImports } from '../../fixtures/import-graph.ts';

/** How long the tests of a change may keep each process busy. With the start of the processes, a change is tested in about ten seconds. */
const BUDGET_MS = 4000;
/**
 * Estimates of how long a file takes that has never run here: a unit test by its size; a test that waits for other processes, or for a
 * browser, longer than the budget.
 */
const UNIT_MS_PER_BYTE = 0.3;
const PROCESS_MS = 15_000;
const BROWSER_MS = 40_000;
const FOLDERS = ['src', 'test', 'fixtures', 'scripts'];
/** Packages that start other processes, or need a program that the machine may not have. */
const SYSTEM_PACKAGES = /^(node:child_process|node:cluster|playwright-core|@nats-io\/.*)$/;
const BROWSER = 'playwright-core';
const STYLES = 'src/ui/styles';
/** The files that put the whole product together. Nearly every test reaches them, so their imports say nothing about a test. */
const COMPOSITION = new Set([
  'src/app.ts',
  'src/api.ts',
  'src/ui/index.ts',
  'src/pages/index.ts',
  'src/server.ts',
  'src/commands/index.ts',
  'src/threads/background.ts',
  'test/support/app.ts',
]);

let graph: Map<string, Imports> | undefined;

/** The imports of all files. They are read once, since this takes a second. */
function imports(): Map<string, Imports> {
  graph ??= readImports(FOLDERS);
  return graph;
}

/** All test files in two groups: `system` for those that need other processes, a browser, NATS or Postfix; `unit` for the others. */
export function testFiles(): Record<'unit' | 'system', string[]> {
  const tests = [...imports().keys()].filter(isTest).sort();
  return { unit: tests.filter((file) => !needsSystem(file)), system: tests.filter(needsSystem) };
}

function isTest(file: string): boolean {
  return /\.test\.tsx?$/.test(file);
}

/** True if the test or one of its helpers imports a package of the system. */
function needsSystem(file: string): boolean {
  return packagesOf(file).some((name) => SYSTEM_PACKAGES.test(name));
}

/** The packages that a test and its helpers import. Those of src do not count, because few tests use the code that needs them. */
function packagesOf(file: string): string[] {
  const reached = reachedFrom(imports(), file, (path) => path.startsWith('src/'));
  return [...reached].flatMap((path) => (path.startsWith('src/') ? [] : (imports().get(path)?.packages ?? [])));
}

/** Estimates how many milliseconds a test file takes that has never run on this machine. */
export function estimatedMs(test: string): number {
  if (!needsSystem(test)) return statSync(test).size * UNIT_MS_PER_BYTE;
  return packagesOf(test).includes(BROWSER) ? BROWSER_MS : PROCESS_MS;
}

/**
 * Returns the test files that a change of these files concerns: changed tests, tests that reach a changed file by imports other than through
 * COMPOSITION, and tests of the same name. The names matter because many tests use the product over HTTP, and import no file that they test.
 */
export function testsOf(changed: readonly string[]): string[] {
  const tests = [...imports().keys()].filter(isTest);
  const files = new Set(changed.filter((file) => !COMPOSITION.has(file)));
  const byName = new Set(
    changed.flatMap((file) => {
      if (file.startsWith(STYLES)) return stylesTests(tests, file);
      if (file.startsWith('src/')) return namesakes(tests, file);
      return mentioning(tests, file.startsWith('scripts/') ? file : basename(file));
    }),
  );
  return tests.filter((test) => {
    if (byName.has(test)) return true;
    return [...reachedBy(test)].some((file) => files.has(file));
  });
}

export interface Chosen {
  /** The tests to run. */
  tests: string[];
  /** How many more tests the change may concern. */
  leftOut: number;
}

/**
 * Chooses the tests to run for a change of these files: all changed tests, and of the other tests those that are likeliest to notice a
 * fault, as many as `processes` can finish in time, but at least one test in all. `msOf` returns how long a test file takes.
 */
export function chooseTests(changed: readonly string[], processes: number, msOf: (test: string) => number): Chosen {
  const changedTests = changed.filter((file) => isTest(file) && imports().has(file));
  const nearest = changed.filter((file) => !changedTests.includes(file)).map(nearestTests);
  const maxLength = Math.max(0, ...nearest.map(({ length }) => length));
  // First the nearest test of each changed file, then the second nearest of each, and so on.
  const inTurn = Array.from({ length: maxLength }, (_, rank) => nearest.flatMap((tests) => tests[rank] ?? [])).flat();
  const others = [...new Set(inTurn)].filter((test) => !changedTests.includes(test));
  let remainingMs = BUDGET_MS * processes - changedTests.reduce((sum, test) => sum + msOf(test), 0);
  const chosen = others.filter((test) => {
    const ms = msOf(test);
    if (ms > Math.min(remainingMs, BUDGET_MS)) return false;
    remainingMs -= ms;
    return true;
  });
  if (changedTests.length + chosen.length === 0)
    chosen.push(...others.toSorted((a, b) => msOf(a) - msOf(b)).slice(0, 1));
  return { tests: [...changedTests, ...chosen], leftOut: others.length - chosen.length };
}

/** The files that a test reaches by imports other than through COMPOSITION, the nearest first. */
function reachedBy(test: string): Set<string> {
  return reachedFrom(imports(), test, (file) => COMPOSITION.has(file));
}

/**
 * Returns the tests that may notice a fault in a file, the likeliest first. Near tests are those of `testsOf`, and those whose path shares a
 * word with the file's. The result has the near tests that reach the file by any imports; if none does, all near tests; if no test is
 * near, all tests that reach the file.
 *
 * The order adds up, for each test, the words that it shares, of which rare ones count more, and how near the file is among its imports.
 * Among equals the test with the fewest words is first.
 */
export function nearestTests(file: string): string[] {
  const tests = [...imports().keys()].filter(isTest);
  const chosen = new Set(testsOf([file]));
  const words = wordsOf(file);
  const frequency = Map.groupBy(
    tests.flatMap((test) => [...wordsOf(test)]),
    (word) => word,
  );
  const sharedBy = (test: string) => [...wordsOf(test)].filter((word) => words.has(word));
  const near = tests.filter((test) => chosen.has(test) || sharedBy(test).length > 0);
  const reaching = (candidates: readonly string[]) => {
    // No import reaches a document. The tests of a script may start the script by its name instead of importing it.
    if (!imports().has(file)) return candidates;
    const isScript = file.startsWith('scripts/');
    return candidates.filter((test) => (isScript && chosen.has(test)) || reachedFrom(imports(), test).has(file));
  };
  const nearAndReaching = reaching(near);
  // No import reaches a file that only the built program or a browser loads. The files of COMPOSITION have no near tests.
  const others = near.length > 0 ? near : reaching(tests);
  const scored = (nearAndReaching.length > 0 ? nearAndReaching : others).map((test) => {
    const position = [...reachedBy(test)].indexOf(file);
    const nearness = position === -1 ? 0 : 1 / position;
    const score = sharedBy(test).reduce((sum, word) => sum + 1 / (frequency.get(word)?.length ?? 1), nearness);
    return { test, score, words: wordsOf(test).size };
  });
  const byScore = scored.sort((a, b) => b.score - a.score || a.words - b.words || (a.test < b.test ? -1 : 1));
  return byScore.map(({ test }) => test);
}

/** The words of a path without its top folder and its ending, each without a final s, so that singular and plural are equal. */
function wordsOf(path: string): Set<string> {
  const words = path.replace(/(\.test)?\.tsx?$/, '').split(/[/.-]/);
  return new Set(words.slice(1).map((word) => word.replace(/s$/, '')));
}

/**
 * Returns the tests of a source file by its name. They are the first of these that exist: the tests in the same top folder that have the
 * file's name or the beginning of it; all tests that have the name; those in the same top folder that have the name of a folder of the file,
 * the innermost first; those in the same top folder that mention the name; all tests of the top folder; all tests that mention the name.
 */
function namesakes(tests: readonly string[], file: string): string[] {
  const [, top = '', ...folders] = dirname(file).split('/');
  const inTopFolder = tests.filter((test) => test.startsWith(`test/${top}/`));
  const name = basename(file, extname(file));
  const words = name.split('-');
  const beginnings = words.map((_, index) => words.slice(0, words.length - index).join('-'));
  const firstNamed = (candidates: readonly string[], names: readonly string[]) =>
    names.map((name) => candidates.filter((test) => hasName(test, name))).find((named) => named.length > 0);
  const named =
    firstNamed(inTopFolder, beginnings) ??
    firstNamed(tests, [name]) ??
    firstNamed(inTopFolder, folders.reverse()) ??
    mentioning(inTopFolder, name);
  if (named.length > 0) return named;
  return inTopFolder.length > 0 ? inTopFolder : mentioning(tests, name);
}

/** The tests of a style sheet, which no module imports: those of the screen of the same name, and those that read all style sheets. */
function stylesTests(tests: readonly string[], file: string): string[] {
  const screen = basename(file, '.css');
  const ofScreen = file.startsWith(`${STYLES}/screens/`) ? tests.filter((test) => hasName(test, screen)) : [];
  return [...ofScreen, ...mentioning(tests, STYLES)];
}

function mentioning(tests: readonly string[], name: string): string[] {
  return tests.filter((test) => readFileSync(test, 'utf8').includes(name));
}

/** True if the test's own name begins with this name, or one of its folders has the name. */
function hasName(test: string, name: string): boolean {
  const parts = test.split('/');
  return parts.slice(2, -1).includes(name) || (parts.at(-1)?.startsWith(name) ?? false);
}

/** The files that differ from the last commit, including new files. */
export function changedFiles(): string[] {
  const lines = (...args: string[]) =>
    spawnSync('git', args, { encoding: 'utf8' })
      .stdout.split('\n')
      .filter((line) => line !== '');
  return [...lines('diff', '--name-only', 'HEAD'), ...lines('ls-files', '--others', '--exclude-standard')];
}
