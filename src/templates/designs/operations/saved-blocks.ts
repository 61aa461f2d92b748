/** Operations for saved blocks: parts of mails that can be used again in the designer (additions to the contract). */
import { asc, eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { deleteRestorably, restoreDeleted } from '../../../database/deleted-records.ts';
import type { Db } from '../../../database/open.ts';
import { ownedBy, ownedRecord } from '../../../database/ownership.ts';
import { readRecord, recordObject } from '../../../database/record-json.ts';
import { savedBlocks } from '../../../database/schema/index.ts';
import { inTransaction } from '../../../database/transaction.ts';
import { templateProblem } from '../../../delivery/compiling/compile.ts';
import { conflict, notFound } from '../../../errors/failure.ts';
import { sentence } from '../../../errors/sentences.ts';
import { identifier, integer, line, listQuery, stamps, text } from '../../../http/requests/schemas.ts';
import type { FieldErrorCollector } from '../../../http/requests/validation.ts';
import { type Context, listOperation, operation, recordOperation } from '../../../operations/operation.ts';
import { type Clock, isoTimestamp } from '../../../time/clock.ts';

const KIBIBYTE = 1024;
const MAX_BLOCKS = 100;
/** The maximum length of the code of one block. */
export const MAX_BLOCK_CHARACTERS = 200 * KIBIBYTE;
/** The maximum size of the code of all blocks of an account. */
const MAX_ACCOUNT_BYTES = 10 * KIBIBYTE * KIBIBYTE;

type SavedBlock = typeof savedBlocks.$inferSelect;

/** The dependencies of adding and changing blocks. */
interface BlockDeps {
  db: Db;
  clock: Clock;
}

/** Returns the names of an account's blocks, in the order in which they were saved. */
export function listBlockNames(db: Db, accountId: number): Pick<SavedBlock, 'id' | 'block_name'>[] {
  return db
    .select({ id: savedBlocks.id, block_name: savedBlocks.block_name })
    .from(savedBlocks)
    .where(ownedBy(savedBlocks, accountId))
    .orderBy(asc(savedBlocks.id))
    .all();
}

/** Returns the account's block with this id. Throws 404 if there is none. */
export function requireBlock(db: Db, accountId: number, id: unknown): SavedBlock {
  const block = db
    .select()
    .from(savedBlocks)
    .where(ownedRecord(savedBlocks, id, accountId))
    .get();
  if (block === undefined) throw notFound('Record not found');
  return block;
}

/** Adds a block and returns its id. Throws 409 if the account has no room for the block. */
export function addBlock({ db, clock }: BlockDeps, accountId: number, block_name: string, json_code: string): number {
  const add = () => {
    const size = Buffer.byteLength(json_code);
    requireRoom(db, accountId, size, 1);
    const now = isoTimestamp(clock.now());
    return db
      .insert(savedBlocks)
      .values({ user_id: accountId, block_name, json_code, size, created_at: now, updated_at: now })
      .returning({ id: savedBlocks.id })
      .get().id;
  };
  return inTransaction(db, add);
}

/**
 * Changes the name of a block, its code, or both. Mails that contain the block have a copy of it and do not change. Throws 404 if there
 * is no such block, and 409 if the account has no room for the code.
 */
export function changeBlock(
  { db, clock }: BlockDeps,
  accountId: number,
  blockId: unknown,
  { block_name, json_code }: { block_name?: string; json_code?: string },
): void {
  const change = () => {
    const { id, size: oldSize } = requireBlock(db, accountId, blockId);
    const size = json_code === undefined ? undefined : Buffer.byteLength(json_code);
    if (size !== undefined && size > oldSize) requireRoom(db, accountId, size - oldSize, 0);
    const updated_at = isoTimestamp(clock.now());
    db.update(savedBlocks).set({ block_name, json_code, size, updated_at }).where(eq(savedBlocks.id, id)).run();
  };
  inTransaction(db, change);
}

/** Deletes a block. Throws 404 if there is no such block. */
export function deleteBlock(db: Db, accountId: number, id: unknown): void {
  inTransaction(db, () => deleteRestorably(db, savedBlocks, requireBlock(db, accountId, id)));
}

/** Restores a block. Throws 404 unless the block is the one that was deleted last, and 409 if the account has no room for it. */
export function restoreBlock(db: Db, accountId: number, id: unknown): void {
  const restore = () => {
    restoreDeleted(db, savedBlocks, accountId, id);
    requireRoom(db, accountId, 0, 0);
  };
  inTransaction(db, restore);
}

/** Throws 409 if an account has no room for this number of further bytes in `newBlocks` further blocks. */
function requireRoom(db: Db, accountId: number, bytes: number, newBlocks: number): void {
  const { count, size } = db
    .select({ count: sql<number>`count(*)`, size: sql<number>`ifnull(sum(${savedBlocks.size}), 0)` })
    .from(savedBlocks)
    .where(eq(savedBlocks.user_id, accountId))
    .all()[0] ?? { count: 0, size: 0 };
  if (count + newBlocks > MAX_BLOCKS || size + bytes > MAX_ACCOUNT_BYTES)
    throw conflict(sentence('blocks_full', { count: MAX_BLOCKS, size: MAX_ACCOUNT_BYTES / KIBIBYTE / KIBIBYTE }));
}

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
