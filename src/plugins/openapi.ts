/** The OpenAPI 3.1 document, made from the routes' own schemas. */
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { exampleOf } from './examples.ts';

type Json = Record<string, unknown>;

const ENCODINGS = ['multipart/form-data', 'application/x-www-form-urlencoded', 'application/json'];

const FAILURES: Record<number, string> = {
  401: 'A key is missing or the pair is wrong',
  404: 'Nothing found',
  409: 'A rule of the business forbids it',
  422: 'A field is faulty: texts by field name',
};

const failure = {
  type: 'object',
  required: ['status', 'errors'],
  properties: {
    status: { const: 'failed' },
    errors: {
      anyOf: [
        { type: 'string' },
        { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
      ],
    },
  },
};

/** Collects every route registered from here on; install it before them. `app.swagger()` then gives the document. */
export async function installOpenapi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Sendlark',
        version: '1',
        description: 'E-mail campaigns: contacts, segments, single sends, automations.',
      },
      components: {
        securitySchemes: {
          PublicKey: { type: 'apiKey', in: 'header', name: 'PublicKey' },
          SecretKey: { type: 'apiKey', in: 'header', name: 'SecretKey' },
        },
      },
      security: [{ PublicKey: [], SecretKey: [] }],
    },
    transform: ({ schema, url }) => ({ url, schema: describe(schema, url) }),
  });
}

function describe(schema: FastifySchema | undefined, url: string): FastifySchema {
  if (!url.startsWith('/api/')) return { hide: true };
  const { body, querystring, response, consumes } = schema ?? {};
  const failures = Object.entries(FAILURES).map(([status, description]) => [status, { description, ...failure }]);
  const described: FastifySchema = { response: { ...clean(response ?? {}), ...Object.fromEntries(failures) } };
  if (querystring !== undefined) described.querystring = requiring(clean(querystring));
  if (body !== undefined) {
    described.body = { ...requiring(clean(body)), examples: [exampleOf(clean(body))] };
    described.consumes = consumes ?? ENCODINGS;
  }
  return described;
}

/** Our own keywords mean nothing outside; an identifier is any text, a flag a whole number. */
function clean(schema: unknown): Json {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const { flag, identifier, empty, ...rest }: Json = { ...value };
    return identifier === true && rest.type !== 'array' ? { type: 'string', ...rest, 'x-identifier': true } : rest;
  });
}

/** The record an endpoint is about is needed, though its absence is answered with a record text and not a field error. */
function requiring(schema: Json): Json {
  const properties: Record<string, Json> = Object(schema.properties);
  const identifiers = Object.keys(properties).filter(
    (name) =>
      properties[name]?.['x-identifier'] === true && !String(properties[name]?.description).startsWith('Addition'),
  );
  for (const property of Object.values(properties)) delete property['x-identifier'];
  const required = [...new Set([...(Array.isArray(schema.required) ? schema.required : []), ...identifiers])];
  return { ...schema, ...(required.length > 0 && { required }) };
}
