/**
 * Reads JSON bodies with long texts, such as files in base64, without making strings of those: parsing 14 MB takes 50 ms, in which nobody
 * else is answered. Long texts without escapes are cut out of the bytes first.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { payloadTooLarge } from '../../errors/failure.ts';
import { jsonParser, MAX_FORM_BYTES } from './forms.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LONG_BYTES = 32 * 1024;
/** Texts that are looked at. What comes after them is parsed as it is. */
const MAX_TEXTS = 10_000;

/** The texts cut out of each body, by what stands in their place: a name that nobody can guess. */
const cutOut = new WeakMap<FastifyRequest, Map<string, Buffer>>();

/**
 * Has the routes of a plugin read JSON bodies of up to `maxBytes`, in which the parameter `large` may have long texts, for `textBytes`.
 * Without these a body has the usual limit.
 */
export function readLargeJson(app: FastifyInstance, large: string, maxBytes: number): void {
  const parse = jsonParser(app);
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit: maxBytes }, (request, body, done) => {
    const { rest, texts } = cutLongTexts(Buffer.isBuffer(body) ? body : Buffer.from(body));
    if (rest.length > MAX_FORM_BYTES) return done(payloadTooLarge());
    cutOut.set(request, texts);
    parse(request, rest.toString(), (error, value) => {
      if (error !== null || texts.size === 0 || !isObject(value)) return done(error, value);
      let bytes = rest.length;
      for (const [name, parameter] of Object.entries(value)) {
        if (name !== large)
          value[name] = withTexts(parameter, (text) => {
            const whole = texts.get(text);
            bytes += whole?.length ?? 0;
            return whole === undefined || bytes > MAX_FORM_BYTES ? text : whole.toString();
          });
      }
      if (bytes > MAX_FORM_BYTES) done(payloadTooLarge());
      else done(null, value);
    });
  });
}

/** The bytes of a text of the body, whether it was cut out or not. */
export function textBytes(request: FastifyRequest, text: string): Buffer {
  return cutOut.get(request)?.get(text) ?? Buffer.from(text);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value of JSON with each of its texts replaced. */
function withTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => withTexts(item, replace));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withTexts(item, replace)]));
}

/** The body with short names in place of its long texts, and these. */
function cutLongTexts(body: Buffer): { rest: Buffer; texts: Map<string, Buffer> } {
  const texts = new Map<string, Buffer>();
  if (body.length < LONG_BYTES) return { rest: body, texts };
  const prefix = randomBytes(12).toString('hex');
  const kept: Buffer[] = [];
  let from = 0;
  let at = 0;
  for (let seen = 0; seen < MAX_TEXTS; seen++) {
    const start = body.indexOf(QUOTE, at) + 1;
    const end = start === 0 ? -1 : endOfText(body, start);
    if (end === -1) break;
    const text = body.subarray(start, end);
    if (text.length >= LONG_BYTES && !text.includes(BACKSLASH)) {
      const name = `${prefix}${texts.size}`;
      texts.set(name, text);
      kept.push(body.subarray(from, start), Buffer.from(name));
      from = end;
    }
    at = end + 1;
  }
  return { rest: Buffer.concat([...kept, body.subarray(from)]), texts };
}

/** The position of the quote that ends the text starting at `start`; -1 if there is none. */
function endOfText(body: Buffer, start: number): number {
  const first = body.indexOf(QUOTE, start);
  if (first === -1) return -1;
  let before = first - 1;
  while (before >= start && body[before] === BACKSLASH) before--;
  if ((first - 1 - before) % 2 === 0) return first;
  // It is escaped. From here byte by byte: to look for the next quote each time would take a second for a text that is nothing but those.
  for (let at = first + 1; at < body.length; at++) {
    const byte = body[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return -1;
}
