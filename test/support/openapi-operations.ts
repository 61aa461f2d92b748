/** Reads the OpenAPI document of a running application as a client's generator would: one flat entry for each operation. */
import type { TestApp } from './app.ts';

export interface JsonSchema {
  type?: string;
  enum?: unknown[];
  format?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  contentMediaType?: string;
  contentSchema?: JsonSchema;
}

export interface Parameter {
  name: string;
  in: 'query' | 'header';
  required: boolean;
  example: unknown;
  schema: JsonSchema;
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tag: string;
  /** True if only a signed-in operator may perform it. */
  isForOperators: boolean;
  /** The scopes of which a key pair needs one; none if only people may perform it. */
  scopes: string[];
  method: string;
  path: string;
  /** Those of the query. */
  parameters: Parameter[];
  headers: Parameter[];
  bodies: { encoding: string; example: Record<string, unknown>; schema: JsonSchema }[];
  responses: Record<string, { headers?: Record<string, object>; content?: Record<string, { schema: JsonSchema }> }>;
}

interface Documented
  extends Omit<Operation, 'tag' | 'isForOperators' | 'scopes' | 'headers' | 'bodies' | 'method' | 'path'> {
  'x-for-operators'?: true;
  'x-scopes'?: string[];
  tags: [string];
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: JsonSchema; example: Record<string, unknown> }> };
}

export interface Document {
  tags: { name: string }[];
  paths: Record<string, Record<string, Documented>>;
  webhooks: Record<string, { post: Documented }>;
}

/** The document with every named schema in the places that refer to it. */
export async function readDocument(app: TestApp): Promise<Document> {
  const { body } = await app.page('GET', '/docs/openapi.json');
  /** The named schemas, each resolved once, because many places refer to the same ones. */
  const named = new Map<string, unknown>();
  const resolved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolved);
    if (typeof value !== 'object' || value === null) return value;
    const [, name = ''] = /^#\/components\/schemas\/(\w+)$/.exec('$ref' in value ? String(value.$ref) : '') ?? [];
    if (name !== '') {
      if (!named.has(name)) named.set(name, resolved(body.components.schemas[name]));
      return named.get(name);
    }
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolved(part)]));
  };
  return Object(resolved(body));
}

/** What a body may come as that the document describes as JSON. */
const ENCODINGS = ['application/json', 'multipart/form-data', 'application/x-www-form-urlencoded'];

/** Every operation of the document, in its order. */
export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([
        method,
        {
          requestBody,
          tags,
          parameters = [],
          'x-for-operators': isForOperators = false,
          'x-scopes': scopes = [],
          ...rest
        },
      ]) => ({
        ...rest,
        scopes,
        parameters: parameters.filter((parameter) => parameter.in === 'query'),
        headers: parameters.filter((parameter) => parameter.in === 'header'),
        tag: tags[0],
        isForOperators,
        method: method.toUpperCase(),
        path,
        bodies: Object.entries(requestBody?.content ?? {}).flatMap(([documented, body]) =>
          (documented === 'application/json' ? ENCODINGS : [documented]).map((encoding) => ({ encoding, ...body })),
        ),
      }),
    ),
  );
}
