/**
 * Gives claimed recipients to sender nodes, page by page, and takes what they report. What a node has is on disk with the claims, and
 * goes back to the queue only when the node can begin none of it any more and everything it reported was taken.
 */
import type { Database } from 'better-sqlite3';
import type { Claim } from '../../delivery/queue/candidates.ts';
import { type LateAcceptance, NodePages } from '../../delivery/queue/ledger/node-pages.ts';
import type { Batch } from '../../delivery/sending/claims.ts';
import type { Handoffs, HandoffsDeps } from '../../delivery/sending/handoffs.ts';
import type { Outcome } from '../../delivery/transport/courier.ts';
import { type Beat, type BeatReply, isSameInstallation, outcomeOf, PROTOCOL, type Report } from '../protocol.ts';
import type { Contents } from './contents.ts';
import { Fleet, type FleetNode } from './fleet.ts';
import { NodePacing } from './pacing.ts';
import type { PageSender } from './page-sender.ts';
import { type HeldPage, Withdrawals } from './withdrawals.ts';

/** Recipients on a page, at most. */
const PAGE_ROWS = 100;

export interface NodeHandoffsDeps extends HandoffsDeps {
  client: Database;
  /** The name of this run of the brain. */
  brain: string;
  monotonic(): number;
  contents: Contents;
  sender: PageSender;
  /** Changes with the settings that nodes take from the brain. */
  settings(): string;
}

export class NodeHandoffs implements Handoffs {
  readonly #deps: NodeHandoffsDeps;
  readonly #stored: NodePages;
  readonly #fleet: Fleet;
  readonly #pacing: NodePacing;
  readonly #pages = new Map<number, HeldPage>();
  /** Pages that were assigned in the transaction that is not committed yet. */
  #assigned: { page: HeldPage; batch: Batch; claims: Claim[] }[] = [];
  /** What the next transaction writes. */
  #ended: number[] = [];
  #late: LateAcceptance[] = [];
  readonly #withdrawals: Withdrawals;
  #position: string;
  #isPositionNew = false;
  #inFlight = 0;
  #isClosed = false;

