/**
 * Runs test files one after the other in this process, so that the sources are loaded and their schemas compiled once for many files.
 * What a file imports as `tap` is a subtest of its own. The names of the files come from run.ts as messages; TAP goes to the standard output.
 */
import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import type { FileResult } from './run.ts';
import { blameTests } from './uncaught.ts';

// Not before the module above has said what stands in for a part of tap.
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

/** The longest that one file may take. */
const FILE_MS = Number(process.argv[2]);
/** The pipe to run.ts. */
const RESULTS = 3;

// A test that lasts until the last file: tap would otherwise end when it has nothing to do between two files.
await tap.test('files', { timeout: 24 * 3600_000 }, async (t) => {
  for await (const file of createInterface({ input: process.stdin })) {
    const [from, cpu] = [performance.now(), process.cpuUsage()];
    await t.test(file, { timeout: FILE_MS }, async (t) => {
      current = t;
      await import(pathToFileURL(join(process.cwd(), file)).href);
    });
    const { user, system } = process.cpuUsage(cpu);
    const result: FileResult = {
      file,
      wallMs: performance.now() - from,
      cpuMs: (user + system) / 1000,
      memoryBytes: process.memoryUsage.rss(),
    };
    writeSync(RESULTS, `${JSON.stringify(result)}\n`);
  }
});
