/** Keeps one account from taking all of what everybody shares: the compiling thread, the memory, the room in the database. */
import { Failure, unavailable } from '../failure.ts';
import { SENTENCES } from '../sentences.ts';

const MOST_AT_ONCE = 3;
const TOO_MANY_REQUESTS = 429;

const tooMany = () => new Failure(TOO_MANY_REQUESTS, SENTENCES.too_many_templates);

const underWay = new Map<number, number>();

/**
 * Runs `work` for an account, three at once at most. A template can take seconds to compile, and hundreds of them would keep
 * everybody else waiting for an hour. Throws 429 while three of the account are under way.
 */
export async function withinShare<T>(accountId: number, work: () => Promise<T>): Promise<T> {
  const count = underWay.get(accountId) ?? 0;
  if (count >= MOST_AT_ONCE) throw tooMany();
  underWay.set(accountId, count + 1);
  try {
    return await work();
  } finally {
    const left = (underWay.get(accountId) ?? 1) - 1;
    if (left === 0) underWay.delete(accountId);
    else underWay.set(accountId, left);
  }
}

/** What is under way or waits for each account that has something to do. */
interface Turns {
  last: Promise<unknown>;
  count: number;
}

/**
 * Gives a function that runs `work` for an account when its earlier work has ended. Where `most` of the account are under way or wait, it
 * throws what `refusal` gives.
 */
export function turns(most = Number.POSITIVE_INFINITY, refusal = unavailable) {
  const ofAccounts = new Map<number, Turns>();
  return async function inTurn<T>(accountId: number, work: () => Promise<T>): Promise<T> {
    const before = ofAccounts.get(accountId);
    if (before !== undefined && before.count >= most) throw refusal();
    const result = before === undefined ? work() : before.last.then(work, work);
    const now = before ?? { last: result, count: 0 };
    ofAccounts.set(accountId, now);
    now.last = result;
    now.count++;
    try {
      return await result;
    } finally {
      if (--now.count === 0) ofAccounts.delete(accountId);
    }
  };
}

/** Used where what `work` takes is checked before it is taken, and where much memory is needed for it. */
export const inTurn = turns();

/** For showing an account its mails, each of which takes megabytes and a part of a second of the thread that everybody shares. */
export const inShowingTurn = turns(50, tooMany);
