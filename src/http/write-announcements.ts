/** Announces requests that may write, so that bulk writers in other threads leave the lock to them. */
import type { FastifyInstance } from 'fastify';
import { announceWrite, endWrite } from '../database/write-turns.ts';

/**
 * Announces every request to a route for more than GET and HEAD, from before its handler until its answer. Uploads are not announced, because the import
 * thread does their writing. Call before the routes are registered.
 */
export function installWriteAnnouncements(app: FastifyInstance): void {
  const announced = new WeakSet<object>();
  app.addHook('onRoute', (route) => {
    const isReading = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD');
    if (isReading || route.config?.upload === true) return;
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
