/** The capacity of this node for each of its SMTP relays, and the relays that reject its mail. */
import type { Outcome } from '../../delivery/transport/courier.ts';
import { rejectsNode } from '../node-rejections.ts';
import type { RelayShare } from '../protocol.ts';

/** After this time, a relay that rejected this node gets one mail as a trial. */
const TRIAL_AFTER_MS = 15_000;
const MIN_CAPACITY = 200;
/** A node asks for as many mails as it sends in this number of seconds, so that it never waits for the controller. */
const CAPACITY_SECONDS = 1;

interface RelayUse {
  /** The number of mails since the last heartbeat. */
  sent: number;
  /** Mails per second between the last two heartbeats. */
  rate: number;
  /** The reply with which the relay rejects this node; empty if the relay does not reject it. */
  refusal: string;
  /** When the relay last rejected this node, by `performance.now`. */
  refusedAt: number;
}

/** The id of a relay in the main service's database; null for any relay. */
type RelayKey = number | null;

export class RelayShares {
  readonly #uses = new Map<RelayKey, RelayUse>();
  #ids: ReadonlySet<number> = new Set();
  #countedAt = performance.now();

  /**
   * Returns the key under which a page's relay is counted: null if this node has relays of its own, which have no ids and are
   * interchangeable.
   */
  keyOf(relayId: number | null): RelayKey {
    return relayId !== null && this.#ids.size > 0 ? relayId : null;
  }

  /** Replaces all relays, and forgets what was counted for the old ones. */
  replace(ids: readonly number[]): void {
    this.#ids = new Set(ids);
    this.#uses.clear();
  }

  /** Records an outcome. Returns whether the relay rejects this node for the first time or still; null if the relay does not reject it. */
  note(relayId: number | null, outcome: Outcome | 'withdrawn'): 'refused' | 'still refused' | null {
    if (outcome === 'withdrawn') return null;
    const use = this.#use(this.keyOf(relayId));
    if (outcome.kind === 'accepted') {
      use.sent++;
      use.refusal = '';
    }
    if (!rejectsNode(outcome)) return null;
    const isNew = use.refusal === '';
    use.refusedAt = performance.now();
    use.refusal = String(outcome.reply);
    return isNew ? 'refused' : 'still refused';
  }

  /** Computes the rates since the last call. */
  measure(): void {
    const now = performance.now();
    for (const use of this.#uses.values()) {
      use.rate = (use.sent * 1000) / Math.max(1, now - this.#countedAt);
      use.sent = 0;
    }
    this.#countedAt = now;
  }

  /** Mails per second over all relays. */
  get rate(): number {
    let total = 0;
    for (const { rate } of this.#uses.values()) total += rate;
    return total;
  }

  /** The number of recipients that this node takes at a time for mail over any relay, and the relay's reply if it rejects this node. */
  get anyRelay(): Omit<RelayShare, 'id'> {
    return this.#share(null);
  }

  /** The capacity and the reply for each relay; undefined if the relays have no ids. */
  get byRelay(): RelayShare[] | undefined {
    return this.#ids.size === 0 ? undefined : [...this.#ids].map((id) => ({ id, ...this.#share(id) }));
  }

  #share(key: RelayKey): Omit<RelayShare, 'id'> {
    const { rate, refusal, refusedAt } = this.#use(key);
    const isRefused = refusal !== '';
    const mayTry = performance.now() - refusedAt >= TRIAL_AFTER_MS;
    const capacity = isRefused ? Number(mayTry) : Math.max(MIN_CAPACITY, Math.ceil(rate * CAPACITY_SECONDS));
    return { capacity, refusal };
  }

  #use(key: RelayKey): RelayUse {
    const known = this.#uses.get(key);
    if (known !== undefined) return known;
    const use = { sent: 0, rate: 0, refusal: '', refusedAt: 0 };
    this.#uses.set(key, use);
    return use;
  }
}
