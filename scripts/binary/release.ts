/**
 * `npm run release` builds and checks the one-file programs for Linux in `dist-release/`, and writes their hashes to SHA256SUMS. For the
 * kind of processor that this machine does not have, Node comes from its npm package, with the version and hash of package-lock.json, and
 * the program is run only if this machine emulates the processor.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'dist-release');
/** The values of `e_machine` in an ELF file, by kind of processor (System V ABI, chapter 4). */
const MACHINES = { x64: 62, arm64: 183 } as const;
type Architecture = keyof typeof MACHINES;

const { version }: { version: string } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const { packages }: { packages: Record<string, { version: string; integrity: string }> } = JSON.parse(
  readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
);

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);
const hashLines: string[] = [];
for (const architecture of ['x64', 'arm64'] as const) {
  const name = `sendlark-linux-${architecture}`;
  const path = join(FOLDER, name);
  const temporary = mkdtempSync(join(tmpdir(), 'sendlark-release-'));
  try {
    const node = architecture === process.arch ? process.execPath : nodeOf(architecture, temporary);
    const build = join(import.meta.dirname, 'build.ts');
    execFileSync(process.execPath, [build, node, architecture, path], { stdio: 'inherit' });
    assertMachine(path, architecture);
    if (architecture === process.arch || isEmulated(path)) await tryOut(path, temporary);
    else
      console.log(
        `${name} is for another kind of processor. Its header was checked, but it was not run (install qemu-user-static)`,
      );
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  hashLines.push(`${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${name}\n`);
}
writeFileSync(join(FOLDER, 'SHA256SUMS'), hashLines.join(''));
execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: FOLDER, stdio: 'inherit' });

/**
 * Downloads Node for this kind of processor from its npm package. Returns the path of the executable. Throws if the package's hash is not
 * the one in package-lock.json.
 */
function nodeOf(architecture: Architecture, folder: string): string {
  const name = `node-linux-${architecture}`;
  const locked = packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`package-lock.json has no ${name}`);
  const args = ['pack', `${name}@${locked.version}`, '--silent', '--pack-destination', folder];
  const file = join(folder, execFileSync('npm', args, { encoding: 'utf8' }).trim());
  const hash = createHash('sha512').update(readFileSync(file)).digest('base64');
  if (locked.integrity !== `sha512-${hash}`) throw new Error(`The hash of ${name} is not the one in package-lock.json`);
  execFileSync('tar', ['-xzf', file, '-C', folder]);
  return join(folder, 'package/bin/node');
}

/** Throws if the program's ELF header names another kind of processor. */
function assertMachine(path: string, architecture: Architecture): void {
  const header = Buffer.alloc(20);
  readSync(openSync(path, 'r'), header);
  const machine = header.toString('latin1', 1, 4) === 'ELF' ? header.readUInt16LE(18) : 0;
  if (machine !== MACHINES[architecture]) throw new Error(`${path} is for machine ${machine}`);
}

/**
 * True if this machine can run the program although it is for another kind of processor, as with Debian's qemu-user-static and that
 * processor's libraries in QEMU_LD_PREFIX.
 */
function isEmulated(path: string): boolean {
  return spawnSync(path, ['--version'], { stdio: 'ignore' }).status === 0;
}

/**
 * Runs the program in an empty folder, without this environment except for the emulator's setting. Throws if the program does not print its
 * version, or does not serve.
 */
async function tryOut(path: string, folder: string): Promise<void> {
  const { QEMU_LD_PREFIX } = process.env;
  const env = {
    XDG_CACHE_HOME: join(folder, 'cache'),
    DATABASE_PATH: join(folder, 'try.db'),
    PORT: '0',
    ...(QEMU_LD_PREFIX && { QEMU_LD_PREFIX }),
  };
  mkdirSync(env.XDG_CACHE_HOME);
  const printed = execFileSync(path, ['--version'], { env, cwd: folder, encoding: 'utf8' }).trim();
  if (printed !== version) throw new Error(`${path} says its version is ${printed}, not ${version}`);
  const child = spawn(path, ['serve'], { env, cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const origin = /serves (\S+)\/api/.exec(line)?.[1];
      if (origin === undefined) continue;
      const answer = await fetch(`${origin}/healthz`);
      if (!answer.ok) throw new Error(`/healthz of ${path} answers ${answer.status}`);
      console.log(`${path} ${version} starts and answers`);
      return;
    }
    throw new Error(`${path} did not start`);
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
  }
}
