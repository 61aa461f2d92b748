/** Builds the HTTP side. The one place where Fastify and Ajv options are set: tests and production run the same. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { parseAddress } from './audience/addresses.ts';
import type { Config } from './config.ts';
import type { Deps } from './deps.ts';
import { pages } from './pages/index.ts';
import { failedBody, frameworkText } from './plugins/errors.ts';
import { FORM_BYTES } from './plugins/forms.ts';
import { installLineEnd } from './plugins/line-end.ts';
import { installOpenapi } from './plugins/openapi.ts';
import { installTurns } from './plugins/turns.ts';
import { api } from './routes/index.ts';

const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** What the log carries: routes, never addresses, which hold tokens, and never headers, which hold keys (trust 40). */
export function logOptions({ LOG_LEVEL: level }: Config) {
  const req = ({ method, routeOptions }: FastifyRequest) => ({ method, route: routeOptions?.url });
  return { level, serializers: { req } };
}

/** The application, ready to listen or to be injected into. */
export async function buildApp(
  deps: Deps,
  logger: NonNullable<FastifyServerOptions['logger']> = false,
): Promise<FastifyInstance> {
  const { config } = deps;
  const app = Fastify({
    logger,
    routerOptions: { maxParamLength: 1000 },
    logController: new LogController({ disableRequestLogging: !['debug', 'trace'].includes(config.LOG_LEVEL) }),
    trustProxy: config.TRUST_PROXY === 'on',
    exposeHeadRoutes: false,
    bodyLimit: FORM_BYTES,
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
      // No hook runs for these, so that the end of the line is written here.
      reply
        .code(status)
        .type('application/json; charset=utf-8')
        .send(`${JSON.stringify(failedBody(frameworkText(status)))}\n`);
    },
    clientErrorHandler: (error, socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable) return;
      const body = `${JSON.stringify(failedBody(frameworkText(400)))}\n`;
      socket.end(
        `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
  installLineEnd(app);
  await installOpenapi(app);
  installTurns(app);
  await app.register((scope) => api(scope, deps), { prefix: '/api' });
  await app.register(pages, deps);
  return app;
}
