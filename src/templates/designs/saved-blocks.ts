/** The saved blocks of an account: how they are read, added, changed and deleted, and how many an account can have. */
import { asc, eq, sql } from 'drizzle-orm';
import { deleteRestorably, restoreDeleted } from '../../database/deleted-records.ts';
import type { Db } from '../../database/open.ts';
import { ownedBy, ownedRecord } from '../../database/ownership.ts';
import { savedBlocks } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { MEBIBYTE } from '../../units.ts';

export const KIBIBYTE = 1024;
/** The maximum number of blocks of an account. */
export const MAX_BLOCKS = 100;
/** The maximum length of the code of one block. */
export const MAX_BLOCK_CHARACTERS = 200 * KIBIBYTE;
/** The maximum size of the code of all blocks of an account. */
const MAX_ACCOUNT_BYTES = 10 * MEBIBYTE;

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
    // The restored block is counted already, so no further room is needed.
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
    throw conflict(sentence('blocks_full', { count: MAX_BLOCKS, size: MAX_ACCOUNT_BYTES / MEBIBYTE }));
}