  constructor(deps: NodeHandoffsDeps) {
    this.#deps = deps;
    this.#stored = new NodePages(deps.client);
    this.#fleet = new Fleet(deps.monotonic);
    this.#pacing = new NodePacing(() => this.room(null));
    this.#withdrawals = new Withdrawals(this.#pages, this.#fleet, (run, withdrawals, onDone) =>
      deps.sender.withdraw(run, deps.brain, withdrawals, onDone),
    );
    this.#position = this.#stored.position();
    for (const { claims, ...page } of this.#stored.load()) {
      this.#hold({ ...page, claims: new Map(claims.map((claim) => [claim.id, claim])), isWithdrawn: false });
      this.#fleet.remember(page.run);
    }
  }

  /** The nodes, for lists of them. */
  get nodes(): readonly FleetNode[] {
    return this.#fleet.all;
  }

  /** How far reports are taken, as `take` was told. */
  get position(): string {
    return this.#position;
  }

  get inFlight(): number {
    return this.#isClosed ? 0 : this.#inFlight;
  }

  /** How much the next `record` has to write. */
  get unrecorded(): number {
    return this.#ended.length + this.#late.length + (this.#isPositionNew ? 1 : 0);
  }

  /** Every node gets mail for every relay, because each knows only itself how busy its relays are. */
  room(_relayId: number | null): number {
    return this.#isClosed
      ? 0
      : this.#fleet.ready.reduce((sum, node) => sum + Math.max(0, node.capacity - node.load), 0);
  }

  assign(batches: readonly Batch[]): void {
    this.#assigned = [];
    const given = new Map<string, number>();
    for (const batch of batches) {
      for (let from = 0; from < batch.claims.length; ) {
        const node = this.#fleet.leastLoaded((run) => given.get(run) ?? 0);
        // There was room a moment ago in the same turn of the event loop, so there is a node; at worst it gets some more than it asked for.
        const run = node?.run ?? '';
        const claims = batch.claims.slice(from, from + PAGE_ROWS);
        from += claims.length;
        given.set(run, (given.get(run) ?? 0) + claims.length);
        const ids = claims.map(({ id }) => id);
        const id = this.#stored.add(run, batch.mailing.id, ids);
        const page = { id, run, mailing: batch.mailing, claims: new Map<number, Claim>(), isWithdrawn: false };
        this.#assigned.push({ page, batch, claims });
      }
    }
  }

  /** The pages are sent once they are on disk, by `recorded`. */
  start(): void {}

  waitForMany(ms: number): Promise<void> {
    return this.#pacing.wait(ms);
  }

  hasStopped(mailingId: number): boolean {
    return this.#withdrawals.withdraw(mailingId);
  }

  hold(): void {
    this.#withdrawals.withdraw();
  }

  record(now: number): void {
    for (const id of this.#ended) this.#stored.remove(id);
    if (this.#isPositionNew) this.#stored.savePosition(this.#position);
    const duplicates = this.#stored.acceptLate(this.#late, now);
    if (duplicates.length > 0) this.#deps.log({ deliveries: duplicates }, 'accepted after their node was given up');
  }

  recorded(): void {
    this.#ended = [];
    this.#late = [];
    this.#isPositionNew = false;
    for (const { page, batch, claims } of this.#assigned.splice(0)) {
      for (const claim of claims) page.claims.set(claim.id, claim);
      this.#hold(page);
      if (this.#fleet.find(page.run) === undefined) {
        for (const claim of claims) this.#end(page, claim, 'withdrawn');
        continue;
      }
      this.#pacing.gave(claims.length);
      const content = this.#deps.contents.nameOf(batch.ready);
      this.#deps.sender.send(
        page.run,
        this.#deps.brain,
        { id: page.id, mailing: page.mailing, content },
        batch,
        claims,
        () => this.#pages.has(page.id),
      );
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  /** Takes a report of a node. `position` names its place in the stream. */
  take(report: Report, position: string): void {
    this.#position = position;
    this.#isPositionNew = true;
    if (!isSameInstallation(report.brain, this.#deps.brain)) return;
    for (const [pageId, ended] of report.ended) {
      const page = this.#pages.get(pageId);
      for (const one of ended) {
        const outcome = outcomeOf(one);
        const claim = page?.claims.get(one[0]);
        if (page !== undefined && claim !== undefined) this.#end(page, claim, outcome);
        else if (outcome !== 'withdrawn' && outcome.kind === 'accepted') {
          this.#late.push({ id: one[0], reply: outcome.reply });
        }
      }
    }
    const node = this.#fleet.find(report.run);
    if (node !== undefined && report.brain === this.#deps.brain) {
      if (report.has !== undefined) this.#compare(node, new Map(report.has));
      if (report.isLast) this.#giveUp(node);
    }
    this.#pacing.reported();
  }

  /** Answers a sign of life. */
  beat(beat: Beat): BeatReply {
    const { brain } = this.#deps;
    const reply = {
      protocol: PROTOCOL,
      brain,
      isRenewed: false,
      isLost: false,
      withdraw: [],
      settings: this.#deps.settings(),
    };
    if (beat.brain !== brain) {
      return { ...reply, isLost: !this.#fleet.greet(beat) };
    }
    const node = this.#fleet.hear(beat);
    if (node === undefined) return { ...reply, isLost: true };
    this.#withdrawals.confirm(node.run, beat.withdrawn);
    return { ...reply, isRenewed: this.#fleet.renew(node), withdraw: node.withdrawals };
  }

  /** Has nodes begin no mail to these addresses, as far as they have not; whether they may get it is decided at the next claim. */
  withdrawAddresses(addresses: ReadonlySet<number>): void {
    this.#withdrawals.withdrawAddresses(addresses);
  }

  /** The nodes that have been silent for too long, and are not listened to any more. Take what they reported before you give them up. */
  lost(): FleetNode[] {
    return this.#fleet.lost();
  }

  /** Counts the silence of every node anew: this process or its connection was away. */
  forgiveSilence(): void {
    this.#fleet.forgiveSilence();
  }

  /** Puts what a lost node has not reported back into the queue. */
  giveUp(run: string): void {
    const node = this.#fleet.find(run);
    if (node !== undefined) this.#giveUp(node);
  }

  #giveUp(node: FleetNode): void {
    this.#fleet.remove(node.run);
    const theirs = [...this.#pages.values()].filter(({ run }) => run === node.run);
    const lost = theirs.reduce((sum, { claims }) => sum + claims.size, 0);
    this.#deps.log({ node: node.name, recipients: lost }, 'a sender node has gone');
    for (const page of theirs) for (const claim of [...page.claims.values()]) this.#end(page, claim, 'withdrawn');
  }

  /** After a start: what the node does not have and did not report goes back; what it has and we do not know, it must not begin. */
  #compare(node: FleetNode, has: ReadonlyMap<number, readonly number[]>): void {
    for (const page of [...this.#pages.values()].filter(({ run }) => run === node.run)) {
      const present = new Set(has.get(page.id));
      for (const claim of [...page.claims.values()]) if (!present.has(claim.id)) this.#end(page, claim, 'withdrawn');
    }
    const unknown = [...has.keys()].filter((id) => !this.#pages.has(id));
    for (const page of unknown) this.#withdrawals.add(node, { upTo: page, page });
    node.isKnown = true;
  }

  #hold(page: HeldPage): void {
    this.#pages.set(page.id, page);
    this.#inFlight += page.claims.size;
    this.#fleet.load(page.run, page.claims.size);
  }

  #end(page: HeldPage, claim: Claim, outcome: Outcome | 'withdrawn'): void {
    page.claims.delete(claim.id);
    this.#inFlight--;
    this.#fleet.load(page.run, -1);
    if (page.claims.size === 0) {
      this.#pages.delete(page.id);
      this.#ended.push(page.id);
    }
    this.#deps.onOutcome(page.mailing, claim, this.#fleet.judge(page.run, outcome));
  }
}
