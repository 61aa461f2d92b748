/**
 * Keeps the index that finds contacts by parts of their name and e-mail address. A row of the index stands for a block of eight
 * contacts with consecutive ids. This keeps the index's lists short enough to be read in a few milliseconds, however many contacts
 * there are. The background thread writes the index, but seldom while an import runs, because both need a core and the write
 * lock, and imports would take twice as long. New contacts are those with ids above the last indexed one; triggers
 * (drizzle/triggers.sql) record the blocks of contacts that were changed or removed.
 */
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../database/bulk.ts';
import { findNamedValue, removeNamedValue, writeNamedValue } from '../../database/named-values.ts';
import type { contacts } from '../../database/schema/index.ts';
import { isImportUnderWay } from '../import/running-imports.ts';
import { recordWrite } from '../unfinished-writes.ts';
import { accountToken, END, searchText } from './search-text.ts';

/** The number of contacts in a block. The triggers divide by the same number. */
export const BLOCK = 8;
/** How long one call of `continueIndexing` works. */
const BACKGROUND_MS = 20;
/** While an import runs, this time passes between two calls that work, so that other changes are still found soon. */
const IMPORT_PAUSE_MS = 200;
/** The number of transactions after each write that merge parts of the index. */
const MERGES_PER_WRITE = 2;
/** The maximum number of pages that one of these transactions merges, so that none takes long. */
const MERGE_PAGES = 16;
/** The named value with the highest id of an indexed contact. */
const INDEXED = 'contacts_indexed_until';
/** The name of a stored value that exists while the whole index is to be merged: `all` until the merge begins, then `rest`. */
const MERGING = 'contacts_index_merging';

/** Returns the highest id of an indexed contact. */
export function indexedUntil(client: Database): number {
  return Number(findNamedValue(client, INDEXED) ?? 0);
}

/**
 * Removes the trigrams of removed contacts from the index. FTS5 only marks an entry of such an index as deleted, even with
 * `secure-delete`; a merge of all parts rewrites the index without these entries. `continueIndexing` does this merge once every
 * change is indexed, and then requests that the write-ahead log be emptied once more.
 */
export function forgetRemovedContacts(client: Database): void {
  writeNamedValue(client, MERGING, 'all');
}

/** Returns true if the index may still have trigrams of contacts removed before the last `forgetRemovedContacts`. */
function hasToForget(client: Database): boolean {
  return findNamedValue(client, MERGING) !== null;
}

/** When `continueIndexing` last worked, in monotonic milliseconds. */
let lastWorked = 0;

/** Updates the index for a short time. Returns true if there is more to do at once. */
export async function continueIndexing(client: Database): Promise<boolean> {
  if (isImportUnderWay() && performance.now() - lastWorked < IMPORT_PAUSE_MS) return false;
  if (!isIndexBehind(client)) return hasToForget(client) && mergeAll(client);
  const until = performance.now() + BACKGROUND_MS;
  let merges = 0;
  await inChunks(client, (rows) => {
    if (merges > 0) {
      merges = mergeParts(client) ? merges - 1 : 0;
    } else {
      indexNext(client, Math.ceil(rows / BLOCK));
      merges = MERGES_PER_WRITE;
    }
    return performance.now() < until && (merges > 0 || isIndexBehind(client));
  });
  lastWorked = performance.now();
  return !isImportUnderWay() && (isIndexBehind(client) || hasToForget(client));
}

/** Returns true if changes of contacts wait to be indexed. */
export function isIndexBehind(client: Database): boolean {
  const behind = `SELECT EXISTS (SELECT 1 FROM contact_search_changes) OR EXISTS (SELECT 1 FROM contacts WHERE id > ?)`;
  return client.prepare<[number], number>(behind).pluck().get(indexedUntil(client)) === 1;
}

type Indexed = Pick<typeof contacts.$inferSelect, 'id' | 'user_id' | 'email' | 'first_name' | 'last_name'>;

/** Indexes the next blocks: first changed ones, then those of new contacts. */
function indexNext(client: Database, count: number): void {
  const changed = client
    .prepare<[number], number>('SELECT block FROM contact_search_changes ORDER BY block LIMIT ?')
    .pluck()
    .all(count);
  if (changed.length > 0) {
    const blocks = JSON.stringify(changed);
    indexBlocks(client, blocks);
    client.prepare('DELETE FROM contact_search_changes WHERE block IN (SELECT value FROM json_each(?))').run(blocks);
    return;
  }
  const added = client
    .prepare<[number, number], number>('SELECT id FROM contacts WHERE id > ? ORDER BY id LIMIT ?')
    .pluck()
    .all(indexedUntil(client), count * BLOCK);
  const last = added.at(-1);
  if (last === undefined) return;
  indexBlocks(client, JSON.stringify([...new Set(added.map((id) => Math.floor(id / BLOCK)))]));
  writeNamedValue(client, INDEXED, String(last));
}

/** Rewrites these blocks (a JSON array) from their present contacts. */
function indexBlocks(client: Database, blocks: string): void {
  const read = client.prepare<[string], Indexed>(`
    SELECT c.id, c.user_id, c.email, c.first_name, c.last_name
    FROM json_each(?) b CROSS JOIN contacts c ON c.id BETWEEN b.value * ${BLOCK} AND b.value * ${BLOCK} + ${BLOCK - 1} ORDER BY c.id`);
  const texts = new Map<number, string>();
  for (const { id, user_id, email, first_name, last_name } of read.all(blocks)) {
    const block = Math.floor(id / BLOCK);
    const text = accountToken(user_id) + searchText(email, first_name, last_name);
    texts.set(block, `${texts.get(block) ?? ''} ${text}`);
  }
  client.prepare('DELETE FROM contact_search WHERE rowid IN (SELECT value FROM json_each(?))').run(blocks);
  const insert = client.prepare('INSERT INTO contact_search (rowid, text) VALUES (?, ?)');
  for (const [block, text] of texts) insert.run(block, text + END);
}

/** Merges all parts of the index into one for a short time. Returns true if there is more to do at once. */
async function mergeAll(client: Database): Promise<boolean> {
  const until = performance.now() + BACKGROUND_MS;
  await inChunks(client, () => {
    // A negative number first puts all parts on one level, so that later positive numbers merge all of them.
    const isFirst = findNamedValue(client, MERGING) === 'all';
    const hasMore = mergeParts(client, isFirst ? -MERGE_PAGES : MERGE_PAGES);
    if (!hasMore) {
      removeNamedValue(client, MERGING);
      recordWrite(client, 'empty-log', null);
    } else if (isFirst) writeNamedValue(client, MERGING, 'rest');
    return hasMore && performance.now() < until;
  });
  return hasToForget(client);
}

/** Merges some parts of the index. Returns true if there was something to merge (FTS5, "The 'merge' Command"). */
function mergeParts(client: Database, pages = MERGE_PAGES): boolean {
  const changes = client.prepare<[], number>('SELECT total_changes()').pluck();
  const before = changes.get() ?? 0;
  client.prepare(`INSERT INTO contact_search (contact_search, rank) VALUES ('merge', ?)`).run(pages);
  return (changes.get() ?? 0) - before >= 2;
}
