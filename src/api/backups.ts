/** Backups of the whole installation (addition), for its operators. */
import { stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { lastBackupAt } from '../database/backups.ts';
import type { Deps } from '../deps.ts';
import { integer, nullable, successWith } from '../http/requests/schemas.ts';

const State = Type.Object(
  {
    last_backup_at: nullable(Type.String({ description: 'When the last backup was finished, UTC.' })),
    database_bytes: integer({ description: 'Size of the database, which is about the size of a backup.' }),
    free_bytes: integer({ description: 'Free disk space where the database is.' }),
  },
  { description: 'What is known about backups.' },
);

const tags = ['Installation'];

export const backupRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, config }) => {
  const path = resolve(config.DATABASE_PATH);

  app.get(
    '/backups',
    {
      schema: {
        tags,
        summary: 'Read when the last backup was made (addition)',
        description: 'Only for an operator who is signed in: an owner of the first account.',
        response: successWith({ backups: State }),
      },
      config: { isForOperators: true },
    },
    async () => {
      const { bavail, bsize } = await statfs(dirname(path));
      const backups = {
        last_backup_at: lastBackupAt(db.$client),
        database_bytes: (await stat(path)).size,
        free_bytes: bavail * bsize,
      };
      return { status: 'success' as const, message: { backups } };
    },
  );
};
