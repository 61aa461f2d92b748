/** The known sender nodes: the capacity and load of each node, and how long it may start mails. */
import type { Outcome } from '../../delivery/transport/courier.ts';
import { rejectsNode } from '../node-rejections.ts';
import { type Beat, NODE_LEASE_MS, type RelayShare, type Withdrawal } from '../protocol.ts';
import type { NodeDays } from './node-days.ts';

export interface FleetNode {
  run: string;
  name: string;
  version: string;
  protocol: number;
  /** The number of mails on the first day of the node's warm-up; 0: no warm-up. */
  warmUp: number;
  /** True if the node is shutting down. */
  isEnding: boolean;
  /** How many recipients the node takes at a time. */
  capacity: number;
  /** Mails per second that the node's relays accepted recently. */
  rate: number;
  /** The reply with which the node's relays refused its mail; empty: they do not refuse it. */
  refusal: string;
  /** Capacity and refusal for each stored SMTP relay, for mail bound to it; undefined if the node has its own relays. */
  relays: RelayShare[] | undefined;
  /** The number of recipients that the node was given and has not reported. */
  load: number;
  /** How many of these recipients are bound to one SMTP relay, by relay id. */
  loads: Map<number, number>;
  /** When the last heartbeat of the node arrived, monotonic milliseconds. */
  heardAt: number;
  /** When the node's lease was last renewed, monotonic milliseconds. */
  renewedAt: number;
  /** True if the node's pages have been compared with those of the controller since this process started. */
  isKnown: boolean;
  /** Withdrawals that the node has not confirmed yet. */
  withdrawals: Withdrawal[];
}

interface GivenPage {
  id: number;
  run: string;
  mailing: { relay_id: number | null };
}

/** The maximum length of stored texts that a node sends about itself. */
const MAX_TEXT = 500;
/** The maximum capacity a node may claim, so that a faulty node does not get all recipients. */
const MAX_CAPACITY = 20_000;
/** The maximum number of relays that are read from a heartbeat. */
const MAX_RELAYS = 1000;

export class Fleet {
  readonly #nodes = new Map<string, FleetNode>();
  readonly #monotonic: () => number;
  readonly #days: Pick<NodeDays, 'remainingToday' | 'countEnd'>;

  constructor(monotonic: () => number, days: Pick<NodeDays, 'remainingToday' | 'countEnd'>) {
    this.#monotonic = monotonic;
    this.#days = days;
  }

