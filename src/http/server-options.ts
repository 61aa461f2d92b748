/** Fastify options shared by all our HTTP servers: the service and the public pages of sender nodes. */
import type { Server } from 'node:http';
import {
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Config } from '../config.ts';
import { loggedError } from '../log.ts';
import { isAnswering, REQUEST_TIMES } from './connections.ts';
import { failedBody, frameworkText } from './errors.ts';

// Importing node:http would load everything it offers, including Node's own undici: 14 MB and 35 ms of CPU time in each thread.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** The statuses for requests that Node itself rejects, by error code. Any other code is answered 400. */
const CLIENT_ERRORS = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['HPE_HEADER_OVERFLOW', 431],
]);

/**
 * Returns Fastify's options for the log. Requests are logged by route, not by URL, because URLs contain tokens; headers are never logged, because they contain keys.
 */
export function logOptions({ LOG_LEVEL: level }: Config) {
  const req = ({ method, routeOptions }: FastifyRequest) => ({ method, route: routeOptions?.url });
  return {
    level,
    // If the terminal is gone, pino's own stream retries for ever and blocks the thread.
    stream: { write: (line: string) => void process.stdout.write(line) },
    serializers: { req, err: loggedError },
    // At level trace, @fastify/multipart logs its options, which include the request's headers.
    redact: { paths: ['headers', '*.headers', '*.*.headers'], remove: true },
  };
}

/** The body of an answer to a request that no route handles. No hook runs for such a request, so the line feed is added here. */
const errorLine = (status: number) => `${JSON.stringify(failedBody(frameworkText(status)))}\n`;

/**
 * Returns Fastify's options, except those of the log, schemas and bodies. Requests are logged only at level debug and trace, and not if
 * another application logs them.
 */
export function serverOptions(config: Config, isLoggedElsewhere: (request: FastifyRequest) => boolean = () => false) {
  return {
    routerOptions: { maxParamLength: 1000 },
    logController: new LogController({
      disableRequestLogging: ['debug', 'trace'].includes(config.LOG_LEVEL) ? isLoggedElsewhere : true,
    }),
    trustProxy: config.TRUST_PROXY.length > 0 && [...config.TRUST_PROXY],
    exposeHeadRoutes: false,
    ...REQUEST_TIMES,
    // Node's own answer to a request without a host has no body, so `refuseRequests` answers instead.
    http: { ...REQUEST_TIMES.http, requireHostHeader: false },
    // Fastify's own 503 would not have our envelope. Requests that arrive during shutdown are answered as usual, then their connection is
    // closed.
    return503OnClosing: false,
    frameworkErrors: (error, _request, reply: FastifyReply) => {
      const status = error.statusCode ?? 400;
      reply.code(status).type('application/json; charset=utf-8').send(errorLine(status));
    },
    clientErrorHandler: (error, socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
        socket.destroy();
        return;
      }
      const status = CLIENT_ERRORS.get(error.code) ?? 400;
      const body = errorLine(status);
      socket.write(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
      // `end` alone would wait for the client, which may never close its side.
      socket.destroySoon();
    },
  } satisfies FastifyHttpOptions<Server>;
}

/**
 * Rejects TRACE, which would reveal what proxies have added to a request, and HTTP/1.1 without a host (RFC 9112, 3.2). Ignores expectations
 * that it does not know (RFC 9110, 10.1.1), which Node would answer without a body.
 */
export function refuseRequests(app: FastifyInstance): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onRequest', ({ method, headers, raw }, reply, next) => {
    const hasHost = headers.host !== undefined || raw.httpVersion === '1.0';
    if (method !== 'TRACE' && hasHost) return next();
    const status = hasHost ? 405 : 400;
    if (hasHost) reply.header('allow', 'GET, HEAD, POST, DELETE');
    reply.code(status).send(failedBody(frameworkText(status)));
  });
}

/**
 * Adds a line feed to JSON responses that are sent as text; JSON allows white space after a value (RFC 8259, section 2). Lists and the
 * reference data are sent as bytes and contain their own. Call it before the routes are registered.
 */
export function installLineEnd(app: FastifyInstance): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    const isJson =
      typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('application/json');
    done(null, isJson ? `${payload}\n` : payload);
  });
}
