/** How much this node takes for each of its relays, and which of them take no mail from it. */
import type { Outcome } from '../../delivery/transport/courier.ts';
import { isAboutNode } from '../about-node.ts';
import type { RelayShare } from '../protocol.ts';

/** Relays that refused this node get one mail after this time. */
const TRIAL_AFTER_MS = 15_000;
const MIN_CAPACITY = 200;
/** A node takes what it sends in so many seconds, so that it never waits for the brain. */
const CAPACITY_SECONDS = 1;

interface Use {
  sent: number;
  /** Mails a second, between the last two signs of life. */
  rate: number;
  refusal: string;
  refusedAt: number;
}

/** A relay of the service's file by its id, or null: any. */
type RelayKey = number | null;

export class RelayShares {
  readonly #uses = new Map<RelayKey, Use>();
  #ids: ReadonlySet<number> = new Set();
  #countedAt = performance.now();

  /** What a page's relay counts as: relays of this node's own have no ids, and any of them may be used. */
  keyOf(relayId: number | null): RelayKey {
    return relayId !== null && this.#ids.size > 0 ? relayId : null;
  }

  /** Forgets the relays there were. */
  replace(ids: readonly number[]): void {
    this.#ids = new Set(ids);
    this.#uses.clear();
  }

  /** Notes an outcome; whether it says that relays refuse this node, for the first time or still. */
  note(relayId: number | null, outcome: Outcome | 'withdrawn'): 'refused' | 'still refused' | null {
    if (outcome === 'withdrawn') return null;
    const use = this.#use(this.keyOf(relayId));
    if (outcome.kind === 'accepted') {
      use.sent++;
      use.refusal = '';
    }
    if (!isAboutNode(outcome)) return null;
    const isNew = use.refusal === '';
    use.refusedAt = performance.now();
    use.refusal = String(outcome.reply);
    return isNew ? 'refused' : 'still refused';
  }

  /** Counts what was sent since the last call. */
  measure(): void {
    const now = performance.now();
    for (const use of this.#uses.values()) {
      use.rate = (use.sent * 1000) / Math.max(1, now - this.#countedAt);
      use.sent = 0;
    }
    this.#countedAt = now;
  }

  /** Mails a second over all relays. */
  get rate(): number {
    return [...this.#uses.values()].reduce((sum, { rate }) => sum + rate, 0);
  }

  /** How many recipients it takes at a time for mail over any relay, and why it takes none. */
  get general(): Omit<RelayShare, 'id'> {
    return this.#share(null);
  }

  /** The same for each relay by itself; undefined when the relays have no ids. */
  get named(): RelayShare[] | undefined {
    return this.#ids.size === 0 ? undefined : [...this.#ids].map((id) => ({ id, ...this.#share(id) }));
  }

  #share(key: RelayKey): Omit<RelayShare, 'id'> {
    const { rate, refusal, refusedAt } = this.#use(key);
    const isRefused = refusal !== '';
    const mayTry = performance.now() - refusedAt >= TRIAL_AFTER_MS;
    const capacity = isRefused ? Number(mayTry) : Math.max(MIN_CAPACITY, Math.ceil(rate * CAPACITY_SECONDS));
    return { capacity, refusal };
  }

  #use(key: RelayKey): Use {
    const known = this.#uses.get(key);
    if (known !== undefined) return known;
    const made = { sent: 0, rate: 0, refusal: '', refusedAt: 0 };
    this.#uses.set(key, made);
    return made;
  }
}
