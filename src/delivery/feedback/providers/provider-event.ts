/** Shared code for the webhooks of all providers: the events, the requests, reading JSON, and the reasons for refusing a request. */

import type { IncomingHttpHeaders } from 'node:http';
import type { REFUSALS } from '../../../database/schema/index.ts';
import { isObject, parseJson } from '../../../json.ts';
import { HOUR_MS, MINUTE_MS } from '../../../units.ts';
import { sanitizeText } from '../bounces/sanitize.ts';

/**
 * What an event changes. `permanent`: the address is unusable; the delivery bounced and the address is suppressed. `returned`: the mail did
 * not arrive, but the address is not to blame; the delivery bounced. `temporary`: the provider may try again; nothing changes. `complaint`:
 * the address is suppressed. `unsubscribe`: the address is unsubscribed from all mail.
 */
export type Effect = 'permanent' | 'returned' | 'temporary' | 'complaint' | 'unsubscribe';

export interface ProviderEvent {
  /** Identifies an event of the intake. An event that is sent again has the same key. */
  key: string;
  /** The provider's name for the event. */
  name: string;
  /** What the event changes; null if it has no meaning here. */
  effect: Effect | null;
  /**
   * When the event was signed, in epoch milliseconds. It is present only if the signature covers the key alone, so that the signature could
   * be reused for another event. Such a key is remembered even if the event has no effect, and counts as a duplicate if it is older than
   * all remembered keys and some were forgotten.
   */
  signedAt?: number;
  /** The recipient's address; null if the event does not give it. */
  recipient: string | null;
  /** The Message-ID that we gave the mail, if the provider repeats it. */
  messageId: string | null;
  /** The envelope sender that we gave the mail, if the provider repeats it. */
  returnPath: string | null;
  /** When the event happened, in epoch milliseconds; null if the event does not say. */
  happenedAt: number | null;
  /** The reply of the rejecting server, or the provider's explanation, as one sanitized line. */
  diagnostic: string;
}

export interface ReceivedRequest {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The key or password of the intake; null if there is none. */
  secret: string | null;
  now: Date;
}

export type RefusalCode = (typeof REFUSALS)[number];

/** Thrown for a request that is not accepted. None of its events has an effect. */
export class Refusal extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode) {
    super(code);
    this.code = code;
  }
}

/**
 * The maximum age of signed requests, in milliseconds. Providers repeat a failed request for at most a day, so older requests are replays.
 */
const MAX_AGE_MS = 26 * HOUR_MS;
/** How far in the future the time of a signature may be, in milliseconds, because clocks differ. */
const MAX_AHEAD_MS = 10 * MINUTE_MS;

/** Throws a Refusal unless the signing time, in epoch milliseconds, is recent. */
export function requireRecent(signedAt: number, now: Date): void {
  const age = now.getTime() - signedAt;
  if (!(age <= MAX_AGE_MS && age >= -MAX_AHEAD_MS)) throw new Refusal('expired');
}

/** An object parsed from JSON. Its values have any type. */
export type Fields = Readonly<Record<string, unknown>>;

/** Parses JSON text that is an object. Throws a Refusal for anything else. */
export function parseFields(text: string): Fields {
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw new Refusal('malformed');
}

/** Returns the member of this name if it is an object; an empty object for anything else. */
export function fieldsAt(fields: Fields, name: string): Fields {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return isObject(value) ? value : {};
}

/** Returns the first 100 elements of a member that is a list, without those that are not objects. */
export function listAt(fields: Fields, name: string): Fields[] {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return Array.isArray(value) ? value.slice(0, 100).filter(isObject) : [];
}

/** Returns the member of this name as a string, if it is a string or a number; an empty string for anything else. */
export function textAt(fields: Fields, name: string): string {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}

/** Returns the member of this name if it is a number or a string of digits, such as seconds since 1970; null for anything else. */
export function numberAt(fields: Fields, name: string): number | null {
  const text = textAt(fields, name);
  return /^\d{1,16}(\.\d{1,9})?$/.test(text) ? Number(text) : null;
}

/** Returns the member of this name in epoch milliseconds, if it is an ISO 8601 time; null for anything else. */
export function timeAt(fields: Fields, name: string): number | null {
  const text = textAt(fields, name);
  const time = /^\d{4}-\d\d-\d\dT/.test(text) && text.length <= 40 ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

/** Returns the diagnostic of an event as one line: the first of the texts that is not empty. */
export function diagnosticOf(...texts: readonly string[]): string {
  return sanitizeText(texts.find((text) => text.trim() !== '') ?? '');
}

const MAX_ELEMENTS = 10_000;
const MAX_ELEMENT_BYTES = 256 * 1024;
/** The maximum number of blanks in a row. No genuine list has more. */
const MAX_BLANKS = 1024;
/** The bytes that delimit the parts of JSON text. */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const LIST_START = 0x5b;
const LIST_END = 0x5d;
const OPENING = new Set([LIST_START, 0x7b]);
const CLOSING = new Set([LIST_END, 0x7d]);
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Yields the objects of a JSON list, or a single object outside a list. Throws a Refusal as soon as the text contains anything else. */
export function* listedFields(body: Buffer): Generator<Fields> {
  let at = skipBlanks(body, 0);
  if (body[at] !== LIST_START) {
    if (body.length > MAX_ELEMENT_BYTES) throw new Refusal('malformed');
    yield parseFields(body.toString('utf8'));
    return;
  }
  at = skipBlanks(body, at + 1);
  for (let count = 0; body[at] !== LIST_END; count++) {
    const end = endOfElement(body, at);
    if (count === MAX_ELEMENTS || end - at > MAX_ELEMENT_BYTES) throw new Refusal('malformed');
    yield parseFields(body.toString('utf8', at, end));
    at = end;
    if (body[at] === COMMA) {
      at = skipBlanks(body, at + 1);
      if (body[at] === LIST_END) throw new Refusal('malformed');
    }
  }
  if (skipBlanks(body, at + 1) < body.length) throw new Refusal('malformed');
}

/** Returns the position of the comma or bracket after an element. The text of the element is checked later, when it is parsed. */
function endOfElement(body: Buffer, from: number): number {
  let depth = 0;
  let isText = false;
  for (let at = from; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (isText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (OPENING.has(byte)) depth++;
    else if (depth === 0 && (byte === COMMA || CLOSING.has(byte))) return at;
    else if (CLOSING.has(byte)) depth--;
    if (at - from > MAX_ELEMENT_BYTES) break;
  }
  throw new Refusal('malformed');
}

function skipBlanks(body: Buffer, from: number): number {
  let at = from;
  while (BLANK.has(body[at] ?? 0)) if (++at - from > MAX_BLANKS) throw new Refusal('malformed');
  return at;
}
