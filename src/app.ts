/** Builds the HTTP application. Fastify and Ajv options are set only here, so tests and production run with the same ones. */
import { STATUS_CODES } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { api } from './api/index.ts';
import { parseAddress } from './audience/contacts/addresses.ts';
import type { Config } from './config.ts';
import { designPage } from './dashboard/design/design-page.ts';
import { dashboard } from './dashboard/index.ts';
import { answerUnknown } from './dashboard/signed-in.ts';
import type { Deps } from './deps.ts';
import { installConnectionLimits, isAnswering, REQUEST_TIMES } from './http/connections.ts';
import { failedBody, frameworkText } from './http/errors.ts';
import { installLineEnd } from './http/line-end.ts';
import { installLockWaits } from './http/lock-waits.ts';
import { installOpenapi } from './http/openapi/openapi.ts';
import { installBodyLimits } from './http/requests/bodies.ts';
import { MAX_FORM_BYTES } from './http/requests/forms.ts';
import { installSessions } from './http/session-cookie.ts';
import { installWriteAnnouncements } from './http/write-announcements.ts';
import { pages } from './pages/index.ts';

/** The statuses for requests that Node itself rejects, by error code. Any other code is answered 400. */
const CLIENT_ERRORS = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['HPE_HEADER_OVERFLOW', 431],
]);

const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** Log options. Requests are logged by route, not by URL, because URLs contain tokens; headers are never logged, because they contain keys. */
export function logOptions({ LOG_LEVEL: level }: Config) {
  const req = ({ method, routeOptions }: FastifyRequest) => ({ method, route: routeOptions?.url });
  // At level trace, @fastify/multipart logs its options, which include the request's headers.
  return { level, serializers: { req }, redact: { paths: ['headers', '*.headers', '*.*.headers'], remove: true } };
}

/** Gives the application, ready for `listen` or `inject`. */
export async function buildApp(
  deps: Deps,
  logger: NonNullable<FastifyServerOptions['logger']> = false,
): Promise<FastifyInstance> {
  const { config } = deps;
  const app = Fastify({
    logger,
    routerOptions: { maxParamLength: 1000 },
    logController: new LogController({ disableRequestLogging: !['debug', 'trace'].includes(config.LOG_LEVEL) }),
    trustProxy: config.TRUST_PROXY.length > 0 && [...config.TRUST_PROXY],
    exposeHeadRoutes: false,
    bodyLimit: MAX_FORM_BYTES,
    ...REQUEST_TIMES,
    // Fastify's own 503 would not have our envelope. Requests that arrive during a stop are answered as usual, then their connection is closed.
    return503OnClosing: false,
    ajv: {
      customOptions: {
        allErrors: true,
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        keywords: ['flag', 'identifier', 'empty'],
        formats: {
          'one-line': (value: string) => !CONTROL.test(value),
          'email-address': (value: string) => parseAddress(value) !== null,
          'email-address-or-empty': (value: string) => value === '' || parseAddress(value) !== null,
        },
      },
    },
    frameworkErrors: (error, _request, reply: FastifyReply) => {
      const status = error.statusCode ?? 400;
      // No hook runs for these errors, so the line feed is added here.
      reply
        .code(status)
        .type('application/json; charset=utf-8')
        .send(`${JSON.stringify(failedBody(frameworkText(status)))}\n`);
    },
    clientErrorHandler: (error, socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
        socket.destroy();
        return;
      }
      const status = CLIENT_ERRORS.get(error.code) ?? 400;
      const body = `${JSON.stringify(failedBody(frameworkText(status)))}\n`;
      socket.write(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
      // `end` alone would wait for the client, which may never close its side.
      socket.destroySoon();
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
  installLineEnd(app);
  app.addHook('onRequest', (request, reply, next) => {
    if (request.method !== 'TRACE') return next();
    reply
      .code(405)
      .header('allow', 'GET, HEAD, POST, DELETE')
      .send(failedBody(frameworkText(405)));
  });
  installConnectionLimits(app);
  installBodyLimits(app, deps);
  await installOpenapi(app);
  installWriteAnnouncements(app);
  installLockWaits(app, deps);
  await app.register((scope) => api(scope, deps), { prefix: '/api' });
  await app.register(async (scope) => {
    installSessions(scope, deps);
    await pages(scope, deps);
    scope.setNotFoundHandler(answerUnknown);
    await scope.register(dashboard, deps);
    await scope.register(designPage, deps);
  });
  return app;
}
