/** Maps API paths to operations. Parameters, role, checks, response and documentation of a path follow from its operation. */
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import Type, { type Static, type TObject } from 'typebox';
import { notFound } from '../errors/failure.ts';
import type { Deps } from '../operations/deps.ts';
import type {
  Context,
  DescribedOperation,
  ListOperation,
  Operation,
  RecordOperation,
} from '../operations/operation.ts';
import { runTogether } from '../operations/write-together.ts';
import { sendList, sendRecord } from './list-response.ts';
import { done, doneInErrors, plainText, successWith } from './requests/schemas.ts';
import { passedFields } from './requests/validation.ts';

/**
 * One or two methods, and a path below /api. The parameters of a POST are in the body, except those named in the path,
 * as in `POST /groups/update?id`. The parameters of other methods, and of a route with two methods, are in the query.
 */
type Endpoint = `${Method} /${string}`;
type Method = 'GET' | 'POST' | 'DELETE' | 'GET|POST';

/** The context in which an operation runs for a request. */
export function contextOf(request: FastifyRequest, deps: Deps): Context {
  const { accountId, role, actor, sessionId, scopes } = request;
  return { ...deps, accountId, role, actor, sessionId, scopes, ...connectionOf(request) };
}

/** The parts of an operation's context that come from the connection and the headers of a request. */
export function connectionOf({ headers, raw }: FastifyRequest): Pick<Context, 'acceptLanguage' | 'isGone'> {
  return { acceptLanguage: headers['accept-language'], isGone: () => raw.socket.destroyed };
}

/** Runs an operation for a request that may change data. */
function run<Input extends TObject, Output>(
  operation: Operation<Input, Output>,
  context: Context,
  input: Static<Input>,
): Output | Promise<Output> {
  return operation.isOneWrite ? runTogether(operation, context, input) : operation.run(context, input);
}

/** Returns functions that map paths to operations. The OpenAPI document lists these paths under `tag`. */
export function operationRoutes(app: FastifyInstance, deps: Deps, tag: string) {
  function map<Input extends TObject>(
    endpoint: Endpoint,
    operation: Operation<Input, unknown>,
    response: FastifySchema['response'],
    answer: (context: Context, input: Static<Input>, reply: FastifyReply) => unknown,
    hasLocation = false,
  ): void {
    const { methods, url, inQuery } = parseEndpoint(endpoint);
    const { name: summary, description, role, isReading, isForAnyScope, isForUsers, isForOperators, check } = operation;
    const schema = {
      tags: [tag],
      summary,
      ...(description && { description }),
      ...schemasOf(operation, endpoint, () => ({ ...splitInput(operation.input, inQuery), response })),
    };
    app.route({
      method: methods,
      url,
      schema,
      config: {
        role,
        ...(isReading && { isReading }),
        ...(isForAnyScope && { isForAnyScope }),
        ...(isForUsers && { isForUsers }),
        ...(isForOperators && { isForOperators }),
        ...(hasLocation && { hasLocation }),
        ...(check && {
          check: (request, errors) =>
            check(contextOf(request, deps), passedFields(operation.input, parametersOf(request), errors), errors),
        }),
      },
      handler: (request, reply) => answer(contextOf(request, deps), parametersOf(request), reply),
    });
  }

  return {
    /** Maps an operation that changes data and is answered with a text. `location` returns the URL of a created record. */
    change<Input extends TObject, Output>(
      endpoint: Endpoint,
      operation: Operation<Input, Output>,
      message: string | ((output: Output) => string),
      location?: (output: Output) => string,
    ): void {
      const answer = async (context: Context, input: Static<Input>, reply: FastifyReply) => {
        const output = await run(operation, context, input);
        if (location !== undefined) reply.header('location', location(output));
        return { status: 'success', message: typeof message === 'string' ? message : message(output) };
      };
      map(endpoint, operation, done, answer, location !== undefined);
    },
    /** Maps a delete whose contract has the confirmation in `errors`. */
    deleteInErrors<Input extends TObject>(endpoint: Endpoint, operation: Operation<Input, void>): void {
      map(endpoint, operation, doneInErrors, async (context, input) => {
        await operation.run(context, input);
        return { status: 'success', errors: 'Deleted Successfully' };
      });
    },
    /** Maps an operation whose output is the response. `location` returns the URL of a created record. */
    read<Input extends TObject, Output extends TObject>(
      endpoint: Endpoint,
      operation: DescribedOperation<Input, Output>,
      location?: (output: Static<Output>) => string,
    ): void {
      const answer = async (context: Context, input: Static<Input>, reply: FastifyReply) => {
        const message = await operation.run(context, input);
        if (location !== undefined) reply.header('location', location(message));
        return { status: 'success', message };
      };
      map(endpoint, operation, successWith(operation.output.properties), answer, location !== undefined);
    },
    /** Maps an operation that returns the code of a mail. The code is sent as plain text, so that no browser shows it as a page of ours. */
    code<Input extends TObject>(endpoint: Endpoint, operation: Operation<Input, string>): void {
      map(endpoint, operation, plainText, async (context, input, reply) => {
        const code = await operation.run(context, input);
        return reply
          .headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
          .type('text/plain; charset=utf-8')
          .send(code);
      });
    },
    /** Maps an operation whose output is sent in a special way, such as a file. */
    send<Input extends TObject, Output>(
      endpoint: Endpoint,
      operation: Operation<Input, Output>,
      response: FastifySchema['response'],
      send: (output: Output, reply: FastifyReply) => unknown,
    ): void {
      map(endpoint, operation, response, async (context, input, reply) =>
        send(await operation.run(context, input), reply),
      );
    },
    /** Maps an operation that reads one record. */
    record<Input extends TObject, Shape extends TObject>(
      endpoint: Endpoint,
      operation: RecordOperation<Input, Shape>,
    ): void {
      const { as, record } = operation;
      map(endpoint, operation, successWith({ [as]: record }), async (context, input, reply) => {
        const json = await operation.json(context, input);
        if (json === undefined) throw notFound();
        return sendRecord(reply, as, json);
      });
    },
    /** Maps an operation that reads a list of records. The list is sent in parts. */
    list<Input extends TObject, Shape extends TObject>(
      endpoint: Endpoint,
      operation: ListOperation<Input, Shape>,
    ): void {
      const { as, record } = operation;
      map(endpoint, operation, successWith({ [as]: Type.Array(record) }), (context, input, reply) => {
        const { part, ...source } = operation.select(context, input);
        sendList(reply, context.db, as, source, part);
      });
    },
  };
}

