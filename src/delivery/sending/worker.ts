/** The delivery worker. In rounds, it claims recipients, sends their mails and records the results. */
import { domainOf } from '../../audience/contacts/addresses.ts';
import type { Db } from '../../database/open.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../time/clock.ts';
import { isoTimestamp, steadyTime } from '../../time/clock.ts';
import type { Pacing } from '../pacing/pacing.ts';
import type { Claim } from '../queue/candidates.ts';
import { Ledger } from '../queue/ledger/ledger.ts';
import { MailingStates, type OpenMailing } from '../queue/mailing-state.ts';
import type { Mailings } from '../queue/mailings.ts';
import { waitingAccounts } from '../timing/send-window.ts';
import type { WarmUps } from '../warm-up/warm-ups.ts';
import { findResultHold } from '../watch/watched-mailings.ts';
import { type Batch, Claims } from './claims.ts';
import type { Handoffs, HandoffsDeps } from './handoffs.ts';
import { Outcomes, StoppedMailings } from './outcomes.ts';
import type { Rates } from './rates.ts';
import { ResultBuffer } from './result-buffer.ts';

/** The number of queued recipients of a mailing that one step cancels. */
const CANCEL_ROWS = 250;
/** The kinds of mailings that leave only within the account's sending hours. */
const KINDS_WITH_HOURS: ReadonlySet<OpenMailing['owner_kind']> = new Set(['single', 'schedule']);

interface WorkerDeps {
  db: Db;
  clock: Clock;
  /** True if claims are given to sender nodes, which keep them while this process restarts. */
  hasNodes: boolean;
  /** Creates the hand-offs. */
  openHandoffs(deps: HandoffsDeps): Handoffs;
  mailings: Mailings;
  rates: Rates;
  pacing: Pacing;
  /** The installation's time zone. */
  timeZone: string;
  warmUps: WarmUps;
  log: Log;
}

