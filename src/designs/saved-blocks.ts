/** Blocks of mails that an account has kept to use again: adding, changing and deleting them. */
import { asc, eq, sql } from 'drizzle-orm';
import { type Clock, isoTimestamp } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { ownedBy, ownedRecord } from '../database/ownership.ts';
import { savedBlocks } from '../database/schema/index.ts';
import { conflict, notFound } from '../failure.ts';
import { sentence } from '../sentences.ts';

const KIBIBYTE = 1024;
const MAX_BLOCKS = 100;
/** The longest code of one block, and what all blocks of an account may take. */
export const MAX_BLOCK_CHARACTERS = 200 * KIBIBYTE;
const MAX_ACCOUNT_BYTES = 10 * KIBIBYTE * KIBIBYTE;

interface BlockDeps {
  db: Db;
  clock: Clock;
}

type SavedBlock = typeof savedBlocks.$inferSelect;

/** The names of an account's blocks, in the order in which they were kept. */
export function listBlocks(db: Db, accountId: number): Pick<SavedBlock, 'id' | 'block_name'>[] {
  return db
    .select({ id: savedBlocks.id, block_name: savedBlocks.block_name })
    .from(savedBlocks)
    .where(ownedBy(savedBlocks, accountId))
    .orderBy(asc(savedBlocks.id))
    .all();
}

/** The account's block with this id; throws 404. */
export function requireBlock(db: Db, accountId: number, id: unknown): SavedBlock {
  const block = db
    .select()
    .from(savedBlocks)
    .where(ownedRecord(savedBlocks, id, accountId))
    .get();
  if (block === undefined) throw notFound('Record not found');
  return block;
}

/** Adds a block and gives its id. Throws 409 when the account has no room for it. To be called within a transaction. */
export function addBlock({ db, clock }: BlockDeps, accountId: number, block_name: string, json_code: string): number {
  const size = Buffer.byteLength(json_code);
  requireRoom(db, accountId, size, 1);
  const now = isoTimestamp(clock.now());
  return db
    .insert(savedBlocks)
    .values({ user_id: accountId, block_name, json_code, size, created_at: now, updated_at: now })
    .returning({ id: savedBlocks.id })
    .get().id;
}

/** Changes the name of a block, its code, or both. Throws 409 when there is no room. To be called within a transaction. */
export function changeBlock(
  { db, clock }: BlockDeps,
  { id, user_id, size: before }: SavedBlock,
  { block_name, json_code }: { block_name?: string | undefined; json_code?: string | undefined },
): void {
  const size = json_code === undefined ? undefined : Buffer.byteLength(json_code);
  if (size !== undefined && size > before) requireRoom(db, user_id, size - before, 0);
  db.update(savedBlocks)
    .set({ block_name, json_code, size, updated_at: isoTimestamp(clock.now()) })
    .where(eq(savedBlocks.id, id))
    .run();
}

/** Deletes a block. Mails that it was put into have a copy. */
export function deleteBlock(db: Db, { id }: SavedBlock): void {
  db.delete(savedBlocks).where(eq(savedBlocks.id, id)).run();
}

/** Throws 409 when an account cannot have `more` blocks with this many bytes more. */
function requireRoom(db: Db, accountId: number, bytes: number, more: number): void {
  const { count, size } = db
    .select({ count: sql<number>`count(*)`, size: sql<number>`ifnull(sum(${savedBlocks.size}), 0)` })
    .from(savedBlocks)
    .where(eq(savedBlocks.user_id, accountId))
    .all()[0] ?? { count: 0, size: 0 };
  if (count + more > MAX_BLOCKS || size + bytes > MAX_ACCOUNT_BYTES)
    throw conflict(sentence('blocks_full', { count: MAX_BLOCKS, size: MAX_ACCOUNT_BYTES / KIBIBYTE / KIBIBYTE }));
}
