/**
 * Slows guessing down: after some attempts, the next one must wait, longer each time. Nobody is locked out. Attempts are counted by
 * network address and by user. A user at an address from which they signed in before has a count of their own, so that strangers who
 * guess at them do not keep them waiting.
 */
import { isIPv6 } from 'node:net';
import type { Clock } from '../time/clock.ts';

const FREE_ATTEMPTS = 5;
/** The longest wait. It is short where a stranger could impose it on somebody else. */
const LONGEST_MS = { address: 15 * 60_000, user: 60_000, known: 60_000 };
type Kind = keyof typeof LONGEST_MS;
/** A count is forgotten when nothing was tried for this long. */
const FORGET_MS = 60 * 60_000;
/** The most counts kept of each kind; beyond that, those unused for longest are forgotten. */
const MAX_COUNTS = 10_000;

interface Count {
  attempts: number;
  lastAt: number;
  waitUntil: number;
}

/** Who tries, and whether this user has signed in from this address before. */
export interface Attempt {
  address: string;
  /** The normalized e-mail address given, whether a user has it or not. */
  user: string;
  isKnown: boolean;
}

export class Throttle {
  readonly #clock: Clock;
  readonly #counts: Record<Kind, Map<string, Count>> = { address: new Map(), user: new Map(), known: new Map() };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts an attempt before it is judged, so that many at once are counted too. Gives 0 when it may go on, otherwise the
   * milliseconds to wait; an attempt that must wait is not counted.
   */
  begin(attempt: Attempt): number {
    const now = this.#clock.monotonic();
    const keys = keysOf(attempt);
    const wait = Math.max(...keys.map(([kind, key]) => (this.#current(kind, key, now)?.waitUntil ?? 0) - now));
    if (wait > 0) return wait;
    for (const [kind, key] of keys) this.#count(kind, key, now);
    return 0;
  }

  /** Forgets the counts of an attempt that was right. */
  succeed(attempt: Attempt): void {
    for (const [kind, key] of keysOf(attempt)) this.#counts[kind].delete(key);
  }

  #current(kind: Kind, key: string, now: number): Count | undefined {
    const count = this.#counts[kind].get(key);
    return count !== undefined && now - count.lastAt < FORGET_MS ? count : undefined;
  }

  #count(kind: Kind, key: string, now: number): void {
    const counts = this.#counts[kind];
    const attempts = (this.#current(kind, key, now)?.attempts ?? 0) + 1;
    const wait = attempts < FREE_ATTEMPTS ? 0 : Math.min(1000 * 2 ** (attempts - FREE_ATTEMPTS), LONGEST_MS[kind]);
    // Inserted anew, so that the first key of the map is the one unused for longest.
    counts.delete(key);
    counts.set(key, { attempts, lastAt: now, waitUntil: now + wait });
    const [oldest] = counts.keys();
    if (counts.size > MAX_COUNTS && oldest !== undefined) counts.delete(oldest);
  }
}

function keysOf({ address, user, isKnown }: Attempt): [Kind, string][] {
  const network = networkOf(address);
  if (isKnown) return [['known', `${user} ${network}`]];
  return [
    ['address', network],
    ['user', user],
  ];
}

/** An IPv4 address, or the first 64 bits of an IPv6 address, which is what one customer has (RFC 6177). */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail ? tail.split(':') : [];
  const missing = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length);
  return [...groups, ...Array<string>(missing).fill('0'), ...rest]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
