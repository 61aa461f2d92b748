/**
 * Restarts the program in place by replacing the process image (execve). Imports nothing, because it is loaded before the
 * version of Node is checked.
 */

/** The environment variable of a process that was restarted, so that it does not restart a second time for the same reason. */
const RESTARTED = 'SENDLARK_STARTED_ANEW';
/** Matches the path of the dynamic linker. Node takes the linker for its own executable if it was started through the linker. */
const LOADER = /\/ld[^/]*\.so[^/]*$/;

/**
 * Restarts the program with changes of its environment. The process id stays the same, so that a process manager notices nothing. Returns
 * only if the system cannot replace the process image.
 */
export function restartInPlace(changes: Record<string, string>): void {
  if (!canRestartInPlace()) return;
  // In a single-file binary, the path of the program is not an argument of its own.
  const program = process.getBuiltinModule('node:sea').isSea()
    ? []
    : [...process.execArgv, ...process.argv.slice(1, 2)];
  const words = [process.execPath, ...program, ...process.argv.slice(2)];
  process.execve?.(process.execPath, words, { ...process.env, ...changes, [RESTARTED]: '1' });
}

/** Returns true if the process image can be replaced. Call this before execve, because Node aborts the process if execve fails. */
function canRestartInPlace(): boolean {
  if (process.platform === 'win32' || LOADER.test(process.execPath)) return false;
  const { accessSync, constants } = process.getBuiltinModule('node:fs');
  try {
    accessSync(process.execPath, constants.X_OK);
    return true;
  } catch {
    // An upgrade has removed the running executable.
    return false;
  }
}

/**
 * Restarts a long-running command with a single malloc arena, because glibc otherwise keeps an arena for each thread: one arena saves
 * 15 MB in an idle service and costs 20 ms at the start. glibc reads the variable only when a process begins. Does nothing if the user
 * has set the number of arenas, or if a parent process exchanges messages with this one, because the restart would close that channel.
 * Restarts only once, because glibc 2.39 and later removes the variable from the environment of a Node with file capabilities (setcap).
 */
export function restartWithOneArena(): void {
  const [command = 'serve'] = process.argv.slice(2);
  const { MALLOC_ARENA_MAX: arenas, [RESTARTED]: restarted } = process.env;
  if (process.platform !== 'linux' || (arenas ?? restarted) !== undefined || process.connected) return;
  if (command === 'serve' || command === 'node') restartInPlace({ MALLOC_ARENA_MAX: '1' });
}
