/** Reads request bodies. Urlencoded and multipart forms become the same objects as JSON. */

import formbody from '@fastify/formbody';
import multipart, { type Multipart } from '@fastify/multipart';
import type { FastifyBodyParser, FastifyInstance, FastifyRequest } from 'fastify';
import { hasMoreParts, isDeeper } from '../../delivery/content/json-size.ts';
import { Failure, payloadTooLarge } from '../../errors/failure.ts';
import { MEBIBYTE } from '../../units.ts';
import { assembleFields, type FormBody, MALFORMED, readUrlencoded } from './form-fields.ts';
import { normalize } from './normalize.ts';

/** The largest body of any encoding, except uploads. */
export const MAX_FORM_BYTES = 4 * MEBIBYTE;
const MAX_FORM_PARTS = 20_000;
/** Limits of a JSON body: room for two arrays of 10 000 items, and deeper nesting than any parameter needs. */
const MAX_JSON_VALUES = 50_000;
const MAX_JSON_LEVELS = 32;
/**
 * The buffer of the multipart parser in bytes. It must be larger than one read from a socket: if the parser skips a part without a usable
 * name and a chunk of that part does not fit the buffer, it never continues, and the request would get no response.
 */
const PART_BUFFER = MEBIBYTE;

/**
 * The property of a body that holds the text of a form until it is read. @fastify/formbody would parse a form in one go, and ten thousand
 * ids take 12 to 47 ms, which would delay other requests.
 */
const UNPARSED_FORM = Symbol('text of a form');

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the handler reads the multipart body itself. */
    upload?: boolean;
  }
}

/** Installs the body parsers and the hook that normalizes every body and query before validation. */
export async function installForms(app: FastifyInstance): Promise<void> {
  // Fastify's own text/plain parser would pass a string to handlers that expect a form.
  app.removeContentTypeParser(['text/plain', 'application/json']);
  await app.register(formbody, { bodyLimit: MAX_FORM_BYTES, parser: (body) => ({ [UNPARSED_FORM]: body }) });
  await installMultipart(app);
  // Some clients send a JSON content type without a body; an empty body counts as none.
  const parse = jsonParser(app);
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) =>
    parse(request, String(body), done),
  );
  app.addHook('preValidation', (request, _reply, next) => {
    const body = bodyOf(request);
    if (body instanceof Promise) {
      body.then((fields) => normalizeRequest(request, fields)).then(() => next(), next);
    } else {
      normalizeRequest(request, body);
      next();
    }
  });
}

/** Returns a function that parses a JSON body after counting its parts; an empty text counts as no body. */
export function jsonParser(app: FastifyInstance): FastifyBodyParser<string> {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  return (request, text, done) => {
    if (text === '') done(null, undefined);
    else if (hasMoreParts(text, MAX_JSON_VALUES) || isDeeper(text, MAX_JSON_LEVELS)) done(payloadTooLarge());
    else parseJson(request, text, done);
  };
}

/** The body of a request; a promise if other requests are handled while it is read. */
function bodyOf(request: FastifyRequest): unknown {
  const { body } = request;
  if (typeof body === 'object' && body !== null && UNPARSED_FORM in body) {
    return readUrlencoded(String(body[UNPARSED_FORM]), MAX_FORM_PARTS);
  }
  return hasFields(request) && request.isMultipart() ? readMultipart(request) : body;
}

/** Returns true if the endpoint's schema names the fields of the body. */
function hasFields({ routeOptions: { schema, config } }: FastifyRequest): boolean {
  return typeof schema?.body === 'object' && schema.body !== null && config.upload !== true;
}

function normalizeRequest(request: FastifyRequest, body: unknown): void {
  const { schema } = request.routeOptions;
  const query = schema?.querystring;
  if (typeof query === 'object' && query !== null) request.query = normalize(query, request.query);
  request.body = hasFields(request) && schema?.body ? normalize(schema.body, body) : body;
}

/**
 * Lets handlers read the parts of multipart forms: registers @fastify/multipart without its hooks. The hooks run on every request to remove
 * saved files, and the plugin never saves any here.
 */
export async function installMultipart(app: FastifyInstance): Promise<void> {
  const withoutHooks: FastifyInstance = Object.create(app, { addHook: { value: () => withoutHooks } });
  const options = {
    throwFileSizeLimit: false,
    fileHwm: PART_BUFFER,
    limits: { fieldNameSize: 200, fieldSize: MAX_FORM_BYTES, fields: MAX_FORM_PARTS, files: 1, parts: MAX_FORM_PARTS },
  };
  await new Promise<void>((resolve, reject) => {
    multipart(withoutHooks, options, (error) => (error ? reject(error) : resolve()));
  });
}

/** Reads the fields of a multipart form. A file makes its field malformed, and its bytes are discarded as they arrive. */
async function readMultipart(request: FastifyRequest): Promise<FormBody> {
  const pairs: [string, string][] = [];
  const files: string[] = [];
  for await (const part of readParts(request, MAX_FORM_BYTES)) {
    if (part.type === 'file') {
      files.push(part.fieldname);
      part.file.resume();
    } else {
      pairs.push([part.fieldname, fieldText(part.value)]);
    }
  }
  const body = assembleFields(pairs);
  for (const field of files) {
    delete body[field];
    body[MALFORMED] = (body[MALFORMED] ?? new Set()).add(field);
  }
  return body;
}

/**
 * The text of a field. The plugin parses parts whose content type is JSON, so these are converted back to text. Throws 400 for a part whose
 * JSON is nested too deeply.
 */
export function fieldText(value: unknown): string {
  if (typeof value === 'string') return value;
  const text = asJson(value);
  if (text === null || isDeeper(text, MAX_JSON_LEVELS)) throw new Failure(400, 'Malformed Request');
  return text;
}

/** A value as JSON; null if it is nested too deeply to be written, which depends on the release of Node. */
function asJson(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

/**
 * Yields the parts of a multipart form. Throws 413 if the body has more than `maxBytes` bytes, and 400 if it is incomplete or malformed,
 * because the parser throws plain errors for that.
 */
export async function* readParts(
  request: FastifyRequest,
  maxBytes: number,
  options: Parameters<FastifyRequest['parts']>[0] = {},
): AsyncGenerator<Multipart> {
  limitRawBytes(request, maxBytes);
  try {
    yield* request.parts(options);
  } catch (error) {
    throw asFailure(error);
  }
}

/** Turns an error thrown while reading a form into a 400, unless it has a status of its own or comes from the operating system. */
export function asFailure(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error) || 'syscall' in error) return error;
  // The plugin throws 406 for a part whose content type is JSON but whose text is not.
  const hasOwnStatus = 'statusCode' in error && error.statusCode !== 406;
  return hasOwnStatus ? error : new Failure(400, 'Malformed Request');
}

/**
 * Ends the request with 413 once more than `maxBytes` bytes have arrived. The plugin only limits each part, so many small parts would pass.
 * The stream is destroyed with the failure, which `request.parts()` then throws.
 */
function limitRawBytes(request: FastifyRequest, maxBytes: number): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw payloadTooLarge();
  let received = 0;
  request.raw.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > maxBytes) request.raw.destroy(payloadTooLarge());
  });
}
