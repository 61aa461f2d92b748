/**
 * The backups of a running service. What reads or writes whole databases runs in a thread of its own, so that it holds up no request: one
 * backup is made, checked or confirmed at a time. An uploaded one waits to be confirmed; a restart of the service drops it.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type FileHandle, open } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { makePrivateFile } from '../database/private-file.ts';
import { conflict, invalid, notFound } from '../errors/failure.ts';
import { SaidError, sentence } from '../errors/sentences.ts';
import { readStored } from '../errors/stored.ts';
import { threadFile } from '../thread-files.ts';
import type { Comparison } from './check-backup.ts';
import { diskUse, realPath, removeWhole, roomFor, unfinishedName } from './files.ts';

/** What the thread is to do, as its data. `path` is the file of the backup. */
export type BackupTask = { databasePath: string; path: string } & (
  | { what: 'make' }
  | { what: 'check'; name: string }
  | { what: 'confirm' /** In its stored form. */; who: string }
);

/** The thread's reply: nothing but for a check. A refusal says what is wrong with the file, in its stored form. */
export type BackupReply = { comparison: Comparison } | { refused: string } | { done: true };

/** A checked backup that waits to be confirmed. */
type Uploaded = Comparison & { upload_id: string; file_name: string };

const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 6 };

export class Backups {
  readonly #path: string;
  #thread: Worker | null = null;
  /** What the thread does. */
  #what: BackupTask['what'] | null = null;
  #isTaken = false;
  #uploaded: { path: string; record: Uploaded } | null = null;

  constructor(databasePath: string) {
    this.#path = realPath(databasePath);
  }

  /** The size of the database and the free space beside it, in bytes, and the backup that waits to be confirmed. */
  async state(): Promise<{ database: number; free: number; uploaded: Uploaded | null }> {
    return { ...(await diskUse(this.#path)), uploaded: this.#uploaded?.record ?? null };
  }

  /**
   * Makes a backup and gives its file, which has no name any more, so that nothing is left of it when it was read or its reader is gone.
   * Throws 409 while another one is made or checked, and without room for it.
   */
  make(): Promise<FileHandle> {
    return this.#alone(async () => {
      const { database } = await diskUse(this.#path);
      await roomFor(database, this.#path);
      const path = unfinishedName(this.#path);
      try {
        const reply = await this.#run({ what: 'make', databasePath: this.#path, path });
        if ('refused' in reply) throw new SaidError(readStored(reply.refused));
        return await open(path);
      } finally {
        removeWhole(path);
      }
    });
  }

  /**
   * Takes a backup in, in place of an earlier one: `write` writes at most so many bytes to a path and gives the name of the file. Throws 409
   * as `make` does, and a field error of `file` where it cannot be restored.
   */
  take(bytes: number, write: (path: string, room: number) => Promise<string>): Promise<Uploaded> {
    return this.#alone(async () => {
      const room = await roomFor(bytes, this.#path);
      const path = unfinishedName(this.#path);
      try {
        makePrivateFile(path);
        const name = await write(path, room);
        const reply = await this.#run({ what: 'check', databasePath: this.#path, path, name });
        if ('refused' in reply) throw invalid('file', readStored(reply.refused));
        if (!('comparison' in reply)) throw new Error('A backup was not compared');
        this.#drop();
        const record = { ...reply.comparison, upload_id: randomUUID(), file_name: name };
        this.#uploaded = { path, record };
        return record;
      } catch (error) {
        removeWhole(path);
        throw error;
      }
    });
  }

  /** Removes the uploaded backup with this id. Throws 404 where none waits. */
  drop(uploadId: unknown): Promise<void> {
    return this.#alone(async () => {
      this.#require(uploadId);
      this.#drop();
    });
  }

  /** Makes the uploaded backup the one that the next start puts in place; `note` is called with its name first. Throws 404 as `drop` does. */
  confirm(uploadId: unknown, who: string, note: (fileName: string) => void): Promise<void> {
    return this.#alone(async () => {
      const { path, record } = this.#require(uploadId);
      note(record.file_name);
      const reply = await this.#run({ what: 'confirm', databasePath: this.#path, path, who });
      if ('refused' in reply) throw new SaidError(readStored(reply.refused));
      this.#uploaded = null;
    });
  }

  /** Ends the making of a backup. What else is under way goes on, because it is done for somebody else. */
  async stopMaking(): Promise<void> {
    if (this.#what === 'make') await this.#thread?.terminate();
  }

  /** Ends what is under way, and removes the backup that waits. */
  async close(): Promise<void> {
    await this.#thread?.terminate();
    this.#drop();
  }

  #require(uploadId: unknown): { path: string; record: Uploaded } {
    if (this.#uploaded === null || this.#uploaded.record.upload_id !== uploadId) throw notFound();
    return this.#uploaded;
  }

  #drop(): void {
    if (this.#uploaded !== null) removeWhole(this.#uploaded.path);
    this.#uploaded = null;
  }

  /** Takes the only place for `work` to the end of it. Throws 409 while it is taken. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isTaken) throw conflict(sentence('backup_under_way'));
    this.#isTaken = true;
    try {
      return await work();
    } finally {
      this.#isTaken = false;
    }
  }

  async #run(task: BackupTask): Promise<BackupReply> {
    const thread = new Worker(threadFile('backup-thread'), { workerData: task, resourceLimits: LIMITS });
    this.#thread = thread;
    this.#what = task.what;
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
      this.#what = null;
    }
  }
}
