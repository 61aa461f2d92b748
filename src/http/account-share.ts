/** Keeps one account from using up shared resources: the compile thread, memory, database space. */
import { Failure, unavailable } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';

const tooMany = () => new Failure(429, sentence('too_many_templates'));
const tooManyImports = () => new Failure(429, sentence('too_many_imports'));

interface Tasks {
  running: number;
  /** A function for each waiting task, which starts the task. */
  waiting: (() => void)[];
}

/**
 * Returns a function that runs `work` for a key such as an account id. At most `atOnce` tasks of a key run at a time, and further ones
 * wait. The function throws the result of `refusal` if the key already has `most` running or waiting tasks, or if `isGone` says at the
 * start of a task that its caller no longer waits.
 */
export function limitPerKey({ most = Number.POSITIVE_INFINITY, refusal = unavailable, atOnce = 1 } = {}) {
  const byKey = new Map<number, Tasks>();
  return async function runLimited<T>(key: number, work: () => Promise<T>, isGone = () => false): Promise<T> {
    const tasks = byKey.get(key) ?? { running: 0, waiting: [] };
    if (tasks.running + tasks.waiting.length >= most) throw refusal();
    byKey.set(key, tasks);
    if (tasks.running < atOnce) tasks.running++;
    else await new Promise<void>((begin) => tasks.waiting.push(begin));
    try {
      if (isGone()) throw refusal();
      return await work();
    } finally {
      const startNext = tasks.waiting.shift();
      if (startNext !== undefined) startNext();
      else if (--tasks.running === 0) byKey.delete(key);
    }
  };
}

/**
 * Runs tasks that may compile templates: three of an account at once, and a fourth is answered 429. A task can take seconds, so hundreds of
 * them would make other accounts wait for an hour.
 */
export const withinShare = limitPerKey({ most: 3, refusal: tooMany, atOnce: 3 });

/**
 * Runs uploads of files with contacts: twenty of an account at once, and a further one is answered 429. Each file takes space on the disk until
 * it is imported, and imports run one after the other.
 */
export const withinUploads = limitPerKey({ most: 20, refusal: tooManyImports, atOnce: 20 });

/** Runs an account's tasks one after the other: tasks that check for space and then use it, and tasks that need much memory. */
export const inTurn = limitPerKey();

/** Runs an account's checks of a mail for all its recipients one after the other, because each may read many contacts. */
export const inCheckingTurn = limitPerKey({ most: 50, refusal: tooMany });

/** Checks the mails of an account's reviews one after the other, because a review checks each variant or version. */
export const inReviewTurn = limitPerKey({ most: 10, refusal: tooMany });

/** Renders mails for pages of an account one after the other: each takes megabytes and a fraction of a second of a shared thread. */
export const inShowingTurn = limitPerKey({ most: 50, refusal: tooMany });
