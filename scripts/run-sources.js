/**
 * Given to Node with --import: makes the sources run as they are, and start sooner. Node removes types by itself, but does not read
 * JSX. Every test file is a process of its own, so what it takes to load the sources is most of what a short test costs.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, enableCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { threadId } from 'node:worker_threads';

const require = createRequire(import.meta.url);

const CACHE = join(import.meta.dirname, '../node_modules/.cache/jsx');

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compiled'));

/** Packages whose files are all ES modules. */
const ALL_MODULES = /\/node_modules\/(drizzle-orm|@simplewebauthn\/server\/esm)\//;

/** What names of Drizzle's parts stand for. */
const ofDrizzle = new Map();

registerHooks({
  resolve(specifier, context, next) {
    const format = formatOf(specifier, context.parentURL);
    if (format !== null) return { url: new URL(specifier, context.parentURL).href, format, shortCircuit: true };
    if (!specifier.startsWith('drizzle-orm')) return next(specifier, context);
    const found = ofDrizzle.get(specifier) ?? { ...next(specifier, context), format: 'module', shortCircuit: true };
    ofDrizzle.set(specifier, found);
    return found;
  },
  load(url, context, next) {
    if (!url.endsWith('.tsx')) return next(url, context);
    const file = fileURLToPath(url);
    const code = compiledOnce(file, readFileSync(file, 'utf8'));
    return { format: 'module', source: code, shortCircuit: true };
  },
});

/**
 * The format of a file that a module imports by its relative path; null if Node must find it out. To do so, Node looks for the file and parses
 * the nearest package.json again for each (Drizzle's has 180 KB), which is a sixth of the CPU time in which a thread loads its sources.
 */
function formatOf(specifier, importer = '') {
  if (!specifier.startsWith('.') || !importer.startsWith('file:')) return null;
  if (/\.tsx?$/.test(specifier)) return 'module-typescript';
  return /\.mjs$/.test(specifier) || (specifier.endsWith('.js') && ALL_MODULES.test(importer)) ? 'module' : null;
}

/** A file with JSX as JavaScript, kept on disk by its path and content. Compiling all anew is a quarter of the CPU time of loading the application. */
function compiledOnce(file, source) {
  const kept = join(CACHE, `${createHash('sha256').update(`${file}\n${source}`).digest('hex')}.js`);
  if (existsSync(kept)) return readFileSync(kept, 'utf8');
  const { code } = require('esbuild').transformSync(source, {
    loader: 'tsx',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    sourcemap: 'inline',
    sourcefile: file,
  });
  mkdirSync(CACHE, { recursive: true });
  // Renamed when complete, since other processes may read it at the same moment.
  const unfinished = `${kept}.${process.pid}.${threadId}`;
  writeFileSync(unfinished, code);
  renameSync(unfinished, kept);
  return code;
}
