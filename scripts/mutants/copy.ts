/** A copy of the tree for faults in its sources, so that the tree itself is never changed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { memoryFolder } from '../test/memory-folder.ts';
import { Report } from '../test/report.ts';

/** The longest that one test file may take. A file that hangs counts as a noticed fault. */
const FILE_MS = 300_000;

/** The first test that failed, or what else ended the run. */
export interface Failure {
  file: string;
  title: string;
}

/** A copy of the tree that this process runs in, in the temporary folder. */
export class Copy {
  readonly #root = mkdtempSync(join(tmpdir(), 'sendlark-mutants-'));
  /** What the tests write. */
  readonly #temporary = memoryFolder() ?? mkdtempSync(join(tmpdir(), 'sendlark-tests-'));
  #child: ChildProcess | null = null;

  constructor() {
    for (const name of readdirSync('.')) {
      if (name !== '.git' && name !== 'node_modules') cpSync(name, join(this.#root, name), { recursive: true });
    }
    // The packages are shared; what Node and the tests keep beside them is the copy's own.
    const packages = join(this.#root, 'node_modules');
    mkdirSync(packages);
    for (const name of readdirSync('node_modules')) {
      if (name !== '.cache') symlinkSync(resolve('node_modules', name), join(packages, name));
    }
  }

  /** Ends its test process and removes it. */
  remove(): void {
    this.#child?.kill('SIGKILL');
    for (const folder of [this.#root, this.#temporary]) rmSync(folder, { recursive: true, force: true });
  }

  /** Replaces the code of a source of the copy. */
  write(file: string, code: string): void {
    writeFileSync(join(this.#root, file), code);
  }

  /** Runs test files in one process, one after the other, until one fails, ends the process or takes too long. */
  async run(files: readonly string[]): Promise<Failure | null> {
    const left = [...files];
    let running: string | undefined;
    let title: string | null = null;
    let timer: NodeJS.Timeout | undefined;
    const child = spawn(
      process.execPath,
      ['--import=./scripts/run-sources.js', 'scripts/test/worker.ts', String(FILE_MS)],
      {
        cwd: this.#root,
        stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
        env: { ...process.env, TAP_TIMEOUT: '0', TMPDIR: this.#temporary },
      },
    );
    this.#child = child;
    const [orders, tap, , told] = child.stdio;
    if (!(orders instanceof Writable && tap instanceof Readable && told instanceof Readable))
      throw new Error('a test process has no pipes');
    const stop = () => child.kill('SIGKILL');
    const report = new Report((text) => {
      if (!text.startsWith('✗')) return;
      title ??= text.split('\n')[0]?.slice(2) ?? null;
      stop();
    });
    tap.pipe(report.parser());
    const next = () => {
      clearTimeout(timer);
      running = left.shift();
      // What a file has left open keeps the process from ending.
      timer = setTimeout(stop, FILE_MS);
      if (running === undefined) orders.end();
      else orders.write(`${running}\n`);
    };
    createInterface({ input: told }).on('line', next);
    // Writing to a process that has ended fails; the end of the process is handled elsewhere.
    orders.on('error', () => undefined);
    next();
    const signal = await new Promise((ended) => child.on('close', (_, signal) => ended(signal)));
    clearTimeout(timer);
    for (const name of readdirSync(this.#temporary))
      rmSync(join(this.#temporary, name), { recursive: true, force: true });
    const last = running ?? (signal === null ? undefined : files.at(-1));
    const file = files.find((one) => title?.startsWith(one)) ?? last;
    return file === undefined ? null : { file, title: title ?? `${file}: it ended its process or never ended` };
  }
}
