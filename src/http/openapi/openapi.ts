/** Creates the OpenAPI 3.1 document from the schemas of the routes. */
import swagger from '@fastify/swagger';
import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify';
import { sufficientScopes } from '../../operations/callers.ts';
import { mayHaveWarnings } from '../content-warning-header.ts';
import { cleanSchema } from './clean-schema.ts';
import { sharedDescription } from './descriptions.ts';
import { exampleBody, exampleValue } from './examples.ts';
import { NamedSchemas, withNamedId } from './named-schemas.ts';
import { webhooksOf } from './webhooks.ts';

type Json = Record<string, unknown>;

interface Content {
  schema?: Json;
  example?: unknown;
}

interface Operation {
  parameters?: {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    /** The example in the schema of the parameter, if it differs from that of other parameters with this name. */
    example?: unknown;
    schema: Json;
  }[];
  requestBody?: { content?: Record<string, Content> };
  responses?: Record<string, { content?: Record<string, Content> }>;
}

/** The resources in the order of the documentation. Each route names one of them in its schema. */
const TAGS = [
  { name: 'Overview', description: 'What an owner wants to know first.' },
  {
    name: 'Installation',
    description:
      'What concerns all accounts. Only for operators: the owners of the first account, signed in to the dashboard.',
  },
  { name: 'Global unsubscribes', description: 'Addresses that get no mail of the account at all.' },
  {
    name: 'Topics (unsubscribe groups)',
    description:
      'Kinds of mail, such as a newsletter, that a recipient can leave alone. Each single send and automation belongs to one.',
  },
  {
    name: 'Segments',
    description: 'Contacts of a type whose fields match rules, kept up to date, and those added by hand.',
  },
  {
    name: 'Lists (contact types)',
    description: 'Lists that contacts belong to. A contact type can be the target of a campaign.',
  },
  { name: 'Contacts', description: 'People with their fields: one by one, as CSV files, and what an import did.' },
  { name: 'Events', description: 'What contacts did elsewhere, as other programs report it.' },
  { name: 'Fields', description: 'The fields every contact has, and your own.' },
  {
    name: 'Templates',
    description: 'The built-in templates, your own, and the merge tags that an e-mail can contain.',
  },
  {
    name: 'Campaigns (single sends)',
    description: 'One e-mail to its targets, at once or on a schedule, with its previews, tests and reports.',
  },
  { name: 'Archive', description: 'The public page of an account with e-mails that it has sent.' },
  { name: 'Feeds', description: 'RSS, Atom and JSON feeds whose items are sent as mail, singly or as a digest.' },
  {
    name: 'Automations',
    description:
      'A series of e-mails for everybody who joins a contact type or segment, each some time after the one before.',
  },
  {
    name: 'Transactional e-mail',
    description: 'Single e-mails to one person, such as a receipt, and what became of each.',
  },
  {
    name: 'Senders',
    description: 'Who e-mails come from. The owner of an address confirms it by the link in a verification e-mail.',
  },
  {
    name: 'Versions',
    description: 'Earlier content of single sends and of e-mails of automations, to look at and to restore.',
  },
  { name: 'Images (pictures)', description: 'Images that e-mails load from this service, and where they are used.' },
  { name: 'Brand', description: 'The logo, colours, fonts and buttons with which new blocks of e-mails begin.' },
  { name: 'Saved blocks', description: 'Parts of e-mails that are kept to be used again.' },
  { name: 'Design pages', description: 'Pages on which whoever has the link can design an e-mail, without keys.' },
  {
    name: 'Open and click tracking',
    description: 'What the service records about opens and clicks, and what contacts chose about this.',
  },
  { name: 'Forms', description: 'Public pages by which people subscribe themselves, and confirm it by mail.' },
  { name: 'Places', description: 'The reference data: countries, states and cities.' },
  {
    name: 'Bounces and suppressions',
    description: 'Mail that came back, complaints, and the addresses that get no mail because of them.',
  },
  {
    name: 'Users and sessions',
    description:
      'The people who sign in to the dashboard, and their sessions. A key pair can read both, but change neither.',
  },
  {
    name: 'API keys',
    description: 'The key pairs by which programs call the API. Only signed-in users create and revoke them.',
  },
  { name: 'Audit log', description: 'Who signed in, and who changed users, keys and senders.' },
  { name: 'Webhooks', description: 'Addresses to which events are sent as they happen, and what was sent.' },
  { name: 'Outbox', description: 'The e-mails of an installation that has no SMTP server.' },
];

