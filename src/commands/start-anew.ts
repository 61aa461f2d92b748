/** Starting the program anew in the place of this process. Imports nothing, because it is loaded before the version of Node is known. */

/** Set in a process that was started anew, so that it is not started so a second time for the same cause. */
const STARTED_ANEW = 'SENDLARK_STARTED_ANEW';
/** The loader of shared libraries, which Node takes for itself when it was started through it. */
const LOADER = /\/ld[^/]*\.so[^/]*$/;

/**
 * Starts the program anew with these changes of its environment, in this process, so that whatever watches over it notices nothing.
 * Returns where the system cannot do that.
 */
export function startAnew(changes: Record<string, string>): void {
  if (!canStartAnew()) return;
  // Within a binary of one file, the program is no argument of its own.
  const program = process.getBuiltinModule('node:sea').isSea()
    ? []
    : [...process.execArgv, ...process.argv.slice(1, 2)];
  const words = [process.execPath, ...program, ...process.argv.slice(2)];
  process.execve?.(process.execPath, words, { ...process.env, ...changes, [STARTED_ANEW]: '1' });
}

/** Whether Node can be started in the place of this process. It is asked first, because a process that fails at it is aborted. */
function canStartAnew(): boolean {
  if (process.platform === 'win32' || LOADER.test(process.execPath)) return false;
  const { accessSync, constants } = process.getBuiltinModule('node:fs');
  try {
    accessSync(process.execPath, constants.X_OK);
    return true;
  } catch {
    // An upgrade has removed the file that runs.
    return false;
  }
}

/**
 * Has a command that runs for long start anew with a single arena of the C library, which otherwise keeps one for each thread: the
 * service at rest takes 15 MB less. The library reads that from the environment, and only when a process begins. It costs 20 ms. Who set
 * the number of arenas knows better; a parent that exchanges messages with the process would lose it. It is done once: of a Node with
 * capabilities of its own (setcap), the library of glibc 2.39 and later removes that number again.
 */
export function startWithOneArena(): void {
  const [command = 'serve'] = process.argv.slice(2);
  const { MALLOC_ARENA_MAX: arenas, [STARTED_ANEW]: startedAnew } = process.env;
  if (process.platform !== 'linux' || (arenas ?? startedAnew) !== undefined || process.connected) return;
  if (command === 'serve' || command === 'node') startAnew({ MALLOC_ARENA_MAX: '1' });
}
