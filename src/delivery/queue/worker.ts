/** Hands claimed recipients to a courier and records the results in the ledger. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { isoTimestamp, steadyTime } from '../../clock.ts';
import type { Db } from '../../database/open.ts';
import { classify } from '../feedback/bounces/classify.ts';
import type { MailData } from '../mime/mail-data.ts';
import type { Courier, Outcome } from '../transport/courier.ts';
import { retryAt } from './backoff.ts';
import type { Claim } from './candidates.ts';
import { Ledger, type OpenMailing, type Result } from './ledger.ts';
import type { Mailings, ReadyMailing } from './mailings.ts';
import type { Rates } from './rates.ts';
import { domainOf, findBlame, Refusals, type Suspect, type Verdict } from './refusals.ts';

/** Results are written within this time. It bounds how many mails a crash can send twice. */
const RECORD_MS = 50;
const MAX_CLAIMS = 500;
/** How many ineligible recipients of a mailing one transaction passes over to find eligible ones. */
const MAX_INELIGIBLE = 500;
const CANCEL_ROWS = 250;
/** How many recipients of other domains are tried when one domain refuses. */
const COMPARED_RECIPIENTS = 10;

export interface WorkerDeps {
  db: Db;
  clock: Clock;
  courier: Courier;
  mailings: Mailings;
  rates: Rates;
  log(fields: object, text: string): void;
}

interface Batch {
  mailing: OpenMailing;
  ready: ReadyMailing;
  claims: Claim[];
}

