/**
 * Uploaded CSV files that a user inspects before importing them, the folders in which they wait, and the progress of their
 * imports. A restart of the service drops them.
 */
import { createHash, randomUUID } from 'node:crypto';
import { lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { HOUR_MS } from '../../units.ts';
import type { ExportJob, ReadExport, UploadedExport } from '../migrate/read-export.ts';
import type { GuessedColumns } from './guess-columns.ts';
import type { ImportReport } from './import.ts';
import type { ImportJob } from './import-job.ts';
import { namedMapping } from './make-lists.ts';
import type { ImportPreview } from './preview.ts';

/** A file is removed if it is not imported within this time. */
const KEPT_MS = HOUR_MS;
/** The maximum number of files of an account. The oldest that is not being imported is removed for a new one. */
const MAX_OF_ACCOUNT = 5;
/** The maximum number of imports of an account that run or wait, because their files take space on disk until the import. */
const MAX_RUNNING = 5;

/** An uploaded file with the plan for its import and the progress. */
export interface UploadedFile extends GuessedColumns {
  id: string;
  accountId: number;
  folder: string;
  path: string;
  fileName: string;
  /** For an export of another service: what it contains in addition to contacts. */
  exported: UploadedExport | null;
  /** When the file was uploaded, epoch milliseconds. */
  uploadedAt: number;
  /** looked (inspected) → previewing → looked → running → done or failed. */
  state: 'looked' | 'previewing' | 'running' | 'done' | 'failed';
  /** Bytes read, bytes in all, contacts written, contacts in all, in memory that the import thread shares. */
  progress: Float64Array;
  /** What the import did; null before its end. */
  report: ImportReport | null;
  /** The plan that was last previewed; null before the first preview. */
  planned: PlannedImport | null;
  /** The preview of `planned`; null while it is being computed. */
  preview: ImportPreview | null;
}

/** The user's choices for the import of a file. */
export interface PlannedImport extends Required<Pick<ImportJob, 'typeId' | 'mapping' | 'options'>> {
  /** The name of the contact type that the import creates; then `typeId` is 0. Null if the contact type exists. */
  newTypeName: string | null;
}

const isBusy = ({ state }: UploadedFile) => state === 'running' || state === 'previewing';

/** The work that is done in the import thread. */
export interface Importer {
  /** Runs an import and returns its report. */
  run(job: ImportJob): Promise<ImportReport>;
  /** Computes what an import would do. */
  preview(job: ImportJob): Promise<ImportPreview>;
  /** Reads the export of another service. Returns `refusal` if the file is not one. */
  read(job: ExportJob): Promise<ReadExport | { refusal: string }>;
}

/** The uploads of one running service. */
export class ImportJobs {
  readonly #files = new Map<string, UploadedFile>();
  readonly #importer: Pick<Importer, 'run' | 'preview'>;
  readonly #onFailure: (error: unknown, text: string) => void;

  /** Reports failures that the file did not cause to `onFailure`. */
  constructor(importer: Pick<Importer, 'run' | 'preview'>, onFailure: (error: unknown, text: string) => void) {
    this.#importer = importer;
    this.#onFailure = onFailure;
  }

  /** Stores an inspected file. Removes files of the account that were kept too long or are too many. */
  async add(
    file: Pick<UploadedFile, 'accountId' | 'folder' | 'path' | 'fileName' | 'exported' | keyof GuessedColumns>,
    now: number,
  ) {
    const upload: UploadedFile = {
      ...file,
      id: randomUUID(),
      uploadedAt: now,
      state: 'looked',
      progress: new Float64Array(new SharedArrayBuffer(4 * Float64Array.BYTES_PER_ELEMENT)),
      report: null,
      planned: null,
      preview: null,
    };
    this.#files.set(upload.id, upload);
    const idle = [...this.#files.values()].filter((other) => !isBusy(other));
    const own = idle.filter(({ accountId }) => accountId === file.accountId);
    const removed = new Set([
      ...idle.filter(({ uploadedAt }) => now - uploadedAt > KEPT_MS),
      ...own.slice(0, Math.max(0, own.length - MAX_OF_ACCOUNT)),
    ]);
    for (const { id, folder } of removed) {
      this.#files.delete(id);
      await rm(folder, { recursive: true, force: true });
    }
    return upload;
  }

  /** Returns the account's upload with this id; undefined if there is none. */
  find(accountId: number, id: unknown): UploadedFile | undefined {
    const file = typeof id === 'string' ? this.#files.get(id) : undefined;
    return file?.accountId === accountId ? file : undefined;
  }

  /** Computes in the import thread what importing a file would do. Throws as `requireRoom` does. */
  startPreview(file: UploadedFile, databasePath: string, planned: PlannedImport): void {
    this.requireRoom(file.accountId);
    file.state = 'previewing';
    file.planned = planned;
    file.preview = null;
    void this.#importer
      .preview(jobOf(file, databasePath, planned))
      .then((preview) => {
        file.preview = preview;
      })
      .catch((error: unknown) => this.#onFailure(error, 'a preview failed'))
      .finally(() => {
        file.state = 'looked';
        file.progress.fill(0);
      });
  }

  /** Imports a file in the import thread, into a contact type that exists. Throws as `requireRoom` does. */
  start(file: UploadedFile, databasePath: string, planned: PlannedImport): void {
    this.requireRoom(file.accountId);
    file.state = 'running';
    void this.#importer
      .run(jobOf(file, databasePath, planned))
      .then((report) => {
        file.report = report;
        file.state = report.id === 0 ? 'failed' : 'done';
      })
      .catch((error: unknown) => {
        file.state = 'failed';
        this.#onFailure(error, 'an import failed');
      })
      .finally(() => rm(file.folder, { recursive: true, force: true }));
  }

  /** Throws 429 if too many imports of the account run or wait. */
  requireRoom(accountId: number): void {
    const busy = [...this.#files.values()].filter((other) => other.accountId === accountId && isBusy(other));
    if (busy.length >= MAX_RUNNING) throw new Failure(429, sentence('too_many_imports'));
  }
}

function jobOf(file: UploadedFile, databasePath: string, planned: PlannedImport): ImportJob {
  const { accountId, path, fileName, progress, exported, columns } = file;
  const { typeId, options, mapping } = planned;
  const migration = exported && { migration: exported.migration };
  const fields = namedMapping(mapping, columns);
  return { typeId, options, ...fields, databasePath, accountId, path, fileName, progress, ...migration };
}

/** Creates a folder for one upload in the system's temporary folder. Other users of the machine cannot read it. */
export function makeUploadFolder(databasePath: string): Promise<string> {
  return mkdtemp(join(tmpdir(), folderPrefix(databasePath)));
}

/**
 * Removes the upload folders that a killed server on this database left. Returns how many there were. Only the server that
 * holds the database may call this, before it accepts uploads.
 */
export function removeAbandonedUploads(databasePath: string): number {
  const prefix = folderPrefix(databasePath);
  // Every user of the machine can create folders with our names there, so only our own are removed.
  const own = process.getuid?.();
  const abandoned = readdirSync(tmpdir())
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(tmpdir(), name))
    .filter((folder) => own === undefined || lstatSync(folder, { throwIfNoEntry: false })?.uid === own);
  for (const folder of abandoned) rmSync(folder, { recursive: true, force: true });
  return abandoned.length;
}

/**
 * Returns the beginning of the names of upload folders. It contains a hash of the database's path, so that servers on other databases of
 * this machine keep their uploads.
 */
function folderPrefix(databasePath: string): string {
  const name = createHash('sha256').update(realpathSync(databasePath)).digest('hex').slice(0, 16);
  return `sendlark-upload-${name}-`;
}
