/** Makes requests from the table: the valid one, changes to it, and every encoding a body may have. */

import type { World } from '../support/account-records.ts';
import type { CallOptions, FilePart } from '../support/app.ts';
import type { Changes, Endpoint, Parameter, Parameters, Value, Values } from './types.ts';

/** How arrays are written in a form, and how a body is encoded. */
type ArrayStyle = 'name[0]' | 'name[]' | 'name';
export type Encoding =
  | { body: 'multipart' | 'urlencoded'; arrays: ArrayStyle }
  | { body: 'json'; values: 'texts' | 'typed' };

/** Conventions 2 and 3: multipart, bulk deletes urlencoded, arrays indexed. */
export function usualEncoding(endpoint: Endpoint): Encoding {
  return { body: endpoint.path.endsWith('bulk-delete') ? 'urlencoded' : 'multipart', arrays: 'name[0]' };
}

/** The encodings in which the endpoint must understand its body. A file travels as multipart only. */
export function encodingsOf(endpoint: Endpoint): Encoding[] {
  const parameters = Object.values(endpoint.body ?? {});
  const hasArray = parameters.some(({ kind }) => kind === 'records' || kind === 'targets');
  const styles: ArrayStyle[] = hasArray ? ['name[0]', 'name[]', 'name'] : ['name[0]'];
  const multipart = styles.map((arrays): Encoding => ({ body: 'multipart', arrays }));
  if (parameters.some(({ kind }) => kind === 'file')) return multipart;
  const urlencoded = styles.map((arrays): Encoding => ({ body: 'urlencoded', arrays }));
  return [...multipart, ...urlencoded, { body: 'json', values: 'texts' }, { body: 'json', values: 'typed' }];
}

/** A valid request with the required parameters, or with all that have an example. */
export function validValues(endpoint: Endpoint, world: World, which: 'required' | 'all' = 'all'): Values {
  const values: Values = {};
  for (const [name, { required, example }] of Object.entries({ ...endpoint.query, ...endpoint.body })) {
    if (example === undefined || (which === 'required' && !required)) continue;
    values[name] = typeof example === 'function' ? example(world) : example;
  }
  return values;
}

/** The values after the changes. */
export function changed(values: Values, changes: Changes): Values {
  const all = Object.entries({ ...values, ...changes });
  return Object.fromEntries(all.filter((entry): entry is [string, Value] => entry[1] !== undefined));
}

/** The values as a call: those the table calls query parameters in the query, all others in the body where there is one. */
export function callOptions(endpoint: Endpoint, values: Values, encoding = usualEncoding(endpoint)): CallOptions {
  const inQuery = (name: string) => endpoint.body === undefined || name in (endpoint.query ?? {});
  const entries = Object.entries(values);
  const query = Object.fromEntries(entries.filter(([name]) => inQuery(name)));
  if (endpoint.body === undefined) return { query };
  return {
    query,
    ...encode(
      entries.filter(([name]) => !inQuery(name)),
      endpoint.body,
      encoding,
    ),
  };
}

function encode(entries: [string, Value][], parameters: Parameters, encoding: Encoding): CallOptions {
  if (encoding.body === 'json') {
    const json = entries.map(([name, value]) => [
      name,
      encoding.values === 'typed' ? typed(value, parameters[name]) : value,
    ]);
    return { json: Object.fromEntries(json) };
  }
  const pairs = entries.flatMap(([name, value]) => formPairs(name, value, encoding.arrays));
  if (encoding.body === 'multipart') return { multipart: pairs };
  return { form: pairs.map(([name, value]): [string, string] => [name, String(value)]) };
}

function formPairs(name: string, value: Value, style: ArrayStyle): [string, string | FilePart][] {
  if (!Array.isArray(value)) return [[name, value]];
  const key = (index: number) => (style === 'name[0]' ? `${name}[${index}]` : style === 'name[]' ? `${name}[]` : name);
  return value.map((item, index) => [key(index), item]);
}

const NUMERIC = new Set(['record', 'records', 'reference', 'shared', 'integer']);

/** The value as a program writes it in JSON: numbers and booleans bare. */
function typed(value: Value, parameter?: Parameter): unknown {
  if (Array.isArray(value)) return value.map((item) => typed(item, parameter));
  if (parameter === undefined || typeof value !== 'string' || !/^\d+$/.test(value)) return value;
  if (parameter.kind === 'flag') return value === '1';
  return NUMERIC.has(parameter.kind) ? Number(value) : value;
}

/** How a request reads in a report: its encoding, and in what it differs from the valid one. */
export function describe(options: CallOptions, valid: CallOptions): string {
  const [entries, usual] = [entriesOf(options), entriesOf(valid)];
  const encoding = options.json ? 'as JSON' : options.form ? 'urlencoded' : options.multipart ? 'as multipart' : '';
  const more = [...entries].filter((entry) => !usual.has(entry));
  const less = [...usual].filter((entry) => !entries.has(entry));
  const shortened = (list: string[]) => list.map((entry) => entry.slice(0, 90)).join(' ');
  return `${encoding} with [${shortened(more)}] without [${shortened(less)}]`;
}

function entriesOf({ query, form, multipart, json, headers }: CallOptions): Set<string> {
  const pairs = [query, headers, json, Array.isArray(form) ? undefined : form].flatMap((part) =>
    Object.entries(part ?? {}),
  );
  const all = [...pairs, ...(Array.isArray(form) ? form : []), ...(multipart ?? [])];
  return new Set(all.map(([name, value]) => `${name}=${JSON.stringify(value)}`));
}
