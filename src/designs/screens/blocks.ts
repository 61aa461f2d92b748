/** Saved blocks on the design page: whoever has a mail's signed link can use the account's blocks in the mail, and keep, rename and delete some. */
import type { FastifyInstance } from 'fastify';
import { editTemplate, viewTemplate } from '../../delivery/content/compile.ts';
import { ContentError } from '../../delivery/content/compiled-content.ts';
import { conflict } from '../../errors/failure.ts';
import { withinShare } from '../../http/account-share.ts';
import type { Deps } from '../../operations/deps.ts';
import type { Design } from '../designs.ts';
import {
  addBlock,
  changeBlock,
  deleteBlock,
  listBlockNames,
  MAX_BLOCK_CHARACTERS,
  requireBlock,
} from '../operations.ts';

const MAX_NAME = 255;

interface Call {
  Params: { token: string; id: string };
  Body: { name?: unknown; mjml?: unknown } | undefined;
}

/** Registers the list of blocks, and what is done with one. `requireDesign` gives the design of a valid link, or throws. */
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
  // The link is checked before the body is read, so that a wrong one costs only the check of its signature.
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
    if (typeof mjml !== 'string' || mjml.length > MAX_BLOCK_CHARACTERS)
      throw new ContentError('There is no block to keep.');
    const document = `<mjml><mj-body>${mjml}</mj-body></mjml>`;
    const json = await withinShare(user_id, () => editTemplate(user_id, document, ''));
    if (json.length > MAX_BLOCK_CHARACTERS) throw new ContentError('The block is too large to be kept.');
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
}

/** The name that a block is given. Throws ContentError when it is empty, too long or of several lines. */
function nameIn(body: Call['Body']): string {
  const name = typeof body?.name === 'string' ? body.name.trim() : '';
  if (name === '' || name.length > MAX_NAME || /[\p{Cc}\u2028\u2029]/u.test(name))
    throw new ContentError('The block needs a name of one line.');
  return name;
}
