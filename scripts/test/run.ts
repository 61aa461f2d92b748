/**
 * Runs test files in a few processes, one file after another in each: `npm test`, `npm run test:system` and `npm run test:changed`. A process
 * for each file would take longer, because loading the sources takes a second of CPU time.
 *
 *     node scripts/test/run.ts [unit | system | changed | FILE …] [--slowest]
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { changedFiles, chooseTests, testFiles } from './choose.ts';
import { memoryFolder } from './memory-folder.ts';
import { Report } from './report.ts';
import { FileTimes } from './times.ts';

/** The message of a worker about a file that has ended. */
export interface FileResult {
  file: string;
  wallMs: number;
  cpuMs: number;
  memoryBytes: number;
}

/**
 * The longest time for which a test file may report nothing. The whole time is not limited, because a walk through many pages takes many
 * times as long beside other work. The process of a file that hangs is killed.
 */
const SILENT_MS = 400_000;
const PROGRESS_MS = 15_000;
/** How many files --slowest shows. */
const SLOWEST_SHOWN = 20;

const words = process.argv.slice(2);
/**
 * Unit tests sometimes wait for a disk or a timer, so one process more than processors keeps the processors busy. System tests wait for
 * other processes too, so they get two processes for each processor.
 */
const PROCESSES = Math.min(words.includes('system') ? 2 * availableParallelism() : availableParallelism() + 1, 8);
/**
 * A process that has grown beyond this size is replaced. A new process needs three seconds of CPU time until it is as fast. All processes
 * together may use half of the machine's memory.
 */
const MAX_MEMORY_BYTES = Math.min(2_000_000_000, totalmem() / 2 / PROCESSES);
const showSlowest = words.includes('--slowest');
const times = new FileTimes();
const files = chooseFiles(words.filter((word) => !word.startsWith('--')));
// The files that take longest begin first, so that none of them is the last to run while other processes are idle.
const queue = files.toSorted((a, b) => times.of(b) - times.of(a));
const expectedMs = files.reduce((sum, file) => sum + times.of(file), 0);
const results: FileResult[] = [];
const startedAt = performance.now();
const isTerminal = process.stdout.isTTY;
const report = new Report((text) => process.stdout.write(isTerminal ? `\r\x1b[K${text}` : text));
const temporary = memoryFolder();

const progress = setInterval(showProgress, isTerminal ? 500 : PROGRESS_MS);
await Promise.all(Array.from({ length: Math.min(PROCESSES, files.length) }, () => work()));
clearInterval(progress);
if (temporary !== null) rmSync(temporary, { recursive: true, force: true });
times.write(results);
if (showSlowest) printSlowest();
const seconds = Math.round((performance.now() - startedAt) / 1000);
if (isTerminal) process.stdout.write('\r\x1b[K');
console.log(`${results.length} of ${files.length} files in ${seconds} s`);
console.log(`${report.passed} passed, ${report.failed} failed`);
if (report.failed > 0 || results.length < files.length) process.exitCode = 1;

/** The test files that the words of the command line ask for: a kind of run, or files and folders. */
function chooseFiles(names: readonly string[]): string[] {
  const [name = 'unit'] = names;
  if (name === 'changed') return chooseByChange();
  if (name === 'unit' || name === 'system') return testFiles()[name];
  const paths = names.map((path) => relative('.', resolve(path)));
  const inFolders = Object.values(testFiles())
    .flat()
    .filter((file) => paths.some((path) => file.startsWith(`${path}/`)));
  const named = paths.filter((path) => /\.test\.tsx?$/.test(path) && existsSync(path));
  const chosen = [...new Set([...named, ...inFolders])];
  if (chosen.length === 0) throw new Error(`there is no test file ${names.join(', ')}`);
  return chosen;
}

/** The tests of the files that differ from the last commit. Builds what these tests need. */
function chooseByChange(): string[] {
  const { tests, leftOut } = chooseTests(changedFiles(), PROCESSES, (test) => times.of(test));
  if (leftOut > 0)
    console.log(`The nearest ${tests.length} tests; npm test also runs ${leftOut} more that the change may concern`);
  if (tests.length === 0) return tests;
  const { system } = testFiles();
  const needsProgram = tests.some((test) => system.includes(test));
  const options = needsProgram ? [] : ['--browser-only'];
  const { status } = spawnSync(process.execPath, ['scripts/build.js', ...options], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  return tests;
}

/** Runs files in one process after another until the queue is empty. */
async function work(): Promise<void> {
  while (queue.length > 0) await runProcess();
}

/** Runs files in a new process until the queue is empty, the process has grown too large, or a file ends the process or hangs. */
async function runProcess(): Promise<void> {
  const child = spawn(
    process.execPath,
    ['--import=./scripts/run-sources.js', join(import.meta.dirname, 'worker.ts'), String(SILENT_MS)],
    {
      stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
      // Tap's limit for the whole process is off, because the time of each file is limited.
      env: { ...process.env, TAP_TIMEOUT: '0', ...(temporary !== null && { TMPDIR: temporary }) },
    },
  );
  const [fileNames, tap, , resultLines] = child.stdio;
  if (!(fileNames instanceof Writable && tap instanceof Readable && resultLines instanceof Readable))
    throw new Error('a test process has no pipes');
  tap.pipe(report.parser());
  tap.on('data', () => timer?.refresh());
  let running: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  const startNext = () => {
    clearTimeout(timer);
    running = queue.shift() ?? null;
    if (running === null) {
      // A timer that has ended would start again with the last lines.
      timer = undefined;
      fileNames.end();
      return;
    }
    // The process is killed a little later than the worker's own limit ends the file, because the worker can say which test hangs.
    timer = setTimeout(() => child.kill('SIGKILL'), SILENT_MS + 10_000);
    fileNames.write(`${running}\n`);
  };
  createInterface({ input: resultLines }).on('line', (line) => {
    const result: FileResult = JSON.parse(line);
    results.push(result);
    running = null;
    if (result.memoryBytes > MAX_MEMORY_BYTES) fileNames.end();
    else startNext();
  });
  // Writing to a process that has ended fails. Its end is handled below.
  fileNames.on('error', () => undefined);
  startNext();
  await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  if (running !== null) report.fail(running, 'it ended its process or never ended');
}

function showProgress(): void {
  const doneMs = results.reduce((sum, { file }) => sum + times.of(file), 0);
  const elapsedSeconds = (performance.now() - startedAt) / 1000;
  const secondsLeft = Math.round((elapsedSeconds * (expectedMs - doneMs)) / doneMs);
  const line = `${results.length} of ${files.length} files${doneMs === 0 ? '' : `, about ${secondsLeft} s left`}`;
  process.stdout.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
}

function printSlowest(): void {
  console.log('The slowest files:');
  for (const { file, wallMs, cpuMs } of results.toSorted((a, b) => b.wallMs - a.wallMs).slice(0, SLOWEST_SHOWN))
    console.log(`${(wallMs / 1000).toFixed(1)} s, ${(cpuMs / 1000).toFixed(1)} s of CPU: ${file}`);
}
