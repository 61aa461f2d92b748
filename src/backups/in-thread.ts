/** Runs what reads or writes whole databases in a thread of its own, so that it holds up no request. One at a time. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { conflict, invalid } from '../failure.ts';
import { SENTENCES } from '../sentences.ts';
import { threadFile } from '../thread-files.ts';
import type { Comparison } from './check-backup.ts';

/** What the thread is to do, as its data. `path` is the file of the backup. */
export type BackupTask = { databasePath: string; path: string } & (
  | { what: 'make' }
  | { what: 'check'; name: string }
  | { what: 'confirm'; who: string }
);

/** The thread's reply: nothing but for a check. A refusal says what is wrong with the file. */
export type BackupReply = { comparison: Comparison } | { refused: string } | { done: true };

const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 6 };

/** The tasks of one service. */
export class BackupThread {
  #thread: Worker | null = null;
  #isTaken = false;

  /** Takes the only place for `work` to the end of it. Throws 409 while it is taken. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isTaken) throw conflict(SENTENCES.backup_under_way);
    this.#isTaken = true;
    try {
      return await work();
    } finally {
      this.#isTaken = false;
    }
  }

  /** Makes a backup at `path`. Rejects when the copy is damaged. */
  async make(databasePath: string, path: string): Promise<void> {
    const reply = await this.#run({ what: 'make', databasePath, path });
    if ('refused' in reply) throw new Error(reply.refused);
  }

  /** Checks and compares an uploaded file. Throws a field error of `file` where it cannot be restored. */
  async check(databasePath: string, path: string, name: string): Promise<Comparison> {
    const reply = await this.#run({ what: 'check', databasePath, path, name });
    if ('comparison' in reply) return reply.comparison;
    throw 'refused' in reply ? invalid('file', reply.refused) : new Error('A backup was not compared');
  }

  /** Makes a checked file the one that the next start puts in place; `who` confirmed it. */
  async confirm(databasePath: string, path: string, who: string): Promise<void> {
    const reply = await this.#run({ what: 'confirm', databasePath, path, who });
    if ('refused' in reply) throw new Error(reply.refused);
  }

  /** Ends what is under way. */
  async stop(): Promise<void> {
    await this.#thread?.terminate();
  }

  async #run(task: BackupTask): Promise<BackupReply> {
    const thread = new Worker(threadFile('backup-thread'), { workerData: task, resourceLimits: LIMITS });
    this.#thread = thread;
    const ended = new AbortController();
    const { signal } = ended;
    try {
      const [reply]: BackupReply[] = await Promise.race([
        once(thread, 'message', { signal }),
        once(thread, 'exit', { signal }).then(() => []),
      ]);
      if (reply === undefined) throw new Error('The thread for backups ended without an answer');
      return reply;
    } finally {
      ended.abort();
      await thread.terminate();
      this.#thread = null;
    }
  }
}
