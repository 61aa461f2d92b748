/** Reads the OpenAPI document of a running application as a client's generator would: one flat entry for each operation. */
import type { TestApp } from '../helper.ts';

export interface JsonSchema {
  type?: string;
  enum?: unknown[];
  format?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

export interface Parameter {
  name: string;
  required: boolean;
  example: unknown;
  schema: JsonSchema;
}

export interface Operation {
  operationId: string;
  summary: string;
  tag: string;
  method: string;
  path: string;
  parameters: Parameter[];
  bodies: { encoding: string; example: Record<string, unknown>; schema: JsonSchema }[];
  responses: Record<string, { content?: Record<string, { schema: JsonSchema }> }>;
}

interface Documented extends Omit<Operation, 'tag' | 'bodies' | 'method' | 'path'> {
  tags: [string];
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: JsonSchema; example: Record<string, unknown> }> };
}

export interface Document {
  tags: { name: string }[];
  paths: Record<string, Record<string, Documented>>;
}

export async function readDocument(app: TestApp): Promise<Document> {
  return (await app.page('GET', '/docs/openapi.json')).body;
}

/** Every operation of the document, in its order. */
export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, tags, parameters = [], ...rest }]) => ({
      ...rest,
      parameters,
      tag: tags[0],
      method: method.toUpperCase(),
      path,
      bodies: Object.entries(requestBody?.content ?? {}).map(([encoding, body]) => ({ encoding, ...body })),
    })),
  );
}
