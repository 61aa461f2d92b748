/** The API of the fields of contacts. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import {
  addField,
  deleteField,
  listOwnFields,
  listPlaceholders,
  listReservedFields,
  renameField,
} from './operations.ts';

export const fieldRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const fields = operationRoutes(app, deps, 'Fields');
  fields.read('GET /reserve-fields', listReservedFields);
  fields.list('GET /custom-fields', listOwnFields);
  fields.change('POST /custom-fields/save', addField, 'Added Successfully');
  fields.change('POST /custom-fields/update', renameField, 'Updated Successfully');
  fields.change('DELETE /custom-fields/delete', deleteField, 'Deleted Successfully');
  operationRoutes(app, deps, 'Templates').read('GET /get-dynamic/content', listPlaceholders);
};
