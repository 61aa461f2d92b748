/**
 * Reads JSON bodies with long strings, such as files in base64, without creating these strings: parsing 14 MB takes 50 ms, which would
 * delay other requests. Long strings without escapes are cut out of the bytes first.
 */

import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { payloadTooLarge } from '../../errors/failure.ts';
import { isObject } from '../../json.ts';
import { jsonParser, MAX_FORM_BYTES } from './forms.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A string of at least this many bytes is long. */
const LONG_BYTES = 32 * 1024;
/** The maximum number of strings examined. Everything after them is parsed normally. */
const MAX_TEXTS = 10_000;

/** The strings cut out of each body, by their placeholder: an unguessable name. */
const cutOut = new WeakMap<FastifyRequest, Map<string, Buffer>>();

/**
 * Makes the routes of a plugin accept JSON bodies of up to `maxBytes` bytes, in which the parameter `large` may have long strings, to be
 * read with `textBytes`. Without long strings, a body has the usual limit.
 */
export function readLargeJson(app: FastifyInstance, large: string, maxBytes: number): void {
  const parse = jsonParser(app);
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit: maxBytes }, (request, body, done) => {
    const { shortened, texts } = cutLongTexts(Buffer.isBuffer(body) ? body : Buffer.from(body));
    if (shortened.length > MAX_FORM_BYTES) return done(payloadTooLarge());
    cutOut.set(request, texts);
    parse(request, shortened.toString(), (error, value) => {
      if (error !== null || texts.size === 0 || !isObject(value)) return done(error, value);
      let bytes = shortened.length;
      for (const [name, parameter] of Object.entries(value)) {
        if (name !== large)
          value[name] = withTexts(parameter, (text) => {
            const longText = texts.get(text);
            bytes += longText?.length ?? 0;
            return longText === undefined || bytes > MAX_FORM_BYTES ? text : longText.toString();
          });
      }
      if (bytes > MAX_FORM_BYTES) done(payloadTooLarge());
      else done(null, value);
    });
  });
}

/** Returns the bytes of a string in the body, whether it was cut out or not. */
export function textBytes(request: FastifyRequest, text: string): Buffer {
  return cutOut.get(request)?.get(text) ?? Buffer.from(text);
}

/** Returns a JSON value with each of its strings replaced. */
function withTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => withTexts(item, replace));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withTexts(item, replace)]));
}

/** Returns the body with placeholders instead of its long strings, and the long strings by placeholder. */
function cutLongTexts(body: Buffer): { shortened: Buffer; texts: Map<string, Buffer> } {
  const texts = new Map<string, Buffer>();
  if (body.length < LONG_BYTES) return { shortened: body, texts };
  const prefix = randomBytes(12).toString('hex');
  const parts: Buffer[] = [];
  let from = 0;
  let at = 0;
  for (let examined = 0; examined < MAX_TEXTS; examined++) {
    const start = body.indexOf(QUOTE, at) + 1;
    const end = start === 0 ? -1 : endOfText(body, start);
    if (end === -1) break;
    const text = body.subarray(start, end);
    if (text.length >= LONG_BYTES && !text.includes(BACKSLASH)) {
      const placeholder = `${prefix}${texts.size}`;
      texts.set(placeholder, text);
      parts.push(body.subarray(from, start), Buffer.from(placeholder));
      from = end;
    }
    at = end + 1;
  }
  return { shortened: Buffer.concat([...parts, body.subarray(from)]), texts };
}

/** Returns the position of the quote that ends the string starting at `start`; -1 if no quote ends it. */
function endOfText(body: Buffer, start: number): number {
  const first = body.indexOf(QUOTE, start);
  if (first === -1) return -1;
  let before = first - 1;
  while (before >= start && body[before] === BACKSLASH) before--;
  if ((first - 1 - before) % 2 === 0) return first;
  // The quote is escaped. Continues byte by byte, because searching for the next quote each time would take a second for a string that
  // consists of escaped quotes.
  for (let at = first + 1; at < body.length; at++) {
    const byte = body[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return -1;
}
