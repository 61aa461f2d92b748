/** Chooses test files: those of each of the two runs, and those that a change touches. */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { type Imports, reachedFrom, readImports } from '../../fixtures/import-graph.ts';

/** How long the tests of a change keep each process: with the start of the processes, a change is tested in about ten seconds. */
const BUDGET_MS = 4000;
/** How long a file takes that has never run: by its size, or, where it waits for other processes, too long for a change. */
const UNIT_MS_PER_BYTE = 0.3;
const PROCESS_MS = 15_000;
const BROWSER_MS = 40_000;
const FOLDERS = ['src', 'test', 'fixtures', 'scripts'];
/** What starts other processes, or needs a program that a machine may lack. */
const NEEDS_A_SYSTEM = /^(node:child_process|node:cluster|playwright-core|@nats-io\/.*)$/;
const BROWSER = 'playwright-core';
const STYLES = 'src/ui/styles';
/** What puts the whole product together. Nearly every test reaches these files, so what they import says nothing about a test. */
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

/** Read once, since it takes a second. */
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

/** Whether the test, or what it is set up with, starts processes. */
function needsSystem(file: string): boolean {
  return packagesOf(file).some((name) => NEEDS_A_SYSTEM.test(name));
}

/** The packages that a test and what it is set up with import. What src imports is up to the test that asks for it. */
function packagesOf(file: string): string[] {
  const helpers = reachedFrom(imports(), file, (one) => one.startsWith('src/'));
  return [...helpers].flatMap((one) => (one.startsWith('src/') ? [] : (imports().get(one)?.packages ?? [])));
}

/** About how many milliseconds a test file takes on a machine that has never run it. */
export function estimatedMs(test: string): number {
  if (!needsSystem(test)) return statSync(test).size * UNIT_MS_PER_BYTE;
  return packagesOf(test).includes(BROWSER) ? BROWSER_MS : PROCESS_MS;
}

/**
 * The test files of a change: changed tests, tests that reach a changed file by imports other than through what puts the product
 * together, and tests of the same name. Many tests ask the whole product over HTTP and import nothing of what they are about.
 */
export function testsOf(changed: readonly string[]): string[] {
  const tests = [...imports().keys()].filter(isTest);
  const files = new Set(changed.filter((file) => !COMPOSITION.has(file)));
  const named = new Set(
    changed.flatMap((file) => {
      if (file.startsWith(STYLES)) return stylesTests(tests, file);
      if (file.startsWith('src/')) return namesakes(tests, file);
      return mentioning(tests, file.startsWith('scripts/') ? file : basename(file));
    }),
  );
  return tests.filter((test) => {
    if (named.has(test)) return true;
    return [...reachedBy(test)].some((file) => files.has(file));
  });
}

/** The tests that are run for a change, and how many it may concern that are left out. */
export interface Chosen {
  tests: string[];
  left: number;
}

/**
 * Changed tests, and those of the others a change may concern that are the likeliest to notice a fault, as many as `processes` finish in
 * time; at least one. `msOf` says how long a file takes.
 */
export function chosenFor(changed: readonly string[], processes: number, msOf: (test: string) => number): Chosen {
  const own = changed.filter((file) => isTest(file) && imports().has(file));
  const ranked = changed.filter((file) => !own.includes(file)).map(nearestTests);
  const longest = Math.max(0, ...ranked.map(({ length }) => length));
  const inTurn = Array.from({ length: longest }, (_, at) => ranked.flatMap((tests) => tests[at] ?? [])).flat();
  const others = [...new Set(inTurn)].filter((test) => !own.includes(test));
  let leftMs = BUDGET_MS * processes - own.reduce((sum, test) => sum + msOf(test), 0);
  const chosen = others.filter((test) => {
    const ms = msOf(test);
    if (ms > Math.min(leftMs, BUDGET_MS)) return false;
    leftMs -= ms;
    return true;
  });
  if (own.length + chosen.length === 0) chosen.push(...others.toSorted((a, b) => msOf(a) - msOf(b)).slice(0, 1));
  return { tests: [...own, ...chosen], left: others.length - chosen.length };
}

