/**
 * Runs test files one after the other in this process, so that sources are loaded and schemas compiled once for many files. run.ts writes the
 * names of the files to the standard input; TAP goes to the standard output. Each file is a subtest, which it imports as `tap`.
 */
import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import type { FileResult } from './run.ts';
import { blameTests, isTest } from './uncaught.ts';

// Tap must load after uncaught.ts, which replaces a package of tap.
const { default: tap } = await import('tap');
blameTests(tap);

const TAP_OF_FILE = 'tap-of-file:';
const CURRENT = Symbol.for('sendlark.test');
let current: Test = tap;
Object.defineProperty(globalThis, CURRENT, { get: () => current });

registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== 'tap' || context.parentURL === undefined) return next(specifier, context);
    return { url: TAP_OF_FILE + context.parentURL, format: 'module', shortCircuit: true };
  },
  load(url, context, next) {
    if (!url.startsWith(TAP_OF_FILE)) return next(url, context);
    return {
      format: 'module',
      source: `export default globalThis[Symbol.for('${CURRENT.description}')];`,
      shortCircuit: true,
    };
  },
});

// Without this name, Fastify looks for the file of each plugin among all modules that are loaded, which took 2 % of the CPU time of all tests.
const PLUGIN_NAME = Symbol.for('fastify.display-name');
Object.defineProperty(Function.prototype, PLUGIN_NAME, {
  get(this: { name: string }) {
    return this.name;
  },
  set(this: object, value: string) {
    Object.defineProperty(this, PLUGIN_NAME, { value, writable: true, configurable: true });
  },
});

/** The longest time that a file may take from the start or end of one of its tests to the next, in milliseconds. */
const STEP_MS = Number(process.argv[2]);
/** The file descriptor of the pipe to run.ts. */
const RESULTS_PIPE = 3;

// This test lasts until the last file. Without it, tap would end when it has nothing to do between two files.
await tap.test('files', { timeout: 24 * 3600_000 }, async (t) => {
  for await (const file of createInterface({ input: process.stdin })) {
    const started = performance.now();
    const cpuBefore = process.cpuUsage();
    await t.test(file, { timeout: STEP_MS }, async (t) => {
      current = t;
      atEachStep(t, () => t.setTimeout(STEP_MS));
      await import(pathToFileURL(join(process.cwd(), file)).href);
    });
    const { user, system } = process.cpuUsage(cpuBefore);
    const result: FileResult = {
      file,
      wallMs: performance.now() - started,
      cpuMs: (user + system) / 1000,
      memoryBytes: process.memoryUsage.rss(),
    };
    writeSync(RESULTS_PIPE, `${JSON.stringify(result)}\n`);
  }
});

/** Calls `act` whenever a test below this one starts or ends. */
function atEachStep(test: Test, act: () => void): void {
  test.on('subtestStart', (inner) => {
    act();
    if (isTest(inner)) atEachStep(inner, act);
  });
  test.on('subtestEnd', act);
}
