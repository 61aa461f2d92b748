/** The import thread: its own connection per import, so that nothing it does holds up the other threads. */
import { parentPort } from 'node:worker_threads';
import { type ImportJob, importContacts } from './audience/import.ts';
import { connect } from './database/open.ts';

parentPort?.on('message', async (job: ImportJob) => {
  try {
    const db = connect(job.databasePath);
    try {
      parentPort?.postMessage({ report: await importContacts(db, job) });
    } finally {
      db.$client.close();
    }
  } catch (error) {
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});
