/**
 * Normalizes a query or a body of any encoding before validation: trims strings, and reads numbers, flags and arrays as the schema
 * requires.
 */
import { MALFORMED } from './form-fields.ts';

/** The part of a parameter's schema that determines how its value is read (see schemas.ts). */
interface Parameter {
  type?: string;
  flag?: boolean;
  identifier?: boolean;
  empty?: unknown;
  items?: Parameter;
}

interface BodySchema {
  properties?: Record<string, Parameter>;
  required?: string[];
}

interface NamedParameter {
  name: string;
  parameter: Parameter;
  isRequired: boolean;
}

type Values = Record<string, unknown> & { [MALFORMED]?: Set<string> };

const FLAGS = new Map<unknown, number>([
  ['0', 0],
  ['1', 1],
  ['true', 1],
  ['false', 0],
  ['on', 1],
  ['off', 0],
  [true, 1],
  [false, 0],
]);

/**
 * Returns a new object with only the schema's parameters, each read according to its type; unknown ones are ignored. Strings are trimmed,
 * identifiers are not. An empty string counts as missing if the parameter is required. If the parameter is optional and no string, an empty
 * string stands for the value of the schema's keyword `empty`, or counts as missing without that keyword.
 */
export function normalize(schema: object, input: unknown): Values {
  const values: Values = Object.create(null);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return values;
  const source: Values = Object.assign(Object.create(null), input);
  for (const { name, parameter, isRequired } of listParameters(schema)) {
    if (source[name] === undefined) continue;
    const value = read(parameter, source[name] ?? '');
    if (value === '' && isRequired) continue;
    if (value !== '' || parameter.type === 'string') values[name] = value;
    else if ('empty' in parameter) values[name] = parameter.empty;
  }
  const malformed = source[MALFORMED];
  if (malformed !== undefined) values[MALFORMED] = malformed;
  return values;
}

const parametersBySchema = new WeakMap<object, NamedParameter[]>();

/** The parameters of a schema, collected once per schema. */
function listParameters(schema: BodySchema): NamedParameter[] {
  const cachedParameters = parametersBySchema.get(schema);
  if (cachedParameters !== undefined) return cachedParameters;
  const { properties = {}, required = [] } = schema;
  const parameters = Object.entries(properties).map(([name, parameter]) => ({
    name,
    parameter,
    isRequired: required.includes(name),
  }));
  parametersBySchema.set(schema, parameters);
  return parameters;
}

function read(parameter: Parameter, value: unknown): unknown {
  if (parameter.type === 'array') return readArray(parameter, value);
  if (parameter.identifier === true) return value;
  if (parameter.flag === true) return readFlag(value);
  if (parameter.type === 'integer') return readInteger(value);
  if (parameter.type === 'object') return readObject(value);
  return readText(value);
}

function readText(value: unknown): unknown {
  if (typeof value === 'number') return String(value);
  // A lone surrogate would be stored, and later returned, as invalid UTF-8.
  return typeof value === 'string' ? value.trim().toWellFormed() : value;
}

function readFlag(value: unknown): unknown {
  const trimmed = typeof value === 'string' ? value.trim() : value;
  return FLAGS.get(trimmed) ?? trimmed;
}

/** Accepts plain digits only; Ajv's own coercion would also read ` 1`, `1e3` and `0x10` as numbers. */
function readInteger(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (value.trim() === '') return '';
  return /^\d{1,16}$/.test(value) ? Number(value) : value;
}

function readArray(parameter: Parameter, value: unknown): unknown {
  const items = arrayItems(value);
  if (!Array.isArray(items)) return items;
  return parameter.identifier === true ? items : items.map(readText);
}

/** The items of an array parameter. `name[0]`, `name[1]`, … arrive as an object by index, which is an array only if no index is missing. */
function arrayItems(value: unknown): unknown {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return value.trim() === '' ? '' : [value];
  if (typeof value !== 'object' || value === null) return [value];
  const keys = Object.keys(value);
  // Keys that are indices come first and in ascending order (ECMA-262, OrdinaryOwnPropertyKeys).
  return keys.every((key, at) => key === String(at)) ? Object.values(value) : value;
}

function readObject(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const read: Record<string, unknown> = Object.create(null);
  for (const [key, item] of Object.entries(value)) read[key] = readText(item);
  return read;
}
