/** Failures that are reported to the caller. Any layer may throw them; one error handler turns them into the answer. */
import { SENTENCES } from './sentences.ts';

export type FieldErrors = Record<string, string[]>;

/** An expected failure: its HTTP status and the `errors` of the envelope. */
export class Failure extends Error {
  readonly status: number;
  readonly errors: string | FieldErrors;
  /** The path of the record that the request collides with, for the header Location. */
  readonly location: string | undefined;

  constructor(status: number, errors: string | FieldErrors, location?: string) {
    super(typeof errors === 'string' ? errors : Object.values(errors).flat().join(' '));
    this.status = status;
    this.errors = errors;
    this.location = location;
  }
}

/** 404: the id is missing or malformed, or no such record belongs to the account. Each endpoint has its own text. */
export function notFound(text: string = SENTENCES.not_found): Failure {
  return new Failure(404, text);
}

/** 409: the request is valid, but the state of the record does not allow it. */
export function conflict(text: string): Failure {
  return new Failure(409, text);
}

/** 422: one field is invalid. */
export function invalid(field: string, text: string): Failure {
  return new Failure(422, { [field]: [text] });
}

/** 413: the body is larger, or has more parts, than the service reads. */
export function payloadTooLarge(): Failure {
  return new Failure(413, SENTENCES.payload_too_large);
}

/**
 * 503: what the request needs cannot be had at the moment, and nothing was changed. The caller may repeat the request. A `cause` that an operator
 * should know of is logged.
 */
export function unavailable(cause?: unknown): Failure {
  return Object.assign(new Failure(503, SENTENCES.database_busy), { cause });
}
