/** The release of held sending by an operator. The banner that offers it is on every page (src/dashboard/components/hold-banner.tsx). */
import type { FastifyInstance } from 'fastify';
import { setFlash } from '../../dashboard/flash.ts';
import { attempt, sentenceOf } from '../../dashboard/operations.ts';
import { releaseHold } from '../operations/hold.ts';

/** Registers its route. */
export async function holdScreens(app: FastifyInstance): Promise<void> {
  app.post('/sending/release', async (request, reply) => {
    const released = await attempt(request, releaseHold, {});
    if ('problem' in released) setFlash(reply, 'warn', 'hold.not', { reason: sentenceOf(released) });
    else setFlash(reply, 'good', 'hold.released');
    return reply.redirect('/', 303);
  });
}
