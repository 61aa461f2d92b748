/**
 * Gives claimed recipients to sender nodes, page by page, and processes the nodes' reports. The recipients on a node's pages are on disk with
 * their claims. They go back to the queue only when the node can no longer start any of them and all its reports have been read.
 */

import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { Claim } from '../../delivery/queue/candidates.ts';
import { NodePages } from '../../delivery/queue/ledger/node-pages.ts';
import type { Batch } from '../../delivery/sending/claims.ts';
import type { Handoffs, HandoffsDeps } from '../../delivery/sending/handoffs.ts';
import { OutgoingMail, SentMails } from '../../delivery/sending/sent-mails.ts';
import type { Outcome } from '../../delivery/transport/courier.ts';
import type { LogLevel } from '../../log.ts';
import { DAY_MS } from '../../units.ts';
import {
  type Beat,
  type BeatReply,
  isRunOf,
  isSameInstallation,
  isUnderstood,
  outcomeOf,
  PROTOCOL,
  type Report,
  type SentMessage,
  sentOf,
} from '../protocol.ts';
import { Refusals } from '../refusals.ts';
import type { Contents } from './contents.ts';
import { Fleet, type FleetNode } from './fleet.ts';
import { LateResults } from './late-results.ts';
import { NodeDays } from './node-days.ts';
import { type PageSender, pageOf } from './page-sender.ts';
import { SilentNodes, type StreamPosition } from './silent-nodes.ts';
import { type HeldPage, Withdrawals } from './withdrawals.ts';

/**
 * How often outcomes are recorded in addition to rounds, in milliseconds. Reports stay in NATS until they are recorded, so no report is lost
 * in between.
 */
const RECORD_MS = 1000;
/** How far the time at which a node rendered a mail may be from the time at which its report is read. */
const MAX_AGE_MS = DAY_MS;

interface NodeHandoffsDeps extends HandoffsDeps {
  client: Database;
  /** Returns a new name for a run of the controller. */
  newName(): string;
  now(): Date;
  monotonic(): number;
  contents: Contents;
  sender: PageSender;
  /** Returns a text that changes with the settings that nodes take from the controller, for this number of nodes. */
  settings(nodes: number): string;
  /** Called when a node signed off. */
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
  readonly #sent: SentMails;
  readonly #refusals: Refusals;
  readonly #pages = new Map<number, HeldPage>();
  /** Pages assigned in the current transaction, which has not committed yet. */
  #assigned: { page: HeldPage; batch: Batch; claims: Claim[] }[] = [];
  /** The ids of pages without unreported recipients, which the next transaction removes. */
  #endedPages: number[] = [];
  readonly #withdrawals: Withdrawals;
  #controllerRun: string;
  #position: StreamPosition;
  #isPositionNew = false;
  #inFlight = 0;
  #hasBegun = false;
  #isClosed = false;

