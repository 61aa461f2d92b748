/**
 * The stored form of what the service says: in tables, between threads and on the way from a node. It is a mark, the code and, where the
 * sentence has values, those as JSON: `:left_target`, `:given_up{"reply":"451 4.3.0 Try later"}`. So the words of a sentence can change and
 * be translated, and SQL compares codes. A text that others wrote is stored as it is; one that begins with the mark gets the mark twice,
 * so that no mail server can pass for the service.
 */
import { isSentenceCode, type PlainCode, type Said, Sentence, type SentenceCode, type Value } from './sentences.ts';

const MARK = ':';
const FORM = /^:([a-z][a-z0-9_]*)(\{.*\})?$/s;

/** What is said, as it is stored. The same sentence with the same values is always the same text. */
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

/** What a stored text says. A code that this release does not know stays the text that it is. */
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
  try {
    const values: Record<string, Value> = {};
    for (const [name, value] of Object.entries<unknown>(JSON.parse(json))) {
      if (typeof value !== 'number' && typeof value !== 'string') return null;
      values[name] = typeof value === 'number' ? value : readStored(value);
    }
    return values;
  } catch {
    return null;
  }
}

/** Whether a stored text has a code, or a form of values, that this release does not know. */
export function isUnknown(text: string): boolean {
  return text.startsWith(MARK) && readStored(text) === text;
}

/** What is said, with each text in it that others wrote changed. */
export function withTexts(said: Said, change: (text: string) => string): Said {
  if (typeof said === 'string') return change(said);
  const values = Object.entries(said.values).map(([name, value]): [string, Value] => [
    name,
    typeof value === 'number' ? value : withTexts(value, change),
  ]);
  return new Sentence(said.code, Object.fromEntries(values));
}

/** A sentence without values as it is stored, as an SQL literal. */
export function storedSql(code: PlainCode): string {
  return `'${MARK}${code}'`;
}

/** A stored text in English, as the API and exports have it. Every connection has it as the SQL function `english`. */
export function english(text: string): string;
export function english(text: string | null): string | null;
export function english(text: string | null): string | null {
  return text === null ? null : String(readStored(text));
}

/** The code of what is said; null for nothing and for what others said. */
export function codeOf(said: Said | null): SentenceCode | null {
  return said instanceof Sentence ? said.code : null;
}
