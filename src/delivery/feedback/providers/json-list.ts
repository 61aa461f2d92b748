/** Reads a JSON list one element at a time, so that a large batch never keeps the thread for long. */
import { type Fields, parseFields, Refusal } from './provider-event.ts';

const MAX_ELEMENTS = 10_000;
const MAX_ELEMENT_BYTES = 256 * 1024;
/** So many blanks in a row are no list that somebody means. */
const MAX_BLANKS = 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The objects of a JSON list, or a single object outside a list. Throws a Refusal when it comes to anything else. */
export function* listedFields(body: Buffer): Generator<Fields> {
  let at = skipBlanks(body, 0);
  if (body[at] !== 0x5b) {
    if (body.length > MAX_ELEMENT_BYTES) throw new Refusal('malformed');
    yield parseFields(body.toString('utf8'));
    return;
  }
  at = skipBlanks(body, at + 1);
  for (let count = 0; body[at] !== 0x5d; count++) {
    const end = endOfElement(body, at);
    if (count === MAX_ELEMENTS || end - at > MAX_ELEMENT_BYTES) throw new Refusal('malformed');
    yield parseFields(body.toString('utf8', at, end));
    at = end;
    if (body[at] === COMMA) {
      at = skipBlanks(body, at + 1);
      if (body[at] === 0x5d) throw new Refusal('malformed');
    }
  }
  if (skipBlanks(body, at + 1) < body.length) throw new Refusal('malformed');
}

/** Where the comma or the bracket behind an element is. What is in between is checked by the parser. */
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
