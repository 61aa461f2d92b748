/**
 * Loaded into each thread of a service with `node --import`: writes what the thread worked into a file of the folder STRETCHES_FOLDER, a line
 * for each half second. A stretch is what the thread did between two turns of its event loop, in CPU time, since
 * a busy machine stretches the wall clock. A stretch is counted as up to a millisecond longer than it was.
 */
import { appendFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { threadId } from 'node:worker_threads';

const LOOK_MS = 1;
const WRITE_MS = 500;

/** A line: when it was written, epoch milliseconds, the CPU time of the thread since its start, and its longest stretch, both in milliseconds. */
export interface Worked {
  file: string;
  at: number;
  cpu: number;
  longest: number;
}

const folder = process.env.STRETCHES_FOLDER;
if (folder !== undefined) {
  const path = join(folder, String(threadId));
  const file = basename(process.argv[1] ?? '');
  const used = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let before = used();
  let longest = 0;
  let written = Date.now();
  setInterval(() => {
    const cpu = used();
    longest = Math.max(longest, cpu - before);
    const at = Date.now();
    if (at - written >= WRITE_MS) {
      const line: Worked = { file, at, cpu, longest };
      appendFileSync(path, `${JSON.stringify(line)}\n`);
      longest = 0;
      written = at;
    }
    before = used();
  }, LOOK_MS).unref();
}
