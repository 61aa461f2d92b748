/** Limits how many forms a network can submit per minute, before the costly steps: the proof of work and the write to the database. */
import type { Clock } from '../../time/clock.ts';

const WINDOW_MS = 60_000;
const MAX_PER_WINDOW = 60;
/** The maximum number of networks in memory. If there are more, the network whose window began first is forgotten. */
const MAX_NETWORKS = 10_000;

/** The numbers of forms that networks have submitted in their current minute. */
export class FloodLimit {
  readonly #clock: Clock;
  /** The number of submissions of each network, and the beginning of its window in monotonic milliseconds. */
  readonly #windows = new Map<string, { count: number; since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a form that a network submitted. Returns whether the network has submitted too many in the current minute. */
  countSubmission(network: string): 'accepted' | 'too many' {
    const now = this.#clock.monotonic();
    const window = this.#windows.get(network);
    if (window !== undefined && now - window.since < WINDOW_MS)
      return ++window.count > MAX_PER_WINDOW ? 'too many' : 'accepted';
    this.#windows.delete(network);
    this.#windows.set(network, { count: 1, since: now });
    const [oldest] = this.#windows.keys();
    if (this.#windows.size > MAX_NETWORKS && oldest !== undefined) this.#windows.delete(oldest);
    return 'accepted';
  }
}
