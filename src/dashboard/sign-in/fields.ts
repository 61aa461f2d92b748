/** Reads the fields of a page's form, and where a request comes from. */
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../users/sessions.ts';

/** A longer value counts as missing, since no field of these pages needs that much. */
const MAX_FIELD = 10_000;

/** A field of the form; empty when it is missing, given twice or far too long. Passwords keep their spaces. */
export function field({ body }: FastifyRequest, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' && value.length <= MAX_FIELD ? value : '';
}

/** The texts of a field that may be given several times, such as boxes of one name. */
export function fieldList({ body }: FastifyRequest, name: string): string[] {
  const values: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return [values].flat().filter((value) => typeof value === 'string');
}

/** The texts of a parameter that may be there once, often, or not at all, without empty ones. */
export function texts(value: unknown): string[] {
  return [value].flat().filter((text): text is string => typeof text === 'string' && text !== '');
}

/** The network address and browser of a request. */
export function callerOf({ ip, headers }: FastifyRequest): Caller {
  return { address: ip, userAgent: headers['user-agent'] ?? '' };
}
