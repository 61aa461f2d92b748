/**
 * Work that is prepared in parallel with the steps of the background thread, because a template may take seconds to compile. Nothing
 * is stored until a step takes the result.
 */
import { setTimeout } from 'node:timers/promises';

/** The time in milliseconds for which a step waits for the results. Most templates take less. */
const WAIT_MS = 20;
/** The maximum number of subjects of all accounts that are being prepared or ready. Each of them keeps a mail in memory. */
const MAX_SUBJECTS = 8;

/** A subject that is being prepared or is ready, such as a single send or a mail of an automation. */
interface Preparation<Subject, Result> {
  subject: Subject;
  /** Resolves when the preparation has ended, also if it failed. */
  ended: Promise<void>;
  /** Returns the result, or throws the error of the preparation; null until the preparation has ended. */
  take: (() => Result) | null;
}

/** Prepares at most one subject of each account at a time. */
export class Preparations<Subject, Result> {
  readonly #byAccount = new Map<number, Preparation<Subject, Result>>();

  /** True while a subject of any account is being prepared or ready. */
  get isUnderWay(): boolean {
    return this.#byAccount.size > 0;
  }

  /** Returns true while a subject of the account is being prepared or ready, or the maximum number of subjects of other accounts. */
  isBusy(accountId: number): boolean {
    return this.#byAccount.has(accountId) || this.#byAccount.size >= MAX_SUBJECTS;
  }

  /** Drops all subjects that are being prepared or ready, because their records may change before a step takes the results. */
  forget(): void {
    this.#byAccount.clear();
  }

  /** Begins to prepare a subject of an account that is not busy. */
  begin(accountId: number, subject: Subject, prepare: () => Promise<Result>): void {
    const finish = (take: () => Result) => {
      preparation.take = take;
    };
    const ended = prepare().then(
      (result) => finish(() => result),
      (error: unknown) =>
        finish(() => {
          throw error;
        }),
    );
    const preparation: Preparation<Subject, Result> = { subject, ended, take: null };
    this.#byAccount.set(accountId, preparation);
  }

  /**
   * Waits a moment for the subjects that are being prepared. Returns the subjects that are ready, each once. `take` returns the result of
   * a subject, or throws the error of its preparation.
   */
  async ready(): Promise<{ subject: Subject; take: () => Result }[]> {
    const unfinished = [...this.#byAccount.values()].filter(({ take }) => take === null);
    if (unfinished.length > 0)
      await Promise.race([Promise.all(unfinished.map(({ ended }) => ended)), setTimeout(WAIT_MS)]);
    return [...this.#byAccount].flatMap(([accountId, { subject, take }]) => {
      if (take === null) return [];
      this.#byAccount.delete(accountId);
      return [{ subject, take }];
    });
  }
}
