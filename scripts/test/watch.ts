/** Runs the tests of what has changed, and again at each change, until it is stopped: `npm run test:watch`. */
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';

/** An editor writes several files at once. */
const SETTLED_MS = 200;
const FOLDERS = ['src', 'test', 'fixtures', 'scripts'];

let isRunning = false;
let isAsked = false;
let timer: NodeJS.Timeout | undefined;

for (const folder of FOLDERS) {
  watch(folder, { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(run, SETTLED_MS);
  });
}
run();

function run(): void {
  isAsked = isRunning;
  if (isRunning) return;
  isRunning = true;
  spawn('npm', ['run', '--silent', 'test:changed'], { stdio: 'inherit' }).on('exit', () => {
    isRunning = false;
    if (isAsked) run();
  });
}
