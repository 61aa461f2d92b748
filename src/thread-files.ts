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
  | 'webhook-thread';

/** The file that a worker thread starts with: the compiled one beside compiled code, the source beside sources. */
export function threadFile(name: ThreadName): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./threads/${name}.${extension}`, import.meta.url);
}
