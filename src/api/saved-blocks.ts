/** Saved blocks (addition): parts of mails that are kept to be used again in the designer. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sql } from 'drizzle-orm';
import Type from 'typebox';
import { ownedBy, ownedRecord } from '../database/ownership.ts';
import { readRecord, recordObject } from '../database/record-json.ts';
import { savedBlocks } from '../database/schema/index.ts';
import { templateProblem } from '../delivery/content/compile.ts';
import type { Deps } from '../deps.ts';
import { addBlock, changeBlock, deleteBlock, MAX_BLOCK_CHARACTERS, requireBlock } from '../designs/saved-blocks.ts';
import { notFound } from '../failure.ts';
import { sendList, sendRecord } from '../http/list-response.ts';
import { done, identifier, integer, line, listQuery, stamps, successWith, text } from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';

const tags = ['Saved blocks'];

const ListedBlock = Type.Object({ id: integer(), block_name: Type.String(), size: integer(), ...stamps });
const SavedBlock = Type.Object({ ...ListedBlock.properties, json_code: Type.String() });

const code = () =>
  text({
    maxLength: MAX_BLOCK_CHARACTERS,
    description: "A document in MJML's JSON form, like template_json, whose body has the block alone.",
  });
const NewBlock = Type.Object({ block_name: line({ minLength: 1 }), json_code: code() });
const Changes = Type.Object({
  id: identifier('The block.'),
  block_name: Type.Optional(line({ minLength: 1 })),
  json_code: Type.Optional(code()),
});

export const savedBlockRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db } = deps;
  const from = sql`${savedBlocks}`;

  app.get(
    '/blocks',
    {
      schema: {
        tags,
        summary: 'List the saved blocks, without their code (addition)',
        querystring: listQuery,
        response: successWith({ blocks: Type.Array(ListedBlock) }),
      },
    },
    (request, reply) => {
      const record = recordObject(ListedBlock, savedBlocks);
      const where = ownedBy(savedBlocks, request.accountId);
      sendList(reply, db, 'blocks', { record, from, where, id: savedBlocks.id }, request.query);
    },
  );

  app.get(
    '/blocks/details',
    {
      schema: {
        tags,
        summary: 'Read a saved block (addition)',
        querystring: Type.Object({ id: identifier('The block.') }),
        response: successWith({ block: SavedBlock }),
      },
    },
    (request, reply) => {
      const where = ownedRecord(savedBlocks, request.query.id, request.accountId);
      const json = readRecord(db, recordObject(SavedBlock, savedBlocks), from, where);
      if (json === undefined) throw notFound('Record not found');
      sendRecord(reply, 'block', json);
    },
  );

  app.post(
    '/blocks/create',
    {
      schema: {
        tags,
        summary: 'Keep a block (addition)',
        description: 'Up to 100 blocks of 200 KiB each.',
        body: NewBlock,
        response: successWith({ id: integer() }),
      },
      config: { check: check(NewBlock, checkCode) },
    },
    async ({ accountId, body }) => {
      const add = () => addBlock(deps, accountId, body.block_name, body.json_code);
      const id = db.transaction(add, { behavior: 'immediate' });
      return { status: 'success' as const, message: { id } };
    },
  );

  app.post(
    '/blocks/update',
    {
      schema: {
        tags,
        summary: 'Change the name or the code of a saved block (addition)',
        description: 'What is not given stays. Mails that have the block stay as they are.',
        body: Changes,
        response: done,
      },
      config: { check: check(Changes, checkCode) },
    },
    async ({ accountId, body: { id, ...changes } }) => {
      db.transaction(() => changeBlock(deps, requireBlock(db, accountId, id), changes), { behavior: 'immediate' });
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  app.post(
    '/blocks/delete',
    {
      schema: {
        tags,
        summary: 'Delete a saved block (addition)',
        description: 'Mails that have the block keep it.',
        body: Type.Object({ id: identifier('The block.') }),
        response: done,
      },
    },
    async ({ accountId, body: { id } }) => {
      db.transaction(() => deleteBlock(db, requireBlock(db, accountId, id)), { behavior: 'immediate' });
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );
};

function checkCode({ json_code }: { json_code?: string }, errors: { add(field: string, problem: string): void }): void {
  const problem = json_code === undefined ? null : templateProblem(json_code);
  if (problem !== null) errors.add('json_code', problem);
}
