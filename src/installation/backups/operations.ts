/**
 * Operations for backups of the whole installation, which are additions to the contract: making a backup, and restoring an uploaded backup.
 * Only operators may perform them.
 */
import type { ReadStream } from 'node:fs';
import Type, { type Static } from 'typebox';
import { inTransaction } from '../../database/transaction.ts';
import { stored } from '../../errors/stored.ts';
import { identifier, integer, nullable, zeroOrOne } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { dayOf, isoTimestamp } from '../../time/clock.ts';
import { auditBy } from '../../users/audit.ts';
import { lastBackupAt, recordBackup } from './last-backup.ts';

/** How long recording a finished backup waits for the write lock. */
const NOTE_MS = 5000;

export const Restore = Type.Object(
  {
    upload_id: Type.String({ description: 'Id of the upload, by which the restore is confirmed or dropped.' }),
    file_name: Type.String({ description: 'Name of the uploaded backup.' }),
    made_at: nullable(Type.String(), 'When the backup was made, UTC; null if the file does not say.'),
    is_own: zeroOrOne('0: the backup is of another installation.'),
    people: integer({ description: 'Contacts in the backup, of all accounts.' }),
    mailings: integer({ description: 'Mailings in the backup that were sent or begun.' }),
    people_now: integer({ description: 'Contacts in the present database.' }),
    mailings_now: integer({ description: 'Mailings in the present database.' }),
    people_lost: integer({ description: 'Contacts that would be lost because they were added after the backup.' }),
    mailings_lost: integer({ description: 'Mailings that would be lost because they were begun after the backup.' }),
    left_since: integer({
      description: 'Addresses that unsubscribed or were suppressed after the backup. They would get mail again.',
    }),
  },
  { description: 'A checked backup, and what restoring it would change.' },
);

const State = Type.Object(
  {
    last_backup_at: nullable(Type.String()),
    database_bytes: integer({ description: 'Size of the database, which is about the size of a backup.' }),
    free_bytes: integer({ description: 'Free disk space where the database is.' }),
    restore: nullable(Restore, 'The uploaded backup that waits to be confirmed; null when no backup waits.'),
  },
  { description: 'The last backup, the disk space for backups, and the uploaded backup that waits to be confirmed.' },
);

export type Restore = Static<typeof Restore>;
export type BackupState = Static<typeof State>;

/** A finished backup, ready to be sent. */
export interface BackupFile {
  name: string;
  size: number;
  body: ReadStream;
}

const operators = { role: 'owner', isForOperators: true } as const;
const ById = Type.Object({ upload_id: identifier('The uploaded backup.') });

export const readBackups = operation({
  ...operators,
  name: 'Read when the last backup was made, and which uploaded backup waits (addition)',
  input: Type.Object({}),
  output: Type.Object({ backups: State }),
  async run({ db, backups }): Promise<{ backups: BackupState }> {
    const { database, free, uploaded } = await backups.state();
    const last_backup_at = lastBackupAt(db.$client);
    return { backups: { last_backup_at, database_bytes: database, free_bytes: free, restore: uploaded } };
  },
});

export const makeBackup = operation({
  ...operators,
  name: 'Make a backup and download it (addition)',
  description:
    'A checked copy of the database as it is now. One backup is made at a time; the answer begins when it is complete.',
  input: Type.Object({}),
  async run(context): Promise<BackupFile> {
    const { db, lock, clock, backups } = context;
    const file = await backups.make();
    const now = clock.now();
    const note = () => {
      recordBackup(db.$client, isoTimestamp(now));
      auditBy(context, 'backup_made');
    };
    try {
      await lock.write(() => inTransaction(db, note), NOTE_MS);
      const name = `sendlark-${dayOf(now)}.db`;
      return { name, size: (await file.stat()).size, body: file.createReadStream() };
    } catch (error) {
      await file.close();
      throw error;
    }
  },
});

export const dropBackup = operation({
  ...operators,
  name: 'Drop an uploaded backup (addition)',
  input: ById,
  run: ({ backups }, { upload_id }) => backups.drop(upload_id),
});

export const restoreBackup = operation({
  ...operators,
  name: 'Restore an uploaded backup (addition)',
  description:
    'The service restarts with the backup as its database, with sending held. All users have to sign in again. The replaced database is kept in a file beside it.',
  input: ById,
  async run(context, { upload_id }) {
    const { db, actor, backups, restart } = context;
    await backups.confirm(upload_id, stored(actor.name), (fileName) =>
      inTransaction(db, () => auditBy(context, 'restore_confirmed', fileName)),
    );
    // The service restarts even if the user who confirmed the restore has disconnected, because otherwise a later start would restore
    // the backup and surprise everyone.
    restart();
  },
});
