/** The kinds of parameter and field the interface knows, as schemas. Routes compose them; app.ts teaches Ajv their keywords. */
import Type, { type TObject, type TProperties, type TSchema } from 'typebox';

const ONE_LINE_MAXIMUM = 255;
export const TEXT_MAXIMUM = 65_535;
export const TEMPLATE_MAXIMUM = 2 * 1024 * 1024;
export const ARRAY_MAXIMUM = 10_000;

/** One line of text, at most 255 characters, without control characters: fit for a mail header (decisions §4). */
export function line(options: { minLength?: number; description?: string } = {}) {
  return Type.String({ maxLength: ONE_LINE_MAXIMUM, format: 'one-line', ...options });
}

/** Free text, at most 65 535 characters unless told otherwise. */
export function text(options: { maxLength?: number; description?: string } = {}) {
  return Type.String({ maxLength: TEXT_MAXIMUM, ...options });
}

/** One e-mail address (decisions §2). */
export function email() {
  return Type.String({ format: 'email-address' });
}

/** 0 or 1; `true`, `false`, `on`, `off` are read as such (decisions §1). */
export function flag(description?: string) {
  return Type.Unsafe<0 | 1>({ enum: [0, 1], flag: true, ...(description && { description }) });
}

/** Addition: whether opens and clicks of a mail are counted; an empty text goes back to 1. */
export function trackingFlag() {
  const description = 'Addition: 0 sends without pixel and rewritten links; 1 (default) as the setting TRACKING says.';
  return Type.Optional(Type.Unsafe<0 | 1>({ ...flag(description), empty: 1 }));
}

/** A whole number given in decimal digits. */
export function integer(options: { minimum?: number; maximum?: number; description?: string } = {}) {
  return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...options });
}

/** The id of a record referred to in a body; that it exists and is the caller's is for the route's check. */
export function reference() {
  return integer({ minimum: 0 });
}

/** As `reference`, optional: 0 or an empty text means none. */
export function optionalReference() {
  return Type.Optional(Type.Unsafe<number>({ ...reference(), empty: 0 }));
}

/** One of the given texts. */
export function choice<const T extends string>(...texts: T[]) {
  return Type.Unsafe<T>({ type: 'string', enum: texts });
}

/**
 * The record an endpoint is about. Never a field error: whatever is absent, malformed or unknown is answered with the
 * endpoint's own record text (decisions §1), so the schema lets everything through to `ownedRecord`.
 */
export function identifier(description: string) {
  return Type.Optional(Type.Unsafe<unknown>({ identifier: true, description }));
}

/** `strIds`: the records a bulk operation is about; at most 10 000. Content is judged like `identifier`. */
export function identifiers(description: string) {
  return Type.Optional(
    Type.Unsafe<unknown[]>({ type: 'array', items: {}, maxItems: ARRAY_MAXIMUM, identifier: true, description }),
  );
}

/** A list of texts such as the targets of a single send. */
export function stringList(options: { minItems?: number; maxItems?: number; description?: string } = {}) {
  return Type.Array(Type.String({ maxLength: ONE_LINE_MAXIMUM }), { maxItems: ARRAY_MAXIMUM, ...options });
}

/** A value that can be null. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** A microsecond timestamp of a record. */
export function isoTimestampSchema() {
  return Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}Z$' });
}

export const stamps = { created_at: isoTimestampSchema(), updated_at: isoTimestampSchema() };
export const softStamps = { deleted_at: nullable(isoTimestampSchema()), ...stamps };
export const zeroOrOne = () => Type.Unsafe<0 | 1>({ type: 'integer', enum: [0, 1] });

/** Where a recipient's mail is; the states are those of delivery/ledger.ts. */
export const DeliveryState = choice('queued', 'sending', 'accepted', 'bounced', 'failed', 'suppressed', 'cancelled');

/** The envelope of a success that carries records or a text in `message` (interface "Errors" 1). */
export function success<T extends TSchema>(message: T) {
  return { 200: Type.Object({ status: Type.Literal('success'), message }) };
}

/** The envelope of a success that carries a record or collection under its name. */
export function carrying<T extends TProperties>(properties: T): { 200: TObject } {
  return success(Type.Object(properties));
}

/** The envelope of a success whose `message` is a text. */
export const done = success(Type.String());

/** The envelope of the three deletes that carry their text in `errors` (interface "Errors" 5). */
export const doneInErrors = { 200: Type.Object({ status: Type.Literal('success'), errors: Type.String() }) };

/** The query of every list: `limit` with `after_id` (additions). */
export const listQuery = Type.Object({
  limit: Type.Optional(integer({ minimum: 1, maximum: 10_000, description: 'Addition: at most this many.' })),
  after_id: Type.Optional(integer({ description: 'Addition: only records with a higher id.' })),
});
