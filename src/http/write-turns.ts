/** Announces requests that may write, so that bulk writers of other threads leave them the lock. */
import type { FastifyInstance } from 'fastify';
import { announceWrite, endWrite } from '../database/write-turns.ts';

/**
 * Announces every request that is no GET from before its handler to its answer. An upload is none of them: its own
 * writing is the import thread's. Call before the routes are registered.
 */
export function installWriteTurns(app: FastifyInstance): void {
  const announced = new WeakSet<object>();
  app.addHook('onRoute', (route) => {
    if (route.method === 'GET' || route.config?.upload === true) return;
    route.preHandler = [
      ...[route.preHandler ?? []].flat(),
      (request, _reply, done) => {
        announced.add(request);
        announceWrite();
        done();
      },
    ];
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      (request, _reply, payload, done) => {
        if (announced.delete(request)) endWrite();
        done(null, payload);
      },
    ];
  });
}
