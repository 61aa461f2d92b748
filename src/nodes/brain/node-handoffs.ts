/**
 * Gives claimed recipients to sender nodes, page by page, and takes what they report. What a node has is on disk with the claims, and
 * goes back to the queue only when the node can begin none of it any more and everything it reported was taken.
 */
import type { Database } from 'better-sqlite3';
import type { Claim } from '../../delivery/queue/candidates.ts';
import { NodePages } from '../../delivery/queue/ledger/node-pages.ts';
import type { Batch } from '../../delivery/sending/claims.ts';
import type { Handoffs, HandoffsDeps } from '../../delivery/sending/handoffs.ts';
import type { Outcome } from '../../delivery/transport/courier.ts';
import {
  type Beat,
  type BeatReply,
  type Ended,
  isRunOf,
  isSameInstallation,
  nodeOf,
  outcomeOf,
  type Report,
} from '../protocol.ts';
import { Refusals } from '../refusals.ts';
import { answerBeat } from './beats.ts';
import type { Contents } from './contents.ts';
import { DeliveryProofs } from './delivery-proofs.ts';
import { Fleet, type FleetNode } from './fleet.ts';
import { NodeDays } from './node-days.ts';
import { NodePacing } from './pacing.ts';
import { type PageSender, pageOf } from './page-sender.ts';
import { type Place, SilentNodes } from './silent-nodes.ts';
import { type HeldPage, Withdrawals } from './withdrawals.ts';

/** Rounds record outcomes too. Reports stay in NATS until they are recorded, so that nothing is lost meanwhile. */
const RECORD_MS = 1000;
/** A node that is started again is another run, and the one before is forgotten after some seconds. */
const MAX_RUNS = 20;
/** Of the deliveries that a node reported and never had, the log names so many. */
const MAX_LOGGED = 10;

export interface NodeHandoffsDeps extends HandoffsDeps {
  client: Database;
  /** A new name for a run of the brain. */
  newName(): string;
  now(): Date;
  monotonic(): number;
  contents: Contents;
  sender: PageSender;
  /** Changes with the settings that each of so many nodes takes from the brain. */
  settings(nodes: number): string;
  /** As `log`, for what somebody should look at. */
  warn(fields: object, text: string): void;
  /** Called when a node said good-bye. */
  onGone(run: string): void;
}

export class NodeHandoffs implements Handoffs {
  readonly recordMs = RECORD_MS;
  readonly #deps: NodeHandoffsDeps;
  readonly #stored: NodePages;
  readonly #fleet: Fleet;
  readonly #days: NodeDays;
  readonly #pacing: NodePacing;
  readonly #silent: SilentNodes;
  readonly #proofs: DeliveryProofs;
  readonly refusals: Refusals;
  readonly #pages = new Map<number, HeldPage>();
  /** Pages that were assigned in the transaction that is not committed yet. */
  #assigned: { page: HeldPage; batch: Batch; claims: Claim[] }[] = [];
  /** What the next transaction writes. */
  #ended: number[] = [];
  /** Acceptances that nobody waited for any more: the reply by delivery. */
  #late = new Map<number, string>();
  readonly #withdrawals: Withdrawals;
  #brain: string;
  #position: Place;
  #isPositionNew = false;
  #inFlight = 0;
  #hasBegun = false;
  #isClosed = false;

