/** Keeps each step of a search to a few milliseconds. */

/** The number of candidates of the first step, unless each check may be expensive. */
const FIRST_CANDIDATES = 200;
const MIN_CANDIDATES = 5;
const MAX_CANDIDATES = 2000;
/** A step that takes longer halves the number of candidates of the next step; one that takes less than half of this time doubles it. */
const STEP_MS = 8;

/**
 * Adapts how many contacts a search looks at in one step, because a check of one contact takes between a microsecond and, for
 * long names and many words, a hundred microseconds.
 */
export class Pace {
  #candidates: number;

  /** `first`: the number of candidates of the first step, lower if each check may be expensive. */
  constructor(first = FIRST_CANDIDATES) {
    this.#candidates = first;
  }

  /** Runs one step over this number of candidates, and measures it for the next one. */
  step<Result>(work: (candidates: number) => Result): Result {
    const started = performance.now();
    const result = work(this.#candidates);
    const took = performance.now() - started;
    if (took > STEP_MS) this.#candidates = Math.max(MIN_CANDIDATES, Math.floor(this.#candidates / 2));
    else if (took < STEP_MS / 2) this.#candidates = Math.min(MAX_CANDIDATES, this.#candidates * 2);
    return result;
  }
}
