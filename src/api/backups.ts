/** Backups of the whole installation (addition), for its operators: making one, and restoring one that is uploaded. */
import { open } from 'node:fs/promises';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { realPath, removeWhole, unfinishedName } from '../backups/files.ts';
import { BackupThread } from '../backups/in-thread.ts';
import { diskUse, roomFor } from '../backups/room.ts';
import { UploadedBackup } from '../backups/uploaded-backup.ts';
import { isoTimestamp } from '../clock.ts';
import { lastBackupAt, recordBackup } from '../database/backups.ts';
import { makePrivateFile } from '../database/private-file.ts';
import type { Deps } from '../deps.ts';
import { readFileUpload } from '../http/requests/file-upload.ts';
import { done, identifier, integer, nullable, successWith, zeroOrOne } from '../http/requests/schemas.ts';
import { audit } from '../users/audit.ts';

const Restore = Type.Object(
  {
    upload_id: Type.String({ description: 'By which the restore is confirmed or dropped.' }),
    file_name: Type.String(),
    made_at: nullable(Type.String()),
    is_own: { ...zeroOrOne(), description: '0: the backup is of another installation.' },
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
  { description: 'A checked backup, and what restoring it would bring and take.' },
);

const State = Type.Object(
  {
    last_backup_at: nullable(Type.String()),
    database_bytes: integer({ description: 'Size of the database, which is about the size of a backup.' }),
    free_bytes: integer({ description: 'Free disk space where the database is.' }),
    restore: nullable(Restore),
  },
  { description: 'What is known about backups, and the uploaded one that waits to be confirmed.' },
);

const UploadBody = Type.Object({
  file: Type.String({ format: 'binary', description: 'A backup, as it was downloaded or made by sendlark backup.' }),
});
const UploadId = Type.Object({ upload_id: identifier('The uploaded backup.') });

const tags = ['Installation'];
const config = { isForOperators: true } as const;
/** How long the note that a backup was made waits for the write lock. */
const NOTE_MS = 5000;

export const backupRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db, lock, clock, restart } = deps;
  const path = realPath(deps.config.DATABASE_PATH);
  const thread = new BackupThread();
  const uploaded = new UploadedBackup();
  app.addHook('onClose', async () => {
    await thread.stop();
    uploaded.drop();
  });

  app.get(
    '/backups',
    {
      schema: {
        tags,
        summary: 'Read when the last backup was made, and which one waits to be restored (addition)',
        response: successWith({ backups: State }),
      },
      config,
    },
    async () => {
      const { database, free } = await diskUse(path);
      const backups = {
        last_backup_at: lastBackupAt(db.$client),
        database_bytes: database,
        free_bytes: free,
        restore: uploaded.find(),
      };
      return { status: 'success' as const, message: { backups } };
    },
  );

  app.get(
    '/backups/download',
    {
      schema: {
        tags,
        summary: 'Make a backup and download it (addition)',
        description: 'A checked copy of this moment. One is made at a time; the answer begins when it is complete.',
        response: {
          200: {
            description: 'The file',
            content: { 'application/vnd.sqlite3': { schema: Type.Unsafe<NodeJS.ReadableStream>({ type: 'string' }) } },
          },
        },
      },
      config,
    },
    async (request, reply) => {
      const { accountId, actor } = request;
      const { size, body } = await thread.alone(() => makeFile(reply));
      const now = clock.now();
      const note = () => {
        recordBackup(db.$client, isoTimestamp(now));
        audit(db, { accountId, actor, action: 'backup_made' }, now);
      };
      try {
        await lock.write(() => db.transaction(note, { behavior: 'immediate' }), NOTE_MS);
      } catch (error) {
        body.destroy();
        throw error;
      }
      reply.headers({
        'content-type': 'application/vnd.sqlite3',
        'content-length': size,
        'content-disposition': `attachment; filename="sendlark-${now.toISOString().slice(0, 10)}.db"`,
      });
      return reply.send(body);
    },
  );

  /** Makes a backup that has no name any more, so that nothing is left of it when it was read or its reader is gone. */
  async function makeFile(reply: FastifyReply) {
    const { database } = await diskUse(path);
    await roomFor(database, path);
    const unfinished = unfinishedName(path);
    const stop = () => void thread.stop();
    reply.raw.once('close', stop);
    try {
      await thread.make(path, unfinished);
      const file = await open(unfinished);
      return { size: (await file.stat()).size, body: file.createReadStream() };
    } finally {
      reply.raw.off('close', stop);
      removeWhole(unfinished);
    }
  }

  app.post(
    '/backups/upload',
    {
      schema: {
        tags,
        summary: 'Upload a backup, to see what restoring it would bring and take (addition)',
        description:
          'Nothing is changed yet. The file waits until it is confirmed or dropped, or another one is uploaded.',
        body: UploadBody,
        consumes: ['multipart/form-data'],
        response: successWith({ restore: Restore }),
      },
      // The handler reads the body itself; the schema is only for the OpenAPI document.
      validatorCompiler: () => () => true,
      config: { ...config, upload: true },
    },
    async (request) => {
      const restore = await thread.alone(async () => {
        const room = await roomFor(Number(request.headers['content-length'] ?? 0), path);
        const unfinished = unfinishedName(path);
        try {
          makePrivateFile(unfinished);
          const { fileName, errors } = await readFileUpload(request, unfinished, room);
          errors.throwIfAny();
          const comparison = await thread.check(path, unfinished, fileName);
          return uploaded.keep(unfinished, fileName, comparison);
        } catch (error) {
          removeWhole(unfinished);
          throw error;
        }
      });
      return { status: 'success' as const, message: { restore } };
    },
  );

  app.post(
    '/backups/upload/drop',
    {
      schema: { tags, summary: 'Drop an uploaded backup (addition)', body: UploadId, response: done },
      config,
    },
    async (request) => {
      await thread.alone(async () => {
        uploaded.require(request.body.upload_id);
        uploaded.drop();
      });
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  app.post(
    '/backups/restore',
    {
      schema: {
        tags,
        summary: 'Restore an uploaded backup (addition)',
        description:
          'The service stops and starts again on the backup, with sending held. Everybody has to sign in again. What there was is kept in a file beside the database.',
        body: UploadId,
        response: done,
      },
      config,
    },
    async (request, reply) => {
      const { accountId, actor } = request;
      // Also when whoever confirms it hangs up: a file that waits any longer would be a surprise at some later start.
      const answered = new Promise((resolve) => reply.raw.once('close', resolve));
      await thread.alone(async () => {
        const { path: file, file_name: subject } = uploaded.require(request.body.upload_id);
        db.transaction(() => audit(db, { accountId, actor, action: 'restore_confirmed', subject }, clock.now()), {
          behavior: 'immediate',
        });
        await thread.confirm(path, file, actor.name);
        uploaded.forget();
      });
      void answered.then(restart);
      return { status: 'success' as const, message: 'Restored Successfully' };
    },
  );
};
