/** Operations for saved blocks: parts of mails that can be used again in the designer (additions to the contract). */
import { sql } from 'drizzle-orm';
import Type from 'typebox';
import { ownedBy, ownedRecord } from '../../../database/ownership.ts';
import { readRecord, recordObject } from '../../../database/record-json.ts';
import { savedBlocks } from '../../../database/schema/index.ts';
import { templateProblem } from '../../../delivery/compiling/compile.ts';
import { notFound } from '../../../errors/failure.ts';
import { identifier, integer, line, listQuery, stamps, text } from '../../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../../http/requests/validation.ts';
import { type Context, listOperation, operation, recordOperation } from '../../../operations/operation.ts';
import {
  addBlock,
  changeBlock,
  deleteBlock,
  KIBIBYTE,
  MAX_BLOCK_CHARACTERS,
  MAX_BLOCKS,
  restoreBlock,
} from '../saved-blocks.ts';

const ListedBlock = Type.Object({ id: integer(), block_name: Type.String(), size: integer(), ...stamps });
const BlockWithCode = Type.Object({
  ...ListedBlock.properties,
  json_code: Type.String({ description: "A document in MJML's JSON form, whose body contains only the block." }),
});
const from = sql`${savedBlocks}`;

const ById = Type.Object({ id: identifier('The block.') });
const code = () =>
  text({
    maxLength: MAX_BLOCK_CHARACTERS,
    description: "A document in MJML's JSON form, like template_json, whose body contains only the block.",
  });

export const listBlocks = listOperation({
  name: 'List the saved blocks, without their code (addition)',
  role: 'viewer',
  input: listQuery,
  as: 'blocks',
  record: ListedBlock,
  select: ({ accountId }, part) => {
    const record = recordObject(ListedBlock, savedBlocks);
    return { record, from, where: ownedBy(savedBlocks, accountId), id: savedBlocks.id, part };
  },
});

export const readBlock = recordOperation({
  name: 'Read a saved block (addition)',
  role: 'viewer',
  input: ById,
  as: 'block',
  record: BlockWithCode,
  json({ db, accountId }, { id }) {
    const where = ownedRecord(savedBlocks, id, accountId);
    const json = readRecord(db, recordObject(BlockWithCode, savedBlocks), from, where);
    if (json === undefined) throw notFound('Record not found');
    return json;
  },
});

export const createBlock = operation({
  name: 'Save a block (addition)',
  description: `An account can have up to ${MAX_BLOCKS} blocks of ${MAX_BLOCK_CHARACTERS / KIBIBYTE} KiB each.`,
  role: 'editor',
  input: Type.Object({ block_name: line({ minLength: 1 }), json_code: code() }),
  output: Type.Object({ id: integer() }),
  check: checkCode,
  run: (context, { block_name, json_code }) => ({ id: addBlock(context, context.accountId, block_name, json_code) }),
});

export const updateBlock = operation({
  name: 'Change the name or the code of a saved block (addition)',
  description: 'Absent parameters are not changed. E-mails that contain the block do not change.',
  role: 'editor',
  input: Type.Object({
    ...ById.properties,
    block_name: Type.Optional(line({ minLength: 1 })),
    json_code: Type.Optional(code()),
  }),
  check: checkCode,
  run: (context, { id, ...changes }) => changeBlock(context, context.accountId, id, changes),
});

export const removeBlock = operation({
  name: 'Delete a saved block (addition)',
  description: 'E-mails that contain the block keep it. The block can be restored until another block is deleted.',
  role: 'editor',
  input: ById,
  run: ({ db, accountId }, { id }) => deleteBlock(db, accountId, id),
});

export const undeleteBlock = operation({
  name: 'Undo the deletion of a saved block (addition)',
  description: 'Only the block that was deleted last can be restored, until `sendlark purge` removes it.',
  role: 'editor',
  input: ById,
  run: ({ db, accountId }, { id }) => restoreBlock(db, accountId, id),
});

function checkCode(_context: Context, { json_code }: { json_code?: string }, errors: FieldErrorCollector): void {
  const problem = json_code === undefined ? null : templateProblem(json_code);
  if (problem !== null) errors.add('json_code', problem);
}
