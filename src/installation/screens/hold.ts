/** Whether all sending is held, looked up for each page, and its release by an operator. */
import type { FastifyInstance } from 'fastify';
import { setFlash } from '../../dashboard/flash.ts';
import { ask, attempt, sentenceOf } from '../../dashboard/operations.ts';
import { type Hold, readHold, releaseHold } from '../operations/hold.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What is said about the hold of all sending; null before it was looked up, and where nobody is signed in. */
    hold: Hold | null;
  }
  interface FastifyContextConfig {
    /** Whether the route answers with parts of a page, which have no banner. */
    isPart?: true;
  }
}

/** Looks up for each page of the routes registered after this call whether sending is held. `app` must have its pages behind the sign-in. */
export function watchHold(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { handler, config } = route;
    if (config?.isPart) return;
    route.handler = async function (request, reply) {
      const { hold } = await ask(request, readHold, {});
      request.hold = hold;
      return handler.call(this, request, reply);
    };
  });
}

/** Registers the release. */
export async function holdScreens(app: FastifyInstance): Promise<void> {
  app.post('/sending/release', async (request, reply) => {
    const released = await attempt(request, releaseHold, {});
    if ('problem' in released) setFlash(reply, 'warn', 'hold.not', { reason: sentenceOf(released) });
    else setFlash(reply, 'good', 'hold.released');
    return reply.redirect('/', 303);
  });
}
