/**
 * Work that is prepared beside the steps of the background thread, because a template may take seconds to compile. Nothing is
 * stored before a step takes up the result.
 */
import { setTimeout } from 'node:timers/promises';

/** How long a step waits for what is being prepared, in milliseconds. Most templates take less. */
const WAIT_MS = 20;
/** How many subjects of all accounts are prepared or ready at once. Each keeps a mail in memory. */
const MOST = 8;

interface Preparation<Subject, Made> {
  subject: Subject;
  ended: Promise<void>;
  /** Returns what was prepared, or throws the error that stopped it; null: it is being prepared. */
  take: (() => Made) | null;
}

/** Prepares at most one subject of each account at a time. */
export class Preparations<Subject, Made> {
  readonly #ofAccounts = new Map<number, Preparation<Subject, Made>>();

  /** True while something of any account is being prepared, or is ready. */
  get isUnderWay(): boolean {
    return this.#ofAccounts.size > 0;
  }

  /** Returns true while something of the account is being prepared or ready, or as much of other accounts as can be at once. */
  isBusy(accountId: number): boolean {
    return this.#ofAccounts.has(accountId) || this.#ofAccounts.size >= MOST;
  }

  /** Drops what is being prepared or ready, because what it was made from may change before a step takes it up. */
  forget(): void {
    this.#ofAccounts.clear();
  }

  /** Begins to prepare a subject of an account that is not busy. */
  begin(accountId: number, subject: Subject, prepare: () => Promise<Made>): void {
    const finish = (take: () => Made) => {
      preparation.take = take;
    };
    const ended = prepare().then(
      (result) => finish(() => result),
      (error: unknown) =>
        finish(() => {
          throw error;
        }),
    );
    const preparation: Preparation<Subject, Made> = { subject, ended, take: null };
    this.#ofAccounts.set(accountId, preparation);
  }

  /** Waits a moment for what is being prepared. Returns what is ready, each subject once; `take` throws the error that stopped it. */
  async ready(): Promise<{ subject: Subject; take: () => Made }[]> {
    const underWay = [...this.#ofAccounts.values()].filter(({ take }) => take === null);
    if (underWay.length > 0) await Promise.race([Promise.all(underWay.map(({ ended }) => ended)), setTimeout(WAIT_MS)]);
    return [...this.#ofAccounts].flatMap(([accountId, { subject, take }]) => {
      if (take === null) return [];
      this.#ofAccounts.delete(accountId);
      return [{ subject, take }];
    });
  }
}
