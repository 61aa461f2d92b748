/**
 * Builds dist where it is not what src gives, and then says so; otherwise does nothing. Plain JavaScript, because it also runs on
 * the machine's own Node, which may be too old for everything else. With `--browser-only` it builds what browsers load and leaves
 * the program alone, for those who run the sources.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browserSources, bundleForBrowsers } from './build-browser.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
/** What src imports of drizzle-orm, by the names its package.json exports. */
const DRIZZLE = [
  'drizzle-orm',
  'drizzle-orm/better-sqlite3',
  'drizzle-orm/better-sqlite3/migrator',
  'drizzle-orm/migrator',
  'drizzle-orm/sqlite-core',
];
/** What browsers load. The program's build neither reads nor removes it. */
const BROWSER = join(DIST, 'browser');
/** In each of the two folders: the hash of what its last build read and of what it wrote. */
const STAMP = '.built-from';
const CONFIGURATION = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.js'];

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

/** Removes the old build first, so that a file deleted from src does not live on in dist. */
async function buildProgram() {
  const old = existsSync(DIST) ? readdirSync(DIST) : [];
  for (const name of old) if (name !== 'browser') rmSync(join(DIST, name), { recursive: true });
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', join(ROOT, 'tsconfig.build.json')], {
    stdio: 'inherit',
  });
  if (status === 0) {
    await bundleDrizzle();
    writeFileSync(join(DIST, STAMP), programStamp());
  } else process.exitCode = 1;
}

/**
 * Writes drizzle-orm as a few files to dist/node_modules, where dist finds it before the installed package. Node 22 and 24 parse a
 * package's package.json once for each module they import from it. That of drizzle-orm has 179 kB, and 113 of its modules are
 * imported: this took half a second of CPU in every thread.
 */
async function bundleDrizzle() {
  const { build: bundle } = await import('esbuild');
  const folder = join(DIST, 'node_modules/drizzle-orm');
  const fileOf = (name) => name.replaceAll('/', '-');
  await bundle({
    entryPoints: DRIZZLE.map((name) => ({ in: name, out: fileOf(name) })),
    absWorkingDir: ROOT,
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    external: ['better-sqlite3'],
  });
  const exports = Object.fromEntries(DRIZZLE.map((name) => [name.replace('drizzle-orm', '.'), `./${fileOf(name)}.js`]));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'drizzle-orm', type: 'module', exports }));
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
