/** Entry point of the import thread. Each import has its own database connection, so that it does not delay other threads. */
import { parentPort } from 'node:worker_threads';
import { importContacts } from '../audience/import/import.ts';
import type { ImportJob } from '../audience/import/import-job.ts';
import { previewImport } from '../audience/import/preview.ts';
import { type ExportJob, readExport } from '../audience/migrate/read-export.ts';
import { connect, type Db } from '../database/open.ts';

/** The tasks of the thread. */
export type ImportMessage = { task: 'import' | 'preview'; job: ImportJob } | { task: 'read'; job: ExportJob };

/** The size of SQLite's page cache in KiB. An import reads its tables in order, so a larger cache would only use memory. */
const CACHE_KIB = 4000;
/**
 * How long an import waits for a lock that another process holds, in milliseconds. The wait is long because giving up would waste the whole
 * upload.
 */
const LOCK_TIMEOUT_MS = 60_000;

parentPort?.on('message', async (message: ImportMessage) => {
  try {
    const db = connect(message.job.databasePath);
    db.$client.pragma(`busy_timeout = ${LOCK_TIMEOUT_MS}`);
    db.$client.pragma(`cache_size = -${CACHE_KIB}`);
    db.$client.pragma(`temp.cache_size = -${CACHE_KIB}`);
    try {
      parentPort?.postMessage({ result: await carryOut(db, message) });
    } finally {
      db.$client.close();
    }
  } catch (error) {
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});

function carryOut(db: Db, { task, job }: ImportMessage): Promise<object> {
  if (task === 'read') return readExport(db, job);
  return task === 'import' ? importContacts(db, job) : previewImport(db, job);
}
