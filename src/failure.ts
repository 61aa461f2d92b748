/** Failures that are reported to the caller. Any layer may throw them; one error handler turns them into the answer. */

export type FieldErrors = Record<string, string[]>;

/** An expected failure: its HTTP status and the `errors` of the envelope. */
export class Failure extends Error {
  readonly status: number;
  readonly errors: string | FieldErrors;

  constructor(status: number, errors: string | FieldErrors) {
    super(typeof errors === 'string' ? errors : Object.values(errors).flat().join(' '));
    this.status = status;
    this.errors = errors;
  }
}

/** 404: the id is missing or malformed, or no such record belongs to the account. Each endpoint has its own text. */
export function notFound(text = 'Record Not Found'): Failure {
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
  return new Failure(413, 'Payload Too Large');
}

/** 503: the database cannot be written at the moment and nothing was changed. The caller may repeat the request. */
export function unavailable(): Failure {
  return new Failure(503, 'The database is busy, try again in a moment');
}

/** A field's name as error texts show it: underscores and camel case become spaces (`strIds` → `str ids`). */
export function fieldLabel(field: string): string {
  return field
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

/** The texts of field errors, by rule. */
export const messages = {
  required: (field: string) => `The ${fieldLabel(field)} field is required.`,
  selected: (field: string) => `The selected ${fieldLabel(field)} is invalid.`,
  email: (field: string) => `The ${fieldLabel(field)} must be a valid email address.`,
  integer: (field: string) => `The ${fieldLabel(field)} must be an integer.`,
  string: (field: string) => `The ${fieldLabel(field)} must be a string.`,
  array: (field: string) => `The ${fieldLabel(field)} must be an array.`,
  minimum: (field: string, length: number) => `The ${fieldLabel(field)} must be at least ${length} characters.`,
  maximum: (field: string, length: number) => `The ${fieldLabel(field)} may not be greater than ${length} characters.`,
  least: (field: string, value: number) => `The ${fieldLabel(field)} must be at least ${value}.`,
  most: (field: string, value: number) => `The ${fieldLabel(field)} may not be greater than ${value}.`,
  items: (field: string, count: number) => `The ${fieldLabel(field)} may not have more than ${count} items.`,
  taken: (field: string) => `The ${fieldLabel(field)} has already been taken.`,
  erased: (field: string) => `The ${fieldLabel(field)} belongs to a person who was erased, and is not accepted again.`,
  oneLine: (field: string) => `The ${fieldLabel(field)} may not contain line breaks or control characters.`,
};
