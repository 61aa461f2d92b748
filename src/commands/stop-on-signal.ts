/** Ends a running command when its process is told to. */
import { setTimeout } from 'node:timers/promises';

/**
 * Node can wait for ever inside process.exit when one of its compiler threads waits for the main thread at that moment
 * (https://github.com/nodejs/node/issues/54918). Threads that have nothing new to do are done within this time.
 */
const THREADS_END_MS = 100;

/** At SIGTERM or Ctrl-C closes once and exits: with 0, or with 1 and the error when closing fails. */
export function stopOnSignal(close: () => Promise<void>): void {
  const stop = async () => {
    let code = 0;
    try {
      await close();
    } catch (error) {
      console.error(error);
      code = 1;
    }
    await setTimeout(THREADS_END_MS);
    process.exit(code);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}
