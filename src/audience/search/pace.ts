/** How many contacts a search looks at in one step: what it asks of each can cost a microsecond or, for long names and many words, a hundred. */

const FIRST = 200;
const LEAST = 5;
const MOST = 2000;
/** A step that took longer halves the next one, one that took less than half of it doubles that. */
const STEP_MS = 8;

export class Pace {
  #candidates: number;

  /** `first`: how many the first step looks at, fewer where each may cost much. */
  constructor(first = FIRST) {
    this.#candidates = first;
  }

  /** Runs one step over so many candidates, and takes its time for the next one. */
  step<Result>(work: (candidates: number) => Result): Result {
    const started = performance.now();
    const result = work(this.#candidates);
    const took = performance.now() - started;
    if (took > STEP_MS) this.#candidates = Math.max(LEAST, Math.floor(this.#candidates / 2));
    else if (took < STEP_MS / 2) this.#candidates = Math.min(MOST, this.#candidates * 2);
    return result;
  }
}
