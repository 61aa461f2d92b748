/**
 * Builds dist if it is out of date with src, and then says so; otherwise does nothing. Plain JavaScript, because it
 * also runs on the machine's own Node, which may be too old for everything else. With `--browser-only` it builds what
 * browsers load and leaves the program alone, for those who run the sources.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browserSources, bundleForBrowsers } from './build-browser.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
/** What browsers load. The program's build neither reads nor removes it. */
const BROWSER = join(DIST, 'browser');
/** What V8 compiled at earlier starts (see src/cli.ts). */
const COMPILED = join(ROOT, 'node_modules/.cache/start');
/** In each of the two folders: the hash of what its last build read and of what it wrote. */
const STAMP = '.built-from';
const MAIN_IS_BUNDLED = {
  name: 'main',
  setup: (build) =>
    build.onResolve({ filter: /\/commands\/index\.ts$/, namespace: 'file' }, () => ({
      path: './app/main.js',
      external: true,
    })),
};
/** The command `serve` loads the service by its name, see `buildProgram`. */
const SERVER_IS_APART = {
  name: 'server',
  setup: (build) => {
    let isFound = false;
    build.onResolve({ filter: /^\.\.\/server\.ts$/ }, () => {
      isFound = true;
      return { path: './server.js', external: true };
    });
    build.onEnd(() => (isFound ? {} : { errors: [{ text: 'no command imports ../server.ts' }] }));
  },
};
/**
 * Modules that packages load at the start for features that Sendlark does not use (files listed by pattern, YAML,
 * OpenTelemetry, HTTP/2), by the package that loads them. The last is a part of Node that takes as long to load as a
 * small package.
 */
const UNUSED = {
  glob: '@fastify/static',
  yaml: '@fastify/swagger',
  '@opentelemetry/api': 'prom-client',
  'node:http2': 'fastify',
};
const WITHOUT_UNUSED = {
  name: 'unused',
  setup: (build) => {
    build.onResolve({ filter: /^(glob|yaml|@opentelemetry\/api|node:http2)$/ }, ({ path, importer }) =>
      importer.includes(join('node_modules', UNUSED[path], '/')) ? { path, namespace: 'unused' } : null,
    );
    build.onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'module.exports = {};' }));
  },
};
/**
 * Makes the router compare the parts of paths without code compiled for each part, which took 4 % of the CPU time of a start. The router
 * itself does so for parts of 16 characters and more.
 */
const SHORT_PREFIXES = {
  name: 'short prefixes',
  setup: (build) =>
    build.onLoad({ filter: /\/find-my-way\/lib\/node\.js$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const contents = source.replace('LONG_PREFIX_MIN_LENGTH = 16', 'LONG_PREFIX_MIN_LENGTH = 2');
      return contents === source
        ? { errors: [{ text: 'find-my-way has no LONG_PREFIX_MIN_LENGTH = 16' }] }
        : { contents };
    }),
};
const CONFIGURATION = ['package.json', 'package-lock.json', 'tsconfig.json', 'scripts/build.js'];

linkRuntime();
const isBrowserCurrent = isCurrent(BROWSER, browserStamp);
const isProgramCurrent = process.argv[2] === '--browser-only' || isCurrent(DIST, programStamp);
if (!isBrowserCurrent || !isProgramCurrent) {
  console.log('Building, because the sources have changed since the last build or there was none.');
}
if (!isBrowserCurrent) await buildBrowser();
if (!isProgramCurrent) await buildProgram();

/**
 * Makes node_modules/.bin/node, where npm scripts find the Node that the checkout brings. npm 11 makes it; npm 10 makes it too and
 * then removes it, together with the packages of the other platforms, which name the same file as theirs.
 */
function linkRuntime() {
  const name = `node-${process.platform}-${process.arch}`;
  const link = join(ROOT, 'node_modules/.bin/node');
  if (existsSync(link) || !existsSync(join(ROOT, 'node_modules', name, 'bin/node'))) return;
  try {
    symlinkSync(`../${name}/bin/node`, link);
  } catch (error) {
    // Another build may have made it meanwhile.
    if (error.code !== 'EEXIST') throw error;
  }
}

