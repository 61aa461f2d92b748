/** Parses the body of a form, and builds one object from its fields, whose keys may be `name`, `name[]`, `name[3]` or `name[key]`. */
import { setImmediate } from 'node:timers/promises';
import { payloadTooLarge } from '../../errors/failure.ts';

/** The property of an assembled body that holds the names of fields with malformed keys. */
export const MALFORMED = Symbol('malformed fields');

export type FormValue = string | string[] | Record<string, string>;
export type FormBody = Record<string, FormValue> & { [MALFORMED]?: Set<string> };

/** Names that would reach the prototype of an object. */
const DANGEROUS = new Set(['__proto__', 'constructor', 'prototype']);
const KEY = /^([^[\]]+)(?:\[([^[\]]*)\])?$/;

/**
 * Turns name–value pairs into an object without a prototype. A repeated field and `name[]` become an array; `name[key]` fields become an
 * object by key, whose keys an array parameter later reads as indices. A field is malformed if its keys are nested, mix these forms, repeat
 * an index or name a property of the prototype. Malformed fields are dropped and their names are kept under `MALFORMED`, so that each gets
 * a field error. Takes time linear in the number of pairs.
 */
export function assembleFields(pairs: Iterable<readonly [string, string]>): FormBody {
  const form = new Assembly();
  form.addAll(pairs);
  return form.finish();
}

/** Assembles a form from pairs that arrive one after the other. */
class Assembly {
  readonly #body: FormBody = Object.create(null);
  readonly #malformed = new Set<string>();

  addAll(pairs: Iterable<readonly [string, string]>): void {
    for (const [name, value] of pairs) {
      const parts = KEY.exec(name);
      const bracket = name.indexOf('[');
      const field = parts?.[1] ?? (bracket > 0 ? name.slice(0, bracket) : name);
      const key = parts?.[2];
      if (
        parts === null ||
        DANGEROUS.has(field) ||
        (key !== undefined && DANGEROUS.has(key)) ||
        !add(this.#body, field, key, value)
      ) {
        this.#malformed.add(field);
      }
    }
  }

  finish(): FormBody {
    for (const field of this.#malformed) delete this.#body[field];
    if (this.#malformed.size > 0) this.#body[MALFORMED] = this.#malformed;
    return this.#body;
  }
}

/** Adds one pair. Returns false if its form conflicts with the field's earlier pairs. */
function add(body: FormBody, field: string, key: string | undefined, value: string): boolean {
  const present = body[field];
  if (key === undefined || key === '') {
    if (present === undefined) body[field] = key === '' ? [value] : value;
    else if (typeof present === 'string') body[field] = [present, value];
    else if (Array.isArray(present)) present.push(value);
    else return false;
    return true;
  }
  if (present === undefined) {
    const keyed: Record<string, string> = Object.create(null);
    keyed[key] = value;
    body[field] = keyed;
    return true;
  }
  if (typeof present === 'string' || Array.isArray(present) || Object.hasOwn(present, key)) return false;
  present[key] = value;
  return true;
}

/** A field as a list of strings, whether it was sent once, repeated, or with the indices 0, 1, …; null if it has other keys. */
export function textList(value: FormValue = []): string[] | null {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value;
  const items: string[] = [];
  for (let at = 0; Object.hasOwn(value, at); at++) items.push(value[at] ?? '');
  return items.length === Object.keys(value).length ? items : null;
}

/** The number of pairs of a body that are read at once. */
const PAIRS_AT_ONCE = 1000;

/**
 * Parses the fields of an application/x-www-form-urlencoded body (WHATWG URL, "application/x-www-form-urlencoded parsing"). Throws 413 if
 * it has more than `maxPairs` pairs; they are counted before any of them is decoded, so that an oversized form costs one scan. Yields to
 * other requests after each thousand pairs and inside long values, because decoding 4 MB takes 80 ms.
 */
export async function readUrlencoded(body: string, maxPairs: number): Promise<FormBody> {
  const form = new Assembly();
  let isFirst = true;
  for (const part of urlencodedParts(body, maxPairs)) {
    if (!isFirst) await setImmediate();
    isFirst = false;
    form.addAll(part);
  }
  return form.finish();
}

/** The number of characters of a body that are decoded at once. */
const CHARACTERS_AT_ONCE = 256 * 1024;

type Pairs = Iterable<readonly [string, string]>;

/** Yields the pairs of a body, a thousand at a time, and an empty list after each part of a long pair. */
function* urlencodedParts(body: string, maxPairs: number): Generator<Pairs> {
  const ends: number[] = [];
  let pairs = 1;
  for (let at = body.indexOf('&'); at >= 0; at = body.indexOf('&', at + 1)) {
    if (pairs % PAIRS_AT_ONCE === 0) ends.push(at);
    if (++pairs > maxPairs) throw payloadTooLarge();
  }
  let start = 0;
  for (const end of [...ends, body.length]) {
    const part = body.slice(start, end);
    // URLSearchParams would drop a leading question mark as that of a URL.
    if (part.length <= CHARACTERS_AT_ONCE) yield new URLSearchParams(`&${part}`);
    else for (const pair of part.split('&')) yield* decodedPair(pair);
    start = end + 1;
  }
}

function* decodedPair(pair: string): Generator<Pairs> {
  if (pair.length <= CHARACTERS_AT_ONCE) return yield new URLSearchParams(`&${pair}`);
  const equals = pair.indexOf('=');
  const name = yield* decoded(equals === -1 ? pair : pair.slice(0, equals));
  const value = yield* decoded(equals === -1 ? '' : pair.slice(equals + 1));
  yield [[name, value]];
}

/** Decodes a name or a value. Yields an empty list after each part. */
function* decoded(text: string): Generator<Pairs, string> {
  let result = '';
  for (let start = 0; start < text.length; ) {
    const end = endOfPart(text, start + CHARACTERS_AT_ONCE);
    result += new URLSearchParams(`part=${text.slice(start, end)}`).get('part') ?? '';
    start = end;
    yield [];
  }
  return result;
}

/** The first position from `at` on at which no character is split: neither inside `%XX` nor before a continuation byte (RFC 3629, 3). */
function endOfPart(text: string, at: number): number {
  for (let end = at; end < text.length; end++) {
    const isWithin = text[end - 1] === '%' || text[end - 2] === '%';
    if (!isWithin && !/^(?:%[89ab]|[\udc00-\udfff])/i.test(text.slice(end, end + 2))) return end;
  }
  return text.length;
}
