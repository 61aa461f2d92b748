/** The requests by which the design page lists, saves, changes, deletes and restores blocks. */
import type { FastifyInstance } from 'fastify';
import { editTemplate, viewTemplate } from '../../../delivery/compiling/compile.ts';
import { ContentError } from '../../../delivery/content/compiled-content.ts';
import { conflict } from '../../../errors/failure.ts';
import { sentence } from '../../../errors/sentences.ts';
import { withinShare } from '../../../http/account-share.ts';
import type { Deps } from '../../../operations/deps.ts';
import type { Design } from '../designs.ts';
import {
  addBlock,
  changeBlock,
  deleteBlock,
  listBlockNames,
  MAX_BLOCK_CHARACTERS,
  requireBlock,
  restoreBlock,
} from '../saved-blocks.ts';
import { type Call, isLine } from './call.ts';

/** Registers the list of saved blocks and their changes. `requireDesign` returns the design of a valid link, otherwise throws. */
export async function designBlocks(
  app: FastifyInstance,
  deps: Deps,
  requireDesign: (token: string) => Design,
): Promise<void> {
  const { db } = deps;
  const requireChangeable = (token: string): Design => {
    const design = requireDesign(token);
    if (design.locked !== null) throw conflict(design.locked);
    return design;
  };
  // The link is checked before the body is read, so that a request with a wrong link costs only the check of its signature.
  const onRequest = async ({ params }: { params: Call['Params'] }) => {
    requireChangeable(params.token);
  };

  app.get<Call>('/design/:token/blocks', async ({ params }) => {
    const { user_id } = requireDesign(params.token);
    return { blocks: listBlockNames(db, user_id).map(({ id, block_name: name }) => ({ id: String(id), name })) };
  });

  app.post<Call>('/design/:token/blocks', { onRequest }, async ({ params, body }) => {
    const { user_id } = requireChangeable(params.token);
    const { mjml } = body ?? {};
    const name = nameIn(body);
    if (typeof mjml !== 'string') throw new ContentError(sentence('block_empty'));
    if (mjml.length > MAX_BLOCK_CHARACTERS) throw new ContentError(sentence('block_too_large'));
    const document = `<mjml><mj-body>${mjml}</mj-body></mjml>`;
    const json = await withinShare(user_id, () => editTemplate(user_id, document, ''));
    if (json.length > MAX_BLOCK_CHARACTERS) throw new ContentError(sentence('block_too_large'));
    return { id: String(addBlock(deps, user_id, name, json)) };
  });

  app.get<Call>('/design/:token/blocks/:id', async ({ params }) => {
    const { user_id } = requireDesign(params.token);
    const { json_code } = requireBlock(db, user_id, params.id);
    const { mjml } = await withinShare(user_id, () => viewTemplate(user_id, json_code));
    return { mjml: /<mj-body[^>]*>([\s\S]*)<\/mj-body>/.exec(mjml)?.[1] ?? '' };
  });

  app.post<Call>('/design/:token/blocks/:id', { onRequest }, async ({ params, body }) => {
    const { user_id } = requireChangeable(params.token);
    const block_name = nameIn(body);
    changeBlock(deps, user_id, params.id, { block_name });
    return {};
  });

  app.post<Call>('/design/:token/blocks/:id/delete', { onRequest }, async ({ params }) => {
    const { user_id } = requireChangeable(params.token);
    deleteBlock(db, user_id, params.id);
    return {};
  });

  app.post<Call>('/design/:token/blocks/:id/undelete', { onRequest }, async ({ params }) => {
    const { user_id } = requireChangeable(params.token);
    restoreBlock(db, user_id, params.id);
    return {};
  });
}

/** Returns the name of a block in a request. Throws ContentError if the name is empty, too long or has several lines. */
function nameIn(body: Call['Body']): string {
  const name = typeof body?.name === 'string' ? body.name.trim() : '';
  if (name === '' || !isLine(name)) throw new ContentError(sentence('block_name'));
  return name;
}
