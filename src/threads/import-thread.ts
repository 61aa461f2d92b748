/** The import thread: its own connection per import, so that nothing it does holds up the other threads. */
import { parentPort } from 'node:worker_threads';
import { type ImportJob, importContacts } from '../audience/import/import.ts';
import { connect } from '../database/open.ts';

/** In KiB, as SQLite takes it: an import goes through its tables in order, so a larger page cache would only take memory. */
const CACHE_KIB = 4000;
/** An import waits this long for a lock that another process holds: giving up would cost its reader the whole upload. */
const LOCK_TIMEOUT_MS = 60_000;

parentPort?.on('message', async (job: ImportJob) => {
  try {
    const db = connect(job.databasePath);
    db.$client.pragma(`busy_timeout = ${LOCK_TIMEOUT_MS}`);
    db.$client.pragma(`cache_size = -${CACHE_KIB}`);
    db.$client.pragma(`temp.cache_size = -${CACHE_KIB}`);
    try {
      parentPort?.postMessage({ report: await importContacts(db, job) });
    } finally {
      db.$client.close();
    }
  } catch (error) {
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});
