/**
 * The text that a search looks at: the words of a contact, and the trigrams that find them. A trigram is three characters in a
 * row. Each word begins with two marks, so that a trigram also finds words by their first one or two letters.
 */
import type { Database } from 'better-sqlite3';
import { fold } from '../../database/functions/fold.ts';
import type { Db } from '../../database/open.ts';

/** A character that occurs in no name or address. */
const MARK = '\u0001';
const WORD_START = MARK + MARK;
const TRIGRAM = 3;
/** Ends the text of a block, so that each of its characters begins a trigram. */
export const END = '  ';
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
export function accountToken(accountId: number): string {
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
