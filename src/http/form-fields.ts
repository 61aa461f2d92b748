/** The key grammar of form bodies (`name`, `name[]`, `name[3]`, `name[key]`) and its assembly into one object. */
import { payloadTooLarge } from '../failure.ts';

/** Where the names of fields whose keys were malformed are kept on an assembled body. */
export const MALFORMED = Symbol('malformed fields');

export type FormValue = string | string[] | Record<string, string>;
export type FormBody = Record<string, FormValue> & { [MALFORMED]?: Set<string> };

const DANGEROUS = new Set(['__proto__', 'constructor', 'prototype']);
const KEY = /^([^[\]]+)(?:\[([^[\]]*)\])?$/;

/**
 * Turns name–value pairs into an object without prototype: a repeated or `name[]` field becomes an array, `name[key]` fields
 * an object by key (which an array parameter reads as indices). Nested, mixed, repeated-index and prototype keys are
 * malformed: they are left out and named under `MALFORMED`, for a field error (trust 29). Linear in the number of pairs.
 */
export function assembleFields(pairs: Iterable<readonly [string, string]>): FormBody {
  const body: FormBody = Object.create(null);
  const malformed = new Set<string>();
  for (const [name, value] of pairs) {
    const parts = KEY.exec(name);
    const field = parts?.[1] ?? name.slice(0, name.indexOf('[') > 0 ? name.indexOf('[') : undefined);
    const key = parts?.[2];
    if (
      parts === null ||
      DANGEROUS.has(field) ||
      (key !== undefined && DANGEROUS.has(key)) ||
      !add(body, field, key, value)
    ) {
      malformed.add(field);
    }
  }
  for (const field of malformed) delete body[field];
  if (malformed.size > 0) body[MALFORMED] = malformed;
  return body;
}

/** False when this pair contradicts what the field already is. */
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

/** The texts of a field in whichever form an array comes: once, repeated, or under the indices 0, 1, …; null for other keys. */
export function listOf(value: FormValue = []): string[] | null {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value;
  const items: string[] = [];
  for (let at = 0; Object.hasOwn(value, at); at++) items.push(value[at] ?? '');
  return items.length === Object.keys(value).length ? items : null;
}

/**
 * The fields of an application/x-www-form-urlencoded body (WHATWG URL, "application/x-www-form-urlencoded parsing"). Throws 413 when
 * it has more than `maxPairs` pairs; they are counted before any of them is decoded, so that an oversized form costs one scan.
 */
export function parseUrlencoded(body: string, maxPairs: number): FormBody {
  let pairs = 1;
  for (let at = body.indexOf('&'); at >= 0; at = body.indexOf('&', at + 1))
    if (++pairs > maxPairs) throw payloadTooLarge();
  return assembleFields(new URLSearchParams(body));
}