export class DeliveryWorker {
  readonly #deps: WorkerDeps;
  readonly #ledger: Ledger;
  readonly #states: MailingStates;
  /** The clock by which retries and other waits are measured, in epoch milliseconds. */
  readonly #steady: () => number;
  readonly #stopped: StoppedMailings;
  readonly #results: ResultBuffer;
  readonly #outcomes: Outcomes;
  readonly #claims: Claims;
  readonly #handoffs: Handoffs;
  #isStopping = false;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    const { log } = deps;
    const ledger = new Ledger(deps.db.$client, deps.timeZone);
    const steady = steadyTime(deps.clock);
    const states = new MailingStates(deps.db.$client);
    this.#ledger = ledger;
    this.#states = states;
    this.#steady = steady;
    const stopped = new StoppedMailings(states, log);
    const results = new ResultBuffer(steady);
    const outcomes = new Outcomes({ ledger, results, stopped, steady, log });
    this.#stopped = stopped;
    this.#results = results;
    this.#outcomes = outcomes;
    this.#claims = new Claims({ ...deps, ledger, states, steady });
    const recovered = ledger.recover(steady(), deps.hasNodes);
    if (recovered > 0) log({ recovered }, 'unfinished hand-offs of an earlier run were put back into the queue');
    this.#handoffs = deps.openHandoffs({
      mayLeave: (mailingId) => !this.#isStopping && !stopped.has(mailingId),
      onOutcome: (mailing, claim, outcome) => {
        if (outcome !== 'withdrawn') deps.pacing.note(mailing.relay_id, domainOf(claim.normalized_email), outcome);
        outcomes.handle(mailing, claim, outcome);
      },
      log,
    });
  }

  /**
   * Runs one round: records results and claims as many recipients as there is capacity for, in one transaction; starts sending; and waits
   * until half of the sends have ended or results must be written. Returns true if there is more to do now. While all sending is held,
   * nothing is claimed.
   */
  async step(isHeld = false): Promise<boolean> {
    if (isHeld) this.#handoffs.hold();
    this.acknowledge();
    const ended = this.#results.length;
    const { noted } = this.#outcomes;
    const batches = this.#recordAndClaim(!isHeld && !this.#isStopping);
    for (const batch of batches) this.#handoffs.start(batch);
    if (this.#handoffs.inFlight > 0) await this.#handoffs.waitForMany(this.#handoffs.recordMs);
    const cancelled = this.#cancelQueued();
    // A new refusal needs another round. A refusal that still waits for comparison does not.
    const isJudging = this.#outcomes.noted !== noted;
    const waiting = this.#handoffs.inFlight + this.#results.length + (isJudging ? 1 : 0);
    return ended > 0 || batches.length > 0 || this.#claims.ineligible > 0 || cancelled > 0 || waiting > 0;
  }

  /**
   * Acknowledges mailings whose state another thread has changed. After the acknowledgement no mail of a stopped mailing starts. If that
   * takes time, a later call acknowledges the mailing.
   */
  acknowledge(): void {
    for (const { id, state } of this.#states.unacknowledged()) {
      if (state === 'sending') {
        this.#stopped.delete(id);
      } else {
        this.#stopped.add(id);
        this.#deps.rates.forget(id);
        this.#deps.pacing.forget(id);
        if (!this.#handoffs.hasStopped(id)) continue;
      }
      this.#states.acknowledge(id, state);
    }
  }

  /** The time within which results must be written, in milliseconds. */
  get recordMs(): number {
    return this.#handoffs.recordMs;
  }

  /** Starts no more sends from now on. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Stops sending, waits up to `graceMs` milliseconds for the sends in progress and records their results. */
  async close(graceMs: number): Promise<void> {
    this.stop();
    await Promise.all([this.#handoffs.close(graceMs), this.#finish()]);
  }

  async #finish(): Promise<void> {
    while (this.#handoffs.inFlight > 0) {
      await this.#handoffs.waitForMany(this.#handoffs.recordMs);
      this.#recordSafely();
    }
    this.#recordAndClaim(false);
  }

  /** Writes results to disk. Rounds do this too; call it if other work runs between two rounds. */
  record(): void {
    if (this.#results.length + this.#handoffs.unrecorded === 0) return;
    this.#ledger.inTransaction(() => this.#record(this.#states.openMailings(this.#steady())));
    this.#clearRecorded();
  }

  /** Calls `record`. Logs a failed write, for example on a full disk; the write is repeated with the next results. */
  #recordSafely(): void {
    try {
      this.record();
    } catch (error) {
      this.#deps.log({ err: String(error) }, 'results could not be recorded', 'warn');
    }
  }

  /**
   * Records and claims in one transaction, because each commit waits for the disk. Throws if the write fails, for example on a full disk,
   * and keeps the results for the next round.
   */
  #recordAndClaim(mayClaim: boolean): Batch[] {
    const open = this.#states.openMailings(this.#steady());
    this.#claims.startRound();
    // Recipients who wait for a warm-up still come later, so that a refusal can be compared with theirs.
    this.#outcomes.judgeWaiting(open, mayClaim);
    if (open.length + this.#results.length + this.#handoffs.unrecorded === 0) return [];
    const warmed = this.#deps.warmUps.startRound(open);
    const due = mayClaim ? this.#withinHours(warmed.filter(({ is_due }) => is_due === 1)) : [];
    const { batches, postponed, held } = this.#ledger.inTransaction(() => {
      this.#deps.pacing.startRound();
      this.#record(open);
      const heldIds = this.#holdByResults(open);
      const claimed = mayClaim ? this.#claims.take(due, (relayId) => this.#handoffs.room(relayId)) : [];
      const limited = this.#limited(claimed);
      this.#handoffs.assign(limited.batches);
      return { ...limited, held: heldIds };
    });
    for (const id of held) this.#stopped.add(id);
    this.#clearRecorded();
    for (const { claim, due_at } of postponed) this.#results.requeue(claim, due_at);
    return batches;
  }

  /** Returns these mailings without those of campaigns and automations whose account is outside its sending hours. */
  #withinHours(due: readonly OpenMailing[]): readonly OpenMailing[] {
    const { db, clock, timeZone } = this.#deps;
    const waiting = due.length === 0 ? null : waitingAccounts(db.$client, clock.now(), timeZone);
    if (waiting === null || waiting.size === 0) return due;
    return due.filter(({ owner_kind: kind, user_id }) => !(KINDS_WITH_HOURS.has(kind) && waiting.has(user_id)));
  }

  /** Holds the mailings of campaigns whose results exceed a limit, before more recipients are claimed. Returns their ids. */
  #holdByResults(open: readonly OpenMailing[]): number[] {
    return open.flatMap(({ id, owner_kind }) => {
      const held = owner_kind === 'single' ? findResultHold(this.#deps.db.$client, id) : null;
      if (held === null) return [];
      this.#states.hold(id, held);
      return [id];
    });
  }

  #clearRecorded(): void {
    this.#results.clear();
    this.#handoffs.recorded();
  }

  /**
   * Returns the claims that may be sent now, and those that wait until the rate of their recipient domain or its group allows another mail.
   */
  #limited(batches: readonly Batch[]): { batches: Batch[]; postponed: { claim: Claim; due_at: number }[] } {
    const { rates, pacing } = this.#deps;
    const postponed: { claim: Claim; due_at: number }[] = [];
    const limited = batches.map((batch) => {
      const claims = batch.claims.filter((claim) => {
        const domain = domainOf(claim.normalized_email);
        const wait = pacing.waitFor(batch.mailing, domain) || rates.waitFor(batch.mailing.id, domain);
        if (wait === 0) return true;
        rates.giveBack(1);
        postponed.push({ claim, due_at: this.#steady() + wait });
        return false;
      });
      return { ...batch, claims };
    });
    return { batches: limited, postponed };
  }

  /** Records results in the ledger and finishes mailings whose recipients are all in a final state. */
  #record(open: readonly OpenMailing[]): void {
    const moment = this.#deps.clock.now();
    this.#deps.warmUps.ended(this.#results.ended);
    this.#results.write(this.#ledger, moment);
    this.#handoffs.record(moment.getTime());
    for (const { id } of open) this.#completeIfDone(id, moment);
  }

  /** Finishes a mailing if all its recipients are in a final state. */
  #completeIfDone(mailingId: number, moment: Date): void {
    if (!this.#states.completeIfDone(mailingId, isoTimestamp(moment))) return;
    this.#deps.mailings.forget(mailingId);
    this.#deps.rates.forget(mailingId);
    this.#deps.pacing.forget(mailingId);
    this.#outcomes.forget(mailingId);
  }

  /** Cancels some queued recipients of each cancelled mailing. Returns their number. */
  #cancelQueued(): number {
    const moment = this.#deps.clock.now();
    let cancelled = 0;
    for (const id of this.#states.cancelledMailings()) {
      cancelled += this.#ledger.cancelQueued(id, CANCEL_ROWS, moment.getTime());
      this.#completeIfDone(id, moment);
    }
    return cancelled;
  }
}
