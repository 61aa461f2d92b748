/**
 * The backups of a running service. A separate thread reads and writes whole databases, so that requests do not wait. Only one backup at a
 * time is made, checked or confirmed. An uploaded backup waits for its confirmation; a restart of the service removes the backup.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type FileHandle, open } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { makePrivateFile } from '../../database/private-file.ts';
import { conflict, invalid, notFound } from '../../errors/failure.ts';
import { SaidError, sentence } from '../../errors/sentences.ts';
import { readStored } from '../../errors/stored.ts';
import { threadFile } from '../../thread-files.ts';
import type { Comparison } from './check-backup.ts';
import { diskUse, realPath, removeWithCompanions, requireRoom, unfinishedName } from './files.ts';

/** The task of the thread, passed as its workerData. `path` is the file of the backup; `who` confirms it, in stored form. */
export type BackupTask = { databasePath: string; path: string } & (
  | { what: 'make' }
  | { what: 'check'; name: string }
  | { what: 'confirm'; who: string }
);

/** The thread's reply. Only a check returns a comparison. `refused` is the reason why the file cannot be used, in its stored form. */
export type BackupReply = { comparison: Comparison } | { refused: string } | { done: true };

/** A checked backup that waits for its confirmation. */
type Uploaded = Comparison & { upload_id: string; file_name: string };

/** The memory limits of the thread. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 6 };

export class Backups {
  readonly #path: string;
  #thread: Worker | null = null;
  /** The running task of the thread. */
  #what: BackupTask['what'] | null = null;
  /** True while a request makes, takes, drops or confirms a backup. */
  #isBusy = false;
  #uploaded: { path: string; record: Uploaded } | null = null;

  constructor(databasePath: string) {
    this.#path = realPath(databasePath);
  }

  /** Returns the sizes of the database and of the free space on its disk in bytes, and the backup that waits for its confirmation. */
  async state(): Promise<{ database: number; free: number; uploaded: Uploaded | null }> {
    return { ...(await diskUse(this.#path)), uploaded: this.#uploaded?.record ?? null };
  }

  /**
   * Makes a backup and returns its open file. The file has no name any more, so that it disappears once it is closed. Throws
   * 409 while another backup is made or checked, and if there is not enough free space.
   */
  make(): Promise<FileHandle> {
    return this.#exclusively(async () => {
      const { database } = await diskUse(this.#path);
      await requireRoom(database, this.#path);
      const path = unfinishedName(this.#path);
      try {
        const reply = await this.#run({ what: 'make', databasePath: this.#path, path });
        if ('refused' in reply) throw new SaidError(readStored(reply.refused));
        return await open(path);
      } finally {
        removeWithCompanions(path);
      }
    });
  }

  /**
   * Stores and checks an uploaded backup of `bytes` bytes, which replaces an earlier upload. `write` writes the file to a path, at most
   * `room` bytes, and returns the file's name. Throws 409 as `make` does, and a field error of `file` if the backup cannot be restored.
   */
  take(bytes: number, write: (path: string, room: number) => Promise<string>): Promise<Uploaded> {
    return this.#exclusively(async () => {
      const room = await requireRoom(bytes, this.#path);
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
        removeWithCompanions(path);
        throw error;
      }
    });
  }

  /** Removes the uploaded backup with this id. Throws 404 if no such backup waits. */
  drop(uploadId: unknown): Promise<void> {
    return this.#exclusively(async () => {
      this.#require(uploadId);
      this.#drop();
    });
  }

  /**
   * Confirms the uploaded backup, so that the next start restores it. First calls `note` with the file's name. Throws 404 as `drop` does.
   */
  confirm(uploadId: unknown, who: string, note: (fileName: string) => void): Promise<void> {
    return this.#exclusively(async () => {
      const { path, record } = this.#require(uploadId);
      note(record.file_name);
      const reply = await this.#run({ what: 'confirm', databasePath: this.#path, path, who });
      if ('refused' in reply) throw new SaidError(readStored(reply.refused));
      this.#uploaded = null;
    });
  }

  /** Stops a backup that is being made. A running check or confirmation continues, because it belongs to another request. */
  async stopMaking(): Promise<void> {
    if (this.#what === 'make') await this.#thread?.terminate();
  }

  /** Stops the running task and removes the waiting backup. */
  async close(): Promise<void> {
    await this.#thread?.terminate();
    this.#drop();
  }

  #require(uploadId: unknown): { path: string; record: Uploaded } {
    if (this.#uploaded === null || this.#uploaded.record.upload_id !== uploadId) throw notFound();
    return this.#uploaded;
  }

  #drop(): void {
    if (this.#uploaded !== null) removeWithCompanions(this.#uploaded.path);
    this.#uploaded = null;
  }

  /** Runs `work` if no other task runs. Throws 409 if another task runs. */
  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isBusy) throw conflict(sentence('backup_under_way'));
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#isBusy = false;
    }
  }

  /** Runs a task in a new thread and returns its reply. */
  async #run(task: BackupTask): Promise<BackupReply> {
    const thread = new Worker(threadFile('backup-thread'), { workerData: task, resourceLimits: LIMITS });
    this.#thread = thread;
    this.#what = task.what;
    const waiting = new AbortController();
    const { signal } = waiting;
    try {
      const [reply]: BackupReply[] = await Promise.race([
        once(thread, 'message', { signal }),
        once(thread, 'exit', { signal }).then(() => []),
      ]);
      if (reply === undefined) throw new Error('The thread for backups ended without an answer');
      return reply;
    } finally {
      waiting.abort();
      await thread.terminate();
      this.#thread = null;
      this.#what = null;
    }
  }
}
