/** Passes requests for the URLs that an application does not know to a second application, which is built when it is first needed. */
import type { FastifyInstance } from 'fastify';
import { failedBody, logFailed } from './errors.ts';

/**
 * Passes every request for an unknown URL outside /api to the application that `build` returns. Returns a function that builds this
 * application if it is not built yet. If building it fails, the request is answered 500, and the next one tries again. The requests pass
 * none of the hooks registered after this call.
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
    if (!request.is404 || /^\/api(?:[/?]|$)/.test(request.url)) return next();
    second().then(
      ({ routing }) => {
        reply.hijack();
        routing(request.raw, reply.raw);
      },
      (error: Error) => {
        logFailed(request, error);
        reply.code(500).send(failedBody('Internal error'));
      },
    );
  });
  app.addHook('onClose', async () => (await built)?.close());
  return second;
}
