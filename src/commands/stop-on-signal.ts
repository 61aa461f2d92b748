/** Ends a running command when its process is told to. */

/** How long something forgotten may keep a closed command running. */
const FORGOTTEN_MS = 2000;

/**
 * At SIGTERM or Ctrl-C closes once and ends the process: with 0, or with 1 and the error when closing fails. Node leaves by itself
 * once nothing is open. process.exit is only the second resort, because it waits for ever when at that moment one of Node's compiler
 * threads waits for the main thread (https://github.com/nodejs/node/issues/54918).
 */
export function stopOnSignal(close: () => Promise<void>): void {
  const stop = async () => {
    process.exitCode = 0;
    try {
      await close();
    } catch (error) {
      console.error(error);
      process.exitCode = 1;
    }
    setTimeout(() => process.exit(), FORGOTTEN_MS).unref();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}
