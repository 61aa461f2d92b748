/** The tracking pixel and the tracked links. The pixel is the same for every token, valid or not, and a HEAD request counts nothing. */
import type { FastifyInstance } from 'fastify';
import { mergeUrl, scan } from '../delivery/content/merge.ts';
import { deviceOf } from '../delivery/feedback/devices.ts';
import { readerOf } from '../delivery/feedback/readers.ts';
import type { RecipientIds } from '../delivery/links/tokens.ts';
import { TRAP_LINK } from '../delivery/links/trap-link.ts';
import { MergedSize } from '../delivery/mime/merged-size.ts';
import { Failure } from '../errors/failure.ts';
import { PAGE_HEADERS } from '../http/pages/document.tsx';
import { messagePage, pageRoute, unknownLink } from '../http/pages/layout.ts';
import type { Clock } from '../time/clock.ts';
import type { Maybe, RecipientSource } from './recipient-source.ts';

/**
 * The maximum length of a redirect URL: 8000 octets is the minimum that recipients should support (RFC 9110 4.1). With its values merged, a
 * link can be far longer.
 */
const MAX_URL = 8000;
const UNPROCESSABLE = 422;
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64').toString('latin1');
const PIXEL_HEADERS = { ...PAGE_HEADERS, 'content-type': 'image/gif', 'content-length': PIXEL.length };

/** Registers the addresses of the open pixel and of tracked links. */
export async function trackingPages(app: FastifyInstance, source: RecipientSource, clock: Clock): Promise<void> {
  pageRoute<{ Params: { token: string } }>(app, '/o/:token', async (request, reply) => {
    const token = request.params.token.replace(/\.gif$/, '');
    // The visitor does not see the pixel, so it is sent even if the open cannot be counted now.
    const ids = await orNull(() => source.readShared(token) ?? source.readLink('open', token));
    if (ids !== null && request.method === 'GET') {
      source.addHit(makeHit(ids, null, request.headers['user-agent']), token);
    }
    // Node writes headers and a text at once, but a Buffer after them, which takes a tenth more.
    reply.hijack().raw.writeHead(200, PIXEL_HEADERS).end(PIXEL, 'latin1');
    return reply;
  });

  pageRoute<{ Params: { token: string; number: string } }>(app, '/c/:token/:number', async (request, reply) => {
    const { token, number } = request.params;
    const ids = source.readShared(token) ?? (await source.readLink('click', token));
    const link = /^\d{1,6}$/.test(number) ? Number(number) : -1;
    if (ids !== null && link === TRAP_LINK) {
      if (request.method === 'GET') source.addHit(makeHit(ids, link, request.headers['user-agent']), token);
      // A person whose mail client shows the link after all stays on the current page.
      return reply.code(204).send();
    }
    const url = ids && (await destination(ids, token, link));
    if (!ids || !url) return unknownLink(reply);
    if (url.length > MAX_URL) return messagePage(reply.code(UNPROCESSABLE), 'linkTooLong');
    if (request.method === 'GET') source.addHit(makeHit(ids, link, request.headers['user-agent']), token);
    return reply.redirect(url, 302);
  });

  function makeHit(ids: RecipientIds, link: number | null, userAgent: string | undefined) {
    return { ids, link, at: clock.now().getTime(), reader: readerOf(userAgent), device: deviceOf(userAgent) };
  }

  /**
   * The destination of a link, with the recipient's current values. It is read from the mailing, never from the request, so that this
   * service cannot be abused for redirects.
   */
  async function destination(ids: RecipientIds, token: string, link: number): Promise<string | null> {
    const url = await source.findLink(ids, link);
    if (url === null) return null;
    if (!url.includes('((')) return mergeUrl(url, {});
    const values = await source.readValues(ids, 'click', token);
    new MergedSize({ subject: '', html: [], text: scan(url, 'url') }).requireFits((name) => values[name]);
    return mergeUrl(url, values);
  }
}

/** The result of `read`, or null if it cannot be reached now. */
async function orNull<T>(read: () => Maybe<T | null>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}
