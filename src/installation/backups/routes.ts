/** The API for backups. Files are streamed in both directions. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { contextOf, operationRoutes } from '../../http/operation-routes.ts';
import { readFileUpload } from '../../http/requests/file-upload.ts';
import { successWith } from '../../http/requests/schemas.ts';
import type { Deps } from '../../operations/deps.ts';
import type { Backups } from './backups.ts';
import { type BackupFile, dropBackup, makeBackup, Restore, readBackups, restoreBackup } from './operations.ts';

const tags = ['Installation'];
const config = { isForOperators: true } as const;

const UploadBody = Type.Object({
  file: Type.String({ format: 'binary', description: 'A backup, as it was downloaded or made by sendlark backup.' }),
});

export const backupRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { backups } = deps;
  const routes = operationRoutes(app, deps, 'Installation');
  app.addHook('onClose', () => backups.close());

  routes.read('GET /backups', readBackups);

  app.get(
    '/backups/download',
    {
      schema: {
        tags,
        summary: makeBackup.name,
        description: makeBackup.description ?? '',
        response: {
          200: {
            description: 'The file',
            content: {
              'application/vnd.sqlite3': {
                schema: Type.Unsafe<NodeJS.ReadableStream>({ type: 'string', format: 'binary' }),
              },
            },
          },
        },
      },
      config,
    },
    async (request, reply) => {
      const make = async () => makeBackup.run(contextOf(request, deps), {});
      return sendBackup(reply, await makeUntilClosed(reply, backups, make));
    },
  );

  app.post(
    '/backups/upload',
    {
      schema: {
        tags,
        summary: 'Upload a backup, to see what restoring it would change (addition)',
        description:
          'Nothing is changed yet. The file waits until it is confirmed or dropped, or until another file is uploaded.',
        body: UploadBody,
        consumes: ['multipart/form-data'],
        response: successWith({ restore: Restore }),
      },
      // The handler reads the body itself; the schema is only for the OpenAPI document.
      validatorCompiler: () => () => true,
      config: { ...config, upload: true },
    },
    async (request) => ({ status: 'success' as const, message: { restore: await receiveBackup(backups, request) } }),
  );

  routes.change('POST /backups/upload/drop', dropBackup, 'Deleted Successfully');

  routes.change('POST /backups/restore', restoreBackup, 'Restored Successfully');
};

/**
 * Stores and checks an uploaded backup. Returns what restoring it would bring back and lose. Throws 413 if the file is larger than the free
 * space, and 422 if it is missing or cannot be restored.
 */
export function receiveBackup(backups: Backups, form: FastifyRequest): ReturnType<Backups['take']> {
  return backups.take(Number(form.headers['content-length'] ?? 0), async (path, room) => {
    const { fileName, errors } = await readFileUpload(form, path, room);
    errors.throwIfAny();
    return fileName;
  });
}

/** Calls `make`, which makes a backup, and stops it if the client disconnects. */
export async function makeUntilClosed<T>({ raw }: FastifyReply, backups: Backups, make: () => Promise<T>): Promise<T> {
  const stop = () => void backups.stopMaking();
  raw.once('close', stop);
  try {
    return await make();
  } finally {
    raw.off('close', stop);
  }
}

/** Sends a backup as a download. */
export function sendBackup(reply: FastifyReply, { name, size, body }: BackupFile): FastifyReply {
  reply.headers({
    'content-type': 'application/vnd.sqlite3',
    'content-length': size,
    'content-disposition': `attachment; filename="${name}"`,
  });
  return reply.send(body);
}
