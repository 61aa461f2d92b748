/** Whose import is next: one runs at a time, and accounts take turns, so that nobody waits for all the files of another. */

interface Waiting {
  account: number;
  begin(): void;
}

export class Turns {
  readonly #waiting: Waiting[] = [];
  /** Accounts in the order in which their last turn began. */
  readonly #served = new Set<number>();
  #isRunning = false;

  /** Runs `work` when it is the account's turn, and gives its result. */
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
    const places = this.#waiting.map(({ account }) => order.indexOf(account));
    const [chosen] = this.#waiting.splice(places.indexOf(Math.min(...places)), 1);
    if (chosen === undefined) return;
    this.#isRunning = true;
    this.#served.delete(chosen.account);
    this.#served.add(chosen.account);
    chosen.begin();
  }
}