  get all(): readonly FleetNode[] {
    return [...this.#nodes.values()];
  }

  /** The nodes that may be given pages. */
  get ready(): FleetNode[] {
    return this.all.filter((node) => node.isKnown && this.mayStart(node) && this.remainingToday(node) > 0);
  }

  /**
   * How many more recipients all nodes take: for one stored SMTP relay, or for any relay (null). Nodes with the same name share a warm-up.
   */
  room(relayId: number | null): number {
    const rooms = new Map<string, { free: number; remaining: number }>();
    for (const node of this.ready) {
      const room = rooms.get(node.name) ?? { free: 0, remaining: this.remainingToday(node) };
      room.free += Math.max(0, roomOf(node, relayId));
      rooms.set(node.name, room);
    }
    let total = 0;
    for (const { free, remaining } of rooms.values()) total += Math.min(free, remaining);
    return total;
  }

  /** How many more recipients a node may be given today; infinite without a warm-up. */
  remainingToday(node: FleetNode): number {
    return this.#days.remainingToday(node);
  }

  find(run: string): FleetNode | undefined {
    return this.#nodes.get(run);
  }

  /** Adds a node that has pages from before this process started. Its lease counts as renewed just now. */
  remember(run: string): void {
    if (!this.#nodes.has(run)) this.#add(run, this.#monotonic());
  }

  /** Adds a node that does not know this run of the controller yet. */
  addUnknown(beat: Beat): void {
    this.#update(this.#nodes.get(beat.run) ?? this.#add(beat.run, Number.NEGATIVE_INFINITY), beat);
  }

  /** Records a node's heartbeat. Returns undefined for a node that was given up. */
  recordHeartbeat(beat: Beat): FleetNode | undefined {
    const node = this.#nodes.get(beat.run);
    if (node !== undefined) this.#update(node, beat);
    return node;
  }

  /** Renews the lease of a node if its pages are known. Returns true if the lease is renewed. */
  renew(node: FleetNode): boolean {
    if (node.isKnown) node.renewedAt = this.#monotonic();
    return node.isKnown;
  }

  /** True if the lease of a node was renewed recently enough for the node to start mails. */
  mayStart({ renewedAt }: FleetNode): boolean {
    return this.#monotonic() - renewedAt < NODE_LEASE_MS;
  }

  /** The milliseconds since the last heartbeat of a node. */
  silenceOf({ heardAt }: FleetNode): number {
    return this.#monotonic() - heardAt;
  }

  /** Restarts the silence timer of every node. */
  resetSilence(): void {
    for (const node of this.all) node.heardAt = this.#monotonic();
  }

  /** Makes every node report its pages again before its lease is renewed. */
  forgetComparisons(): void {
    for (const node of this.all) node.isKnown = false;
  }

  remove(run: string): void {
    this.#nodes.delete(run);
  }

  /** Adds a number of recipients to a node's load, or removes them if `by` is negative. `relayId` is the relay they are bound to, or null. */
  addLoad(run: string, relayId: number | null, by: number): void {
    const node = this.#nodes.get(run);
    if (node === undefined) return;
    node.load += by;
    if (relayId !== null) node.loads.set(relayId, (node.loads.get(relayId) ?? 0) + by);
  }

  /**
   * The node with the largest free share of its capacity, for one SMTP relay or for any relay (null). `more` returns how many recipients are
   * being given to a node right now, in addition to its load.
   */
  leastLoaded(relayId: number | null, more: (run: string) => number): FleetNode | undefined {
    const free = (node: FleetNode) => {
      const { capacity } = shareOf(node, relayId);
      return capacity === 0 ? Number.NEGATIVE_INFINITY : (roomOf(node, relayId) - more(node.run)) / capacity;
    };
    const [first, ...others] = this.ready;
    return others.reduce((best, node) => (best === undefined || free(node) > free(best) ? node : best), first);
  }

  /**
   * Returns the meaning of an outcome for the recipient. If a relay rejects all mail of the node, the outcome counts as withdrawn while
   * another node can try. The node then gets no more mail for this relay.
   */
  judge(run: string, relayId: number | null, outcome: Outcome | 'withdrawn'): Outcome | 'withdrawn' {
    if (outcome === 'withdrawn' || !rejectsNode(outcome)) return outcome;
    const node = this.#nodes.get(run);
    const share = node && shareOf(node, relayId);
    if (share !== undefined && share.refusal === '') {
      share.refusal = String(outcome.reply);
      share.capacity = 0;
    }
    const canTry = (other: FleetNode) => {
      const share = shareOf(other, relayId);
      return other.run !== run && share.capacity > 0 && share.refusal === '';
    };
    return this.ready.some(canTry) ? 'withdrawn' : outcome;
  }

  /** Counts the end of a recipient on a page. Returns the outcome's meaning for the recipient. */
  countEnd({ id, run, mailing }: GivenPage, outcome: Outcome | 'withdrawn'): Outcome | 'withdrawn' {
    const judged = this.judge(run, mailing.relay_id, outcome);
    const node = this.#nodes.get(run);
    // Mails that a lost node did not report may have been sent, so they count as given.
    if (node !== undefined) this.#days.countEnd(node, id, judged);
    return judged;
  }

  #add(run: string, renewedAt: number): FleetNode {
    const node: FleetNode = {
      run,
      name: '',
      version: '',
      protocol: 0,
      warmUp: 0,
      isEnding: false,
      capacity: 0,
      rate: 0,
      refusal: '',
      relays: undefined,
      load: 0,
      loads: new Map(),
      heardAt: this.#monotonic(),
      renewedAt,
      isKnown: false,
      withdrawals: [],
    };
    this.#nodes.set(run, node);
    return node;
  }

  #update(node: FleetNode, beat: Beat): void {
    node.name = toText(beat.name) || 'node';
    node.version = toText(beat.version);
    node.protocol = toCount(beat.protocol);
    node.rate = toCount(beat.rate);
    node.refusal = toText(beat.refusal);
    node.capacity = bounded(beat.capacity);
    node.relays = beat.relays
      ?.slice(0, MAX_RELAYS)
      .map(({ id, capacity, refusal }) => ({ id, capacity: bounded(capacity), refusal: toText(refusal) }));
    node.warmUp = toCount(beat.warmUp);
    node.isEnding = beat.isEnding === true;
    node.heardAt = this.#monotonic();
  }
}

/** The capacity and refusal of a node for a stored SMTP relay, or for any relay (null). */
function shareOf(node: FleetNode, relayId: number | null): Pick<RelayShare, 'capacity' | 'refusal'> {
  if (relayId === null || node.relays === undefined) return node;
  return node.relays.find(({ id }) => id === relayId) ?? { capacity: 0, refusal: '' };
}

/** How many more recipients a node takes for an SMTP relay, or for any relay (null). Mail bound to one relay takes no capacity from others. */
function roomOf(node: FleetNode, relayId: number | null): number {
  const { capacity } = shareOf(node, relayId);
  if (relayId !== null && node.relays !== undefined) return capacity - (node.loads.get(relayId) ?? 0);
  let unbound = node.load;
  if (node.relays !== undefined) for (const load of node.loads.values()) unbound -= load;
  return capacity - unbound;
}

function bounded(capacity: number): number {
  return Math.min(MAX_CAPACITY, toCount(capacity));
}

/** Reads a text that a node sent; empty if the value is not a text, because the node is of another release or faulty. */
function toText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT) : '';
}

/** Reads a count that a node sent; 0 if the value is not a number. */
function toCount(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER) : 0;
}