  constructor(deps: NodeHandoffsDeps) {
    this.#deps = deps;
    this.#stored = new NodePages(deps.client);
    this.#proofs = new DeliveryProofs(deps.client);
    this.refusals = new Refusals(deps.warn);
    this.#days = new NodeDays(deps.client, deps.now);
    this.#fleet = new Fleet(deps.monotonic, this.#days);
    this.#silent = new SilentNodes(this.#fleet);
    this.#pacing = new NodePacing(() => this.room(null));
    this.#brain = deps.newName();
    this.#withdrawals = new Withdrawals(this.#pages, this.#fleet, {
      send: (run, withdrawals, onDone) => deps.sender.withdraw(run, this.#brain, withdrawals, onDone),
      // Whoever waits for a stop is answered in the next round.
      onConfirmed: () => this.#pacing.wake(),
    });
    const [stream = '', sequence = '0'] = this.#stored.position().split('|');
    this.#position = { stream, sequence: Number(sequence) };
    for (const { claims, ...page } of this.#stored.load()) {
      this.#fleet.remember(page.run);
      this.#hold({ ...page, claims: new Map(claims.map((claim) => [claim.id, claim])), isWithdrawn: false });
    }
  }

  /** The nodes, for lists of them. */
  get fleet(): Pick<Fleet, 'all' | 'left'> {
    return this.#fleet;
  }

  /** How far reports are taken. */
  get position(): Place {
    return this.#position;
  }

  get inFlight(): number {
    return this.#isClosed ? 0 : this.#inFlight;
  }

  /** How much the next `record` has to write. */
  get unrecorded(): number {
    return this.#ended.length + this.#late.size + Number(this.#isPositionNew) + Number(this.refusals.isWaiting);
  }

  /** To be called once it is known who has left: before, nothing is claimed. */
  begin(): void {
    this.#hasBegun = true;
  }

  room(relayId: number | null): number {
    return this.#isClosed || !this.#hasBegun ? 0 : this.#fleet.room(relayId);
  }

  assign(batches: readonly Batch[]): void {
    const given = new Map<string, number>();
    for (const batch of batches) {
      for (let from = 0; from < batch.claims.length; ) {
        const node = this.#fleet.leastLoaded(batch.mailing.relay_id, (run) => given.get(run) ?? 0);
        // There was room a moment ago in the same turn of the event loop, so there is a node; at worst it gets some more than it asked for.
        const run = node?.run ?? '';
        const claims = pageOf(batch, from).slice(0, node && this.#days.left(node));
        from += claims.length;
        given.set(run, (given.get(run) ?? 0) + claims.length);
        const ids = claims.map(({ id }) => id);
        const id = this.#stored.add(run, batch.mailing.id, ids);
        if (node !== undefined) this.#days.reserve(node, id, claims.length);
        const page = { id, run, mailing: batch.mailing, claims: new Map<number, Claim>(), isWithdrawn: false };
        this.#assigned.push({ page, batch, claims });
      }
    }
    this.#days.writeReserved();
  }

  /** The pages are sent once they are on disk, by `recorded`. */
  start(): void {}

  waitForMany(): Promise<void> {
    return this.#pacing.wait();
  }

  hasStopped(mailingId: number): boolean {
    return this.#withdrawals.withdraw(mailingId);
  }

  hold(): void {
    this.#withdrawals.withdraw();
  }

  record(now: number): void {
    // What a transaction before assigned and did not commit is in the queue.
    this.#assigned = [];
    this.#days.begin();
    for (const id of this.#ended) this.#stored.remove(id);
    const { stream, sequence } = this.#position;
    if (this.#isPositionNew) this.#stored.savePosition(`${stream}|${sequence}`);
    this.#days.writeEnded();
    const late = [...this.#late].map(([id, reply]) => ({ id, reply }));
    const duplicates = this.#stored.acceptLate(late, now, (id, error) =>
      this.refusals.add('result', { deliveries: [id], err: String(error) }),
    );
    if (duplicates.length > 0) this.#deps.log({ deliveries: duplicates }, 'accepted after their node was given up');
    this.refusals.write(this.#deps.client);
  }

  recorded(): void {
    this.#ended = [];
    this.#late.clear();
    this.#isPositionNew = false;
    this.refusals.written();
    this.#days.committed();
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
        this.#brain,
        { id: page.id, mailing: page.mailing, content, proofs: this.#proofsOf(page.run, claims) },
        batch,
        claims,
        () => this.#pages.has(page.id),
      );
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  /** Takes the report of a node with this name that is at this place of the stream; null: a malformed one, which is stepped over. */
  take(report: Report | null, place: Place, name: string): void {
    this.#position = place;
    this.#isPositionNew = true;
    if (report === null) this.refusals.add('report', { node: name, sequence: place.sequence });
    if (report === null || !isSameInstallation(report.brain, this.#brain)) return;
    const late = new Set<number>();
    const refused: number[] = [];
    for (const [pageId, ended] of report.ended) {
      const known = this.#pages.get(pageId);
      const page = known !== undefined && isRunOf(known.run, name) ? known : undefined;
      for (const one of ended) {
        const outcome = outcomeOf(one);
        const claim = page?.claims.get(one[0]);
        if (page !== undefined && claim !== undefined) this.#end(page, claim, outcome);
        else if (!this.#wasGiven(name, one)) {
          // What it gives back of a page that has ended changes nothing.
          if (one.length > 1 || page !== known) refused.push(one[0]);
        } else if (outcome !== 'withdrawn' && outcome.kind === 'accepted') {
          this.#late.set(one[0], outcome.reply);
          late.add(one[0]);
        }
      }
    }
    if (refused.length > 0)
      this.refusals.add(
        'result',
        { node: name, sequence: place.sequence, deliveries: refused.slice(0, MAX_LOGGED) },
        refused.length,
      );
    if (late.size > 0) this.#withdrawals.withdrawDeliveries(({ id }) => late.has(id));
    const isTheirs = isRunOf(report.run, name);
    if (report.isLast && isTheirs) this.#deps.onGone(report.run);
    const node = isTheirs ? this.#fleet.find(report.run) : undefined;
    if (node !== undefined && report.brain === this.#brain) {
      // Only once: a report that NATS has twice, because its node did not learn that it was taken, says what the node had before.
      if (report.has !== undefined && !node.isKnown) this.#compare(node, new Map(report.has));
      if (report.isLast) this.#giveUp(node);
    }
    this.#pacing.reported();
  }

  /**
   * Goes on at this place, because the stream has lost reports or is a new one. What was lost with them is found out by asking every node
   * what it has, as after a start.
   */
  startOver(place: Place): void {
    this.#position = place;
    this.#isPositionNew = true;
    this.#brain = this.#deps.newName();
    this.#fleet.forgetKnown();
  }

  /** Answers a sign of life; null while there are too many runs of one node. */
  beat(beat: Beat): BeatReply | null {
    const { settings } = this.#deps;
    const { run, name } = beat;
    const runs = this.#fleet.all.filter((node) => isRunOf(node.run, name));
    if (runs.length >= MAX_RUNS && !runs.some((node) => node.run === run)) return null;
    return answerBeat(beat, { fleet: this.#fleet, withdrawals: this.#withdrawals, brain: this.#brain, settings });
  }

  /** Has nodes begin no mail to these addresses, as far as they have not; whether they may get it is decided at the next claim. */
  withdrawAddresses(addresses: ReadonlySet<number>): void {
    if (addresses.size > 0) this.#withdrawals.withdrawDeliveries(({ address_id }) => addresses.has(address_id));
  }

  /** The runs of nodes that were not heard for so long that they begin nothing any more. */
  get silentRuns(): string[] {
    return this.#silent.runs;
  }

  /** Counts the silence of every node anew: this process or its connection was away. */
  forgiveSilence(): void {
    this.#fleet.forgiveSilence();
  }

  /** Puts what silent nodes have not reported back into the queue, as far as their reports are taken. `last` is the newest in the stream now. */
  giveUpSilent(runs: readonly string[], last: Place): void {
    for (const node of this.#silent.due(runs, last, this.#position)) this.#giveUp(node);
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

  /** Whether a node proves that it had a delivery that is on no page of its own now. */
  #wasGiven(name: string, [id, , , , , , proof = '']: Ended): boolean {
    return this.#proofs.isRight(name, id, proof);
  }

  #proofsOf(run: string, claims: readonly Claim[]): string[] {
    const name = nodeOf(run);
    return claims.map(({ id }) => this.#proofs.make(name, id));
  }

  #hold(page: HeldPage): void {
    this.#pages.set(page.id, page);
    this.#inFlight += page.claims.size;
    this.#fleet.load(page.run, page.mailing.relay_id, page.claims.size);
  }

  #end(page: HeldPage, claim: Claim, outcome: Outcome | 'withdrawn'): void {
    page.claims.delete(claim.id);
    this.#inFlight--;
    this.#fleet.load(page.run, page.mailing.relay_id, -1);
    if (page.claims.size === 0) {
      this.#pages.delete(page.id);
      this.#ended.push(page.id);
    }
    this.#deps.onOutcome(page.mailing, claim, this.#fleet.ended(page, outcome));
  }
}
