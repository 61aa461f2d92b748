/** What recipients and owners open in a browser: no keys, no cookies, no JavaScript, answers in HTML. */
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { parseUrlencoded } from '../plugins/form-fields.ts';
import { FORM_BYTES } from '../plugins/forms.ts';
import { docsPage } from './docs.ts';
import { healthPages } from './health.ts';
import { html, page } from './layout.ts';
import { metricsPage } from './metrics.ts';
import { pixelPage } from './pixel.ts';
import { unsubscribePage } from './unsubscribe.ts';
import { verifyPage } from './verify.ts';

/** The pages, outside the API's prefix. */
export async function pages(app: FastifyInstance, deps: Deps): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES },
    (_request, body, done) => {
      done(null, parseUrlencoded(String(body)));
    },
  );
  // A one-click request (RFC 8058) may come as multipart; nothing in any other body is needed to act on a link.
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: FORM_BYTES }, (_request, _body, done) =>
    done(null, {}),
  );
  app.addHook('onSend', async (_request, reply) => {
    reply.headers({
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    });
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });
  app.setErrorHandler((error, request, reply) => {
    request.log.error({ err: error, route: request.routeOptions.url }, 'page failed');
    return page(reply.code(500), 'Something went wrong', html`<p>Please try again in a moment.</p>`);
  });
  await app.register(unsubscribePage, deps);
  await app.register(verifyPage, deps);
  await app.register(pixelPage, deps);
  await app.register(docsPage);
  await app.register(healthPages, deps);
  await app.register(metricsPage, deps);
}
