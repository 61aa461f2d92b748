/**
 * Replaces the package `async-hook-domain`, by which tap finds the test that caused an uncaught error. The package follows every promise with
 * an async hook, which takes an eighth of the CPU time of a test. This is not needed here: the tests of a worker run one after the other, so
 * the innermost running test has caused the error.
 */
import { registerHooks } from 'node:module';
import { inspect } from 'node:util';
import type { Test } from 'tap';

/** The class of which tap makes an instance for each test. */
export class Domain {
  destroy(): void {}
}

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'async-hook-domain' ? next(import.meta.url, context) : next(specifier, context),
});

/** Returns true if a subtest can have subtests itself. */
export function isTest(inner: object): inner is Test {
  return 'activeSubtests' in inner;
}

/** From now on, an uncaught error fails the innermost running test of `root`. */
export function blameTests(root: Test): void {
  /** The running tests, from the outermost to the innermost. */
  const running: Pick<Test, 'threw'>[] = [root];
  const watch = (test: Test) => {
    test.on('subtestStart', (inner) => {
      running.push(inner);
      if (isTest(inner)) watch(inner);
    });
    test.on('subtestEnd', (inner) => running.splice(running.lastIndexOf(inner), 1));
  };
  watch(root);
  for (const type of ['uncaughtException', 'unhandledRejection']) {
    process.on(type, (thrown: unknown) => {
      const error = thrown instanceof Error ? thrown : new Error(`not an error, but ${inspect(thrown)}`);
      running.at(-1)?.threw(Object.assign(error, { tapCaught: type }));
    });
  }
}
