/** From a plan to the bytes of a request, by hand, so that nothing on the way repairs it. */
import type { InjectOptions } from 'fastify';
import type { Operation } from '../support/openapi-operations.ts';
import { type Account, FOR_PEOPLE, goodValue } from './world.ts';

export interface Change {
  /** Which parameter, counted round; beyond the last one: which key is added. */
  at: number;
  how: 'value' | 'missing' | 'key' | 'file' | 'json';
  value: unknown;
  key: string;
}

export interface Plan {
  operation: number;
  encoding: number;
  changes: Change[];
  body: 'whole' | 'none' | 'cut' | 'array' | 'text' | 'null' | 'doubled';
  query: string;
  headers: Record<string, string>;
  method: string | null;
}

export interface Request extends InjectOptions {
  method: 'GET';
  url: string;
  headers: Record<string, string>;
  payload?: Buffer;
}

/** The request a careful client makes: the document's example with the account's own records. */
export const GOOD: Omit<Plan, 'operation' | 'encoding'> = {
  changes: [],
  body: 'whole',
  query: '',
  headers: {},
  method: null,
};

const TYPES = {
  text: '',
  file: '; filename="people.csv"\r\nContent-Type: text/csv',
  json: '\r\nContent-Type: application/json',
};
const BOUNDARY = '----fuzz';

export function requestOf(operation: Operation, plan: Omit<Plan, 'operation'>, account: Account): Request {
  const { caller, person, operator } = account;
  const query = valuesOf(
    // Some operators of a segment's rules take no value, so it is optional; that of the example needs one.
    operation.parameters
      .filter(({ required, name }) => required || name === 'value')
      .map(({ name, example }) => [name, example]),
  );
  const body = operation.bodies[plan.encoding % Math.max(1, operation.bodies.length)];
  const fields = valuesOf(Object.entries(body?.example ?? {}));
  const kinds = new Map<string, 'file' | 'json'>(body?.schema.properties?.file && [['file', 'file']]);
  const names = namesOf(operation);
  for (const { at, how, value, key } of plan.changes) {
    const name = names[at % Math.max(1, names.length)] ?? 'x';
    const target = at % Math.max(1, names.length) < operation.parameters.length ? query : fields;
    if (how === 'value') target.set(name, value);
    else if (how === 'missing') target.delete(name);
    else if (how === 'key') target.set(name + key, value);
    else kinds.set(name, how);
    if (how === 'json') target.set(name, value);
  }
  const url = `${operation.path}?${urlencoded([...query].flatMap(queryPairsOf))}${plan.query}`;
  const method = (plan.method ?? operation.method) as 'GET';
  const who = operation.isForOperators ? operator : FOR_PEOPLE.test(operation.path) ? person : caller;
  const { headers: own } = who;
  const headers: Record<string, string> = { 'accept-encoding': 'gzip', ...own };
  if (body === undefined || plan.body === 'none') return { method, url, headers: { ...headers, ...plan.headers } };
  const isMultipart = body.encoding.startsWith('multipart');
  headers['content-type'] = isMultipart ? `${body.encoding}; boundary=${BOUNDARY}` : body.encoding;
  const payload = spoilt(encoded(body.encoding, fields, kinds), plan.body);
  return { method, url, headers: { ...headers, ...plan.headers }, payload };

  function valuesOf(examples: [string, unknown][]): Map<string, unknown> {
    return new Map(examples.map(([name, example]) => [name, goodValue(operation, name, example, account)]));
  }
}

/** The parameters by which `Change.at` counts: those of the query, then those of the body. */
export function namesOf({ parameters, bodies }: Operation): string[] {
  return [...parameters.map(({ name }) => name), ...Object.keys(bodies[0]?.schema.properties ?? {})];
}

/** A request as a person can repeat it. */
export function printed({ method, url, headers, payload }: Request): string {
  const { PublicKey, SecretKey, cookie, ...rest } = headers;
  const body = JSON.stringify(payload?.toString('utf8') ?? '');
  const cut = (text: string) => (text.length > 1500 ? `${text.slice(0, 1500)}… (${text.length} characters)` : text);
  return `${method} ${cut(url)}\n${cut(JSON.stringify(rest))}\n${cut(body)}`;
}

function encoded(encoding: string, fields: Map<string, unknown>, kinds: Map<string, 'file' | 'json'>): Buffer {
  const values = [...fields];
  // fromEntries defines own properties, __proto__ too.
  if (encoding === 'application/json') return Buffer.from(JSON.stringify(Object.fromEntries(values)));
  if (encoding === 'application/x-www-form-urlencoded') return Buffer.from(urlencoded(values.flatMap(pairsOf)));
  const pairs = values.flatMap(([name, value]): [string, string | Buffer][] => {
    if (Buffer.isBuffer(value)) return [[name, value]];
    return kinds.get(name) === 'json' ? [[name, JSON.stringify(value)]] : pairsOf([name, value]);
  });
  const parts = pairs.flatMap(([name, value]) => {
    const type = TYPES[kinds.get(name) ?? 'text'];
    const quoted = name.replace(/["\r\n]/g, encodeURIComponent);
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${quoted}"${type}\r\n\r\n`;
    return [Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')];
  });
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

function spoilt(body: Buffer, how: Plan['body']): Buffer {
  if (how === 'cut') return body.subarray(0, Math.floor(body.length * 0.7));
  if (how === 'array') return Buffer.from(`[${body}]`);
  if (how === 'text') return Buffer.from('"text"');
  if (how === 'null') return Buffer.from('null');
  return how === 'doubled' ? Buffer.concat([body, body]) : body;
}

function pairsOf([name, value]: [string, unknown]): [string, string][] {
  if (Array.isArray(value)) return value.map((item, at) => [`${name}[${at}]`, textOf(item)]);
  if (typeof value !== 'object' || value === null) return [[name, textOf(value)]];
  return Object.entries(value).map(([key, item]) => [`${name}[${key}]`, textOf(item)]);
}

/** In a query the items of an array repeat its name (OpenAPI, "style: form", exploded). */
function queryPairsOf([name, value]: [string, unknown]): [string, string][] {
  return Array.isArray(value) ? value.map((item) => [name, textOf(item)]) : pairsOf([name, value]);
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Encodes each text once: a long hostile one stands in every parameter of a request. */
function urlencoded(pairs: [string, string][]): string {
  const texts = new Set(pairs.flat());
  const encoded = new Map([...texts].map((text) => [text, new URLSearchParams([['', text]]).toString().slice(1)]));
  return pairs.map((pair) => pair.map((text) => encoded.get(text)).join('=')).join('&');
}
