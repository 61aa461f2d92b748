/**
 * Gives claimed recipients to sender nodes, page by page, and takes what they report. What a node has is on disk with the claims, and
 * goes back to the queue only when the node can begin none of it any more and everything it reported was taken.
 */

import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { Claim } from '../../delivery/queue/candidates.ts';
import { NodePages } from '../../delivery/queue/ledger/node-pages.ts';
import type { Batch } from '../../delivery/sending/claims.ts';
import type { Handoffs, HandoffsDeps } from '../../delivery/sending/handoffs.ts';
import type { Outcome } from '../../delivery/transport/courier.ts';
import {
  type Beat,
  type BeatReply,
  isRunOf,
  isSameInstallation,
  isUnderstood,
  outcomeOf,
  PROTOCOL,
  type Report,
} from '../protocol.ts';
import { Refusals } from '../refusals.ts';
import type { Contents } from './contents.ts';
import { Fleet, type FleetNode } from './fleet.ts';
import { LateResults } from './late-results.ts';
import { NodeDays } from './node-days.ts';
import { type PageSender, pageOf } from './page-sender.ts';
import { type Place, SilentNodes } from './silent-nodes.ts';
import { type HeldPage, Withdrawals } from './withdrawals.ts';

/** Rounds record outcomes too. Reports stay in NATS until they are recorded, so that nothing is lost meanwhile. */
const RECORD_MS = 1000;

interface NodeHandoffsDeps extends HandoffsDeps {
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
  readonly #late: LateResults;
  readonly #refusals: Refusals;
  readonly #pages = new Map<number, HeldPage>();
  /** Pages that were assigned in the transaction that is not committed yet. */
  #assigned: { page: HeldPage; batch: Batch; claims: Claim[] }[] = [];
  /** What the next transaction writes. */
  #ended: number[] = [];
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
    this.#refusals = new Refusals(deps.warn);
    this.#late = new LateResults(deps.client, this.#stored, this.#refusals);
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
    return this.#ended.length + this.#late.size + Number(this.#isPositionNew) + Number(this.#refusals.isWaiting);
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
    const duplicates = this.#late.record(now);
    if (duplicates.length > 0) this.#deps.log({ deliveries: duplicates }, 'accepted after their node was given up');
    this.#refusals.write(this.#deps.client);
  }

  recorded(): void {
    this.#ended = [];
    this.#late.recorded();
    this.#isPositionNew = false;
    this.#refusals.written();
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
        { id: page.id, mailing: page.mailing, content, proofs: this.#late.proofsOf(page.run, claims) },
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
    if (report === null) this.#refusals.add('report', { node: name, sequence: place.sequence });
    if (report === null || !isSameInstallation(report.brain, this.#brain)) return;
    const unexpected: Report['ended'][number][1] = [];
    for (const [pageId, ended] of report.ended) {
      const known = this.#pages.get(pageId);
      const page = known !== undefined && isRunOf(known.run, name) ? known : undefined;
      for (const one of ended) {
        const claim = page?.claims.get(one[0]);
        if (page !== undefined && claim !== undefined) this.#end(page, claim, outcomeOf(one));
        // What it gives back of a page that has ended changes nothing.
        else if (one.length > 1 || page !== known) unexpected.push(one);
      }
    }
    const late = this.#late.take(name, place.sequence, unexpected);
    if (late.size > 0) this.#withdrawals.withdrawDeliveries(({ id }) => late.has(id));
    const isTheirs = isRunOf(report.run, name);
    if (report.isLast && isTheirs) this.#deps.onGone(report.run);
    const node = isTheirs ? this.#fleet.find(report.run) : undefined;
    this.#pacing.reported();
    if (node === undefined || report.brain !== this.#brain) return;
    // Only once: a report that NATS has twice, because its node did not learn that it was taken, says what the node had before.
    if (report.has !== undefined && !node.isKnown) this.#compare(node, new Map(report.has));
    if (report.isLast) this.#giveUp(node);
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

  /** As `answerBeat`. */
  beat(beat: Beat): BeatReply | null {
    const { settings } = this.#deps;
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

interface BeatDeps {
  fleet: Fleet;
  withdrawals: Withdrawals;
  /** The name of this run of the brain. */
  brain: string;
  /** As `settings` of `NodeHandoffsDeps`. */
  settings(nodes: number): string;
}

/** A node that is started again is another run, and the one before is forgotten after some seconds. */
const MAX_RUNS = 20;

/** The answer to a sign of life; null while there are too many runs of one node. A node that speaks to another run of the brain, or not our protocol, only learns so. */
export function answerBeat(beat: Beat, { fleet, withdrawals, brain, settings }: BeatDeps): BeatReply | null {
  const runs = fleet.all.filter(({ run }) => isRunOf(run, beat.name));
  if (runs.length >= MAX_RUNS && !runs.some(({ run }) => run === beat.run)) return null;
  const isOurs = beat.brain === brain && isUnderstood(beat.protocol);
  if (!isOurs) fleet.greet(beat);
  const node = isOurs ? fleet.hear(beat) : undefined;
  const reply = {
    // A node that is not understood sees by this why it has to wait.
    protocol: PROTOCOL,
    brain,
    isRenewed: false,
    isLost: isOurs && node === undefined,
    withdraw: [],
    settings: settings(fleet.all.length),
  };
  if (node === undefined) return reply;
  withdrawals.confirm(node.run, beat.withdrawn);
  return { ...reply, isRenewed: fleet.renew(node), withdraw: node.withdrawals };
}

/** As many as one round claims of a mailing. With less room it waits, because each commit costs as much as some dozen recipients. */
const FULL_ROUND = 500;
/** A round begins after this time, however little was reported. */
const ROUND_MS = 300;

/** When the worker begins its next round: at once while nodes take more than a round gives them, else when much was reported. */
class NodePacing {
  readonly #room: () => number;
  #given = 0;
  #wake: () => void = () => undefined;

  constructor(room: () => number) {
    this.#room = room;
  }

  gave(count: number): void {
    this.#given += count;
  }

  reported(): void {
    if (this.#room() >= FULL_ROUND) this.#wake();
  }

  /** Begins the next round now. */
  wake(): void {
    this.#wake();
  }

  async wait(): Promise<void> {
    const given = this.#given;
    this.#given = 0;
    // Reads what nodes have sent meanwhile, also when rounds follow each other without a wait.
    await setImmediate();
    if (given >= FULL_ROUND && this.#room() >= FULL_ROUND) return;
    const timer = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await Promise.race([woken, setTimeout(ROUND_MS, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
  }
}