/** What a test reaches by imports, the nearest first, without what it reaches through what puts the product together. */
function reachedBy(test: string): Set<string> {
  return reachedFrom(imports(), test, (file) => COMPOSITION.has(file));
}

/**
 * The tests that are among the tests of a file's change or share a word of its path, the likeliest to notice a fault first: of these those
 * that reach it in any way, or all where none does. Where there are none at all, the tests that reach it. A word counts the more the fewer
 * tests have it, and an import the more the nearer it is; among equals the shortest name is first.
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
  const reaching = (among: readonly string[]) => {
    // A document is reached by no import. The tests of a script may start it instead of importing it; they name it.
    if (!imports().has(file)) return among;
    const isScript = file.startsWith('scripts/');
    return among.filter((test) => (isScript && chosen.has(test)) || reachedFrom(imports(), test).has(file));
  };
  const nearAndReaching = reaching(near);
  // What only the built program or a browser loads is reached by no import, and what puts the product together has no test of its name.
  const others = near.length > 0 ? near : reaching(tests);
  const found = (nearAndReaching.length > 0 ? nearAndReaching : others).map((test) => {
    const before = [...reachedBy(test)].indexOf(file);
    const first = before === -1 ? 0 : 1 / before;
    const score = sharedBy(test).reduce((sum, word) => sum + 1 / (frequency.get(word)?.length ?? 1), first);
    return { test, score, words: wordsOf(test).size };
  });
  const byScore = found.sort((a, b) => b.score - a.score || a.words - b.words || (a.test < b.test ? -1 : 1));
  return byScore.map(({ test }) => test);
}

/** The words of a path below its top folder, in the singular. */
function wordsOf(path: string): Set<string> {
  const words = path.replace(/(\.test)?\.tsx?$/, '').split(/[/.-]/);
  return new Set(words.slice(1).map((word) => word.replace(/s$/, '')));
}

/**
 * The tests that have the name of the file or its beginning, below the mirrored top folder or else anywhere; or the name of a folder it is
 * in, the innermost first; or that mention its name. All tests of the top folder where there are none; where it has no
 * tests, all tests that mention the name.
 */
function namesakes(tests: readonly string[], file: string): string[] {
  const [, top = '', ...folders] = dirname(file).split('/');
  const below = tests.filter((test) => test.startsWith(`test/${top}/`));
  const name = basename(file, extname(file));
  const words = name.split('-');
  const beginnings = words.map((_, at) => words.slice(0, words.length - at).join('-'));
  const called = (among: readonly string[], names: readonly string[]) =>
    names.map((one) => among.filter((test) => hasName(test, one))).find((found) => found.length > 0);
  const found =
    called(below, beginnings) ?? called(tests, [name]) ?? called(below, folders.reverse()) ?? mentioning(below, name);
  if (found.length > 0) return found;
  return below.length > 0 ? below : mentioning(tests, name);
}

/** The tests of a style sheet, which no module imports: those of the screen that it is called after, and those that read all style sheets. */
function stylesTests(tests: readonly string[], file: string): string[] {
  const screen = basename(file, '.css');
  const ofScreen = file.startsWith(`${STYLES}/screens/`) ? tests.filter((test) => hasName(test, screen)) : [];
  return [...ofScreen, ...mentioning(tests, STYLES)];
}

function mentioning(tests: readonly string[], name: string): string[] {
  return tests.filter((test) => readFileSync(test, 'utf8').includes(name));
}

/** Whether a test's own name begins with a name, or one of its folders is called so. */
function hasName(test: string, name: string): boolean {
  const parts = test.split('/');
  return parts.slice(2, -1).includes(name) || (parts.at(-1)?.startsWith(name) ?? false);
}

/** The files that differ from the last commit, new ones included. */
export function changedFiles(): string[] {
  const lines = (...words: string[]) =>
    spawnSync('git', words, { encoding: 'utf8' })
      .stdout.split('\n')
      .filter((line) => line !== '');
  return [...lines('diff', '--name-only', 'HEAD'), ...lines('ls-files', '--others', '--exclude-standard')];
}
