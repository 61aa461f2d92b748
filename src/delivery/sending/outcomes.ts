/**
 * Decides what follows from the outcome of a hand-off: a result for the recipient, a hold on the mailing, or a refusal that waits until it
 * is clear whether the recipient or the sender caused the refusal.
 */

import { type Sentence, sentence } from '../../errors/sentences.ts';
import type { Log } from '../../log.ts';
import type { Claim } from '../queue/candidates.ts';
import type { Ledger } from '../queue/ledger/ledger.ts';
import type { MailingStates, OpenMailing } from '../queue/mailing-state.ts';
import { findBlame } from '../replies/blame.ts';
import type { Outcome } from '../transport/courier.ts';
import { Refusals, type Suspect, type Verdict } from './refusals.ts';
import type { ResultBuffer } from './result-buffer.ts';

/** The number of recipients of other domains that are tried when one domain refuses. */
const COMPARED_RECIPIENTS = 10;

interface OutcomesDeps {
  ledger: Ledger;
  results: ResultBuffer;
  stopped: StoppedMailings;
  /** The clock by which retries are measured, in epoch milliseconds. */
  steady: () => number;
  log: Log;
}

export class Outcomes {
  readonly #deps: OutcomesDeps;
  readonly #refusals = new Refusals();

  constructor(deps: OutcomesDeps) {
    this.#deps = deps;
  }

  /** The number of refusals recorded so far that the sender may have caused. */
  get noted(): number {
    return this.#refusals.noted;
  }

  /** Handles the outcome of a hand-off. */
  handle(mailing: OpenMailing, claim: Claim, outcome: Outcome | 'withdrawn'): void {
    const { results, stopped, steady } = this.#deps;
    if (outcome === 'withdrawn') {
      results.requeue(claim);
    } else if (outcome.kind === 'held') {
      results.requeue(claim);
      if (!stopped.has(mailing.id)) stopped.hold(mailing.id, sentence('held_by_relay', { reply: outcome.reply }));
    } else if (this.#refusals.note(mailing, claim, outcome)) {
      this.#act(mailing, this.#refusals.verdict(mailing.id));
    } else {
      results.add(mailing, claim, outcome);
      if (outcome.kind === 'accepted') this.#record(this.#refusals.accepted(mailing.id, claim, steady()));
    }
  }

  /**
   * Judges the waiting refusals of mailings that have no other recipient due or being sent, because no comparison will follow. `open` lists
   * the mailings that may be sent now; recipients of other mailings go back to the queue. If `mayClaim` is false, the recipients of all
   * mailings go back.
   */
  judgeWaiting(open: readonly OpenMailing[], mayClaim: boolean): void {
    for (const id of this.#refusals.waiting) {
      const mailing = open.find((mailing) => mailing.id === id);
      if (mailing === undefined || !mayClaim) {
        this.#requeueSuspects(id);
        continue;
      }
      const ended = this.#refusals.suspects(id).length + this.#deps.results.countOf(id);
      const { sending, delivered } = this.#deps.ledger.progress(id);
      if (mailing.is_due === 1 || sending > ended) continue;
      const isFirst = delivered === 0 && this.#refusals.acceptedAt(id) === 0;
      const verdict = this.#isGivenUp(mailing) ? 'hold' : this.#refusals.verdict(id, { isLast: true, isFirst });
      this.#act(mailing, verdict);
      if (verdict === null) this.#record(this.#refusals.take(id), mailing.owner_kind === 'schedule');
    }
  }

  /** Forgets the refusals of a finished mailing. */
  forget(mailingId: number): void {
    this.#refusals.end(mailingId);
  }

  /**
   * Acts on a verdict: holds the mailing and puts its recipients back into the queue, or moves recipients of other domains to the front of
   * the queue for comparison.
   */
  #act(mailing: OpenMailing, verdict: Verdict): void {
    const { stopped } = this.#deps;
    const { id } = mailing;
    const next =
      verdict === 'compare' && !this.#hasOthers(mailing) ? this.#refusals.verdict(id, { isLast: true }) : verdict;
    if (next === 'hold' && !stopped.has(id)) stopped.hold(id, this.#refusals.reason(id));
    if (next === 'theirs') this.#record(this.#refusals.blameDomain(id));
    if (stopped.has(id)) this.#requeueSuspects(id);
  }

  #requeueSuspects(mailingId: number): void {
    for (const { claim } of this.#refusals.end(mailingId)) this.#deps.results.requeue(claim);
  }

  /** Moves recipients of other domains to the front of the queue. Returns false if the mailing has none. */
  #hasOthers(mailing: OpenMailing): boolean {
    const { ledger, steady, log } = this.#deps;
    try {
      const domain = this.#refusals.compare(mailing.id);
      return ledger.bringForward(mailing, domain, COMPARED_RECIPIENTS, steady()) > 0;
    } catch (error) {
      log({ mailing: mailing.id, err: String(error) }, 'the queue of a mailing could not be changed', 'warn');
      return true;
    }
  }

  /**
   * Returns true if a recipient of an automation's mail was refused because of the sender until the retries ended, and no recipient was
   * accepted in that time.
   */
  #isGivenUp({ id, owner_kind }: OpenMailing): boolean {
    if (owner_kind !== 'schedule') return false;
    const acceptedAt = this.#refusals.acceptedAt(id);
    return this.#refusals
      .suspects(id)
      .some(
        ({ claim, outcome }) =>
          findBlame(outcome) === 'us' &&
          acceptedAt < claim.first_tried_at &&
          this.#deps.results.retryAt(claim) === null,
      );
  }

  /**
   * Records judged refusals. If the mailing `goesOn`, refusals by policy are retried and judged again together with the
   * refusals of later recipients.
   */
  #record(suspects: readonly Suspect[], goesOn = false): void {
    for (const { mailing, claim, outcome } of suspects) {
      const willBeRetried = goesOn && outcome.enhanced?.startsWith('5.7.') === true;
      this.#deps.results.add(mailing, claim, outcome, willBeRetried);
    }
  }
}

/** The mailings of which this process must not send any more mails. */
export class StoppedMailings {
  readonly #states: MailingStates;
  readonly #log: Log;
  readonly #ids = new Set<number>();

  constructor(states: MailingStates, log: Log) {
    this.#states = states;
    this.#log = log;
  }

  has(mailingId: number): boolean {
    return this.#ids.has(mailingId);
  }

  /** Stops a mailing whose new state is already on disk. */
  add(mailingId: number): void {
    this.#ids.add(mailingId);
  }

  /** Allows a mailing to be sent again. */
  delete(mailingId: number): void {
    this.#ids.delete(mailingId);
  }

  /**
   * Holds a mailing because of the SMTP relay's replies, and stops it. If the hold cannot be written now, the mailing's next refused
   * hand-off tries again.
   */
  hold(mailingId: number, reason: Sentence): void {
    try {
      this.#states.hold(mailingId, { held_code: 'relay_refused', held_reason: reason });
      this.#ids.add(mailingId);
    } catch (error) {
      this.#log({ mailing: mailingId, err: String(error) }, 'a mailing could not be held', 'warn');
    }
  }
}
