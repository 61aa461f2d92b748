/** Collects the field errors of a request, from its schema and from the route's own check, and answers all at once. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static, TObject } from 'typebox';
import { Failure, type FieldErrors, messages } from '../failure.ts';
import { MALFORMED } from './form-fields.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Adds the field errors only the database can tell (references, uniqueness). Runs after the keys and the schema. */
    check?: Check;
  }
}

type Check = (request: FastifyRequest, faults: FieldErrorCollector) => void;

interface SchemaFault {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
}

/** The field errors of one request. */
export class FieldErrorCollector {
  readonly #errors: FieldErrors = Object.create(null);
  #isEmpty = true;

  add(field: string, text: string): void {
    this.#isEmpty = false;
    const present = this.#errors[field];
    if (present === undefined) this.#errors[field] = [text];
    else if (!present.includes(text)) present.push(text);
  }

  has(field: string): boolean {
    return field in this.#errors;
  }

  /** `The selected … is invalid.` when the field passed its schema and its record does not exist for the caller. */
  reference(field: string, exists: () => boolean): void {
    if (!this.has(field) && !exists()) this.add(field, messages.selected(field));
  }

  /** Throws the 422 when there is any. */
  throwIfAny(): void {
    if (!this.#isEmpty) throw new Failure(422, this.#errors);
  }
}

/** A route's `check` over the body's fields that are present and passed their schema. */
export function check<T extends TObject>(
  schema: T,
  rule: (body: Partial<Static<T>>, faults: FieldErrorCollector, request: FastifyRequest) => void,
): Check {
  return (request, faults) => {
    const given: Record<string, unknown> = Object.assign({}, request.body);
    const passed = Object.keys(schema.properties).filter((name) => name in given && !faults.has(name));
    rule(Object.fromEntries(passed.map((name) => [name, given[name]])) as Partial<Static<T>>, faults, request);
  };
}

/** Installs the step; register it after the key check, whose failures come first (decisions §1). */
export function installValidation(app: FastifyInstance): void {
  app.addHook('preHandler', (request, _reply, next) => {
    refuseFaulty(request);
    next();
  });
}

/** Throws the 422 with every field error of a request, those that only the database can tell included. */
export function refuseFaulty(request: FastifyRequest): void {
  const collected = new FieldErrorCollector();
  for (const fault of request.validationError?.validation ?? []) {
    const field = fieldOf(fault);
    collected.add(field, textFor(fault, field));
  }
  for (const field of malformedFields(request.body)) collected.add(field, messages.selected(field));
  request.routeOptions.config.check?.(request, collected);
  collected.throwIfAny();
}

function malformedFields(body: unknown): Iterable<string> {
  if (typeof body !== 'object' || body === null || !(MALFORMED in body)) return [];
  return body[MALFORMED] instanceof Set ? body[MALFORMED] : [];
}

function fieldOf(fault: SchemaFault): string {
  if (fault.keyword === 'required') return String(fault.params.missingProperty);
  return fault.instancePath.split('/')[1] ?? '';
}

function textFor(fault: SchemaFault, field: string): string {
  const limit = Number(fault.params.limit);
  switch (fault.keyword) {
    case 'required':
      return messages.required(field);
    case 'type':
      return typeText(fault.params.type, field);
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
      return String(fault.params.format).startsWith('email') ? messages.email(field) : messages.oneLine(field);
    default:
      return messages.selected(field);
  }
}

function typeText(type: unknown, field: string): string {
  if (type === 'integer') return messages.integer(field);
  if (type === 'array') return messages.array(field);
  return type === 'string' ? messages.string(field) : messages.selected(field);
}
