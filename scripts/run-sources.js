/**
 * Given to Node with --import: makes the sources run as they are, and start sooner. Node removes types by itself, but does not read
 * JSX. Every test file is a process of its own, so what it takes to load the sources is most of what a short test costs.
 */
import { readFileSync } from 'node:fs';
import { createRequire, enableCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compiled'));

registerHooks({
  resolve(specifier, context, next) {
    // To learn that a file is an ES module, Node parses the nearest package.json again for each, and Drizzle's has 180 KB.
    if (/^\..*\.js$/.test(specifier) && context.parentURL?.includes('/node_modules/drizzle-orm/')) {
      return { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true };
    }
    return next(specifier, context);
  },
  load(url, context, next) {
    if (!url.endsWith('.tsx')) return next(url, context);
    const file = fileURLToPath(url);
    const { code } = require('esbuild').transformSync(readFileSync(file, 'utf8'), {
      loader: 'tsx',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      sourcemap: 'inline',
      sourcefile: file,
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
