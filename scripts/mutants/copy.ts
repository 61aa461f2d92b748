/** A copy of the tree for faults in its sources, so that the tree itself is never changed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { memoryFolder } from '../test/memory-folder.ts';
import { Report } from '../test/report.ts';

/** How long one test file may take at most. A fault that makes a file hang counts as noticed. */
const FILE_MS = 300_000;

/** The first failure of a run. */
export interface Failure {
  /** The test file. */
  file: string;
  /** The title of the test that failed, or a sentence that says how the file ended the run. */
  title: string;
}

/** A copy, in the temporary folder, of the tree in the working directory. */
export class Copy {
  readonly #root = mkdtempSync(join(tmpdir(), 'sendlark-mutants-'));
  /** The folder for what the tests write. */
  readonly #temporary = memoryFolder() ?? mkdtempSync(join(tmpdir(), 'sendlark-tests-'));
  #child: ChildProcess | null = null;

  constructor() {
    for (const name of readdirSync('.')) {
      if (name !== '.git' && name !== 'node_modules') cpSync(name, join(this.#root, name), { recursive: true });
    }
    // The packages are links to those of the tree. Only .cache, where Node and the tests store their own files, is not shared.
    const packages = join(this.#root, 'node_modules');
    mkdirSync(packages);
    for (const name of readdirSync('node_modules')) {
      if (name !== '.cache') symlinkSync(resolve('node_modules', name), join(packages, name));
    }
  }

  /** Ends the copy's test process and removes the copy. */
  remove(): void {
    this.#child?.kill('SIGKILL');
    for (const folder of [this.#root, this.#temporary]) rmSync(folder, { recursive: true, force: true });
  }

  /** Writes a file of the copy. */
  write(file: string, code: string): void {
    writeFileSync(join(this.#root, file), code);
  }

  /**
   * Runs test files in one process, one after the other, until a file fails, ends the process or takes too long. Returns that failure, or
   * null if all files passed.
   */
  async run(files: readonly string[]): Promise<Failure | null> {
    const queue = [...files];
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
    const [fileNames, tap, , results] = child.stdio;
    if (!(fileNames instanceof Writable && tap instanceof Readable && results instanceof Readable))
      throw new Error('a test process has no pipes');
    const stop = () => child.kill('SIGKILL');
    const report = new Report((text) => {
      if (!text.startsWith('✗')) return;
      title ??= text.split('\n')[0]?.slice(2) ?? null;
      stop();
    });
    tap.pipe(report.parser());
    const startNext = () => {
      clearTimeout(timer);
      running = queue.shift();
      // The process is also stopped after its last file, because something that a file left open could keep it running.
      timer = setTimeout(stop, FILE_MS);
      if (running === undefined) fileNames.end();
      else fileNames.write(`${running}\n`);
    };
    createInterface({ input: results }).on('line', startNext);
    // Writing to a process that has ended fails. Its end is handled below.
    fileNames.on('error', () => undefined);
    startNext();
    const signal = await new Promise((resolve) => child.on('close', (_, signal) => resolve(signal)));
    clearTimeout(timer);
    for (const name of readdirSync(this.#temporary))
      rmSync(join(this.#temporary, name), { recursive: true, force: true });
    const last = running ?? (signal === null ? undefined : files.at(-1));
    const file = files.find((name) => title?.startsWith(name)) ?? last;
    return file === undefined ? null : { file, title: title ?? `${file}: it ended its process or never ended` };
  }
}
