/**
 * Keeps the index that finds contacts by parts of their name and e-mail address. A row of the index stands for a block of eight
 * contacts with consecutive ids. This keeps the index's lists short enough to be read in a few milliseconds, however many contacts
 * there are. The background thread writes the index, but seldom while an import runs, because both need a core and the write
 * lock, and imports would take twice as long. New contacts are those with ids above the last indexed one; triggers
 * (drizzle/triggers.sql) record the blocks of contacts that were changed or removed.
 */
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../database/bulk.ts';
import { fold } from '../../database/functions/fold.ts';
import { findNamedValue, removeNamedValue, writeNamedValue } from '../../database/named-values.ts';
import type { Db } from '../../database/open.ts';
import type { contacts } from '../../database/schema/index.ts';
import { isImportUnderWay } from '../import/running-imports.ts';
import { recordWrite } from '../unfinished-writes.ts';

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

/*
 * The text that a search looks at: the words of a contact, and the trigrams that find them. A trigram is three characters in a
 * row. Each word begins with two marks, so that a trigram also finds words by their first one or two letters.
 */

/** A character that occurs in no name or address. */
const MARK = '\u0001';
const WORD_START = MARK + MARK;
const TRIGRAM = 3;
/** Ends the text of a block, so that each of its characters begins a trigram. */
const END = '  ';
/**
 * The maximum number of trigrams of a search. More trigrams make the index slower and hardly reduce the candidates, because every
 * contact found is compared with the whole text anyway.
 */
const MAX_TRIGRAMS = 4;
/** The minimum length of a local part that is looked for without its domain. */
const MIN_LOCAL_PART = 3;
const TWO_DIGITS = /\p{Nd}{2}/u;
/** Scripts without spaces between words. Each of their characters counts as a word, so that any single one can be searched for. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const SEPARATORS = /[\s\p{Cc}]+/gu;
/** The first of the private-use characters that encode an account's id. Keyboards cannot type them. */
const PRIVATE = 0x100000;
const PRIVATE_BITS = 15;
const LAST_CHARACTER = '\u{10ffff}';

/** Returns the words of a text, folded, with marks before each character of an unspaced script. */
function markedWords(text: string): string[] {
  return fold(text)
    .replace(SEPARATORS, ' ')
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => word.replace(UNSPACED, `${WORD_START}$&`));
}

/** Returns a contact's words, folded and marked, in the form in which `searchWords` finds them. */
export function searchText(email: string, firstName: string, lastName: string): string {
  return [firstName, lastName, email]
    .flatMap(markedWords)
    .map((word) => (word.startsWith(WORD_START) ? word : WORD_START + word))
    .join(' ');
}

/**
 * Returns the words of a search. A contact matches if each of them is in its `searchText`: anywhere if the word has three
 * characters or more, otherwise at the beginning of a word.
 */
export function searchWords(search: string): string[] {
  const words = markedWords(search).map((word) => {
    const missing = TRIGRAM - [...word].length;
    return missing > 0 ? MARK.repeat(missing) + word : word;
  });
  return [...new Set(words)];
}

/**
 * Returns the parts of words that a contact has if its address and full name together contain this text, in the form of
 * `searchText`. Parts with less than three characters are omitted, because the index cannot look for them.
 */
export function partsOfText(text: string): string[] {
  return markedParts(text).filter((part) => trigrams(part).length > 0);
}

/** Returns the first part of a text, as above, if it has one or two characters; otherwise ''. `trigramsBeginningWith` looks for such a part. */
export function shortPartOfText(text: string): string {
  const [first = ''] = markedParts(text);
  return trigrams(first).length > 0 ? '' : first;
}

/** Returns the parts between the white space of a text, folded and marked. */
function markedParts(text: string): string[] {
  return fold(text)
    .replace(SEPARATORS, ' ')
    .split(' ')
    .map((part, at) => {
      const marked = part.replace(UNSPACED, `${WORD_START}$&`);
      // A part after white space begins a word.
      return at === 0 || marked.startsWith(WORD_START) ? marked : WORD_START + marked;
    });
}

