/** Delivers events to all endpoints. Runs in a separate thread, so that endpoints delay neither requests nor mail. */
import type { Database } from 'better-sqlite3';
import { sendingHeldReason } from '../delivery/queue/holds.ts';
import type { Clock } from '../time/clock.ts';
import type { Resolve } from './addresses.ts';
import { EndpointQueue } from './endpoint-queue.ts';
import type { Endpoint } from './endpoints.ts';
import { OldEvents } from './old-events.ts';
import { allEndpoints, recordProgress } from './store.ts';

export interface DispatcherDeps {
  client: Database;
  clock: Clock;
  /** True if endpoints may be in private networks. */
  allowPrivate: boolean;
  /** Resolves the names of endpoints in tests; the DNS by default. */
  resolve?: Resolve;
}

/**
 * The maximum number of concurrent requests to all endpoints. An account may begin a request only while fewer of its requests run than
 * further requests are allowed, so that accounts with slow endpoints always leave room for other accounts.
 */
const MAX_REQUESTS = 1000;
/** How often the endpoints are read again at least, in case a message about a change was lost. */
const RELOAD_MS = 2000;

export class Dispatcher {
  readonly #deps: DispatcherDeps;
  /** The queues by the id of the endpoint. */
  readonly #queues = new Map<number, EndpointQueue>();
  readonly #oldEvents: OldEvents;
  /** The number of running requests to all endpoints. */
  #running = 0;
  /** The number of running requests by account. */
  readonly #runningByAccount = new Map<number, number>();
  #mustReload = true;
  /** When the endpoints were last read, in monotonic milliseconds. */
  #reloadedAt = 0;
  /** True while all sending is held. */
  #isHeld = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#oldEvents = new OldEvents(deps.client);
  }

  /** Call this when endpoints, tests or replays were added or changed. The next step reads the endpoints again. */
  changed(): void {
    this.#mustReload = true;
  }

  /**
   * Records finished requests, begins due ones and removes old events. Returns true while requests run or old events are left to
   * remove. Call this every few milliseconds while it returns true.
   */
  step(): boolean {
    const { client, clock } = this.#deps;
    this.#record();
    if (this.#mustReload || clock.monotonic() - this.#reloadedAt >= RELOAD_MS) this.#reload();
    this.#isHeld = sendingHeldReason(client) !== null;
    for (const queue of this.#queues.values()) queue.fill();
    this.#record();
    const hasMore = this.#oldEvents.remove(clock.now().getTime(), clock.monotonic());
    return hasMore || this.#running > 0;
  }

  /** Begins no more requests. Resolves when the running requests have ended and are recorded. */
  async close(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.stop()));
    this.#record();
  }

  #reload(): void {
    const { client, clock } = this.#deps;
    this.#mustReload = false;
    this.#reloadedAt = clock.monotonic();
    const endpoints = allEndpoints(client);
    const known = new Set(endpoints.map(({ id }) => id));
    for (const [id, queue] of this.#queues) {
      if (known.has(id)) continue;
      this.#queues.delete(id);
      void queue.stop();
    }
    for (const endpoint of endpoints) {
      const queue = this.#queues.get(endpoint.id);
      if (queue !== undefined) queue.update(endpoint);
      else this.#queues.set(endpoint.id, this.#newQueue(endpoint));
    }
  }

  #newQueue(endpoint: Endpoint): EndpointQueue {
    const { user_id: account } = endpoint;
    const runningOfAccount = () => this.#runningByAccount.get(account) ?? 0;
    const deps = {
      ...this.#deps,
      mayBegin: () => !this.#isHeld && runningOfAccount() < MAX_REQUESTS - this.#running,
      began: () => {
        this.#running++;
        this.#runningByAccount.set(account, runningOfAccount() + 1);
      },
      ended: () => {
        this.#running--;
        if (runningOfAccount() > 1) this.#runningByAccount.set(account, runningOfAccount() - 1);
        else this.#runningByAccount.delete(account);
      },
    };
    return new EndpointQueue(deps, endpoint);
  }

  /** Writes the progress of all endpoints in one transaction. If the transaction fails, nothing is lost: the next call tries again. */
  #record(): void {
    const unwritten = [...this.#queues].flatMap(([id, queue]) => {
      const progress = queue.progress();
      return progress === null ? [] : [{ id, queue, progress }];
    });
    if (unwritten.length === 0) return;
    const freeLanes = recordProgress(
      this.#deps.client,
      unwritten.map(({ progress }) => progress),
      this.#deps.clock.now(),
    );
    for (const { id, queue } of unwritten) queue.recorded(freeLanes.get(id) ?? []);
  }
}
