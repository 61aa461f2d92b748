/** Reads what a page of the dashboard submitted: fields, parameters, and the origin of the request. */
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../users/sessions.ts';

/** The maximum length of a value. A longer value counts as missing, because no field of the dashboard needs it. */
const MAX_FIELD = 10_000;

/** Returns the value of a field with its spaces; empty if the field is missing, repeated or far too long. */
export function field({ body }: FastifyRequest, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' && value.length <= MAX_FIELD ? value : '';
}

/** Returns the values of a field that may be repeated, such as checkboxes with the same name. */
export function fieldList({ body }: FastifyRequest, name: string): string[] {
  const values: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return [values].flat().filter((value) => typeof value === 'string');
}

/** Returns the values, without empty ones, of a parameter that may be missing or repeated. */
export function texts(value: unknown): string[] {
  return [value].flat().filter((text): text is string => typeof text === 'string' && text !== '');
}

/** Returns the network address and the browser's User-Agent of a request. */
export function callerOf({ ip, headers }: FastifyRequest): Caller {
  return { address: ip, userAgent: headers['user-agent'] ?? '' };
}