/**
 * A text of one or two characters is looked for by the trigrams of the index that begin with it, unless there are more
 * of them than this.
 */
const MAX_BEGINNING = 64;

/**
 * Returns the trigrams in the index that begin with a text of one or two characters; null if they are too many. Such a text is so frequent
 * that comparing contacts soon finds some.
 */
export function trigramsBeginningWith(client: Database, text: string): string[] | null {
  // Of the kinds of this table, only `instance` gives a term without first reading all blocks that have it (FTS5, "The
  // fts5vocab Virtual Table Module").
  client.exec(
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.contact_search_terms USING fts5vocab('main', 'contact_search', 'instance')",
  );
  const next = client
    .prepare<[string, string], string>('SELECT term FROM temp.contact_search_terms WHERE term BETWEEN ? AND ? LIMIT 1')
    .pluck();
  const terms: string[] = [];
  const last = text + LAST_CHARACTER.repeat(TRIGRAM - 1);
  // A trigram followed by a character comes after the trigram and before all others.
  for (let term = next.get(text, last); term !== undefined; term = next.get(term + MARK, last)) {
    if (terms.push(term) > MAX_BEGINNING) return null;
  }
  return terms;
}

/** Returns the index's query (FTS5) for any of these trigrams. */
export function anyTrigramQuery(trigrams: readonly string[], accountId: number | null): string {
  const any = `(${trigrams.map(quoted).join(' OR ')})`;
  return accountId === null ? any : `${any} AND ${quoted(accountToken(accountId))}`;
}

const quoted = (trigram: string) => `"${trigram.replaceAll('"', '""')}"`;

/** Returns the index's query (FTS5) for these words: a few of their trigrams. */
export function indexQuery(words: readonly string[], accountId: number | null): string {
  const all = [...new Set(words.map(localPart).flatMap(trigrams))];
  const numbers = all.filter((trigram) => TWO_DIGITS.test(trigram));
  // Trigrams of digits come first, because fewer contacts share digits than letters.
  const chosen = [...new Set([...spread(numbers), ...spread(all)])].slice(0, MAX_TRIGRAMS);
  if (accountId !== null) chosen.push(accountToken(accountId));
  return chosen.map(quoted).join(' AND ');
}

/** Returns the part of an address that few contacts share: its local part, if that is long enough. Other words are returned whole. */
function localPart(word: string): string {
  const at = word.indexOf('@');
  return at >= MIN_LOCAL_PART ? word.slice(0, at + 1) : word;
}

/** Returns up to `MAX_TRIGRAMS` of these trigrams, evenly chosen. */
function spread(all: readonly string[]): string[] {
  const step = Math.max(1, all.length / MAX_TRIGRAMS);
  return all.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
}

function trigrams(word: string): string[] {
  const characters = [...word];
  return characters.slice(TRIGRAM - 1).map((_, at) => characters.slice(at, at + TRIGRAM).join(''));
}

/** Returns a trigram that only the contacts of this account have. */
function accountToken(accountId: number): string {
  return [2, 1, 0]
    .map((part) => Math.floor(accountId / 2 ** (PRIVATE_BITS * part)) % 2 ** PRIVATE_BITS)
    .map((bits) => String.fromCodePoint(PRIVATE + bits))
    .join('');
}

const installed = new WeakSet<object>();

/**
 * Registers the SQL function `has_words(email, first_name, last_name, words)` on the connection: true if all words of a search
 * (a JSON array) are in a contact. One call checks all words, because most of its time goes into folding the names.
 */
export function installSearchText({ $client }: Db): void {
  if (installed.has($client)) return;
  installed.add($client);
  let last: { json: unknown; words: string[] } = { json: '', words: [] };
  $client.function('has_words', { deterministic: true }, (email, firstName, lastName, json) => {
    if (last.json !== json) last = { json, words: JSON.parse(String(json)) };
    const text = searchText(String(email), String(firstName), String(lastName));
    return last.words.every((word) => text.includes(word)) ? 1 : 0;
  });
}
