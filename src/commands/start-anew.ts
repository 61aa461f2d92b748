/** Starting the program anew in the place of this process. Imports nothing, because it is loaded before the version of Node is known. */

/**
 * Starts the program anew with these changes of its environment, in this process, so that whatever watches over it notices nothing.
 * Returns where the system cannot do that.
 */
export function startAnew(changes: Record<string, string>): void {
  // Within a binary of one file, the program is no argument of its own.
  const program = process.getBuiltinModule('node:sea').isSea()
    ? []
    : [...process.execArgv, ...process.argv.slice(1, 2)];
  const words = [process.execPath, ...program, ...process.argv.slice(2)];
  process.execve?.(process.execPath, words, { ...process.env, ...changes });
}

/**
 * Has a command that runs for long start anew with a single arena of the C library, which otherwise keeps one for each thread: the
 * service at rest takes 15 MB less. The library reads that from the environment, and only when a process begins. It costs 20 ms. Who set
 * the number of arenas knows better; a parent that exchanges messages with the process would lose it.
 */
export function startWithOneArena(): void {
  const [command = 'serve'] = process.argv.slice(2);
  if (process.platform !== 'linux' || process.env.MALLOC_ARENA_MAX !== undefined || process.connected) return;
  if (command === 'serve' || command === 'node') startAnew({ MALLOC_ARENA_MAX: '1' });
}
