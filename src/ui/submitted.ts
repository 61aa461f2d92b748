/** Reads the fields and parameters that a page of the dashboard sent, and the network address and browser of a request. */
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../users/sessions.ts';

/** A longer value counts as missing, because no field of these pages needs it. */
const MAX_FIELD = 10_000;

/** Returns a field of the form; empty if it is missing, repeated or far too long. Passwords keep their spaces. */
export function field({ body }: FastifyRequest, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' && value.length <= MAX_FIELD ? value : '';
}

/** Returns the texts of a field that may be repeated, such as checkboxes with the same name. */
export function fieldList({ body }: FastifyRequest, name: string): string[] {
  const values: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return [values].flat().filter((value) => typeof value === 'string');
}

/** Returns the texts, without empty ones, of a parameter that may be missing, single or repeated. */
export function texts(value: unknown): string[] {
  return [value].flat().filter((text): text is string => typeof text === 'string' && text !== '');
}

/** Returns the network address and browser of a request. */
export function callerOf({ ip, headers }: FastifyRequest): Caller {
  return { address: ip, userAgent: headers['user-agent'] ?? '' };
}
