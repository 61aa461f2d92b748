/**
 * Slows guessing down: after some attempts, the next one must wait, longer each time. Nobody is locked out. Attempts are
 * counted by network address and by user. A user at an address from which the user signed in before has a separate count, so
 * that strangers who guess do not make the user wait.
 */
import { isIPv6 } from 'node:net';
import type { Clock } from '../time/clock.ts';

const FREE_ATTEMPTS = 5;
/** The longest waits. They are short for counts that a stranger could raise for another user. */
const LONGEST_MS = { address: 15 * 60_000, user: 60_000, known: 60_000 };
type CountKind = keyof typeof LONGEST_MS;
/** A count is forgotten if there was no attempt for this time. */
const FORGET_MS = 60 * 60_000;
/** The maximum number of counts of each kind; beyond it, those unused for longest are forgotten. */
const MAX_COUNTS = 10_000;

interface Count {
  attempts: number;
  lastAt: number;
  waitUntil: number;
}

/** Who makes an attempt. */
export interface Attempt {
  /** The network address. */
  address: string;
  /** The given e-mail address, normalized, whether a user has it or not. */
  user: string;
  /** True if this user has signed in from this address before. */
  isKnown: boolean;
}

export class Throttle {
  readonly #clock: Clock;
  readonly #counts: Record<CountKind, Map<string, Count>> = { address: new Map(), user: new Map(), known: new Map() };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts an attempt before it is checked, so that concurrent attempts are counted too. Returns 0 if it may continue,
   * otherwise the milliseconds to wait. An attempt that must wait is not counted.
   */
  begin(attempt: Attempt): number {
    const now = this.#clock.monotonic();
    const keys = keysOf(attempt);
    const wait = Math.max(...keys.map(([kind, key]) => (this.#current(kind, key, now)?.waitUntil ?? 0) - now));
    if (wait > 0) return wait;
    for (const [kind, key] of keys) this.#count(kind, key, now);
    return 0;
  }

  /** Forgets the counts of a successful attempt. */
  succeed(attempt: Attempt): void {
    for (const [kind, key] of keysOf(attempt)) this.#counts[kind].delete(key);
  }

  #current(kind: CountKind, key: string, now: number): Count | undefined {
    const count = this.#counts[kind].get(key);
    return count !== undefined && now - count.lastAt < FORGET_MS ? count : undefined;
  }

  #count(kind: CountKind, key: string, now: number): void {
    const counts = this.#counts[kind];
    const attempts = (this.#current(kind, key, now)?.attempts ?? 0) + 1;
    const wait = attempts < FREE_ATTEMPTS ? 0 : Math.min(1000 * 2 ** (attempts - FREE_ATTEMPTS), LONGEST_MS[kind]);
    // Inserted again, so that the first key of the map is the one unused for longest.
    counts.delete(key);
    counts.set(key, { attempts, lastAt: now, waitUntil: now + wait });
    const [oldest] = counts.keys();
    if (counts.size > MAX_COUNTS && oldest !== undefined) counts.delete(oldest);
  }
}

function keysOf({ address, user, isKnown }: Attempt): [CountKind, string][] {
  const network = networkOf(address);
  if (isKnown) return [['known', `${user} ${network}`]];
  return [
    ['address', network],
    ['user', user],
  ];
}

/** Returns an IPv4 address, or the first 64 bits of an IPv6 address, which one customer has (RFC 6177). */
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
