/** Limits how often somebody may do the same within a time, before the costly steps. */
import type { Clock } from '../time/clock.ts';

/** The maximum number of keys in memory. If there are more, the key whose window began first is forgotten. */
const MAX_KEYS = 10_000;

/** The numbers of requests that keys, such as networks, have made in their current window. */
export class FloodLimit {
  readonly #clock: Clock;
  readonly #windowMs: number;
  readonly #most: number;
  /** The number of requests of each key, and the beginning of its window in monotonic milliseconds. */
  readonly #windows = new Map<string, { count: number; since: number }>();

  /** Allows a key `most` requests in `windowMs` milliseconds. */
  constructor(clock: Clock, { most, windowMs }: { most: number; windowMs: number }) {
    this.#clock = clock;
    this.#most = most;
    this.#windowMs = windowMs;
  }

  /** Counts a request of a key. Returns whether the key has made too many in its current window. */
  count(key: string): 'accepted' | 'too many' {
    const now = this.#clock.monotonic();
    const window = this.#windows.get(key);
    if (window !== undefined && now - window.since < this.#windowMs)
      return ++window.count > this.#most ? 'too many' : 'accepted';
    this.#windows.delete(key);
    this.#windows.set(key, { count: 1, since: now });
    const [oldest] = this.#windows.keys();
    if (this.#windows.size > MAX_KEYS && oldest !== undefined) this.#windows.delete(oldest);
    return 'accepted';
  }
}
