/**
 * Slows guessing down: after some attempts each further attempt must wait, longer each time. Nobody is locked out. Attempts are
 * counted by network address and by user. A user has a separate count at addresses from which they have signed in before, so that
 * strangers who guess do not make the user wait.
 */
import { isIPv6 } from 'node:net';
import type { Clock } from '../time/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../units.ts';

/** The number of attempts after which the next attempt must wait. */
const FREE_ATTEMPTS = 5;
/**
 * The longest wait for each kind of count: by network address, by user, and by both for a `known` pair of user and address. The wait is
 * short for counts that a stranger could raise for another user.
 */
const MAX_WAIT_MS = { address: 15 * MINUTE_MS, user: 60_000, known: 60_000 };
type CountKind = keyof typeof MAX_WAIT_MS;
/**
 * The longest wait for the `user` and `known` counts of codes. Only somebody who knows the password can raise these counts, so the wait is
 * long: six digits could be guessed within months at one attempt per minute.
 */
const MAX_CODE_WAIT_MS = 30 * MINUTE_MS;
/** A count is forgotten if there was no attempt for this time. */
const FORGET_MS = HOUR_MS;
/** The maximum number of counts of each kind. If there are more, the count that is unused for longest is forgotten. */
const MAX_COUNTS = 10_000;

interface Count {
  attempts: number;
  /** When the last attempt was made, in monotonic milliseconds. */
  lastAt: number;
  /** The earliest time of the next attempt, in monotonic milliseconds. */
  waitUntil: number;
}

/** Who makes an attempt. */
export interface Attempt {
  /** The network address. */
  address: string;
  /** The typed e-mail address, normalized, whether or not a user has it; another text for attempts with a code or a passkey. */
  user: string;
  /** True if the user has signed in from the network address before. */
  isKnown: boolean;
  /** True if the attempt is with a code after the right password. */
  isCode?: boolean;
}

export class Throttle {
  readonly #clock: Clock;
  readonly #counts: Record<CountKind, Map<string, Count>> = { address: new Map(), user: new Map(), known: new Map() };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts an attempt before it is checked, so that concurrent attempts are counted too. Returns 0 if the attempt may go on,
   * otherwise the milliseconds to wait. An attempt that must wait is not counted.
   */
  begin(attempt: Attempt): number {
    const now = this.#clock.monotonic();
    const keys = keysOf(attempt);
    const wait = Math.max(...keys.map(([kind, key]) => (this.#current(kind, key, now)?.waitUntil ?? 0) - now));
    if (wait > 0) return wait;
    for (const [kind, key] of keys) this.#count(kind, key, now, longestWait(kind, attempt));
    return 0;
  }

  /** Forgets the counts to which a successful attempt was added. */
  succeed(attempt: Attempt): void {
    for (const [kind, key] of keysOf(attempt)) this.#counts[kind].delete(key);
  }

  #current(kind: CountKind, key: string, now: number): Count | undefined {
    const count = this.#counts[kind].get(key);
    return count !== undefined && now - count.lastAt < FORGET_MS ? count : undefined;
  }

  #count(kind: CountKind, key: string, now: number, longest: number): void {
    const counts = this.#counts[kind];
    const attempts = (this.#current(kind, key, now)?.attempts ?? 0) + 1;
    const wait = attempts < FREE_ATTEMPTS ? 0 : Math.min(1000 * 2 ** (attempts - FREE_ATTEMPTS), longest);
    // The count is inserted anew, so that the first key of the map is the one that is unused for longest.
    counts.delete(key);
    counts.set(key, { attempts, lastAt: now, waitUntil: now + wait });
    const [oldest] = counts.keys();
    if (counts.size > MAX_COUNTS && oldest !== undefined) counts.delete(oldest);
  }
}

function longestWait(kind: CountKind, { isCode = false }: Attempt): number {
  return isCode && kind !== 'address' ? MAX_CODE_WAIT_MS : MAX_WAIT_MS[kind];
}

function keysOf({ address, user, isKnown }: Attempt): [CountKind, string][] {
  const network = networkOf(address);
  if (isKnown) return [['known', `${user} ${network}`]];
  return [
    ['address', network],
    ['user', user],
  ];
}

/** Returns an IPv4 address unchanged, and the first 64 bits of an IPv6 address, which belong to one customer (RFC 6177). */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  const [head = '', tail] = address.split('::');
  const firstGroups = head === '' ? [] : head.split(':');
  const lastGroups = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - firstGroups.length - lastGroups.length);
  return [...firstGroups, ...Array<string>(zeros).fill('0'), ...lastGroups]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
