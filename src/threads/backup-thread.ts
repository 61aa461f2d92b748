/** Entry point of the thread that creates, checks or confirms one backup. */
import { parentPort, workerData } from 'node:worker_threads';
import { connect } from '../database/open.ts';
import { saidBy } from '../errors/sentences.ts';
import { stored } from '../errors/stored.ts';
import type { BackupReply, BackupTask } from '../installation/backups/backups.ts';
import { checkBackup } from '../installation/backups/check-backup.ts';
import { makeBackup } from '../installation/backups/make-backup.ts';
import { confirmRestore } from '../installation/backups/put-in-place.ts';
import { systemClock } from '../time/clock.ts';

async function run(task: BackupTask): Promise<BackupReply> {
  const { databasePath, path } = task;
  if (task.what === 'check') return { comparison: checkBackup(path, task.name, databasePath) };
  if (task.what === 'confirm') confirmRestore(path, databasePath, task.who);
  else {
    const db = connect(databasePath);
    try {
      await makeBackup(db, path, systemClock.now());
    } finally {
      db.$client.close();
    }
  }
  return { done: true };
}

const reply = await run(workerData).catch((error: unknown) => ({
  refused: stored(saidBy(error)),
}));
parentPort?.postMessage(reply);
