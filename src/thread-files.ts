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

/** The entry file of a worker thread: the compiled one next to compiled code, the source next to sources. */
export function threadFile(name: ThreadName): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./threads/${name}.${extension}`, import.meta.url);
}
