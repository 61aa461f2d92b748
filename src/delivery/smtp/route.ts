/** Which relay gets the next connection: failover, backoff and how many connections each relay puts up with. */
import type { Outcome } from './outcome.ts';
import type { Relay } from './relay.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** How long a relay that wanted fewer connections is left alone before it gets more again. */
const GROWTH_MS = 30_000;

/** One relay as the pool has come to know it. */
export type Route = {
  readonly relay: Relay;
  /** Connections that are being opened, and those ready to carry mail. */
  opening: number;
  open: number;
  /** The most connections it seems to accept. */
  limit: number;
  growAt: number;
  /** Failures since it last carried a transaction; not to be tried before `retryAt`. */
  failures: number;
  retryAt: number;
  trouble: Outcome | null;
  /** Nothing is written behind a message's dot before this moment: what was last, the relay did not take well. */
  followAt: number;
};

export class Routes {
  readonly all: readonly Route[];
  readonly #most: number;
  readonly #monotonic: () => number;

  /** `most`: the connections a relay may get at best. `monotonic`: milliseconds that never run backwards. */
  constructor(relays: readonly Relay[], most: number, monotonic: () => number) {
    this.#most = most;
    this.#monotonic = monotonic;
    this.all = relays.map((relay) => ({
      relay,
      opening: 0,
      open: 0,
      limit: most,
      growAt: 0,
      failures: 0,
      retryAt: 0,
      trouble: null,
      followAt: 0,
    }));
  }

  /** The first relay of the list that is not paused, or null. */
  preferred(): Route | null {
    const now = this.#monotonic();
    return this.all.find((route) => now >= route.retryAt) ?? null;
  }

  /** Milliseconds until some relay may be tried; 0 where one may be now. */
  pause(): number {
    const first = Math.min(...this.all.map((route) => route.retryAt));
    return Math.max(0, first - this.#monotonic());
  }

  /** Why no relay can be had: what may pass, if anything may, otherwise the first relay's reason. */
  trouble(): Outcome | null {
    const troubles = this.all.flatMap((route) => route.trouble ?? []);
    return troubles.find((trouble) => trouble.kind === 'deferred') ?? troubles[0] ?? null;
  }

  /**
   * Whether one more connection may be opened: as many at a time as already stand, so that a relay with a limit shows
   * it to a connection that can be spared. After a failure one has to carry something first.
   */
  hasRoom(route: Route): boolean {
    const now = this.#monotonic();
    if (route.limit < this.#most && now >= route.growAt) {
      route.limit = Math.min(this.#most, Math.ceil(route.limit * 1.5));
      route.growAt = now + GROWTH_MS;
    }
    const limit = route.failures > 0 ? 1 : route.limit;
    return route.opening < Math.max(1, route.open) && route.opening + route.open < limit;
  }

  /** A connection did not come about or broke before it was of use. */
  failed(route: Route, trouble: Outcome): void {
    const now = this.#monotonic();
    if (route.open > 0) {
      route.limit = route.open;
      route.growAt = now + GROWTH_MS;
      return;
    }
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** route.failures);
    route.retryAt = now + pause * (0.75 + Math.random() / 4);
    route.failures = Math.min(route.failures + 1, 10);
    // Those who hear of it later had not begun: for them, no connection could be had.
    const early = trouble.stage === 'connect' || trouble.stage === 'tls' || trouble.stage === 'auth';
    route.trouble = early ? trouble : { ...trouble, stage: 'connect' };
  }

  /** A transaction came to its end, whatever that was. */
  worked(route: Route): void {
    if (route.failures === 0) return;
    route.failures = 0;
    route.retryAt = 0;
    route.trouble = null;
  }
}
