/** The API for the public archive. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { changeArchive, changeArchivedMail, readArchive, readArchivedMail } from './operations.ts';

export const archiveRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const archive = operationRoutes(app, deps, 'Archive');
  archive.read('GET /archive', readArchive);
  archive.change('POST /archive/save', changeArchive, 'Updated Successfully');
  archive.read('GET /single-send/archive', readArchivedMail);
  archive.change('POST /single/send/archive', changeArchivedMail, 'Updated Successfully');
};
