/** The API for users, their sessions and passkeys, for key pairs, and for the audit log. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../http/operation-routes.ts';
import type { Deps } from '../operations/deps.ts';
import { listAudit } from './operations/audit-log.ts';
import { createKeyPair, listKeys, readOwnScopes, revokeKeyPair } from './operations/keys.ts';
import { changeOwnSettings, readMe } from './operations/me.ts';
import { listPasskeys, removePasskey } from './operations/passkeys.ts';
import { endSession, listSessions } from './operations/sessions.ts';
import { deleteUser, inviteUser, listUsers, makeLoginLink, updateUser } from './operations/users.ts';

export const userRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const users = operationRoutes(app, deps, 'Users and sessions');
  users.list('GET /users/list', listUsers);
  users.read('POST /users/invite', inviteUser);
  users.read('POST /users/link', makeLoginLink);
  users.change('POST /users/update', updateUser, 'Updated Successfully');
  users.change('DELETE /users/delete', deleteUser, 'Deleted Successfully');
  users.record('GET /me/details', readMe);
  users.change('POST /me/update', changeOwnSettings, 'Updated Successfully');
  users.list('GET /passkeys/list', listPasskeys);
  users.change('DELETE /passkeys/delete', removePasskey, 'Deleted Successfully');
  users.list('GET /sessions/list', listSessions);
  users.change('DELETE /sessions/delete', endSession, 'Deleted Successfully');

  const keys = operationRoutes(app, deps, 'API keys');
  keys.list('GET /keys/list', listKeys);
  keys.read('GET /key/details', readOwnScopes);
  keys.read('POST /keys/create', createKeyPair);
  keys.change('DELETE /keys/delete', revokeKeyPair, 'Revoked Successfully');

  operationRoutes(app, deps, 'Audit log').list('GET /audit/list', listAudit);
};
