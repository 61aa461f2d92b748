/** The uploaded backup that waits to be confirmed. There is one at most; a restart of the service drops it. */
import { randomUUID } from 'node:crypto';
import { notFound } from '../failure.ts';
import type { Comparison } from './check-backup.ts';
import { removeWhole } from './files.ts';

type Uploaded = Comparison & { upload_id: string; file_name: string };

export class UploadedBackup {
  #kept: { path: string; record: Uploaded } | null = null;

  /** Keeps a checked file in the place of an earlier one; gives its record. */
  keep(path: string, fileName: string, comparison: Comparison): Uploaded {
    this.drop();
    const record = { ...comparison, upload_id: randomUUID(), file_name: fileName };
    this.#kept = { path, record };
    return record;
  }

  /** The record of the file that waits, or null. */
  find(): Uploaded | null {
    return this.#kept?.record ?? null;
  }

  /** The file that waits and its record. Throws 404 unless it has this id. */
  require(uploadId: unknown): Uploaded & { path: string } {
    if (this.#kept === null || this.#kept.record.upload_id !== uploadId) throw notFound();
    return { path: this.#kept.path, ...this.#kept.record };
  }

  /** Removes the file that waits, if there is one. */
  drop(): void {
    if (this.#kept !== null) removeWhole(this.#kept.path);
    this.#kept = null;
  }

  /** No longer knows the file, which has another owner now. */
  forget(): void {
    this.#kept = null;
  }
}
