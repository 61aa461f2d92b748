/** Reads form bodies, urlencoded and multipart, into the same objects that JSON gives. */
import formbody from '@fastify/formbody';
import multipart, { type FastifyMultipartOptions, type Multipart } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hasMoreParts, isDeeper } from '../delivery/content/json-size.ts';
import { Failure, payloadTooLarge } from '../failure.ts';
import { assembleFields, type FormBody, MALFORMED, parseUrlencoded } from './form-fields.ts';
import { normalize } from './normalize.ts';

/** Largest form of any encoding (decisions §1). */
export const FORM_BYTES = 4 * 1024 * 1024;
const MAX_FORM_PARTS = 20_000;
/** Of JSON: room for two arrays of 10 000, and more levels than any parameter has. */
const MAX_JSON_VALUES = 50_000;
const MAX_JSON_LEVELS = 32;
/**
 * Bytes. More than a socket gives at once: the parser stops for good when a part it skips (one without a usable name, before
 * the key check) does not fit its buffer in one piece, and the request would have no answer.
 */
const PART_BUFFER = 1024 * 1024;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler reads the multipart body itself, after the key check. */
    upload?: boolean;
  }
}

/** Installs the body readers and the step that brings every body and query to its schema's shape before validation. */
export async function installForms(app: FastifyInstance): Promise<void> {
  // Fastify brings a reader of text/plain, which would pass a text where a form belongs.
  app.removeContentTypeParser(['text/plain', 'application/json']);
  await app.register(formbody, { bodyLimit: FORM_BYTES, parser: (body) => parseUrlencoded(body, MAX_FORM_PARTS) });
  await installMultipart(app, {
    throwFileSizeLimit: false,
    fileHwm: PART_BUFFER,
    limits: { fieldNameSize: 200, fieldSize: FORM_BYTES, fields: MAX_FORM_PARTS, files: 1, parts: MAX_FORM_PARTS },
  });
  // Clients that send a default content type with no body mean no body.
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else if (hasMoreParts(String(body), MAX_JSON_VALUES) || isDeeper(String(body), MAX_JSON_LEVELS))
      done(payloadTooLarge());
    else parseJson(request, String(body), done);
  });
  app.addHook('preValidation', (request, _reply, next) => {
    const { schema: { body, querystring } = {}, config } = request.routeOptions;
    if (typeof querystring === 'object' && querystring !== null) request.query = normalize(querystring, request.query);
    if (typeof body !== 'object' || body === null || config.upload === true) return next();
    const take = (given: unknown) => {
      request.body = normalize(body, given);
    };
    if (request.isMultipart())
      return void readMultipart(request)
        .then(take)
        .then(() => next(), next);
    take(request.body);
    next();
  });
}

/** The plugin without its hooks, which every request would pay: they remove the files it saves, and it is never asked to save one. */
async function installMultipart(app: FastifyInstance, options: FastifyMultipartOptions): Promise<void> {
  const withoutHooks: FastifyInstance = Object.create(app, { addHook: { value: () => withoutHooks } });
  await new Promise<void>((resolve, reject) => {
    multipart(withoutHooks, options, (error) => (error ? reject(error) : resolve()));
  });
}

/** The fields of a multipart form. A file where text belongs makes its field malformed; its bytes are dropped as they come. */
async function readMultipart(request: FastifyRequest): Promise<FormBody> {
  const pairs: [string, string][] = [];
  const files: string[] = [];
  for await (const part of partsOf(request, FORM_BYTES)) {
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

/** The text of a field; one that is marked as JSON arrives parsed. */
export function fieldText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * The parts of a multipart form of at most `most` bytes. Throws 413 beyond them, and 400 for a form that is cut off or that
 * the parser cannot make out: it throws plain errors for these.
 */
export async function* partsOf(
  request: FastifyRequest,
  most: number,
  options: Parameters<FastifyRequest['parts']>[0] = {},
): AsyncGenerator<Multipart> {
  limitRawBytes(request, most);
  try {
    yield* request.parts(options);
  } catch (error) {
    throw asFailure(error);
  }
}

/** What reading a form threw, as a failure of whoever sent it unless it names another status or came from the system. */
export function asFailure(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error) || 'syscall' in error) return error;
  // 406: a part that is marked as JSON and is none.
  const isNamed = 'statusCode' in error && error.statusCode !== 406;
  return isNamed ? error : new Failure(400, 'Malformed Request');
}

/**
 * Ends the request with 413 once more than `most` bytes have arrived: many small parts would pass the plugin's own limits.
 * The stream is destroyed with the failure, which is what `request.parts()` then throws.
 */
function limitRawBytes(request: FastifyRequest, most: number): void {
  if (Number(request.headers['content-length'] ?? 0) > most) throw payloadTooLarge();
  let seen = 0;
  request.raw.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (seen > most) request.raw.destroy(payloadTooLarge());
  });
}
