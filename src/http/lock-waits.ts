/**
 * Coordinates requests with SQLite's write lock. If another process holds the lock, a request waits a moment without blocking other
 * requests, then answers 503. Requests that may write are announced, so that bulk writers in other threads leave the lock to them.
 */
import type { FastifyInstance } from 'fastify';
import type { Db } from '../database/open.ts';
import { isBusy } from '../database/write-lock.ts';
import { announceWrite, endWrite } from '../database/write-turns.ts';
import { unavailable } from '../errors/failure.ts';
import type { Deps } from '../operations/deps.ts';
import { throwFieldErrors } from './requests/validation.ts';

/** How long a request waits for the lock. With its own work added, it is still answered within two seconds. */
const LOCK_WAIT_MS = 1500;

type Lockable = Pick<Deps, 'db' | 'lock'>;

/** The number of rows that a connection has changed so far. */
function totalChanges({ $client }: Db): number | undefined {
  return $client.prepare<[], { rows: number }>('SELECT total_changes() AS rows').get()?.rows;
}

/**
 * Runs a part of a request. If it finds the database locked before it has written anything, it runs again once the lock is free. Throws 503
 * if the lock does not become free in time.
 */
export async function retryWhenUnlocked<T>(deps: Lockable, work: () => Promise<T>): Promise<T> {
  const before = totalChanges(deps.db);
  try {
    return await work();
  } catch (error) {
    if (!isBusy(error)) throw error;
    if (totalChanges(deps.db) !== before) throw unavailable();
    return runAgain(deps, work, () => false);
  }
}

/**
 * Runs work that found the database locked again, each time the lock becomes free. Throws 503 if the lock does not become free in time, if
 * the work has written something before it found a lock, or if `isTooLate` then returns true.
 */
async function runAgain<T>({ db, lock }: Lockable, work: () => Promise<T>, isTooLate: () => boolean): Promise<T> {
  const until = performance.now() + LOCK_WAIT_MS;
  while (await lock.whenFree(until - performance.now())) {
    const before = totalChanges(db);
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (isTooLate() || totalChanges(db) !== before) break;
    }
  }
  throw unavailable();
}

/**
 * Wraps the handler of every route registered after this call. If a handler finds the database locked before it has written anything, it
 * runs again once the lock is free. The checks against the database are repeated first, because their result may have changed. An upload
 * waits before its body is read, because the body can be read only once.
 */
export function installLockWaits(app: FastifyInstance, deps: Lockable): void {
  const { db, lock } = deps;
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
      const before = totalChanges(db);
      const run = () => handler.call(this, request, reply);
      const retry = async () => {
        await throwFieldErrors(request);
        return (await run()) ?? reply;
      };
      const onError = (error: unknown) => {
        if (!isBusy(error)) throw error;
        if (reply.sent || totalChanges(db) !== before) throw unavailable();
        return runAgain(deps, retry, () => reply.sent);
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
}

/**
 * Announces every request that may write, that is, to a route with methods other than GET and HEAD, from before its handler until its
 * reply. Uploads are not announced, because the import thread writes for them. Call it before the routes are registered.
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