/**
 * The parameters of a request, validated by Fastify with the schemas made from the operation's input. A query or body without a schema is
 * ignored, because it is unvalidated and could name any column of a table.
 */
function parametersOf({ query, body, routeOptions: { schema } }: FastifyRequest) {
  return Object.assign(Object.create(null), schema?.querystring && query, schema?.body && body);
}

function parseEndpoint(endpoint: Endpoint): {
  methods: string[];
  url: string;
  inQuery: (parameter: string) => boolean;
} {
  const [, method = '', url = '', named = ''] = /^(\S+) ([^?]+)\??(.*)$/.exec(endpoint) ?? [];
  const names = named.split('&');
  return {
    methods: method.split('|'),
    url,
    inQuery: (parameter) => method !== 'POST' || names.includes(parameter),
  };
}

/** The schemas of an operation's routes. A schema is compiled once per process only if every application has the same object. */
const schemas = new WeakMap<object, Map<Endpoint, RouteSchemas>>();

type RouteSchemas = Pick<FastifySchema, 'querystring' | 'body' | 'response'>;

function schemasOf(operation: object, endpoint: Endpoint, make: () => RouteSchemas): RouteSchemas {
  const byEndpoint = schemas.get(operation) ?? new Map<Endpoint, RouteSchemas>();
  const routeSchemas = byEndpoint.get(endpoint) ?? make();
  schemas.set(operation, byEndpoint.set(endpoint, routeSchemas));
  return routeSchemas;
}

/** Splits the input of an operation into the schemas of query and body. One without parameters gets no schema. */
function splitInput(
  input: TObject,
  inQuery: (parameter: string) => boolean,
): Pick<FastifySchema, 'querystring' | 'body'> {
  const properties = Object.entries(input.properties);
  const query = properties.filter(([name]) => inQuery(name));
  const body = properties.filter(([name]) => !inQuery(name));
  return {
    ...(query.length > 0 && { querystring: Type.Object(Object.fromEntries(query)) }),
    ...(body.length > 0 && { body: Type.Object(Object.fromEntries(body)) }),
  };
}
