/**
 * Records how long each thread of a service works without a pause. Node loads this file into each thread with `--import`; every half second
 * it appends a line to the thread's file in the folder that STRETCHES_FOLDER names. A stretch is the work of a thread between two turns of
 * its event loop. It is measured in CPU time, since wall-clock time also contains waiting on a busy machine, and comes out up to a
 * millisecond too long.
 */
import { appendFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { threadId } from 'node:worker_threads';

const POLL_MS = 1;
const WRITE_MS = 500;

/** A line of a thread's file. */
export interface Worked {
  /** The name of the thread's main module. */
  file: string;
  /** When the line was written, in epoch milliseconds. */
  at: number;
  /** The CPU time of the thread since its start, in milliseconds. */
  cpu: number;
  /** The longest stretch since the last line, in milliseconds. */
  longest: number;
}

const folder = process.env.STRETCHES_FOLDER;
if (folder !== undefined) {
  const path = join(folder, String(threadId));
  const file = basename(process.argv[1] ?? '');
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let before = cpuMs();
  let longest = 0;
  let writtenAt = Date.now();
  setInterval(() => {
    const cpu = cpuMs();
    longest = Math.max(longest, cpu - before);
    const at = Date.now();
    if (at - writtenAt >= WRITE_MS) {
      const line: Worked = { file, at, cpu, longest };
      appendFileSync(path, `${JSON.stringify(line)}\n`);
      longest = 0;
      writtenAt = at;
    }
    before = cpuMs();
  }, POLL_MS).unref();
}