  constructor(deps: NodeHandoffsDeps) {
    this.#deps = deps;
    this.#stored = new NodePages(deps.client);
    this.#refusals = new Refusals(deps.log);
    this.#late = new LateResults(deps.client, this.#stored, this.#refusals);
    this.#sent = new SentMails(deps.client);
    this.#days = new NodeDays(deps.client, deps.now);
    this.#fleet = new Fleet(deps.monotonic, this.#days);
    this.#silent = new SilentNodes(this.#fleet);
    this.#pacing = new NodePacing(() => this.room(null));
    this.#controllerRun = deps.newName();
    this.#withdrawals = new Withdrawals(this.#pages, this.#fleet, {
      send: (run, withdrawals, onDone) => deps.sender.withdraw(run, this.#controllerRun, withdrawals, onDone),
      // Callers that wait for a stop are answered in the next round.
      onConfirmed: () => this.#pacing.wake(),
    });
    const [stream = '', sequence = '0'] = this.#stored.position().split('|');
    this.#position = { stream, sequence: Number(sequence) };
    for (const { claims, ...page } of this.#stored.load()) {
      this.#fleet.remember(page.run);
      this.#hold({
        ...page,
        claims: new Map(claims.map((claim) => [claim.id, claim])),
        isWithdrawn: false,
        kept: null,
      });
    }
  }

  /** The nodes, for display. */
  get fleet(): Pick<Fleet, 'all' | 'remainingToday'> {
    return this.#fleet;
  }

  /** The stream position up to which reports have been taken. */
  get position(): StreamPosition {
    return this.#position;
  }

  get inFlight(): number {
    return this.#isClosed ? 0 : this.#inFlight;
  }

  /** The amount of data that the next `record` has to write. */
  get unrecorded(): number {
    return (
      this.#sent.length +
      this.#endedPages.length +
      this.#late.size +
      Number(this.#isPositionNew) +
      Number(this.#refusals.isWaiting)
    );
  }

  /** Allows claims. Call it once the database has all unsubscribes. */
  begin(): void {
    this.#hasBegun = true;
  }

  room(relayId: number | null): number {
    return this.#isClosed || !this.#hasBegun ? 0 : this.#fleet.room(relayId);
  }

  assign(batches: readonly Batch[]): void {
    const assigned = new Map<string, number>();
    for (const batch of batches) {
      for (let from = 0; from < batch.claims.length; ) {
        const node = this.#fleet.leastLoaded(batch.mailing.relay_id, (run) => assigned.get(run) ?? 0);
        // There was room a moment ago, in the same turn of the event loop, so a node is found. At worst it gets slightly more than it asked
        // for.
        const run = node?.run ?? '';
        const claims = pageOf(batch, from).slice(0, node && this.#days.remainingToday(node));
        from += claims.length;
        assigned.set(run, (assigned.get(run) ?? 0) + claims.length);
        const ids = claims.map(({ id }) => id);
        const id = this.#stored.add(run, batch.mailing.id, ids);
        if (node !== undefined) this.#days.reserve(node, id, claims.length);
        const { mailing, ready, kept: common } = batch;
        const kept = common && { ready, common, key: ready.key };
        const page = { id, run, mailing, claims: new Map<number, Claim>(), isWithdrawn: false, kept };
        this.#assigned.push({ page, batch, claims });
      }
    }
    this.#days.writeReserved();
  }

  /** Does nothing: `recorded` sends the pages once they are on disk. */
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
    // Recipients assigned in a transaction that did not commit are back in the queue.
    this.#assigned = [];
    this.#days.begin();
    for (const id of this.#endedPages) this.#stored.remove(id);
    const { stream, sequence } = this.#position;
    if (this.#isPositionNew) this.#stored.savePosition(`${stream}|${sequence}`);
    this.#days.writeEnded();
    const duplicates = this.#late.record(now);
    if (duplicates.length > 0)
      this.#deps.log({ deliveries: duplicates }, 'deliveries were accepted after their node was given up', 'warn');
    this.#refusals.write(this.#deps.client);
    this.#sent.write();
  }

  recorded(): void {
    this.#endedPages = [];
    this.#late.recorded();
    this.#sent.clear();
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
      this.#pacing.countGiven(claims.length);
      const content = this.#deps.contents.nameOf(batch.ready);
      this.#deps.sender.send(
        page.run,
        this.#controllerRun,
        {
          id: page.id,
          mailing: page.mailing,
          content,
          proofs: this.#late.proofsOf(page.run, claims),
          ...(page.kept !== null && { isKept: true }),
        },
        batch,
        claims,
        () => this.#pages.has(page.id),
      );
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  /** Processes the report of the node with this name at this stream position. A malformed report (null) is counted and skipped. */
  take(report: Report | null, place: StreamPosition, name: string): void {
    this.#position = place;
    this.#isPositionNew = true;
    if (report === null) this.#refusals.add('report', { node: name, sequence: place.sequence });
    if (report === null || !isSameInstallation(report.brain, this.#controllerRun)) return;
    const unexpected: Report['ended'][number][1] = [];
    for (const [pageId, ended] of report.ended) {
      const known = this.#pages.get(pageId);
      const page = known !== undefined && isRunOf(known.run, name) ? known : undefined;
      for (const result of ended) {
        const claim = page?.claims.get(result[0]);
        if (page !== undefined && claim !== undefined) this.#end(page, claim, outcomeOf(result), sentOf(result));
        // A returned recipient (an id alone) of a page that has already ended changes nothing.
        else if (result.length > 1 || page !== known) unexpected.push(result);
      }
    }
    const late = this.#late.take(name, place.sequence, unexpected);
    if (late.size > 0) this.#withdrawals.withdrawDeliveries(({ id }) => late.has(id));
    const isOwnRun = isRunOf(report.run, name);
    if (report.isLast && isOwnRun) this.#deps.onGone(report.run);
    const node = isOwnRun ? this.#fleet.find(report.run) : undefined;
    this.#pacing.onReport();
    if (node === undefined || report.brain !== this.#controllerRun) return;
    // Pages are compared only once. If NATS stored a report twice because the node missed the acknowledgement, the second copy lists outdated
    // pages.
    if (report.has !== undefined && !node.isKnown) this.#compare(node, new Map(report.has));
    if (report.isLast) this.#giveUp(node, 'info');
  }

  /**
   * Continues at this position, because the stream has lost reports or is a new stream. As after a restart, every node is asked for its
   * pages, which shows what the lost reports were about.
   */
  continueFrom(place: StreamPosition): void {
    this.#position = place;
    this.#isPositionNew = true;
    this.#controllerRun = this.#deps.newName();
    this.#fleet.forgetComparisons();
  }

  /** Answers a heartbeat as `answerBeat` does. */
  beat(beat: Beat): BeatReply | null {
    const { settings } = this.#deps;
    return answerBeat(beat, {
      fleet: this.#fleet,
      withdrawals: this.#withdrawals,
      controllerRun: this.#controllerRun,
      settings,
    });
  }

  /** Withdraws mails to these addresses that the nodes have not started. The next claim decides whether their recipients may get mail. */
  withdrawAddresses(addresses: ReadonlySet<number>): void {
    if (addresses.size > 0) this.#withdrawals.withdrawDeliveries(({ address_id }) => addresses.has(address_id));
  }

  /** The runs of nodes that have been silent for so long that they can start no more mails. */
  get silentRuns(): string[] {
    return this.#silent.runs;
  }

  /** Restarts the silence timer of every node, because this process or its connection was interrupted. */
  resetSilence(): void {
    this.#fleet.resetSilence();
  }

  /**
   * Puts the unreported recipients of silent nodes back into the queue, once their reports have been taken. `last` is the newest position
   * in the stream.
   */
  giveUpSilent(runs: readonly string[], last: StreamPosition): void {
    for (const node of this.#silent.due(runs, last, this.#position)) this.#giveUp(node, 'warn');
  }

  /** Removes a node, and puts its unreported recipients back. The level is `info` if the node signed off. */
  #giveUp(node: FleetNode, level: LogLevel): void {
    this.#fleet.remove(node.run);
    const pages = this.#pagesOf(node);
    const recipients = pages.flatMap(({ claims }) => [...claims]).length;
    const text = level === 'info' ? 'a sender node has signed off' : 'a sender node has gone';
    this.#deps.log({ node: node.name, recipients }, text, level);
    for (const page of pages) for (const claim of [...page.claims.values()]) this.#end(page, claim, 'withdrawn');
  }

  #pagesOf(node: FleetNode): HeldPage[] {
    return [...this.#pages.values()].filter(({ run }) => run === node.run);
  }

  /**
   * After a restart of the controller, puts recipients back that the node neither has nor reported, and withdraws pages of the node that the
   * controller does not know.
   */
  #compare(node: FleetNode, has: ReadonlyMap<number, readonly number[]>): void {
    for (const page of this.#pagesOf(node)) {
      const heldByNode = new Set(has.get(page.id));
      for (const claim of [...page.claims.values()]) if (!heldByNode.has(claim.id)) this.#end(page, claim, 'withdrawn');
    }
    const unknown = [...has.keys()].filter((id) => !this.#pages.has(id));
    for (const page of unknown) this.#withdrawals.add(node, { upTo: page, page });
    node.isKnown = true;
  }

  /** Adds a page to those that nodes have. */
  #hold(page: HeldPage): void {
    this.#pages.set(page.id, page);
    this.#inFlight += page.claims.size;
    this.#fleet.addLoad(page.run, page.mailing.relay_id, page.claims.size);
  }

  /** Removes a recipient from a page and passes the outcome on; `withdrawn` puts the recipient back into the queue. */
  #end(page: HeldPage, claim: Claim, outcome: Outcome | 'withdrawn', sent: SentMessage | null = null): void {
    if (outcome !== 'withdrawn' && outcome.kind === 'accepted' && sent !== null) this.#keep(page, claim, sent);
    page.claims.delete(claim.id);
    this.#inFlight--;
    this.#fleet.addLoad(page.run, page.mailing.relay_id, -1);
    if (page.claims.size === 0) {
      this.#pages.delete(page.id);
      this.#endedPages.push(page.id);
    }
    this.#deps.onOutcome(page.mailing, claim, this.#fleet.countEnd(page, outcome));
  }

  /** Keeps a mail as sent, unless the time of the node's clock is far from ours: the mail would then be kept for too long. */
  #keep({ kept }: HeldPage, claim: Claim, sent: SentMessage): void {
    if (kept === null || Math.abs(sent.renderedAt - this.#deps.now().getTime()) > MAX_AGE_MS) return;
    const outgoing = new OutgoingMail(kept.ready, claim, kept.common, { key: kept.key, isByNode: true });
    this.#sent.add(Object.assign(outgoing, sent));
  }
}

interface BeatDeps {
  fleet: Fleet;
  withdrawals: Withdrawals;
  /** The name of this run of the controller. */
  controllerRun: string;
  /** The same as `settings` in `NodeHandoffsDeps`. */
  settings(nodes: number): string;
}

/** The maximum number of runs per node. A restarted node is a new run, and the previous run is given up after some seconds. */
const MAX_RUNS = 20;

/**
 * Returns the reply to a heartbeat; null if there are too many runs of this node. A node that addresses another run of the controller, or
 * has an unsupported protocol, learns only that from the reply.
 */
export function answerBeat(beat: Beat, { fleet, withdrawals, controllerRun, settings }: BeatDeps): BeatReply | null {
  const runs = fleet.all.filter(({ run }) => isRunOf(run, beat.name));
  if (runs.length >= MAX_RUNS && !runs.some(({ run }) => run === beat.run)) return null;
  const isOurs = beat.brain === controllerRun && isUnderstood(beat.protocol);
  if (!isOurs) fleet.addUnknown(beat);
  const node = isOurs ? fleet.recordHeartbeat(beat) : undefined;
  const reply = {
    // This number tells a node with an unsupported protocol why it has to wait.
    protocol: PROTOCOL,
    brain: controllerRun,
    isRenewed: false,
    isLost: isOurs && node === undefined,
    withdraw: [],
    settings: settings(fleet.all.length),
  };
  if (node === undefined) return reply;
  withdrawals.confirm(node.run, beat.withdrawn);
  return { ...reply, isRenewed: fleet.renew(node), withdraw: node.withdrawals };
}

/**
 * The number of recipients that one round claims of a mailing. While nodes have less room, the next round waits, because each commit costs
 * as much as some dozen recipients.
 */
const FULL_ROUND = 500;
/** The maximum wait for the next round, however little was reported. */
const ROUND_MS = 300;

/**
 * Decides when the worker begins its next round: at once if the last round was full and nodes have room for another full one; otherwise when
 * reports have made such room, or after `ROUND_MS`.
 */
class NodePacing {
  readonly #room: () => number;
  /** The number of recipients that nodes were given since the last wait. */
  #given = 0;
  #wake: () => void = () => undefined;

  constructor(room: () => number) {
    this.#room = room;
  }

  countGiven(count: number): void {
    this.#given += count;
  }

  onReport(): void {
    if (this.#room() >= FULL_ROUND) this.#wake();
  }

  /** Begins the next round now. */
  wake(): void {
    this.#wake();
  }

  async wait(): Promise<void> {
    const count = this.#given;
    this.#given = 0;
    // Messages of nodes are read in between, even if rounds follow each other without a pause.
    await setImmediate();
    if (count >= FULL_ROUND && this.#room() >= FULL_ROUND) return;
    const timer = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await Promise.race([woken, setTimeout(ROUND_MS, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
  }
}
