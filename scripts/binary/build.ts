/**
 * Builds `dist-binary/sendlark`: a single-executable application of the Node that runs this script, with the bundled program and every
 * file that it reads as compressed assets. The application runs `start.ts` first. `node scripts/binary/build.ts NODE ARCHITECTURE OUTPUT`
 * builds one for another kind of processor; NODE is the path of a Node for that processor.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '../..');
const [node = process.execPath, architecture = process.arch, output = 'dist-binary/sendlark'] = process.argv.slice(2);
const OUTPUT = resolve(ROOT, output);
/** The version of Node that tests and benches run on. The program must be shipped with the same version. */
const NODE_VERSION = 'v24.';
const POSTJECT = fileURLToPath(import.meta.resolve('postject/dist/cli.js'));
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const ADDON = `prebuilds/${process.platform}-${architecture}.node`;
/** The files and folders that the program loads by their paths at run time, as in a checkout. */
const RUNTIME_FILES = [
  ...['drizzle', 'data', 'dist/browser', 'dist/cli.js', 'dist/app'],
  ...['package.json', 'lib', ADDON].map((name) => `node_modules/better-sqlite3/${name}`),
];
/** The size of the files that the program unpacks at its first start. */
let unpackedBytes = 0;
const BUNDLE = { bundle: true, platform: 'node', target: 'node24', logLevel: 'warning' } as const;
if (!process.version.startsWith(NODE_VERSION))
  throw new Error(`Build the binary with Node 24; this is ${process.version}`);
const folder = mkdtempSync(join(tmpdir(), 'sendlark-binary-'));
try {
  for (const name of RUNTIME_FILES) copy(join(ROOT, name), join(folder, 'files', name));
  // Only drizzle-kit reads the snapshots of the schema.
  for (const name of readdirSync(join(folder, 'files/drizzle/meta')))
    if (name.endsWith('_snapshot.json')) rmSync(join(folder, 'files/drizzle/meta', name));
  writeFileSync(join(folder, 'files/package.json'), '{"type":"module"}');
  const main = join(folder, 'start.cjs');
  await build({ ...BUNDLE, entryPoints: [join(import.meta.dirname, 'start.ts')], outfile: main, format: 'cjs' });
  const blob = assemble(folder, main);
  mkdirSync(join(OUTPUT, '..'), { recursive: true });
  copyFileSync(node, OUTPUT);
  chmodSync(OUTPUT, 0o755);
  strip(OUTPUT);
  // The output of postject is captured and not shown, because it warns about sections that do not matter here.
  execFileSync(process.execPath, [POSTJECT, OUTPUT, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE], { stdio: 'pipe' });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(
  `Built ${relative(process.cwd(), OUTPUT)}: ${megabytes(statSync(OUTPUT).size)}, unpacks ${megabytes(unpackedBytes)} at its first start`,
);

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

function copy(from: string, to: string): void {
  mkdirSync(join(to, '..'), { recursive: true });
  execFileSync('cp', ['-RL', from, to]);
}

/** Removes the symbols for debuggers, which are a tenth of the file. Without binutils the symbols stay in the file. */
function strip(path: string): void {
  try {
    // LLVM's strip also reads files for other processors.
    execFileSync(architecture === process.arch ? 'strip' : 'llvm-strip', [path]);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    console.log(
      'strip is not installed (Debian: binutils; for another processor llvm), so the file keeps its symbols and is larger.',
    );
  }
}

/** Packs the program, its files and a list of their hashes into a blob that Node can read. Returns the path of the blob. */
function assemble(folder: string, main: string): string {
  const files = join(folder, 'files');
  const names = readdirSync(files, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(files, join(entry.parentPath, entry.name)))
    .sort();
  const hashes = names.map((name) => [
    name,
    createHash('sha256')
      .update(readFileSync(join(files, name)))
      .digest('hex'),
  ]);
  const list = join(folder, 'list.json');
  writeFileSync(list, JSON.stringify(Object.fromEntries(hashes)));
  const output = join(folder, 'blob');
  const assets: Record<string, string> = { list };
  for (const name of names) {
    const content = readFileSync(join(files, name));
    unpackedBytes += content.length;
    const packedPath = join(folder, 'packed', name);
    mkdirSync(dirname(packedPath), { recursive: true });
    writeFileSync(packedPath, gzipSync(content, { level: 9 }));
    assets[`files/${name}`] = packedPath;
  }
  const config = join(folder, 'sea.json');
  writeFileSync(config, JSON.stringify({ main, output, assets, disableExperimentalSEAWarning: true }));
  execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio: 'pipe' });
  return output;
}
