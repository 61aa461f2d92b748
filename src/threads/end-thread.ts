/** Ends a thread that stops by itself on request. */
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';

/** Asks a thread to stop, and terminates it after `graceMs` milliseconds at the latest. Does nothing if the thread is null or has ended. */
export async function endThread(thread: Worker | null, graceMs: number): Promise<void> {
  if (thread === null || thread.threadId === -1) return;
  thread.postMessage('stop');
  await Promise.race([once(thread, 'exit'), setTimeout(graceMs, null, { ref: false })]);
  await thread.terminate();
}
