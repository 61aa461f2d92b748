/** Where the entry points of worker threads are. */

/** The threads of the service, by the name of their file in `threads/`. */
export type ThreadName =
  | 'background-thread'
  | 'backup-thread'
  | 'compile-thread'
  | 'feedback-thread'
  | 'import-thread'
  | 'node-thread'
  | 'passkey-thread'
  | 'replay-thread'
  | 'webhook-thread';

/** Returns the entry file of a worker thread. The build puts it beside all other files of the program. */
export function threadFile(name: ThreadName): URL {
  const isBuilt = import.meta.url.endsWith('.js');
  return new URL(isBuilt ? `./${name}.js` : `./threads/${name}.ts`, import.meta.url);
}
