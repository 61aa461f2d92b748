/** How far a stream is applied, and waiting for it. */
export class Progress {
  #sequence = -1;
  readonly #waiting = new Set<() => void>();

  /** Everything up to this sequence is in the database. */
  reached(sequence: number): void {
    this.#sequence = sequence;
    for (const look of this.#waiting) look();
  }

  /** Resolves with true once everything up to this sequence is applied, with false after `ms`. */
  until(sequence: number, ms: number): Promise<boolean> {
    if (this.#sequence >= sequence) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (isApplied: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(isApplied);
      };
      const look = () => {
        if (this.#sequence >= sequence) finish(true);
      };
      const timer = setTimeout(() => finish(false), ms);
      this.#waiting.add(look);
    });
  }
}
