/** Chooses test files: those of each of the two runs, and those that a change touches. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { type Imports, reachedFrom, readImports } from '../../fixtures/import-graph.ts';

/** How many tests of a change are run, about ten seconds' worth; those of a system take seconds each. */
const MOST_TESTS = 8;
const MOST_OF_A_SYSTEM = 2;
const FOLDERS = ['src', 'test', 'fixtures', 'scripts'];
/** What starts other processes, or needs a program that a machine may lack. */
const NEEDS_A_SYSTEM = /^(node:child_process|node:cluster|playwright-core|@nats-io\/.*)$/;
/** What puts the whole product together. Nearly every test reaches these files, so what they import says nothing about a test. */
const COMPOSITION = new Set([
  'src/app.ts',
  'src/api/index.ts',
  'src/dashboard/index.ts',
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
  const isSystem = (file: string) => needsSystem(imports(), file);
  return { unit: tests.filter((file) => !isSystem(file)), system: tests.filter(isSystem) };
}

function isTest(file: string): boolean {
  return /\.test\.tsx?$/.test(file);
}

/** Whether the test, or what it is set up with, starts processes. What src starts is up to the test that asks for it. */
function needsSystem(graph: ReadonlyMap<string, Imports>, file: string): boolean {
  const helpers = reachedFrom(graph, file, (one) => one.startsWith('src/'));
  return [...helpers].some(
    (one) => !one.startsWith('src/') && graph.get(one)?.packages.some((name) => NEEDS_A_SYSTEM.test(name)),
  );
}

/**
 * The test files of a change: changed tests, tests that reach a changed file by imports other than through what puts the product
 * together, and tests of the same name. Many tests ask the whole product over HTTP and import nothing of what they are about.
 */
export function testsOf(changed: readonly string[]): string[] {
  const tests = [...imports().keys()].filter(isTest);
  const files = new Set(changed.filter((file) => !COMPOSITION.has(file)));
  const named = new Set(
    changed.flatMap((file) =>
      file.startsWith('src/') ? namesakes(tests, file) : imports().has(file) ? [] : mentioning(tests, basename(file)),
    ),
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

/** Changed tests, and the few of those a change may concern that are the likeliest to notice a fault. */
export function chosenFor(changed: readonly string[]): Chosen {
  const own = changed.filter((file) => isTest(file) && imports().has(file));
  const ranked = changed.filter((file) => !own.includes(file)).map(nearestTests);
  const longest = Math.max(0, ...ranked.map(({ length }) => length));
  const inTurn = Array.from({ length: longest }, (_, at) => ranked.flatMap((tests) => tests[at] ?? [])).flat();
  const others = [...new Set(inTurn)].filter((test) => !own.includes(test));
  const ofSystem = others.filter((test) => needsSystem(imports(), test));
  const leftOut = new Set(ofSystem.slice(MOST_OF_A_SYSTEM));
  const chosen = others.filter((test) => !leftOut.has(test)).slice(0, Math.max(0, MOST_TESTS - own.length));
  return { tests: [...own, ...chosen], left: others.length - chosen.length };
}

/** What a test reaches by imports, the nearest first, without what it reaches through what puts the product together. */
function reachedBy(test: string): Set<string> {
  return reachedFrom(imports(), test, (file) => COMPOSITION.has(file));
}

/**
 * The tests that reach a file in any way and are among the tests of its change or share a word of its path, the likeliest to notice a
 * fault first. A word counts the more the fewer tests have it, and an import the more the nearer it is; among equals the shortest name is
 * first.
 */
export function nearestTests(file: string): string[] {
  const tests = [...imports().keys()].filter(isTest);
  const chosen = new Set(testsOf([file]));
  const words = wordsOf(file);
  const frequency = Map.groupBy(
    tests.flatMap((test) => [...wordsOf(test)]),
    (word) => word,
  );
  // A document is reached by no import.
  const mayBeReached = imports().has(file);
  const found = tests.flatMap((test) => {
    const all = wordsOf(test);
    const shared = [...all].filter((word) => words.has(word));
    if (shared.length === 0 && !chosen.has(test)) return [];
    if (mayBeReached && !reachedFrom(imports(), test).has(file)) return [];
    const before = [...reachedBy(test)].indexOf(file);
    const near = before === -1 ? 0 : 1 / before;
    const score = shared.reduce((sum, word) => sum + 1 / (frequency.get(word)?.length ?? 1), near);
    return [{ test, score, words: all.size }];
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
 * in, the innermost first; or that mention its name. All tests of the top folder where there are none.
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
  return found.length > 0 ? found : below;
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
