/** Rewrites schemas of the API for other tools, in the keywords and formats of standard JSON Schema. */

type Json = Record<string, unknown>;

/** Our own formats, expressed in standard JSON Schema. */
const FORMATS: Record<string, Json> = {
  'one-line': { pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$' },
  'email-address': { format: 'email' },
  'email-address-or-empty': {},
};

/** Identifiers that are not the integer `id` of a record: UUIDs and the random name of an uploaded file. */
const TEXT_IDENTIFIER = /(^|_)utr$|^upload_id$/;

/**
 * Replaces our own keywords and formats, which other tools do not know. An identifier, for which a schema names no type, becomes an integer,
 * or a string if records have a string there. The keywords under `documented` are added: they describe a value, but are not checked.
 */
export function cleanSchema(schema: unknown): Json {
  return JSON.parse(JSON.stringify(schema), (name, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const { flag, identifier, optional, empty, documented, format, patternProperties, ...rest }: Json = { ...value };
    // TypeBox writes a record of texts by name in this way, which few programs read.
    if (patternProperties !== undefined) rest.additionalProperties = Object(patternProperties)['^.*$'];
    if (flag === true) rest.type = 'integer';
    if (format !== undefined) Object.assign(rest, FORMATS[String(format)] ?? { format });
    if (identifier !== true) return { ...rest, ...Object(documented) };
    if (rest.type === 'array') return { ...rest, items: { type: 'integer' }, ...Object(documented) };
    const type = TEXT_IDENTIFIER.test(name) ? 'string' : 'integer';
    return { type, ...rest, ...(optional !== true && { 'x-identifier': true }) };
  });
}