const ABOUT = `E-mail campaigns: contacts, segments, single sends, automations.

Sendlark implements a given HTTP interface, *the contract*, exactly. Endpoints, optional parameters and response headers beyond it are
marked *addition*; they do not change the records and answers of the contract.

The answer to a save of an e-mail, and to its preview, may have the header \`Sendlark-Warnings\` (addition): a JSON list of placeholders that no contact has a value for
(\`unknown_placeholders\`) and of tags of other services (\`foreign_tags\`), each with \`code\`, \`count\` and the first five \`names\`.

Bodies are described as JSON; multipart/form-data and application/x-www-form-urlencoded with the same names are accepted too.

Every request needs the headers PublicKey and SecretKey; the pages of the dashboard use a session in their place. A pair without the scope
that an operation needs is answered 403, with the name of the scope. Every answer in
JSON has \`status\` and either \`message\` or \`errors\`. Deleting a segment, a contact type or a sender is confirmed in \`errors\`, with the status
\`success\`.`;

const FAILURES: Record<string, string> = {
  401: 'A key is missing, or the pair of keys is wrong',
  403: 'The caller may not do this: it takes a person who is signed in, an operator, or another role',
  404: 'The record was not found',
  409: 'The state of the record does not allow the request',
  422: 'A field is invalid: texts by field name',
  default:
    'The request is malformed, too large or of an unknown type; the caller has too many requests at once (429); or the service is busy (503)',
};

/** Added to the descriptions of operations that only signed-in users may perform. */
const FOR_USERS = 'Only for a signed-in user: a key pair gets 403.';

/**
 * Added to the descriptions of operations that key pairs may perform: the pair needs one of these scopes. The document also has the scopes
 * as `x-scopes`.
 */
