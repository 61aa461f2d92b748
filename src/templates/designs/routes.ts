/** The API for saved blocks and for links to the designer. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../../http/operation-routes.ts';
import type { Deps } from '../../operations/deps.ts';
import { revokeLinks } from './operations/design-links.ts';
import {
  createBlock,
  listBlocks,
  readBlock,
  removeBlock,
  undeleteBlock,
  updateBlock,
} from './operations/saved-blocks.ts';

/** Registers the API for links to design pages. */
export const designLinkRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  operationRoutes(app, deps, 'Design pages').change('POST /design-links/revoke', revokeLinks, 'Revoked Successfully');
};

/** Registers the API for saved blocks. */
export const savedBlockRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const blocks = operationRoutes(app, deps, 'Saved blocks');
  blocks.list('GET /blocks', listBlocks);
  blocks.record('GET /blocks/details', readBlock);
  blocks.read('POST /blocks/create', createBlock);
  blocks.change('POST /blocks/update', updateBlock, 'Updated Successfully');
  blocks.change('POST /blocks/delete', removeBlock, 'Deleted Successfully');
  blocks.change('POST /blocks/undelete', undeleteBlock, 'Restored Successfully');
};
