/**
 * Operations for backups of the whole installation, which are additions to the contract: making a backup, and restoring an
 * uploaded one. Only operators may perform them.
 */
import type { ReadStream } from 'node:fs';
import Type, { type Static } from 'typebox';
import { inTransaction } from '../../database/transaction.ts';
import { stored } from '../../errors/stored.ts';
import { identifier, integer, nullable, zeroOrOne } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { auditBy } from '../../users/audit.ts';
import { lastBackupAt, recordBackup } from './files.ts';

/** How long recording a finished backup waits for the write lock. */
const NOTE_MS = 5000;

export const Restore = Type.Object(
  {
    upload_id: Type.String({ description: 'By which the restore is confirmed or dropped.' }),
    file_name: Type.String({ description: 'Name of the uploaded backup.' }),
    made_at: nullable(Type.String(), 'When the backup was made, UTC; null where the file does not say.'),
    is_own: zeroOrOne('0: the backup is of another installation.'),
    people: integer({ description: 'Contacts in the backup, of all accounts.' }),
    mailings: integer({ description: 'Mailings in the backup that were sent or begun.' }),
    people_now: integer({ description: 'Contacts there are now.' }),
    mailings_now: integer({ description: 'Mailings there are now.' }),
    people_lost: integer({ description: 'Contacts that would be lost, since they were added later.' }),
    mailings_lost: integer({ description: 'Mailings that would be lost, since they were sent later.' }),
    left_since: integer({
      description: 'Addresses that unsubscribed or were blocked later. They would get mail again.',
    }),
  },
  { description: 'A checked backup, and what restoring it would change.' },
);

const State = Type.Object(
  {
    last_backup_at: nullable(Type.String()),
    database_bytes: integer({ description: 'Size of the database, which is about the size of a backup.' }),
    free_bytes: integer({ description: 'Free disk space where the database is.' }),
    restore: nullable(Restore, 'The uploaded backup that waits to be confirmed; null when there is none.'),
  },
  { description: 'What is known about backups, and the uploaded one that waits to be confirmed.' },
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
  name: 'Read when the last backup was made, and which one waits to be restored (addition)',
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
  description: 'A checked copy of this moment. One is made at a time; the answer begins when it is complete.',
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
      const name = `sendlark-${now.toISOString().slice(0, 10)}.db`;
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
