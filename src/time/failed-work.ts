/** Remembers failed work and lets it rest for a minute, so that repeated failures do not take time from other work at each step. */
import type { Clock } from './clock.ts';

const REST_MS = 60_000;

export class FailedWork {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The time from which work may be tried again, in monotonic milliseconds, by the id of the work. */
  readonly #restsUntil = new Map<number, number>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Records that the work with this id failed. */
  add(id: number): void {
    this.#restsUntil.set(id, this.#clock.monotonic() + REST_MS);
  }

  /** Returns the ids of the work that must not be tried now, as a JSON array for a statement. */
  restingIdsJson(): string {
    const now = this.#clock.monotonic();
    for (const [id, until] of this.#restsUntil) if (until <= now) this.#restsUntil.delete(id);
    return JSON.stringify([...this.#restsUntil.keys()]);
  }
}