const forScopes = (scopes: readonly string[]) =>
  `A key pair needs the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;

/** Added to the descriptions of operations that only operators may perform; the document also marks these with `x-for-operators`. */
const FOR_OPERATORS = 'Only for an operator who is signed in.';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if a success has the header Location with the path of the created record. */
    hasLocation?: true;
  }
}

const location = (description: string) => ({ type: 'string', format: 'uri-reference', description });
const CREATED_LOCATION = location('The path of the created record, below the URL of the service.');
const TAKEN_LOCATION = location('If a value has been taken: the path of the record that has it.');
const WARNINGS = {
  type: 'string',
  description:
    'Addition: a JSON list of the placeholders that no contact has a value for, and of the tags of other services.',
};

const Failure = {
  type: 'object',
  description: 'The answer to a request that failed.',
  required: ['status', 'errors'],
  properties: {
    status: { type: 'string', enum: ['failed'], description: 'Always failed.' },
    errors: {
      description: 'One text, or the texts of each faulty field.',
      anyOf: [
        { type: 'string' },
        { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
      ],
    },
  },
};

/** Collects every route registered after this call. `app.swagger()` then returns the document, with `events` as its webhooks. */
export async function installOpenapi(
  app: FastifyInstance,
  events: readonly { type: string; summary: string; data: object }[],
): Promise<void> {
  const schema = { $ref: '#/components/schemas/Failure' };
  const responses = Object.entries(FAILURES).map(([status, description]) => [
    status,
    {
      description,
      content: { 'application/json': { schema } },
      ...(status === '422' && { headers: { Location: headerOf(TAKEN_LOCATION) } }),
    },
  ]);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Sendlark',
        version: '1',
        description: ABOUT,
      },
      tags: TAGS,
      components: {
        responses: Object.fromEntries(responses),
        securitySchemes: {
          PublicKey: { type: 'apiKey', in: 'header', name: 'PublicKey' },
          SecretKey: { type: 'apiKey', in: 'header', name: 'SecretKey' },
        },
      },
      security: [{ PublicKey: [], SecretKey: [] }],
    },
    transform: ({ schema, url, route }) => ({ url, schema: describeRoute(schema, url, route.config) }),
    transformObject: (input) => {
      if (!('openapiObject' in input)) return input.swaggerObject;
      const { openapiObject: document } = input;
      const named = new NamedSchemas();
      const paths = Object.entries(document.paths ?? {}).map(([path, methods]) => [
        path,
        completeOperations(path, methods ?? {}, named),
      ]);
      const webhooks = webhooksOf(
        events.map((event) => ({ ...event, data: cleanSchema(event.data) })),
        named,
      );
      const schemas = { ...named.schemas, Failure };
      return Object.assign(document, {
        paths: Object.fromEntries(paths),
        webhooks,
        components: { ...document.components, schemas },
      });
    },
  });
}

/** The schema of a route as the document shows it. Throws if an operation of the API has no summary or no known tag. */
function describeRoute(
  schema: FastifySchema | undefined,
  url: string,
  {
    role = 'owner',
    isReading,
    isForAnyScope,
    isForUsers,
    isForOperators,
    scope = 'everything',
    hasLocation,
  }: FastifyContextConfig = {},
): FastifySchema {
  if (!url.startsWith('/api/')) return { hide: true };
  const { tags = [], summary, body, querystring, headers, response, consumes } = schema ?? {};
  const scopes = isForUsers || isForOperators ? null : sufficientScopes({ role, isReading, isForAnyScope, scope });
  const description = [
    schema?.description,
    isForUsers && FOR_USERS,
    isForOperators && FOR_OPERATORS,
    scopes && forScopes(scopes),
  ]
    .filter(Boolean)
    .join(' ');
  if (summary === undefined || !TAGS.some(({ name }) => tags.includes(name)))
    throw new Error(`The schema of ${url} needs a summary and one of the tags in src/http/openapi/openapi.ts`);
  const described: FastifySchema = {
    tags,
    summary,
    ...(description && { description }),
    ...(isForOperators && { 'x-for-operators': true }),
    ...(scopes && { 'x-scopes': scopes }),
    response: withHeaders(cleanSchema(response ?? {}), {
      ...(hasLocation && { Location: CREATED_LOCATION }),
      ...(mayHaveWarnings(url) && { 'Sendlark-Warnings': WARNINGS }),
    }),
    ...(headers !== undefined && { headers: cleanSchema(headers) }),
  };
  if (querystring !== undefined) described.querystring = withRequiredIdentifiers(cleanSchema(querystring));
  if (body !== undefined) {
    const cleaned = withRequiredIdentifiers(cleanSchema(body));
    described.body = { ...cleaned, examples: [exampleBody(cleaned)] };
    // Only one encoding is listed, because with several, generated clients contain functions that cannot be imported.
    described.consumes = consumes ?? ['application/json'];
  }
  return described;
}

/** Adds headers to the answer with status 200 of an operation. */
function withHeaders(response: Json, headers: Json): Json {
  return Object.keys(headers).length === 0 ? response : { ...response, 200: { ...Object(response['200']), headers } };
}

/** A header as the document has it. */
function headerOf({ description, ...schema }: { description: string }): Json {
  return { description, schema };
}

/**
 * Marks identifiers as required. They are optional in the routes' schemas, because a missing one is answered 404 instead of with a field
 * error.
 */
function withRequiredIdentifiers(schema: Json): Json {
  const properties: Record<string, Json> = Object(schema.properties);
  const required = new Set<unknown>(Array.isArray(schema.required) ? schema.required : []);
  for (const [name, property] of Object.entries(properties)) {
    if (property['x-identifier'] === true || name === 'strIds') required.add(name);
    delete property['x-identifier'];
  }
  return { ...schema, ...(required.size > 0 && { required: [...required] }) };
}

/** Adds the parts of a path's operations that follow from method and path: operation id, examples and failures. */
function completeOperations(path: string, methods: object, named: NamedSchemas): Json {
  const operations = Object.entries(methods).map(([method, operation]: [string, Operation]) => {
    const parameters = operation.parameters?.map(({ name, schema, ...parameter }) => ({
      ...parameter,
      // The names of headers are in lower case in Fastify's schemas.
      name: parameter.in === 'header' ? name.replace(/(^|-)\w/g, (start) => start.toUpperCase()) : name,
      description: parameter.description ?? sharedDescription(name),
      example: parameter.example ?? exampleValue(name, schema),
      schema: withNamedId(name, schema),
    }));
    const operationId = `${method}${path.slice('/api'.length).replace(/[/-]+(\w)/g, (_all, letter) => letter.toUpperCase())}`;
    for (const body of Object.values(operation.requestBody?.content ?? {})) {
      // Several encodings, or two methods of one route, may share the same object, which is named only once.
      if (body.schema && !('$ref' in body.schema)) body.schema = named.addBody(operationId, body.schema);
    }
    const answer = operation.responses?.['200']?.content?.['application/json'];
    if (answer?.schema && !('$ref' in answer.schema))
      Object.assign(answer, named.addAnswer(operationId, path.slice('/api'.length), answer.schema));
    const stream = operation.responses?.['200']?.content?.['text/event-stream'];
    if (stream?.schema && !('$ref' in stream.schema)) stream.schema = named.addEvent(operationId, stream.schema);
    const isAboutRecords = operation.requestBody !== undefined || parameters?.some(({ required }) => required);
    const failures = [
      '401',
      '403',
      ...(isAboutRecords ? ['404', '409'] : []),
      ...(parameters || isAboutRecords ? ['422'] : []),
    ];
    const responses = [...failures, 'default'].map((status) => [status, { $ref: `#/components/responses/${status}` }]);
    return [
      method,
      {
        operationId,
        ...operation,
        ...(parameters && { parameters }),
        responses: { ...operation.responses, ...Object.fromEntries(responses) },
      },
    ];
  });
  return Object.fromEntries(operations);
}
