/** Schemas for the kinds of parameters and fields in the API, which routes combine. app.ts registers their keywords with Ajv. */
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import { DELIVERY_STATE_NAMES } from '../../database/schema/index.ts';
import { SHOWN_DELIVERY_STATES } from '../../delivery/reporting/mailing-report.ts';
import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import type { Said } from '../../errors/sentences.ts';
import { MEBIBYTE } from '../../units.ts';

const MAX_TEXT_CHARACTERS = 65_535;
export const MAX_TEMPLATE_CHARACTERS = 2 * MEBIBYTE;
export const MAX_ARRAY_ITEMS = 10_000;

/** One line of text, at most 255 characters, without control characters, so that it can be put into a mail header. */
export function line(options: { minLength?: number; description?: string } = {}) {
  return Type.String({ maxLength: MAX_LINE_CHARACTERS, format: 'one-line', ...options });
}

/** Free text, at most 65 535 characters by default. */
export function text(options: { maxLength?: number; description?: string } = {}) {
  return Type.String({ maxLength: MAX_TEXT_CHARACTERS, ...options });
}

/** One e-mail address. */
export function email() {
  return Type.String({ format: 'email-address' });
}

/** 0 or 1; `normalize` also accepts `true`, `false`, `on` and `off`. */
export function flag(description?: string) {
  return Type.Unsafe<0 | 1>({ enum: [0, 1], flag: true, ...(description && { description }) });
}

/** A flag that may be absent. An empty string means 0. */
export function optionalFlag(description: string) {
  return Type.Optional(Type.Unsafe<0 | 1>({ ...flag(description), empty: 0 }));
}

/** The number of records on a page if the request does not say it. */
export const DEFAULT_ROWS = 50;

/** Returns the schema of the optional parameter `limit` of a list. `records` is the plural word for what the list has. */
export function pageLimit(records: string) {
  const description = `The maximum number of ${records}; ${DEFAULT_ROWS} by default.`;
  return Type.Optional(integer({ minimum: 1, maximum: 200, description }));
}

/** Addition: whether opens and clicks of a mail are counted. An empty string means 1. */
export function trackingFlag() {
  const description = 'Addition: 0 sends without pixel and rewritten links; 1 (default) follows the setting TRACKING.';
  return Type.Optional(Type.Unsafe<0 | 1>({ ...flag(description), empty: 1 }));
}

/** Addition: the `updated_at` that the caller read last. The change is refused with 409 if the record has a different one by now. */
export function unchangedSince() {
  return Type.Optional(
    line({
      description:
        'Addition: the updated_at that you read last. If the record has another updated_at by now, the change is refused: 409.',
    }),
  );
}

/** A whole number in decimal digits. */
export function integer(options: { minimum?: number; maximum?: number; description?: string } = {}) {
  return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...options });
}

/** The id of a record to which a body refers. The route's `check` verifies that it exists and belongs to the caller. */
export function reference() {
  return integer({ minimum: 0 });
}

/** An optional `reference`; 0 or an empty string means none. */
export function optionalReference(description?: string) {
  return Type.Optional(Type.Unsafe<number>({ ...reference(), empty: 0, ...(description && { description }) }));
}

/** One of the given strings. */
export function choice<const T extends string>(...texts: T[]) {
  return Type.Unsafe<T>({ type: 'string', enum: texts });
}

/**
 * The id of the record an endpoint works on. It never causes a field error: a missing, malformed or unknown id is answered 404 with the
 * endpoint's own text, so the schema accepts everything and `ownedRecord` decides.
 */
export function identifier(description: string) {
  return Type.Optional(Type.Unsafe<unknown>({ identifier: true, description }));
}

/** An `identifier` that may be omitted. Without it the request means something else, such as a new record, or any record. */
export function optionalIdentifier(description: string) {
  return Type.Optional(Type.Unsafe<unknown>({ identifier: true, optional: true, description }));
}

/** `strIds`: the records of a bulk operation, at most 10 000. Each item is treated like an `identifier`. */
export function identifiers(description: string) {
  return Type.Optional(
    Type.Unsafe<unknown[]>({ type: 'array', items: {}, maxItems: MAX_ARRAY_ITEMS, identifier: true, description }),
  );
}

