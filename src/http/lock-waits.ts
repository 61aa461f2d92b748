/** When another process holds SQLite's write lock, a request waits a moment without blocking other requests, then answers 503. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Db } from '../database/open.ts';
import { isBusy, type WriteLock } from '../database/write-lock.ts';
import { unavailable } from '../failure.ts';
import { throwFieldErrors } from './requests/validation.ts';

/** Together with the request's own work, the answer comes within two seconds. */
const LOCK_WAIT_MS = 1500;

/**
 * Wraps the handler of every route registered after this call. When a handler finds the database locked before it has written
 * anything, it runs again once the lock is free. The checks against the database are repeated first, because their result may have
 * changed. An upload waits before its body is read, since it can be read only once.
 */
export function installLockWaits(app: FastifyInstance, { db, lock }: { db: Db; lock: WriteLock }): void {
  /** The number of rows this connection has changed so far. */
  const changes = db.$client.prepare<[], number>('SELECT total_changes()').pluck();

  app.addHook('onRoute', (route) => {
    const { handler, config } = route;
    if (config?.upload === true) {
      route.preHandler = [
        ...[route.preHandler ?? []].flat(),
        async () => {
          if (!lock.isFree() && !(await lock.whenFree(LOCK_WAIT_MS))) throw unavailable();
        },
      ];
      return;
    }
    route.handler = function (request, reply) {
      const before = changes.get();
      const run = () => handler.call(this, request, reply);
      const onError = (error: unknown) => {
        if (!isBusy(error)) throw error;
        if (reply.sent || changes.get() !== before) throw unavailable();
        return retry(request, reply, run);
      };
      let result: unknown;
      try {
        result = run();
      } catch (error) {
        return onError(error);
      }
      return result instanceof Promise ? result.catch(onError) : result;
    };
  });

  async function retry(request: FastifyRequest, reply: FastifyReply, run: () => unknown): Promise<unknown> {
    const until = performance.now() + LOCK_WAIT_MS;
    while (await lock.whenFree(until - performance.now())) {
      const before = changes.get();
      try {
        await throwFieldErrors(request);
        const result = await run();
        return result ?? reply;
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (reply.sent || changes.get() !== before) break;
      }
    }
    throw unavailable();
  }
}
