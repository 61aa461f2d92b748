/** The API for the brand. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { changeBrand, readBrandWithLogo } from './operations.ts';

export const brandRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const brand = operationRoutes(app, deps, 'Brand');
  brand.read('GET /brand', readBrandWithLogo);
  brand.change('POST /brand/save', changeBrand, 'Updated Successfully');
};
