/** Passes requests for the URLs that an application does not know to a second application, which is built when it is first needed. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { logFailed } from './errors.ts';
import { PAGE_HEADERS } from './pages/document.tsx';
import { messagePage } from './pages/layout.ts';

/** Returns true if a request is for an unknown URL outside the scopes with a prefix. These are passed to the second application. */
export function isPassedOn({ is404, server }: FastifyRequest): boolean {
  return is404 && server.prefix === '';
}

/**
 * Passes requests to the application that `build` returns. Returns a function that builds this application if it is not built yet. If
 * building fails, the request is answered 500 and its connection closed, and the next request tries again. A request that is passed on runs
 * none of the hooks registered after this call. Hooks `preClose` of the second application run only when the server has closed.
 */
export function passUnknown(
  app: FastifyInstance,
  build: () => Promise<FastifyInstance>,
): () => Promise<FastifyInstance> {
  let built: Promise<FastifyInstance> | null = null;
  const second = () => {
    built ??= build().catch((error: unknown) => {
      built = null;
      throw error;
    });
    return built;
  };
  app.addHook('onRequest', (request, reply, next) => {
    if (!isPassedOn(request)) return next();
    second().then(
      ({ routing }) => {
        reply.hijack();
        routing(request.raw, reply.raw);
      },
      (error: Error) => {
        logFailed(request, error);
        messagePage(reply.code(500).headers({ ...PAGE_HEADERS, connection: 'close' }), 'failed');
      },
    );
  });
  app.addHook('onClose', async () => (await built?.catch(() => null))?.close());
  return second;
}
