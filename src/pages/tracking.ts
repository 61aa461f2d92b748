/** The tracking pixel and the tracked links. The pixel is the same for every token, valid or not. HEAD requests are not counted. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { mergeUrl } from '../delivery/content/merge.ts';
import { scan } from '../delivery/content/placeholders.ts';
import { deviceOf } from '../delivery/feedback/devices.ts';
import { readerOf } from '../delivery/feedback/readers.ts';
import type { RecipientIds } from '../delivery/links/tokens.ts';
import { TRAP_LINK } from '../delivery/links/trap-link.ts';
import { MergedSize } from '../delivery/mime/merged-size.ts';
import { Failure } from '../errors/failure.ts';
import { PAGE_HEADERS } from '../http/pages/document.tsx';
import { messagePage, pageRoute, unknownLink } from '../http/pages/layout.ts';
import type { Clock } from '../time/clock.ts';
import type { RecipientSource, ValueOrPromise } from './recipient-source.ts';

/**
 * The maximum length of the URL to which a link redirects: 8000 octets is the least that every client should support (RFC 9110 4.1). A
 * link whose placeholders were replaced can be far longer.
 */
const MAX_URL = 8000;
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64').toString('latin1');
const PIXEL_HEADERS = { ...PAGE_HEADERS, 'content-type': 'image/gif', 'content-length': PIXEL.length };

/** Registers the URLs of the tracking pixel and of tracked links. */
export async function trackingPages(app: FastifyInstance, source: RecipientSource, clock: Clock): Promise<void> {
  pageRoute<{ Params: { token: string } }>(app, '/o/:token', async (request, reply) => {
    const token = request.params.token.replace(/\.gif$/, '');
    // The visitor does not see the pixel, so it is sent even if the open cannot be counted now.
    const ids = await orNull(() => source.readShared(token) ?? source.readLink('open', token));
    if (ids !== null) count(request, ids, null, token);
    // The pixel is sent as a text, because Node writes a text together with the headers. A Buffer is written after the headers, which
    // takes a tenth longer.
    reply.hijack().raw.writeHead(200, PIXEL_HEADERS).end(PIXEL, 'latin1');
    return reply;
  });

  pageRoute<{ Params: { token: string; number: string } }>(app, '/c/:token/:number', async (request, reply) => {
    const { token, number } = request.params;
    const ids = source.readShared(token) ?? (await source.readLink('click', token));
    const link = /^\d{1,6}$/.test(number) ? Number(number) : -1;
    if (ids !== null && link === TRAP_LINK) {
      count(request, ids, link, token);
      // Nobody sees this link, but a mail client may show it all the same. Then the person who clicks stays on the present page.
      return reply.code(204).send();
    }
    const url = ids && (await destination(ids, token, link));
    if (!ids || !url) return unknownLink(reply);
    if (url.length > MAX_URL) return messagePage(reply.code(422), 'linkTooLong');
    count(request, ids, link, token);
    return reply.redirect(url, 302);
  });

  /** Counts a click on a link, or an open if `link` is null. Does not count HEAD requests. */
  function count({ method, headers }: FastifyRequest, ids: RecipientIds, link: number | null, token: string): void {
    if (method !== 'GET') return;
    const { 'user-agent': agent } = headers;
    source.addHit({ ids, link, at: clock.now().getTime(), reader: readerOf(agent), device: deviceOf(agent) }, token);
  }

  /**
   * Returns the destination of a link, with the present values of the recipient; null if the mailing has no such link. The destination is
   * read from the mailing, never from the request, so that this service cannot be abused for redirects.
   */
  async function destination(ids: RecipientIds, token: string, link: number): Promise<string | null> {
    const url = await source.findLink(ids, link);
    if (url === null) return null;
    if (!url.includes('((')) return mergeUrl(url, {});
    const values = await source.readValues(ids, 'click', token);
    // The size is checked before the URL is merged, because the URL may repeat a long value any number of times.
    new MergedSize({ subject: '', html: [], text: scan(url, 'url') }).requireFits((name) => values[name]);
    return mergeUrl(url, values);
  }
}

/** Returns the result of `read`; null if the data cannot be reached now. */
async function orNull<T>(read: () => ValueOrPromise<T | null>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}
