/** Keeps one account from taking all of what everybody shares: the compiling thread, the memory, the room in the database. */
import { Failure, unavailable } from '../errors/failure.ts';
import { sentence } from '../errors/sentences.ts';

const TOO_MANY_REQUESTS = 429;

const tooMany = () => new Failure(TOO_MANY_REQUESTS, sentence('too_many_templates'));

/** What somebody has under way, and what begins when that has ended. */
interface Turns {
  underWay: number;
  waiting: (() => void)[];
}

/**
 * Gives a function that runs `work` for somebody with an id, such as an account: `atOnce` of theirs at a time, while others of theirs wait. It
 * throws what `refusal` gives where `most` of theirs are under way or wait already.
 */
export function turns(most = Number.POSITIVE_INFINITY, refusal = unavailable, atOnce = 1) {
  const byId = new Map<number, Turns>();
  return async function inTurn<T>(id: number, work: () => Promise<T>): Promise<T> {
    const own = byId.get(id) ?? { underWay: 0, waiting: [] };
    if (own.underWay + own.waiting.length >= most) throw refusal();
    byId.set(id, own);
    if (own.underWay < atOnce) own.underWay++;
    else await new Promise<void>((begin) => own.waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = own.waiting.shift();
      if (next !== undefined) next();
      else if (--own.underWay === 0) byId.delete(id);
    }
  };
}

/**
 * For what may compile templates, each of which can take seconds: three of an account at once, and beyond them 429. Hundreds of them would keep
 * everybody else waiting for an hour.
 */
export const withinShare = turns(3, tooMany, 3);

/** One work of an account after the other: where it checks that there is room and then takes it, and where it needs much memory. */
export const inTurn = turns();

/** For showing an account its mails, each of which takes megabytes and a part of a second of the thread that everybody shares. */
export const inShowingTurn = turns(50, tooMany);
