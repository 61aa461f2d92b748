/** The pages that recipients and owners open in a browser, without keys or cookies, and the operational endpoints. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { Failure } from '../failure.ts';
import { withRetryAfter } from '../http/errors.ts';
import { healthPages } from '../http/health.ts';
import { metricsPage } from '../http/metrics.ts';
import { referencePage } from '../http/openapi/reference-page.ts';
import { messagePage } from '../http/pages/layout.ts';
import { POLICY } from '../http/pages/style.ts';
import { parseUrlencoded } from '../http/requests/form-fields.ts';
import { countriesPage } from './countries.ts';
import { picturePages } from './pictures.ts';
import { providerEventRoutes } from './provider-events.ts';
import { trackingPages } from './tracking.ts';
import { unsubscribePage } from './unsubscribe.ts';
import { verifyPage } from './verify.ts';
import { webCopyPage } from './web-copy.ts';

/** Headers of every page that does not set its own. */
const HEADERS = Object.entries({
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': POLICY,
  'cache-control': 'no-store',
});

/** Limits of the forms on the pages. Anyone can send one, so their cost is bounded here; the forms themselves are much smaller. */
const FORM_BYTES = 64 * 1024;
const MAX_FIELDS = 5000;

/** Registers everything that is served outside /api. */
export async function pages(app: FastifyInstance, deps: Deps): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES },
    (_request, body, done) => done(null, parseUrlencoded(String(body), MAX_FIELDS)),
  );
  // A one-click request (RFC 8058) may be multipart. The link alone says what to do, so bodies of other types are read and ignored.
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: FORM_BYTES }, (_request, _body, done) =>
    done(null, {}),
  );
  app.addHook('onSend', (_request, reply, _payload, next) => {
    for (const [name, value] of HEADERS) if (!reply.hasHeader(name)) reply.header(name, value);
    next();
  });
  app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) => {
    if (error instanceof Failure) withRetryAfter(reply, error);
    const status = error instanceof Failure ? error.status : (error.statusCode ?? 500);
    if (status === 503) return messagePage(reply.code(status), 'busy');
    if (status < 500) return messagePage(reply.code(status), 'refused');
    request.log.error({ err: error, route: request.routeOptions.url }, 'page failed');
    return messagePage(reply.code(500), 'failed');
  });
  await app.register(unsubscribePage, deps);
  await app.register(verifyPage, deps);
  await app.register(trackingPages, deps);
  await app.register(webCopyPage, deps);
  await app.register(providerEventRoutes, deps);
  await app.register(picturePages, deps);
  await app.register(referencePage, deps);
  await app.register(countriesPage, deps);
  await app.register(healthPages, deps);
  await app.register(metricsPage, deps);
}
