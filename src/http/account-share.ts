/** Keeps one account from using up shared resources: the compile thread, memory, database space. */
import { Failure, unavailable } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';

const TOO_MANY_REQUESTS = 429;

const tooMany = () => new Failure(TOO_MANY_REQUESTS, sentence('too_many_templates'));

interface Tasks {
  /** How many run. */
  underWay: number;
  /** Starts each task that waits. */
  waiting: (() => void)[];
}

/**
 * Returns a function that runs `work` for a key such as an account id: at most `atOnce` tasks of that key at a time, while further ones
 * wait. Throws the result of `refusal` if the key already has `most` running or waiting tasks, or if `isGone` returns true when the turn
 * of the task comes.
 */
export function limitPerKey({ most = Number.POSITIVE_INFINITY, refusal = unavailable, atOnce = 1 } = {}) {
  const byKey = new Map<number, Tasks>();
  return async function runLimited<T>(key: number, work: () => Promise<T>, isGone = () => false): Promise<T> {
    const own = byKey.get(key) ?? { underWay: 0, waiting: [] };
    if (own.underWay + own.waiting.length >= most) throw refusal();
    byKey.set(key, own);
    if (own.underWay < atOnce) own.underWay++;
    else await new Promise<void>((begin) => own.waiting.push(begin));
    try {
      if (isGone()) throw refusal();
      return await work();
    } finally {
      const next = own.waiting.shift();
      if (next !== undefined) next();
      else if (--own.underWay === 0) byKey.delete(key);
    }
  };
}

/**
 * For tasks that may compile templates, each of which can take seconds: three of an account at once, and 429 beyond that. Hundreds of them
 * would make other accounts wait for an hour.
 */
export const withinShare = limitPerKey({ most: 3, refusal: tooMany, atOnce: 3 });

/** Runs an account's tasks one after the other: those that check for space and then use it, and those that need much memory. */
export const inTurn = limitPerKey();

/** For checks of a mail for all its recipients, each of which may read many contacts. */
export const inCheckingTurn = limitPerKey({ most: 50, refusal: tooMany });

/** For showing an account its mails, each of which takes megabytes and a fraction of a second of a shared thread. */
export const inShowingTurn = limitPerKey({ most: 50, refusal: tooMany });
