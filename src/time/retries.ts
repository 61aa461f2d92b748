/** Work that failed, by id. It is left alone for a minute, so that the same failures do not take the time of other work at each step. */
import type { Clock } from './clock.ts';

const REST_MS = 60_000;

export class Retries {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** When each may be tried again, monotonic milliseconds. */
  readonly #failed = new Map<number, number>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Call it when the work with this id failed. */
  failed(id: number): void {
    this.#failed.set(id, this.#clock.monotonic() + REST_MS);
  }

  /** Returns the ids of the work that must not be tried now, as a JSON array for a statement. */
  resting(): string {
    const now = this.#clock.monotonic();
    for (const [id, until] of this.#failed) if (until <= now) this.#failed.delete(id);
    return JSON.stringify([...this.#failed.keys()]);
  }
}
