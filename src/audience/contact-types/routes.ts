/** The API of contact types. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import {
  addContactType,
  deleteContactType,
  listContactTypes,
  readContactType,
  renameContactType,
} from './operations.ts';

export const contactTypeRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const types = operationRoutes(app, deps, 'Contact types');
  types.list('GET /contacts-type', listContactTypes);
  types.change(
    'POST /contacts-type/add',
    addContactType,
    'Added Successfully',
    ({ id }) => `/api/contacts-type/view?contact_type_id=${id}`,
  );
  types.record('GET /contacts-type/view', readContactType);
  types.change('POST /contacts-type/update', renameContactType, 'Updated Successfully');
  types.changeInErrors('DELETE /contacts-type/delete', deleteContactType, 'Deleted Successfully');
};
