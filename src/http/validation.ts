/** Collects the field errors of a request, from its schema and from the route's own check, and answers all at once. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static, TObject } from 'typebox';
import { Failure, type FieldErrors, texts } from '../failure.ts';
import { MALFORMED } from './form-fields.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Adds the field errors only the database can tell (references, uniqueness). Runs after the keys and the schema. */
    check?: Check;
  }
}

type Check = (request: FastifyRequest, faults: Faults) => void;

interface SchemaFault {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
}

/** The field errors of one request. */
export class Faults {
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
    if (!this.has(field) && !exists()) this.add(field, texts.selected(field));
  }

  /** Throws the 422 when there is any. */
  throwIfAny(): void {
    if (!this.#isEmpty) throw new Failure(422, this.#errors);
  }
}

/** A route's `check` over the body's fields that are present and passed their schema. */
export function check<T extends TObject>(
  schema: T,
  rule: (body: Partial<Static<T>>, faults: Faults, request: FastifyRequest) => void,
): Check {
  return (request, faults) => {
    const given: Record<string, unknown> = Object.assign({}, request.body);
    const passed = Object.keys(schema.properties).filter((name) => name in given && !faults.has(name));
    rule(Object.fromEntries(passed.map((name) => [name, given[name]])) as Partial<Static<T>>, faults, request);
  };
}

/** Installs the step; register it after the key check, whose failures come first (decisions §1). */
export function installFaults(app: FastifyInstance): void {
  app.addHook('preHandler', (request, _reply, next) => {
    refuseFaulty(request);
    next();
  });
}

/** Throws the 422 with every field error of a request, those that only the database can tell included. */
export function refuseFaulty(request: FastifyRequest): void {
  const collected = new Faults();
  for (const fault of request.validationError?.validation ?? []) {
    const field = fieldOf(fault);
    collected.add(field, textFor(fault, field));
  }
  for (const field of malformedFields(request.body)) collected.add(field, texts.selected(field));
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
      return texts.required(field);
    case 'type':
      return typeText(fault.params.type, field);
    case 'minLength':
      return texts.minimum(field, limit);
    case 'maxLength':
      return texts.maximum(field, limit);
    case 'minimum':
      return texts.least(field, limit);
    case 'maximum':
      return texts.most(field, limit);
    case 'minItems':
      return texts.required(field);
    case 'maxItems':
      return texts.items(field, limit);
    case 'format':
      return String(fault.params.format).startsWith('email') ? texts.email(field) : texts.oneLine(field);
    default:
      return texts.selected(field);
  }
}

function typeText(type: unknown, field: string): string {
  if (type === 'integer') return texts.integer(field);
  if (type === 'array') return texts.array(field);
  return type === 'string' ? texts.string(field) : texts.selected(field);
}
