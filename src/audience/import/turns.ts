/** Decides whose import is next. */

interface Waiting {
  account: number;
  begin(): void;
}

/** A queue of imports: one runs at a time, and accounts take turns, so that no account waits for all files of another. */
export class Turns {
  readonly #waiting: Waiting[] = [];
  /** The accounts that have had a turn, in the order in which their last turn began. */
  readonly #served = new Set<number>();
  #isRunning = false;

  /** Runs `work` when it is the account's turn, and returns its result. */
  async run<Result>(account: number, work: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((begin) => {
      this.#waiting.push({ account, begin });
      this.#next();
    });
    try {
      return await work();
    } finally {
      this.#isRunning = false;
      this.#next();
    }
  }

  #next(): void {
    if (this.#isRunning || this.#waiting.length === 0) return;
    const order = [...this.#served];
    // The place of an account that has not had a turn is -1, so it is next.
    const places = this.#waiting.map(({ account }) => order.indexOf(account));
    const [chosen] = this.#waiting.splice(places.indexOf(Math.min(...places)), 1);
    if (chosen === undefined) return;
    this.#isRunning = true;
    this.#served.delete(chosen.account);
    this.#served.add(chosen.account);
    chosen.begin();
  }
}
