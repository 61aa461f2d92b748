/** Bounds how many forms a network can send in a minute, before their proof is judged and the file is written. */
import type { Clock } from '../../clock.ts';

const WINDOW_MS = 60_000;
const MOST = 60;
/** The most networks remembered; beyond that, those seen first are forgotten. */
const MOST_NETWORKS = 10_000;

export class Flood {
  readonly #clock: Clock;
  readonly #seen = new Map<string, { times: number; since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a form that a network sent; gives whether it sent too many in the last minute. */
  isTooMuch(network: string): boolean {
    const now = this.#clock.monotonic();
    const seen = this.#seen.get(network);
    if (seen !== undefined && now - seen.since < WINDOW_MS) return ++seen.times > MOST;
    this.#seen.delete(network);
    this.#seen.set(network, { times: 1, since: now });
    const [first] = this.#seen.keys();
    if (this.#seen.size > MOST_NETWORKS && first !== undefined) this.#seen.delete(first);
    return false;
  }
}
