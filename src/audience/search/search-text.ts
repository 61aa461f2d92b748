/**
 * What a search looks at: the words of a contact, and the trigrams that find them. Three characters in a row are a trigram. Each word
 * begins with two marks, so that a trigram also finds words by their first one or two letters.
 */
import { fold } from '../../database/functions/fold.ts';
import type { Db } from '../../database/open.ts';

/** A character that no name or address has. */
const MARK = '\u0001';
const WORD_START = MARK + MARK;
const TRIGRAM = 3;
/** More trigrams of a search make the index slower and hardly choose better: every contact found is compared with the whole text. */
const MAX_TRIGRAMS = 4;
const MIN_LOCAL_PART = 3;
const TWO_DIGITS = /\p{Nd}{2}/u;
/** Scripts that put no spaces between words: each of their characters counts as a word, so that any one of them can be searched for. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const SEPARATORS = /[\s\p{Cc}]+/gu;
/** The first of the private characters that stand for an account's id; no keyboard types them. */
const PRIVATE = 0x100000;
const PRIVATE_BITS = 15;

function markedWords(text: string): string[] {
  return fold(text)
    .replace(SEPARATORS, ' ')
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => word.replace(UNSPACED, `${WORD_START}$&`));
}

/** A contact's words, folded and marked, in the form in which `searchWords` finds them. */
export function searchText(email: string, firstName: string, lastName: string): string {
  return [firstName, lastName, email]
    .flatMap(markedWords)
    .map((word) => (word.startsWith(WORD_START) ? word : WORD_START + word))
    .join(' ');
}

/**
 * The words of a search. Each must be somewhere in a contact's `searchText`: anywhere if it has three characters or more, else at the
 * beginning of a word.
 */
export function searchWords(search: string): string[] {
  const words = markedWords(search).map((word) => {
    const missing = TRIGRAM - [...word].length;
    return missing > 0 ? MARK.repeat(missing) + word : word;
  });
  return [...new Set(words)];
}

/**
 * The parts of words that a contact has if its address and full name together contain this text, in the form in which `searchText` has
 * them. The index can look for those of three characters or more; shorter ones are left out.
 */
export function partsOfText(text: string): string[] {
  return fold(text)
    .replace(SEPARATORS, ' ')
    .split(' ')
    .map((part, at) => {
      const marked = part.replace(UNSPACED, `${WORD_START}$&`);
      // What follows white space begins a word.
      return at === 0 || marked.startsWith(WORD_START) ? marked : WORD_START + marked;
    })
    .filter((part) => trigrams(part).length > 0);
}

/** The query of the index (FTS5) for these words: a few trigrams of them. */
export function indexQuery(words: readonly string[], accountId: number | null): string {
  const all = [...new Set(words.map(localPart).flatMap(trigrams))];
  const numbers = all.filter((trigram) => TWO_DIGITS.test(trigram));
  // Fewer contacts share digits than letters.
  const chosen = [...new Set([...spread(numbers), ...spread(all)])].slice(0, MAX_TRIGRAMS);
  if (accountId !== null) chosen.push(accountToken(accountId));
  return chosen.map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(' AND ');
}

/** The part of an address that few contacts share: what is before the @, where that is long enough. Other words stay whole. */
function localPart(word: string): string {
  const at = word.indexOf('@');
  return at >= MIN_LOCAL_PART ? word.slice(0, at + 1) : word;
}

/** So many trigrams from all over these. */
function spread(all: readonly string[]): string[] {
  const step = Math.max(1, all.length / MAX_TRIGRAMS);
  return all.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
}

function trigrams(word: string): string[] {
  const characters = [...word];
  return characters.slice(TRIGRAM - 1).map((_, at) => characters.slice(at, at + TRIGRAM).join(''));
}

/** A trigram that only the contacts of this account have. */
export function accountToken(accountId: number): string {
  return [2, 1, 0]
    .map((part) => Math.floor(accountId / 2 ** (PRIVATE_BITS * part)) % 2 ** PRIVATE_BITS)
    .map((bits) => String.fromCodePoint(PRIVATE + bits))
    .join('');
}

const installed = new WeakSet<object>();

/**
 * Registers the SQL function `has_words(email, first_name, last_name, words)` on the connection: whether all of a search's words (a JSON
 * array) are in a contact. One call for all words, since most of its time goes into folding the names.
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
