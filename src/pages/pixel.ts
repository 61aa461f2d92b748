/** The open pixel. Whatever the token, the answer is the same picture (trust 43). */
import type { FastifyInstance } from 'fastify';
import { OpenHits } from '../delivery/tracking.ts';
import type { Deps } from '../deps.ts';

const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const FLUSH_MS = 100;

export async function pixelPage(app: FastifyInstance, { db, clock, tokens }: Deps): Promise<void> {
  const hits = new OpenHits(db.$client);
  const timer = setInterval(() => hits.flush(), FLUSH_MS);
  app.addHook('onClose', async () => {
    clearInterval(timer);
    hits.flush();
  });

  app.get<{ Params: { token: string } }>('/o/:token', async (request, reply) => {
    const ids = tokens.readRecipient('open', request.params.token.replace(/\.gif$/, ''));
    if (ids !== null) hits.add({ ids, at: clock.now().getTime() });
    return reply.type('image/gif').send(PIXEL);
  });
}
