/** The sender nodes that are known now: how much each takes and has, and until when it may begin mails. */
import type { Outcome } from '../../delivery/transport/courier.ts';
import { isAboutNode } from '../about-node.ts';
import { type Beat, LOST_AFTER_MS, NODE_LEASE_MS, type Withdrawal } from '../protocol.ts';

export interface FleetNode {
  run: string;
  name: string;
  version: string;
  capacity: number;
  rate: number;
  refusal: string;
  /** Recipients it was given and has not reported. */
  load: number;
  /** When it was last heard, and last told that its lease is renewed; monotonic milliseconds. */
  heardAt: number;
  renewedAt: number;
  /** Whether what it has and what we know of it were compared since this process started. */
  isKnown: boolean;
  /** Whether it was silent for too long. Its lease is never renewed again. */
  isLost: boolean;
  /** What it must not begin any more and has not confirmed. */
  withdrawals: Withdrawal[];
}

/** What a node may claim to take, so that one that is wrong does not get everything. */
const MAX_CAPACITY = 20_000;

export class Fleet {
  readonly #nodes = new Map<string, FleetNode>();
  readonly #monotonic: () => number;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  get all(): readonly FleetNode[] {
    return [...this.#nodes.values()];
  }

  /** Those that may be given pages. */
  get ready(): FleetNode[] {
    return this.all.filter((node) => node.isKnown && !node.isLost && node.capacity > 0 && this.mayBegin(node));
  }

  find(run: string): FleetNode | undefined {
    return this.#nodes.get(run);
  }

  /** Adds a node that has pages from before this process was started. It counts as having been renewed just now. */
  remember(run: string): void {
    if (!this.#nodes.has(run)) this.#add(run, this.#monotonic());
  }

  /** Adds a node that does not know this run of the brain yet; false if it was silent for too long. */
  greet(beat: Beat): boolean {
    const node = this.#nodes.get(beat.run) ?? this.#add(beat.run, Number.NEGATIVE_INFINITY);
    if (!node.isLost) this.#update(node, beat);
    return !node.isLost;
  }

  /** Notes the sign of life of a node; undefined for one that was given up. */
  hear(beat: Beat): FleetNode | undefined {
    const node = this.#nodes.get(beat.run);
    if (node === undefined || node.isLost) return undefined;
    this.#update(node, beat);
    return node;
  }

  /** Whether the node's lease is renewed by the answer that is being given: once it is known what it has. */
  renew(node: FleetNode): boolean {
    if (node.isKnown) node.renewedAt = this.#monotonic();
    return node.isKnown;
  }

  /** Whether a node may still begin mails, since it was renewed not long ago. */
  mayBegin({ renewedAt }: FleetNode): boolean {
    return this.#monotonic() - renewedAt < NODE_LEASE_MS;
  }

  lost(): FleetNode[] {
    const now = this.#monotonic();
    for (const node of this.all) if (now - node.heardAt >= LOST_AFTER_MS) node.isLost = true;
    return this.all.filter(({ isLost }) => isLost);
  }

  forgiveSilence(): void {
    for (const node of this.all) node.heardAt = this.#monotonic();
  }

  remove(run: string): void {
    this.#nodes.delete(run);
  }

  /** Changes how many recipients a node has. */
  load(run: string, by: number): void {
    const node = this.#nodes.get(run);
    if (node !== undefined) node.load += by;
  }

  /** The node with the largest share of its capacity free; `more` are recipients it is being given. */
  leastLoaded(more: (run: string) => number): FleetNode | undefined {
    const free = ({ run, capacity, load }: FleetNode) => (capacity - load - more(run)) / capacity;
    return this.ready.reduce<FleetNode | undefined>(
      (best, node) => (best === undefined || free(node) > free(best) ? node : best),
      undefined,
    );
  }

  /**
   * What an outcome means for the recipient: one that is about the node alone, because its relays do not take its mail, is no outcome
   * while there is another node that can try.
   */
  judge(run: string, outcome: Outcome | 'withdrawn'): Outcome | 'withdrawn' {
    if (outcome === 'withdrawn' || !isAboutNode(outcome)) return outcome;
    const node = this.#nodes.get(run);
    if (node !== undefined && node.refusal === '') {
      node.refusal = outcome.reply;
      node.capacity = 0;
    }
    return this.ready.some((other) => other.run !== run && other.refusal === '') ? 'withdrawn' : outcome;
  }

  #add(run: string, renewedAt: number): FleetNode {
    const node: FleetNode = {
      run,
      name: '',
      version: '',
      capacity: 0,
      rate: 0,
      refusal: '',
      load: 0,
      heardAt: this.#monotonic(),
      renewedAt,
      isKnown: false,
      isLost: false,
      withdrawals: [],
    };
    this.#nodes.set(run, node);
    return node;
  }

  #update(node: FleetNode, { name, version, capacity, rate, refusal }: Beat): void {
    const taken = Math.max(0, Math.min(MAX_CAPACITY, Math.floor(capacity) || 0));
    Object.assign(node, { name, version, rate, refusal, capacity: taken, heardAt: this.#monotonic() });
  }
}