/** `strIds` whose items may be utrs, too. */
export function identifiersOrUtrs(description: string) {
  return Type.Optional(
    Type.Unsafe<unknown[]>({ ...identifiers(description), documented: { items: { type: 'string' } } }),
  );
}

/** An id that the contract has as text. */
export function idAsText() {
  return Type.String({ format: 'id-as-text' });
}

/** A list of strings such as the targets of a single send. */
export function stringList(
  options: { minItems?: number; maxItems?: number; description?: string; documented?: object } = {},
) {
  return Type.Array(Type.String({ maxLength: MAX_LINE_CHARACTERS }), { maxItems: MAX_ARRAY_ITEMS, ...options });
}

/** A value that can be null. */
export function nullable<T extends TSchema>(schema: T, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** Returns the schema with a description. */
export function described<T extends TSchema>(schema: T, description: string) {
  return Type.Unsafe<Static<T>>({ ...schema, description });
}

/** A microsecond timestamp of a record. */
export function isoTimestampSchema(description?: string) {
  const pattern = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}Z$';
  return Type.String({ pattern, ...(description && { description }) });
}

/** The timestamps of every record. */
export const stamps = { created_at: isoTimestampSchema(), updated_at: isoTimestampSchema() };
/** The timestamps of a record that stays in the database when it is deleted. */
export const softStamps = {
  deleted_at: nullable(isoTimestampSchema(), 'When the record was deleted, UTC; null when it is not deleted.'),
  ...stamps,
};
/** The schema of a flag in an answer. */
export const zeroOrOne = (description?: string) =>
  Type.Unsafe<0 | 1>({ type: 'integer', enum: [0, 1], ...(description && { description }) });

/** The state of a recipient's mail. */
export const DeliveryState = choice(...DELIVERY_STATE_NAMES);
/**
 * The displayed state of a recipient's mail. In addition to the states above, `kept` means that the test outbox kept the mail, so that
 * it never left.
 */
export const ShownDeliveryState = choice(...SHOWN_DELIVERY_STATES);

/** The envelope of a success, with records or a text in `message`. */
export function success<T extends TSchema>(message: T) {
  return { 200: Type.Object({ status: Type.Literal('success'), message }) };
}

/** The envelope of a success whose `message` has a record or collection under its name. */
export function successWith<T extends TProperties>(properties: T): { 200: TObject } {
  return success(Type.Object(properties));
}

/** A response that is a CSV file instead of an envelope. */
export const csvFile = {
  200: {
    description: 'The file',
    content: { 'text/csv': { schema: Type.Unsafe<NodeJS.ReadableStream>({ type: 'string' }) } },
  },
};

/** A response that is plain text instead of an envelope. */
export const plainText = {
  200: { description: 'The text', content: { 'text/plain': { schema: Type.Unsafe<string>({ type: 'string' }) } } },
};

/** The envelope of a success whose `message` is a text. */
export const done = success(Type.String());

/** The envelope of the three deletes whose contract puts the confirmation into `errors`. */
export const doneInErrors = {
  200: Type.Object({
    status: Type.Literal('success'),
    errors: Type.String({ description: 'The confirmation; the contract puts it here for three deletes.' }),
  }),
};

/** The query of every list: `limit` with `after_id` (additions). */
export const listQuery = Type.Object({
  limit: Type.Optional(
    integer({ minimum: 1, maximum: 10_000, description: 'Addition: the maximum number of records.' }),
  ),
  after_id: Type.Optional(integer({ description: 'Addition: only records with a higher id.' })),
});
/** The query of a list that can also be read in descending order. */
export const eitherOrderQuery = Type.Object({
  ...listQuery.properties,
  order: Type.Optional(choice('oldest', 'newest')),
  before_id: Type.Optional(integer({ description: 'Addition: with order=newest, only records with a lower id.' })),
});
/** The query of a list of addresses. */
export const addressListQuery = Type.Object({
  ...eitherOrderQuery.properties,
  email: Type.Optional(line({ description: 'Addition: only this e-mail address.' })),
});

/** A sentence of the service, which the API returns in English. */
export const said = (description?: string) =>
  Type.Unsafe<Said>({ type: 'string', ...(description !== undefined && { description }) });

/** The fields of a record that tell what a check found. */
export const findingFields = {
  found: said('What was found.'),
  code: nullable(Type.String(), 'The code of the finding, for programs.'),
  advice: Type.Array(said(), { description: 'What to do, in lines.' }),
};
