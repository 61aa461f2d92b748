/** The current throughput in messages per second, measured over short windows. */

const WINDOW_MS = 100;

export class Throughput {
  readonly #monotonic: () => number;
  #since: number;
  #count = 0;
  #perSecond = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#since = monotonic();
  }

  /** Counts one message. */
  add(): void {
    this.#count++;
    this.#roll(WINDOW_MS);
  }

  /** The rate of the last full window; it falls to 0 when messages stop. */
  get perSecond(): number {
    this.#roll(2 * WINDOW_MS);
    return this.#perSecond;
  }

  #roll(after: number): void {
    const now = this.#monotonic();
    const elapsed = now - this.#since;
    if (elapsed < after) return;
    this.#perSecond = (this.#count * 1000) / elapsed;
    this.#since = now;
    this.#count = 0;
  }
}
