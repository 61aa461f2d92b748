/**
 * Stands in for the package `async-hook-domain`, with which tap finds out whose test an error is that nobody caught. The package follows
 * every promise by an async hook, which takes an eighth of the CPU time of a test. The tests of a worker run one after the other, so such
 * an error is that of the innermost test under way.
 */
import { registerHooks } from 'node:module';
import { inspect } from 'node:util';
import type { Test } from 'tap';

/** What tap makes for each test. */
export class Domain {
  destroy(): void {}
}

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'async-hook-domain' ? next(import.meta.url, context) : next(specifier, context),
});

/** From now on an error that nobody catches fails the innermost test under way in `root`. */
export function blameTests(root: Test): void {
  const underWay: Pick<Test, 'threw'>[] = [root];
  const watch = (test: Test) => {
    test.on('subtestStart', (inner) => {
      underWay.push(inner);
      if (isTest(inner)) watch(inner);
    });
    test.on('subtestEnd', (inner) => underWay.splice(underWay.lastIndexOf(inner), 1));
  };
  const isTest = (inner: object): inner is Test => 'activeSubtests' in inner;
  watch(root);
  for (const type of ['uncaughtException', 'unhandledRejection']) {
    process.on(type, (thrown: unknown) => {
      const error = thrown instanceof Error ? thrown : new Error(`not an error, but ${inspect(thrown)}`);
      underWay.at(-1)?.threw(Object.assign(error, { tapCaught: type }));
    });
  }
}
