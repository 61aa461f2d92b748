/** The failures a caller can be told about; every layer throws them, one handler renders them. */

export type FieldErrors = Record<string, string[]>;

/** An expected failure: its HTTP status and the `errors` of the envelope (interface "Errors"). */
export class Failure extends Error {
  readonly status: number;
  readonly errors: string | FieldErrors;

  constructor(status: number, errors: string | FieldErrors) {
    super(typeof errors === 'string' ? errors : Object.values(errors).flat().join(' '));
    this.status = status;
    this.errors = errors;
  }
}

/** A record failure, 404: the record is absent, malformed or another account's; the text is the endpoint's own. */
export function notFound(text = 'Record Not Found'): Failure {
  return new Failure(404, text);
}

/** A business-rule failure, 409. */
export function conflict(text: string): Failure {
  return new Failure(409, text);
}

/** A validation failure, 422, of one field. */
export function invalid(field: string, text: string): Failure {
  return new Failure(422, { [field]: [text] });
}

/** 413: the body is larger, or has more parts, than the service reads. */
export function payloadTooLarge(): Failure {
  return new Failure(413, 'Payload Too Large');
}

/** 503: nothing can be written at the moment, and nothing was; the same request may succeed in a second. */
export function unavailable(): Failure {
  return new Failure(503, 'The database is busy, try again in a moment');
}

/** The name of a field as the texts write it: underscores and camel case become spaces (`strIds` → `str ids`). */
export function fieldLabel(field: string): string {
  return field
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

/** The texts of decisions §1, by rule. */
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
  oneLine: (field: string) => `The ${fieldLabel(field)} may not contain line breaks or control characters.`,
};