function isCurrent(folder, stamp) {
  const path = join(folder, STAMP);
  return existsSync(path) && readFileSync(path, 'utf8') === stamp();
}

async function buildBrowser() {
  rmSync(BROWSER, { recursive: true, force: true });
  await bundleForBrowsers(ROOT, BROWSER);
  writeFileSync(join(BROWSER, STAMP), browserStamp());
}

/**
 * Bundles the program with its packages into dist/app, and writes dist/cli.js, which starts it: reading and resolving two thousand files
 * took most of a start. The files are two folders deep as those of src/database are, so that `../../data` means the same there. Types are
 * checked by `npm test`. Removes the old build first, so that a file deleted from src does not live on in dist.
 */
async function buildProgram() {
  const old = existsSync(DIST) ? readdirSync(DIST) : [];
  for (const name of old) if (name !== 'browser') rmSync(join(DIST, name), { recursive: true });
  if (existsSync(COMPILED)) {
    // Renamed first, since a service that runs from this folder may write to its cache meanwhile, and a folder must be empty to be removed.
    const old = `${COMPILED}-${process.pid}`;
    renameSync(COMPILED, old);
    rmSync(old, { recursive: true });
  }
  const { build: bundle } = await import('esbuild');
  const options = {
    absWorkingDir: ROOT,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    logLevel: 'warning',
  };
  try {
    const program = {
      ...options,
      outdir: join(DIST, 'app'),
      chunkNames: '[name]-[hash]',
      plugins: [WITHOUT_UNUSED, SHORT_PREFIXES],
      splitting: true,
      sourcemap: true,
      // A stack trace needs only the names and lines of the sources.
      sourcesContent: false,
      // V8 keeps the sources, with one byte a character where all of them allow it. Names stay, for the stack traces in the log.
      minifyWhitespace: true,
      minifySyntax: true,
      legalComments: 'external',
      // The last package is imported by a reader of a kind of configuration file that is not used here.
      external: ['better-sqlite3', 'typescript'],
      // Packages in CommonJS need a `require`.
      banner: {
        js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
      },
    };
    // The commands, the service and its threads apart, because files that they shared would be many, and each takes time to load: the service
    // starts with 40 files instead of 100.
    const commands = { ...program, plugins: [...program.plugins, SERVER_IS_APART] };
    await bundle({ ...commands, entryPoints: { main: 'src/commands/index.ts' } });
    await bundle({ ...program, entryPoints: { server: 'src/server.ts' } });
    await bundle({ ...program, entryPoints: threads() });
    // Alone, since it looks at the version of Node before anything else is loaded.
    await bundle({
      ...options,
      entryPoints: ['src/cli.ts'],
      outfile: join(DIST, 'cli.js'),
      plugins: [MAIN_IS_BUNDLED],
    });
  } catch {
    // esbuild has said what is wrong.
    process.exitCode = 1;
    return;
  }
  writeFileSync(join(DIST, STAMP), programStamp());
}

/** The files that worker threads start with, by where they go. */
function threads() {
  const folder = join(ROOT, 'src/threads');
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('-thread.ts')) : [];
  return Object.fromEntries(files.map((name) => [name.replace(/\.ts$/, ''), `src/threads/${name}`]));
}

function programStamp() {
  const built = filesOf(DIST).filter((path) => !path.startsWith(BROWSER + sep));
  return hashOf([...configuration(), ...filesOf(join(ROOT, 'src')), ...built]);
}

function browserStamp() {
  const sources = browserSources(ROOT).flatMap((folder) => filesOf(folder));
  return hashOf([...configuration(), join(ROOT, 'scripts/build-browser.js'), ...sources, ...filesOf(BROWSER)]);
}

function configuration() {
  return CONFIGURATION.map((name) => join(ROOT, name));
}

function filesOf(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((path) => path !== join(folder, STAMP))
    .sort();
}

/** Names and contents, each by a hash of its own, so that no content can pass for the beginning of another. */
function hashOf(paths) {
  const sha256 = (content) => createHash('sha256').update(content).digest('hex');
  return sha256(paths.map((path) => `${sha256(path)}${sha256(readFileSync(path))}`).join());
}
