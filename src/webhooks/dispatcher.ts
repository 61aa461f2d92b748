/** Delivers events to all endpoints. It runs in a separate thread, so that endpoints delay neither requests nor mail. */
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
  allowPrivate: boolean;
  /** For tests; the DNS by default. */
  resolve?: Resolve;
}

/**
 * The maximum number of concurrent requests to all endpoints. An account may begin another request while it has fewer than are
 * still free, so that accounts with slow endpoints always leave room for other accounts.
 */
const MAX_REQUESTS = 1000;
/** Endpoints are read again after this time, in case a message about their change was lost. */
const RELOAD_MS = 2000;

export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #queues = new Map<number, EndpointQueue>();
  readonly #oldEvents: OldEvents;
  #flying = 0;
  /** The number of running requests by account. */
  readonly #flyingOf = new Map<number, number>();
  #mustReload = true;
  #reloadedAt = 0;
  #isHeld = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#oldEvents = new OldEvents(deps.client);
  }

  /** Called when endpoints, tests or replays were added or changed. */
  changed(): void {
    this.#mustReload = true;
  }

  /**
   * Records finished requests and begins due ones. Returns true if any are running. Call it every few milliseconds while it returns true.
   */
  step(): boolean {
    const { client, clock } = this.#deps;
    this.#record();
    if (this.#mustReload || clock.monotonic() - this.#reloadedAt >= RELOAD_MS) this.#reload();
    this.#isHeld = sendingHeldReason(client) !== null;
    for (const queue of this.#queues.values()) queue.fill();
    this.#record();
    const hasMore = this.#oldEvents.remove(clock.now().getTime(), clock.monotonic());
    return hasMore || this.#flying > 0;
  }

  /** Begins no more requests, and records those that end. */
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
    const flyingOf = () => this.#flyingOf.get(account) ?? 0;
    const deps = {
      ...this.#deps,
      mayBegin: () => !this.#isHeld && flyingOf() < MAX_REQUESTS - this.#flying,
      began: () => {
        this.#flying++;
        this.#flyingOf.set(account, flyingOf() + 1);
      },
      ended: () => {
        this.#flying--;
        if (flyingOf() > 1) this.#flyingOf.set(account, flyingOf() - 1);
        else this.#flyingOf.delete(account);
      },
    };
    return new EndpointQueue(deps, endpoint);
  }

  /** Writes the progress of all endpoints in one transaction. If that fails, nothing is lost: the next call tries again. */
  #record(): void {
    const made = [...this.#queues].flatMap(([id, queue]) => {
      const progress = queue.progress();
      return progress === null ? [] : [{ id, queue, progress }];
    });
    if (made.length === 0) return;
    const free = recordProgress(
      this.#deps.client,
      made.map(({ progress }) => progress),
      this.#deps.clock.now(),
    );
    for (const { id, queue } of made) queue.recorded(free.get(id) ?? []);
  }
}
