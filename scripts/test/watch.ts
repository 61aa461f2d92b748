/** `npm run test:watch` runs the tests of the changed files, and again after each change, until it is stopped. */
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';

/** How long no file may change before the tests run: an editor writes several files at once. */
const QUIET_MS = 200;
const FOLDERS = ['src', 'test', 'fixtures', 'scripts'];

let isRunning = false;
/** True if a file has changed during a run, so that another run has to follow. */
let isRunDue = false;
let timer: NodeJS.Timeout | undefined;

for (const folder of FOLDERS) {
  watch(folder, { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(run, QUIET_MS);
  });
}
run();

function run(): void {
  isRunDue = isRunning;
  if (isRunning) return;
  isRunning = true;
  spawn('npm', ['run', '--silent', 'test:changed'], { stdio: 'inherit' }).on('exit', () => {
    isRunning = false;
    if (isRunDue) run();
  });
}