export class DeliveryWorker {
  readonly #deps: WorkerDeps;
  readonly #ledger: Ledger;
  /** The clock that retries and other waits are measured by. */
  readonly #steady: () => number;
  /** Results that are not on disk yet. */
  #results: Result[] = [];
  /** Claims that go back to the queue and are not on disk yet. */
  #requeued: { claim: Claim; due_at: number }[] = [];
  /** Recipients whose refusal may be about us. */
  readonly #refusals = new Refusals();
  /** Mailings that are stopped: no hand-off of them may start. */
  readonly #stopped = new Set<number>();
  #isStopping = false;
  #inFlight = 0;
  /** Recipients that the last round put into a final state, or into another mailing, without a hand-off. */
  #ineligible = 0;
  /** How many hand-offs wait for their DKIM signature. */
  #signing = 0;
  #onOutcome: () => void = () => undefined;
  #rotation = 0;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.#ledger = new Ledger(deps.db.$client);
    this.#steady = steadyTime(deps.clock);
    const recovered = this.#ledger.recover(this.#steady());
    if (recovered > 0) deps.log({ recovered }, 'unfinished hand-offs of an earlier run were put back into the queue');
  }

  /**
   * One round: records results and claims as many recipients as the courier has room for, in one transaction; hands them over; waits
   * until half of the hand-offs have ended or results must be written. Returns whether there is more to do now. While all sending is
   * held, nothing is claimed.
   */
  async step(isHeld = false): Promise<boolean> {
    this.acknowledge();
    const ended = this.#results.length + this.#requeued.length;
    const { noted } = this.#refusals;
    const batches = this.#recordAndClaim(!isHeld && !this.#isStopping);
    for (const { mailing, ready, claims } of batches) {
      for (const claim of claims) this.#handOffInTurn(mailing, ready, claim);
    }
    if (this.#inFlight > 0) await this.#waitForOutcomes();
    const cancelled = this.#sweepCancelled();
    // A new suspect is judged in the next round; one that waits for others is no work by itself.
    const isJudging = this.#refusals.noted !== noted;
    const waiting = this.#inFlight + this.#results.length + this.#requeued.length + (isJudging ? 1 : 0);
    return ended > 0 || batches.length > 0 || this.#ineligible > 0 || cancelled > 0 || waiting > 0;
  }

  /** Acknowledges mailings whose state another thread has changed. After this returns, no hand-off of a stopped mailing starts. */
  acknowledge(): void {
    for (const { id, state } of this.#ledger.unacknowledged()) {
      if (state === 'sending') {
        this.#stopped.delete(id);
      } else {
        this.#stopped.add(id);
        this.#deps.rates.forget(id);
      }
      this.#ledger.acknowledge(id, state);
    }
  }

  /** From now on no hand-off starts. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Waits for the hand-offs in progress and records their results. Close the courier first. */
  async finish(): Promise<void> {
    while (this.#inFlight > 0) {
      await this.#waitForOutcomes();
      this.#recordSafely();
    }
    this.#recordAndClaim(false);
  }

  /** Like `record`, but a failed write, for example on a full disk, is logged and tried again with the next results. */
  #recordSafely(): void {
    try {
      this.record();
    } catch (error) {
      this.#deps.log({ err: String(error) }, 'results could not be recorded');
    }
  }

  /** Writes results to disk. The worker's rounds do so too, but other work may come between them. */
  record(): void {
    if (this.#results.length + this.#requeued.length === 0) return;
    this.#ledger.together(() => this.#record(this.#ledger.openMailings(this.#steady())));
    this.#results = [];
    this.#requeued = [];
  }

  /**
   * Records and claims in one commit, since each commit waits for the disk. A failed write, for example on a full disk, throws and keeps
   * the results for the next round.
   */
  #recordAndClaim(mayClaim: boolean): Batch[] {
    const open = this.#ledger.openMailings(this.#steady());
    this.#ineligible = 0;
    this.#judgeSuspects(open, mayClaim);
    if (open.length + this.#results.length + this.#requeued.length === 0) return [];
    const batches = this.#ledger.together(() => {
      this.#record(open);
      return mayClaim ? this.#claimAll(open.filter(({ is_due }) => is_due === 1)) : [];
    });
    this.#results = [];
    this.#requeued = [];
    return batches;
  }

  /** Claims an equal share of the courier's room for every mailing with recipients due. Rotating who is first keeps a large one from delaying a small one. */
  #claimAll(due: readonly OpenMailing[]): Batch[] {
    const now = this.#deps.clock.now().getTime();
    const batches: Batch[] = [];
    let claimed = 0;
    for (let at = 0; at < due.length; at++) {
      const mailing = due[(this.#rotation + at) % due.length];
      const room = this.#deps.courier.room() - this.#signing - claimed;
      if (mailing === undefined || room <= 0) break;
      const share = this.#deps.rates.take(Math.min(MAX_CLAIMS, Math.ceil(room / (due.length - at))));
      if (share === 0) break;
      const ready = this.#ready(mailing);
      const claims = ready === null ? [] : this.#claim(mailing.id, ready, share, now);
      this.#deps.rates.giveBack(share - claims.length);
      if (ready !== null && claims.length > 0) batches.push({ mailing, ready, claims });
      claimed += claims.length;
    }
    this.#rotation++;
    return batches;
  }

  /**
   * Claims up to `share` recipients of a mailing. Ineligible ones do not use up the share: otherwise thousands who unsubscribed would
   * keep the relay idle.
   */
  #claim(mailingId: number, { fields }: ReadyMailing, share: number, now: number): Claim[] {
    const claims: Claim[] = [];
    let ineligible = 0;
    let isMore = true;
    while (isMore && claims.length < share && ineligible < MAX_INELIGIBLE) {
      const wanted = share - claims.length;
      const found = this.#ledger.claim(mailingId, fields, wanted, this.#steady(), now);
      claims.push(...found.claims);
      ineligible += found.examined - found.claims.length + found.moved;
      isMore = found.examined === wanted || found.moved > 0;
    }
    this.#ineligible += ineligible;
    return claims;
  }

  /** The mailing ready to render. One that cannot be prepared or may not be sent is held, so that nobody of it is claimed. */
  #ready(mailing: OpenMailing): ReadyMailing | null {
    const ready = this.#prepared(mailing);
    if (!('problem' in ready)) return ready;
    this.#ledger.hold(mailing.id, ready.problem);
    this.#deps.log({ mailing: mailing.id, reason: ready.problem }, 'mailing held');
    return null;
  }

  #prepared(mailing: OpenMailing): ReadyMailing | { problem: string } {
    try {
      return this.#deps.mailings.get(mailing.id);
    } catch (error) {
      return { problem: `The mailing could not be prepared: ${error instanceof Error ? error.message : error}` };
    }
  }

  /** Hands off now, or puts the claim back until the rate of its recipient domain allows another mail. */
  #handOffInTurn(mailing: OpenMailing, ready: ReadyMailing, claim: Claim): void {
    const wait = this.#deps.rates.waitFor(mailing.id, domainOf(claim));
    if (wait === 0) {
      this.#handOff(mailing, ready, claim);
    } else {
      this.#deps.rates.giveBack(1);
      this.#requeued.push({ claim, due_at: this.#steady() + wait });
    }
  }

  #handOff(mailing: OpenMailing, ready: ReadyMailing, claim: Claim): void {
    this.#inFlight++;
    const onEnd = (outcome: Outcome | 'withdrawn') => {
      this.#inFlight--;
      this.#handleOutcome(mailing, claim, outcome);
      this.#onOutcome();
    };
    this.#send(mailing, ready, claim).then(onEnd, (error: unknown) => onEnd(this.#buildFailure(claim, error)));
  }

  async #send(mailing: OpenMailing, ready: ReadyMailing, claim: Claim): Promise<Outcome | 'withdrawn'> {
    const to = envelopeAddress(claim);
    const mayGo = () => !this.#isStopping && !this.#stopped.has(mailing.id);
    const send = (message: (memory?: Buffer) => MailData) =>
      this.#deps.courier.send({
        mailingId: mailing.id,
        userId: mailing.user_id,
        from: ready.envelopeFrom(claim),
        to,
        dotless: true,
        start: (memory) => (mayGo() ? message(memory) : null),
        maySend: mayGo,
      });
    const signed = ready.renderSigned(claim, to);
    return signed === null ? send((memory) => ready.render(claim, to, memory)) : this.#sendSigned(signed, send);
  }

  /** The outcome of a mail that cannot be built, because of a bug or of its data: this recipient fails, the others continue. */
  #buildFailure(claim: Claim, error: unknown): Outcome {
    this.#deps.log({ delivery: claim.id, err: String(error) }, 'a mail could not be built');
    return { kind: 'refused', stage: 'data', code: 554, enhanced: '5.6.0', reply: 'The mail could not be built' };
  }

  /** Hands a mail over once it is signed; until then it counts against the courier's room. */
  async #sendSigned(
    signed: Promise<MailData>,
    send: (message: (memory?: Buffer) => MailData) => Promise<Outcome | 'withdrawn'>,
  ): Promise<Outcome | 'withdrawn'> {
    this.#signing++;
    const message = await signed.finally(() => this.#signing--);
    return send(() => message);
  }

  /** Holds a mailing. If that cannot be written now, its next refused hand-off tries again. */
  #hold(mailingId: number, reason: string): void {
    try {
      this.#ledger.hold(mailingId, reason);
      this.#stopped.add(mailingId);
      this.#deps.log({ mailing: mailingId, reason }, 'mailing held');
    } catch (error) {
      this.#deps.log({ mailing: mailingId, err: String(error) }, 'a mailing could not be held');
    }
  }

  #handleOutcome(mailing: OpenMailing, claim: Claim, outcome: Outcome | 'withdrawn'): void {
    if (outcome === 'withdrawn') {
      this.#requeued.push({ claim, due_at: 0 });
    } else if (outcome.kind === 'held') {
      this.#requeued.push({ claim, due_at: 0 });
      if (!this.#stopped.has(mailing.id)) {
        this.#hold(mailing.id, `The relay refuses mail: ${outcome.reply}`);
      }
    } else if (this.#refusals.note(mailing, claim, outcome)) {
      this.#judge(mailing.id, this.#refusals.verdict(mailing.id));
    } else {
      this.#results.push(this.#toResult(mailing, claim, outcome));
      if (outcome.kind === 'accepted') this.#recordSuspects(this.#refusals.accepted(mailing.id, claim, this.#steady()));
    }
  }

  /** Acts on a verdict: holds the mailing and puts its recipients back, or has recipients of other domains tried for comparison. */
  #judge(mailingId: number, verdict: Verdict): void {
    const next =
      verdict === 'compare' && !this.#hasOthers(mailingId)
        ? this.#refusals.verdict(mailingId, { isLast: true })
        : verdict;
    if (next === 'hold' && !this.#stopped.has(mailingId)) this.#hold(mailingId, this.#refusals.reason(mailingId));
    if (next === 'theirs') this.#recordSuspects(this.#refusals.blameDomain(mailingId));
    if (this.#stopped.has(mailingId)) {
      for (const { claim } of this.#refusals.end(mailingId)) this.#requeued.push({ claim, due_at: 0 });
    }
  }

  /** Moves recipients of other domains to the front of the queue; false when there are none. */
  #hasOthers(mailingId: number): boolean {
    try {
      const domain = this.#refusals.compare(mailingId);
      return this.#ledger.bringForward(mailingId, domain, COMPARED_RECIPIENTS, this.#steady()) > 0;
    } catch (error) {
      this.#deps.log({ mailing: mailingId, err: String(error) }, 'the queue of a mailing could not be changed');
      return true;
    }
  }

  /** Whether a recipient of an automation has been refused because of us until retries end, and nobody was accepted in that time. */
  #isGivenUp({ id, owner_kind }: OpenMailing): boolean {
    if (owner_kind !== 'schedule') return false;
    const acceptedAt = this.#refusals.acceptedAt(id);
    return this.#refusals
      .suspects(id)
      .some(
        ({ claim, outcome }) =>
          findBlame(outcome) === 'us' && acceptedAt < claim.first_tried_at && this.#retryAt(claim) === null,
      );
  }

  /** Records refusals that are judged. Where the mailing `goesOn`, those by policy are judged again, with those of people who come later. */
  #recordSuspects(suspects: readonly Suspect[], goesOn = false): void {
    for (const { mailing, claim, outcome } of suspects) {
      const isTriedAgain = goesOn && outcome.enhanced?.startsWith('5.7.') === true;
      this.#results.push(this.#toResult(mailing, claim, outcome, isTriedAgain));
    }
  }

  #retryAt(claim: Claim): number | null {
    const now = this.#steady();
    return retryAt(claim.attempt + 1, claim.first_tried_at || now, now);
  }

  /**
   * Judges refusals when nobody else of the mailing is due or being handed off, so that no comparison will follow. Recipients of stopped
   * mailings go back to the queue.
   */
  #judgeSuspects(open: readonly OpenMailing[], mayClaim: boolean): void {
    for (const id of this.#refusals.waiting) {
      const mailing = open.find((one) => one.id === id);
      if (mailing === undefined || !mayClaim) {
        for (const { claim } of this.#refusals.end(id)) this.#requeued.push({ claim, due_at: 0 });
        continue;
      }
      const unrecorded = [...this.#results, ...this.#requeued.map(({ claim }) => claim)];
      const ended = this.#refusals.suspects(id).length + unrecorded.filter((one) => one.mailing_id === id).length;
      const { sending, delivered } = this.#ledger.progress(id);
      if (mailing.is_due === 1 || sending > ended) continue;
      const isFirst = delivered === 0 && this.#refusals.acceptedAt(id) === 0;
      const verdict = this.#isGivenUp(mailing) ? 'hold' : this.#refusals.verdict(id, { isLast: true, isFirst });
      this.#judge(id, verdict);
      if (verdict === null) this.#recordSuspects(this.#refusals.take(id), mailing.owner_kind === 'schedule');
    }
  }

  /** Resolves when half of the hand-offs in progress have ended, or after `RECORD_MS`. */
  async #waitForOutcomes(): Promise<void> {
    const enough = this.#inFlight / 2;
    const half = new Promise<void>((resolve) => {
      this.#onOutcome = () => {
        if (this.#inFlight <= enough) resolve();
      };
    });
    const timer = new AbortController();
    await Promise.race([half, pause(RECORD_MS, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
  }

  /** Records results in the ledger and finishes mailings whose recipients are all in a final state. */
  #record(open: readonly OpenMailing[]): void {
    const moment = this.#deps.clock.now();
    this.#ledger.record(this.#results, moment.getTime(), isoTimestamp(moment));
    this.#ledger.requeue(this.#requeued);
    for (const { id } of open) this.#completeIfDone(id, moment);
  }

  /** Finishes a mailing if all of its recipients are in a final state. */
  #completeIfDone(mailingId: number, moment: Date): void {
    if (!this.#ledger.completeIfDone(mailingId, isoTimestamp(moment))) return;
    this.#deps.mailings.forget(mailingId);
    this.#deps.rates.forget(mailingId);
    this.#refusals.end(mailingId);
  }

  #sweepCancelled(): number {
    const moment = this.#deps.clock.now();
    let cancelled = 0;
    for (const id of this.#ledger.cancelledMailings()) {
      cancelled += this.#ledger.cancelQueued(id, CANCEL_ROWS, moment.getTime());
      this.#completeIfDone(id, moment);
    }
    return cancelled;
  }

  /** The result to record for an outcome. A refusal that names us, or one with `isTriedAgain`, never fails the recipient. */
  #toResult(mailing: OpenMailing, claim: Claim, outcome: Outcome, isTriedAgain = false): Result {
    const { reply } = outcome;
    const base = {
      id: claim.id,
      mailing_id: mailing.id,
      address_id: claim.address_id,
      user_id: mailing.user_id,
      reply,
      due_at: 0,
      suppress: false,
      in_series: mailing.owner_kind === 'schedule',
    };
    if (outcome.kind === 'accepted') return { ...base, state: 'accepted' };
    const isFinal = outcome.kind === 'refused' && !isTriedAgain && findBlame(outcome) !== 'us';
    const verdict = isFinal ? classify(outcome) : null;
    if (verdict?.kind === 'bounce') return { ...base, state: 'bounced', suppress: true };
    if (verdict?.kind === 'failed') return { ...base, state: 'failed' };
    const due_at = this.#retryAt(claim);
    return due_at === null
      ? { ...base, state: 'failed', reply: `Given up after 4 days: ${reply}` }
      : { ...base, state: 'queued', due_at };
  }
}

/** The address for the envelope: the local part as given, the domain in ASCII form. */
function envelopeAddress({ email, compared_email: compared }: Claim): string {
  const given = email ?? compared;
  return given.slice(0, given.lastIndexOf('@')) + compared.slice(compared.lastIndexOf('@'));
}
