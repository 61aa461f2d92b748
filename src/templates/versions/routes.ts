/** The API for versions of mails. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { listMailVersions, readVersion, restoreVersion } from './operations.ts';

export const versionRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const versions = operationRoutes(app, deps, 'Versions');
  versions.read('GET /versions/list', listMailVersions);
  versions.read('GET /versions/details', readVersion);
  versions.change('POST /versions/restore', restoreVersion, 'Restored Successfully');
};
