/** Collects the field errors of a request from its schema and from the route's own check, and answers with all of them at once. */
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static, TObject } from 'typebox';
import { Failure, type FieldErrors } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import type { Said, Sentence } from '../../errors/sentences.ts';
import type { SchemaError } from '../schema-compilers.ts';
import { MALFORMED } from './form-fields.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Adds the field errors that need the database (references, uniqueness). Runs after the key check and the schema. */
    check?: (request: FastifyRequest, errors: FieldErrorCollector) => void | Promise<void>;
  }
}

/** The field errors of one request. */
export class FieldErrorCollector {
  readonly #errors: FieldErrors = Object.create(null);
  #isEmpty = true;
  #location: string | undefined;

  add(field: string, text: Said): void {
    this.#isEmpty = false;
    const present = this.#errors[field];
    if (present === undefined) this.#errors[field] = [text];
    else if (!present.some((known) => String(known) === String(text))) present.push(text);
  }

  /** Adds texts for fields that have no error yet. */
  addAll(texts: Iterable<readonly [field: string, text: Said]>): void {
    for (const [field, text] of texts) if (!this.has(field)) this.add(field, text);
  }

  /** Adds the texts for a schema's errors. */
  addSchemaErrors(schemaErrors: readonly SchemaError[]): void {
    for (const error of schemaErrors) {
      const field = fieldName(error);
      this.add(field, errorText(error, field));
    }
  }

  has(field: string): boolean {
    return field in this.#errors;
  }

  /** Adds `The selected … is invalid.` if the field passed its schema but its record does not exist for the caller. */
  reference(field: string, exists: () => boolean): void {
    if (!this.has(field) && !exists()) this.add(field, messages.gone(field));
  }

  /** Adds `The … has already been taken.`; the response's Location header names the record that has the value. */
  taken(field: string, location: string): void {
    this.add(field, messages.taken(field));
    this.#location = location;
  }

  /** Throws 422 if there are any errors. */
  throwIfAny(): void {
    if (!this.#isEmpty) throw new Failure(422, this.#errors, this.#location);
  }
}

/** Returns the fields that are present and passed the schema. */
export function passedFields<T extends TObject>(
  schema: T,
  input: Readonly<Record<string, unknown>>,
  errors: FieldErrorCollector,
): Partial<Static<T>> {
  const passed = Object.keys(schema.properties).filter((name) => name in input && !errors.has(name));
  return Object.fromEntries(passed.map((name) => [name, input[name]])) as Partial<Static<T>>;
}

/** The minimum size in bytes of a body that is checked in a separate turn of the event loop. */
const LARGE_BYTES = 256 * 1024;

/** Installs the validation hook. Call it after the key check is installed: a caller without keys gets 401 before any field error. */
export function installValidation(app: FastifyInstance): void {
  app.addHook('preHandler', (request, _reply, next) => {
    // Reading a large body and checking it take some milliseconds each, so other requests run in between.
    const isLarge = Number(request.headers['content-length'] ?? 0) > LARGE_BYTES;
    const checking = isLarge ? setImmediate().then(() => throwFieldErrors(request)) : throwFieldErrors(request);
    if (checking === undefined) next();
    else checking.then(() => next(), next);
  });
}

/**
 * Throws 422 with every field error of a request, including those that need the database. Most checks are finished when this function
 * returns undefined. If a check takes long, the function returns a promise, which rejects with the same errors.
 */
export function throwFieldErrors(request: FastifyRequest): Promise<void> | undefined {
  const collected = new FieldErrorCollector();
  const { validationError } = request;
  // A schema that does not compile is a bug, and must not let the request pass.
  if (validationError !== undefined && validationError.validation === undefined) throw validationError;
  collected.addSchemaErrors(validationError?.validation ?? []);
  for (const field of malformedFields(request.body))
    collected.add(field, takesObjects(request, field) ? messages.json(field) : messages.selected(field));
  const checking = request.routeOptions.config.check?.(request, collected);
  if (checking instanceof Promise) return checking.then(() => collected.throwIfAny());
  collected.throwIfAny();
  return undefined;
}

/** Returns true if a parameter is an object or a list of objects, whose fields a form cannot give. */
function takesObjects({ routeOptions: { schema } }: FastifyRequest, field: string): boolean {
  const { properties }: { properties?: Record<string, { type?: string; items?: { type?: string } }> } = Object(
    schema?.body,
  );
  const parameter = properties?.[field];
  return parameter?.type === 'object' || (parameter?.type === 'array' && parameter.items?.type === undefined);
}

function malformedFields(body: unknown): Iterable<string> {
  if (typeof body !== 'object' || body === null || !(MALFORMED in body)) return [];
  return body[MALFORMED] instanceof Set ? body[MALFORMED] : [];
}

function fieldName(error: SchemaError): string {
  if (error.keyword === 'required') return String(error.params.missingProperty);
  return error.instancePath.split('/')[1] ?? '';
}

function errorText(error: SchemaError, field: string): Sentence {
  const limit = Number(error.params.limit);
  switch (error.keyword) {
    case 'required':
      return messages.required(field);
    case 'type':
      return typeErrorText(error.params.type, field);
    case 'minLength':
      return messages.minimum(field, limit);
    case 'maxLength':
      return messages.maximum(field, limit);
    case 'minimum':
      return messages.least(field, limit);
    case 'maximum':
      return messages.most(field, limit);
    case 'minItems':
      return messages.required(field);
    case 'maxItems':
      return messages.items(field, limit);
    case 'format':
      return String(error.params.format).startsWith('email') ? messages.email(field) : messages.oneLine(field);
    default:
      return messages.selected(field);
  }
}

function typeErrorText(type: unknown, field: string): Sentence {
  if (type === 'integer') return messages.integer(field);
  if (type === 'array') return messages.array(field);
  return type === 'string' ? messages.string(field) : messages.selected(field);
}
