/** Failures that are reported to the caller. Any layer may throw them; one error handler turns them into the response. */
import { type Said, Sentence, sentence } from './sentences.ts';

export type FieldErrors = Record<string, Said[]>;

/** An expected failure: the HTTP status of the response, and the `errors` in its envelope. */
export class Failure extends Error {
  readonly status: number;
  readonly errors: Said | FieldErrors;
  /** The path of the record with which the request conflicts, for the Location header. */
  readonly location: string | undefined;

  constructor(status: number, errors: Said | FieldErrors, location?: string) {
    super(textsOf(errors).join(' '));
    this.status = status;
    this.errors = errors;
    this.location = location;
  }
}

/** Returns true if the errors are a single text about the whole request instead of texts by field. */
export function isSaid(errors: Said | FieldErrors): errors is Said {
  return typeof errors === 'string' || errors instanceof Sentence;
}

/** Returns the texts of errors without their fields. */
export function textsOf(errors: Said | FieldErrors): Said[] {
  return isSaid(errors) ? [errors] : Object.values(errors).flat();
}

/** 404: the id is missing or malformed, or no such record belongs to the account. An endpoint may have its own text. */
export function notFound(text: Said = sentence('not_found')): Failure {
  return new Failure(404, text);
}

/** 409: the request is valid, but the state of the record does not allow it. */
export function conflict(text: Said): Failure {
  return new Failure(409, text);
}

/** 422: one field is invalid. */
export function invalid(field: string, text: Said): Failure {
  return new Failure(422, { [field]: [text] });
}

/** 413: the body is larger, or has more parts, than the service accepts. */
export function payloadTooLarge(): Failure {
  return new Failure(413, sentence('payload_too_large'));
}

/**
 * 503: the request cannot be served at the moment, and nothing was changed. The caller may repeat it. `cause` is logged; pass it if the
 * operator should know what happened.
 */
export function unavailable(cause?: unknown): Failure {
  return Object.assign(new Failure(503, sentence('database_busy')), { cause });
}
