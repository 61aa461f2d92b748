/**
 * The public pages that links in mails open, and the rules for all public pages. This process serves the pages from its database, a
 * sender node over NATS.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ContentError } from '../delivery/content/compiled-content.ts';
import { Failure } from '../errors/failure.ts';
import { logFailed, noteFailure } from '../http/errors.ts';
import { PAGE_HEADERS } from '../http/pages/document.tsx';
import { messagePage } from '../http/pages/layout.ts';
import { readUrlencoded } from '../http/requests/form-fields.ts';
import type { Clock } from '../time/clock.ts';
import { picturePages } from './pictures.ts';
import type { RecipientSource } from './recipient-source.ts';
import { trackingPages } from './tracking.ts';
import { unsubscribePage } from './unsubscribe.tsx';
import { webCopyPage } from './web-copy.ts';

// The limits of a submitted form, because anyone can submit a form. The real forms are much smaller.
const MAX_FORM_BYTES = 64 * 1024;
const MAX_FIELDS = 5000;

/** Sets up how the pages registered on `app` read bodies, which headers they send, and how they show errors. */
export function installPageRules(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
    (_request: FastifyRequest, body: string) => readUrlencoded(body, MAX_FIELDS),
  );
  // A one-click request (RFC 8058) may have a multipart body. Its URL alone says what to do, so bodies of other types are ignored.
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MAX_FORM_BYTES }, (_request, _body, done) =>
    done(null, {}),
  );
  app.addHook('onSend', (_request, reply, _payload, next) => {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) if (!reply.hasHeader(name)) reply.header(name, value);
    next();
  });
  app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) => {
    if (error instanceof ContentError) return messagePage(reply.code(422), 'tooLarge');
    if (error instanceof Failure) noteFailure(reply, error);
    const status = error instanceof Failure ? error.status : (error.statusCode ?? 500);
    if (status === 503) return messagePage(reply.code(status), 'busy');
    if (status < 500) return messagePage(reply.code(status), 'refused');
    logFailed(request, error);
    return messagePage(reply.code(500), 'failed');
  });
}

/** Registers the public pages that links in mails open. */
export async function recipientPages(app: FastifyInstance, source: RecipientSource, clock: Clock): Promise<void> {
  await unsubscribePage(app, source, clock);
  await trackingPages(app, source, clock);
  await webCopyPage(app, source);
  await picturePages(app, source);
}
