/** The open pixel and the tracked links. The pixel is the same for every token, valid or not, and a HEAD counts nothing. */
import type { FastifyInstance } from 'fastify';
import { isBusy } from '../database/write-lock.ts';
import { mergeUrl } from '../delivery/content/merge.ts';
import { isBotAgent } from '../delivery/feedback/bots.ts';
import { HitBuffer } from '../delivery/feedback/opens-and-clicks.ts';
import type { RecipientIds } from '../delivery/links/tokens.ts';
import { deliveryValues } from '../delivery/queue/recipient-values.ts';
import type { Deps } from '../deps.ts';
import { READ, unknownLink } from '../http/pages/layout.ts';

const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const FLUSH_MS = 100;

export async function trackingPages(app: FastifyInstance, { db, clock, tokens, lock, config }: Deps): Promise<void> {
  const hits = new HitBuffer(db.$client);
  const linkUrl = db.$client
    .prepare<[number, number, number], string>(
      'SELECT url FROM links JOIN mailings m ON m.id = mailing_id WHERE mailing_id = ? AND number = ? AND m.user_id = ?',
    )
    .pluck();
  const sender = db.$client.prepare<[number], { sender_name: string; sender_address: string }>(`
    SELECT content ->> 'sender_name' AS sender_name, content ->> 'sender_address' AS sender_address
    FROM mailings WHERE id = ?`);
  let timer = setTimeout(write, FLUSH_MS);
  app.addHook('onClose', async () => {
    clearTimeout(timer);
    const flush = () => hits.flush(clock.now().getTime());
    while (await lock.write(flush, config.SHUTDOWN_SECONDS * 1000));
  });

  /** Writes one batch of hits. The next follows after other requests had their turn, or after FLUSH_MS when no hits are left. */
  function write(): void {
    let hasMore = false;
    try {
      hasMore = hits.flush(clock.now().getTime());
    } catch (error) {
      // When another connection holds the lock, the hits stay in memory until the next round.
      if (!isBusy(error))
        app.log.error({ err: error }, 'opens and clicks could not be written; they are kept in memory and tried again');
    }
    timer = setTimeout(write, hasMore ? 0 : FLUSH_MS);
  }

  app.route<{ Params: { token: string } }>({
    method: READ,
    url: '/o/:token',
    handler: (request, reply) => {
      const ids = tokens.readRecipient('open', request.params.token.replace(/\.gif$/, ''));
      if (ids !== null && request.method === 'GET') hits.add(makeHit(ids, null, request.headers['user-agent']));
      return reply.type('image/gif').send(PIXEL);
    },
  });

  app.route<{ Params: { token: string; number: string } }>({
    method: READ,
    url: '/c/:token/:number',
    handler: (request, reply) => {
      const { token, number } = request.params;
      const ids = tokens.readRecipient('click', token);
      const link = /^\d{1,6}$/.test(number) ? Number(number) : -1;
      const url = ids && destination(ids, link);
      if (!ids || !url) return unknownLink(reply);
      if (request.method === 'GET') hits.add(makeHit(ids, link, request.headers['user-agent']));
      return reply.redirect(url, 302);
    },
  });

  function makeHit(ids: RecipientIds, link: number | null, userAgent: string | undefined) {
    return { ids, link, at: clock.now().getTime(), isMachine: isBotAgent(userAgent) };
  }

  /** The target of a link, with the recipient's current values. It is read from the mailing, never from the request, so that nobody can use us to redirect elsewhere. */
  function destination(ids: RecipientIds, link: number): string | null {
    const url = linkUrl.get(ids.mailing, link, ids.user);
    if (url === undefined) return null;
    if (!url.includes('((')) return mergeUrl(url, {});
    return mergeUrl(url, { ...deliveryValues(db, ids), ...sender.get(ids.mailing) });
  }
}
