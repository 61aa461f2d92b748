/**
 * The stored form of a sentence, which is used in tables, between threads and in messages of nodes. It begins with a marker and the code of
 * the sentence; if the sentence has values, they follow as JSON: `:left_target`, `:given_up{"reply":"451 4.3.0 Try later"}`. With a code,
 * the wording can change and be translated, and SQL can compare. A text written by others is stored unchanged, except that a marker at its
 * beginning is doubled, so that no mail server can forge a sentence of the service.
 */
import { isObject, parseJson } from '../json.ts';
import { isSentenceCode, type PlainCode, type Said, Sentence, type SentenceCode, type Value } from './sentences.ts';

const MARK = ':';
const FORM = /^:([a-z][a-z0-9_]*)(\{.*\})?$/s;

/** Returns the stored form of a sentence or text. The same sentence with the same values always has the same stored form. */
export function stored(said: Said): string {
  if (typeof said === 'string') return (said.startsWith(MARK) ? MARK + said : said).toWellFormed();
  const names = Object.keys(said.values).sort();
  if (names.length === 0) return MARK + said.code;
  return MARK + said.code + JSON.stringify(Object.fromEntries(names.map((name) => [name, storedValue(said, name)])));
}

function storedValue({ values }: Sentence, name: string): string | number {
  const value = values[name] ?? '';
  return typeof value === 'number' ? value : stored(value);
}

/** Parses a stored text. A code that this release does not know remains a plain text. */
export function readStored(text: string): Said;
export function readStored(text: string | null): Said | null;
export function readStored(text: string | null): Said | null {
  if (text === null || !text.startsWith(MARK)) return text;
  if (text.startsWith(MARK, 1)) return text.slice(1);
  const [, code = '', json] = FORM.exec(text) ?? [];
  if (!isSentenceCode(code)) return text;
  const values = json === undefined ? {} : readValues(json);
  return values === null ? text : new Sentence(code, values);
}

function readValues(json: string): Record<string, Value> | null {
  const parsed = parseJson(json);
  if (!isObject(parsed)) return null;
  const values: Record<string, Value> = {};
  for (const [name, value] of Object.entries(parsed)) {
    if (typeof value !== 'number' && typeof value !== 'string') return null;
    values[name] = typeof value === 'number' ? value : readStored(value);
  }
  return values;
}

/** Returns true if a stored text has a code, or a form of values, that this release does not know. */
export function isUnknown(text: string): boolean {
  return text.startsWith(MARK) && readStored(text) === text;
}

/** Returns the same sentence or text after `change` was applied to each text written by others. */
export function withTexts(said: Said, change: (text: string) => string): Said {
  if (typeof said === 'string') return change(said);
  const values = Object.entries(said.values).map(([name, value]): [string, Value] => [
    name,
    typeof value === 'number' ? value : withTexts(value, change),
  ]);
  return new Sentence(said.code, Object.fromEntries(values));
}

/** Returns the stored form of a sentence without values, as an SQL literal. */
export function storedSql(code: PlainCode): string {
  return `'${MARK}${code}'`;
}

/** Returns a stored text in English, as the API and exports show it. Every connection has this function as the SQL function `english`. */
export function english(text: string): string;
export function english(text: string | null): string | null;
export function english(text: string | null): string | null {
  return text === null ? null : String(readStored(text));
}

/** Returns the code of a sentence; null for null and for a text written by others. */
export function codeOf(said: Said | null): SentenceCode | null {
  return said instanceof Sentence ? said.code : null;
}
