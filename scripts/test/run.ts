/**
 * Runs test files, several in each of a few processes: `npm test`, `npm run test:system` and `npm run test:changed`. Loading the sources
 * takes a second of CPU, which a process for each file would spend anew.
 *
 *     node scripts/test/run.ts [unit | system | changed | FILE …] [--slowest]
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { changedFiles, chosenFor, testFiles } from './choose.ts';
import { memoryFolder } from './memory-folder.ts';
import { Report } from './report.ts';
import { FileTimes } from './times.ts';

/** What a worker says of a file that has ended. */
export interface FileResult {
  file: string;
  wallMs: number;
  cpuMs: number;
  memoryBytes: number;
}

/** The longest that a file may take. What hangs is ended with its process, since nothing else may run beside it there. */
const FILE_MS = 400_000;
const PROGRESS_MS = 15_000;
const SLOWEST = 20;

const words = process.argv.slice(2);
/** Tests wait for a disk or a timer, so one process more than processors; those of the system wait for other processes, too, so two for each. */
const PROCESSES = Math.min(words.includes('system') ? 2 * availableParallelism() : availableParallelism() + 1, 8);
/**
 * A process that has grown to this is replaced by a new one, which takes three seconds of CPU to be as fast again. All processes together
 * have half of the memory.
 */
const MAX_MEMORY_BYTES = Math.min(2_000_000_000, totalmem() / 2 / PROCESSES);
const showSlowest = words.includes('--slowest');
const times = new FileTimes();
const files = chosen(words.filter((word) => !word.startsWith('--')));
// The longest begin first, so that no process waits for one at the end.
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
if (showSlowest) for (const one of longest()) console.log(one);
const seconds = Math.round((performance.now() - startedAt) / 1000);
if (isTerminal) process.stdout.write('\r\x1b[K');
console.log(`${results.length} of ${files.length} files in ${seconds} s`);
console.log(`${report.passed} passed, ${report.failed} failed`);
if (report.failed > 0 || results.length < files.length) process.exitCode = 1;

function chosen(names: readonly string[]): string[] {
  const [name = 'unit'] = names;
  if (name === 'changed') return chosenByChange();
  if (name === 'unit' || name === 'system') return testFiles()[name];
  const asked = names.map((one) => relative('.', resolve(one)));
  const below = Object.values(testFiles())
    .flat()
    .filter((file) => asked.some((one) => file.startsWith(`${one}/`)));
  const found = [...new Set([...asked.filter((one) => /\.test\.tsx?$/.test(one) && existsSync(one)), ...below])];
  if (found.length === 0) throw new Error(`there is no test file ${names.join(', ')}`);
  return found;
}

/** The tests of what differs from the last commit, after building what they need. */
function chosenByChange(): string[] {
  const { tests, left } = chosenFor(changedFiles(), PROCESSES, (test) => times.of(test));
  if (left > 0)
    console.log(`The nearest ${tests.length} tests; npm test also runs ${left} more that the change may concern`);
  if (tests.length === 0) return tests;
  const { system } = testFiles();
  const isBuilt = tests.some((test) => system.includes(test));
  const { status } = spawnSync(process.execPath, ['scripts/build.js', ...(isBuilt ? [] : ['--browser-only'])], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
  return tests;
}

/** Runs files in one process after the other until none is left. */
async function work(): Promise<void> {
  while (queue.length > 0) await runProcess();
}

/** Runs files in a new process until none is left, the process has grown too much, or a file ends or hangs it. */
async function runProcess(): Promise<void> {
  const child = spawn(
    process.execPath,
    ['--import=./scripts/run-sources.js', join(import.meta.dirname, 'worker.ts'), String(FILE_MS)],
    {
      stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
      // The time of each file is limited here, not that of the process.
      env: { ...process.env, TAP_TIMEOUT: '0', ...(temporary !== null && { TMPDIR: temporary }) },
    },
  );
  const [orders, tap, , told] = child.stdio;
  if (!(orders instanceof Writable && tap instanceof Readable && told instanceof Readable))
    throw new Error('a test process has no pipes');
  tap.pipe(report.parser());
  let running: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  const next = () => {
    clearTimeout(timer);
    running = queue.shift() ?? null;
    if (running === null) {
      orders.end();
      return;
    }
    // A little later than the file's own limit, which can say which of its tests hangs.
    timer = setTimeout(() => child.kill('SIGKILL'), FILE_MS + 10_000);
    orders.write(`${running}\n`);
  };
  createInterface({ input: told }).on('line', (line) => {
    const result: FileResult = JSON.parse(line);
    results.push(result);
    running = null;
    if (result.memoryBytes > MAX_MEMORY_BYTES) orders.end();
    else next();
  });
  // What is written to a process that has ended is told by its end.
  orders.on('error', () => undefined);
  next();
  await new Promise((ended) => child.on('close', ended));
  clearTimeout(timer);
  if (running !== null) report.fail(running, 'it ended its process or never ended');
}

function showProgress(): void {
  const done = results.reduce((sum, { file }) => sum + times.of(file), 0);
  const elapsed = (performance.now() - startedAt) / 1000;
  const left = done === 0 ? null : Math.round((elapsed * (expectedMs - done)) / done);
  const line = `${results.length} of ${files.length} files${left === null ? '' : `, about ${left} s left`}`;
  process.stdout.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
}

function longest(): string[] {
  const slow = results.toSorted((a, b) => b.wallMs - a.wallMs).slice(0, SLOWEST);
  const lines = slow.map(
    ({ file, wallMs, cpuMs }) => `${(wallMs / 1000).toFixed(1)} s, ${(cpuMs / 1000).toFixed(1)} s of CPU: ${file}`,
  );
  return ['The slowest files:', ...lines];
}
