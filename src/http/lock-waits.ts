/** What a request does when another process holds SQLite's write lock: it waits a moment without blocking the others, then answers 503. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Db } from '../database/open.ts';
import { isBusy, type WriteLock } from '../database/write-lock.ts';
import { unavailable } from '../failure.ts';
import { refuseFaulty } from './validation.ts';

/** With the time the request itself takes, the answer comes within two seconds. */
const PATIENCE_MS = 1500;

/**
 * Wraps the handler of every route registered from here on. A handler that met the lock before it wrote anything runs again once the
 * lock is free, after the checks that looked at the database. An upload waits before its body is read, since it can be read only once.
 */
export function installLockWaits(app: FastifyInstance, { db, lock }: { db: Db; lock: WriteLock }): void {
  /** Rows this connection has changed so far. */
  const changes = db.$client.prepare<[], number>('SELECT total_changes()').pluck();

  app.addHook('onRoute', (route) => {
    const { handler, config } = route;
    if (config?.upload === true) {
      route.preHandler = [
        ...[route.preHandler ?? []].flat(),
        async () => {
          if (!lock.isFree() && !(await lock.whenFree(PATIENCE_MS))) throw unavailable();
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
        return again(request, reply, run);
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

  async function again(request: FastifyRequest, reply: FastifyReply, run: () => unknown): Promise<unknown> {
    const until = performance.now() + PATIENCE_MS;
    while (await lock.whenFree(until - performance.now())) {
      const before = changes.get();
      try {
        refuseFaulty(request);
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
