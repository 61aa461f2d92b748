/** Hands claimed recipients to a courier and puts on the ledger what became of them. */
import { setTimeout as pause } from 'node:timers/promises';
import { domainToASCII } from 'node:url';
import type { Clock } from '../clock.ts';
import { wireTime } from '../clock.ts';
import type { Db } from '../database/open.ts';
import { retryAt } from './backoff.ts';
import { classify } from './bounces/classify.ts';
import type { Courier, Outcome } from './courier.ts';
import { type Claim, Ledger, type OpenMailing, type Result } from './ledger.ts';
import type { Mailings, ReadyMailing } from './mailings.ts';

/** Results wait at most this long for their transaction: the bound of what a crash can send twice (trust, the promise). */
const RECORD_MS = 50;
const PAGE = 500;

export interface WorkerDeps {
  db: Db;
  clock: Clock;
  courier: Courier;
  mailings: Mailings;
  log(fields: object, text: string): void;
}

export class DeliveryWorker {
  readonly ledger: Ledger;
  readonly #deps: WorkerDeps;
  readonly #results: Result[] = [];
  #flights = 0;
  #landed: (() => void) | null = null;
  #recordedAt = 0;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.ledger = new Ledger(deps.db.$client);
    const recovered = this.ledger.recover();
    if (recovered > 0) deps.log({ recovered }, 'hand-offs of an earlier run go back to the queue');
  }

  /**
   * One round: record what has landed, claim what fits, hand it over, and wait a moment for the first of it to land. Gives
   * whether there is anything left to do now.
   */
  async step(): Promise<boolean> {
    const now = this.#deps.clock.now().getTime();
    let claimed = 0;
    for (const mailing of this.ledger.openMailings()) {
      const ready = this.#deps.mailings.get(mailing.id);
      for (let room = this.#deps.courier.room(); room > 0; room = this.#deps.courier.room()) {
        const claims = this.ledger.claim(mailing.id, Math.min(room, PAGE), now);
        claimed += claims.length;
        for (const claim of claims) this.#handOff(mailing, ready, claim);
        if (claims.length < Math.min(room, PAGE)) break;
      }
    }
    if (this.#flights > 0) await this.#someLanding();
    this.#recordDue(this.#flights === 0);
    return claimed > 0 || this.#flights > 0 || this.#results.length > 0;
  }

  /** Waits for what is in flight and puts it on the ledger. The courier is to be closed first. */
  async finish(): Promise<void> {
    while (this.#flights > 0) await this.#someLanding();
    this.#recordDue(true);
  }

  #handOff(mailing: OpenMailing, ready: ReadyMailing, claim: Claim): void {
    this.#flights++;
    const to = envelopeAddress(claim.email ?? claim.compared_email);
    const handoff = {
      mailingId: mailing.id,
      userId: mailing.user_id,
      from: ready.envelopeFrom(claim),
      to,
      start: () => ready.render(claim, to),
    };
    void this.#deps.courier.send(handoff).then((outcome) => {
      this.#flights--;
      this.#results.push(this.#resultOf(mailing, claim, outcome));
      this.#landed?.();
    });
  }

  /** Sleeps until a hand-off lands, but never past the moment when results are due on disk. */
  async #someLanding(): Promise<void> {
    const landing = new Promise<void>((resolve) => {
      this.#landed = resolve;
    });
    await Promise.race([landing, pause(RECORD_MS)]);
    this.#landed = null;
    this.#recordDue(false);
  }

  #recordDue(now: boolean): void {
    const elapsed = this.#deps.clock.monotonic() - this.#recordedAt;
    if (!now && elapsed < RECORD_MS / 2 && this.#results.length < PAGE) return;
    this.#recordedAt = this.#deps.clock.monotonic();
    const moment = this.#deps.clock.now();
    const results = this.#results.splice(0);
    this.ledger.record(results, moment.getTime(), wireTime(moment));
    for (const mailing of this.ledger.openMailings()) {
      if (this.ledger.settle(mailing.id, wireTime(moment))) this.#deps.mailings.forget(mailing.id);
    }
  }

  #resultOf(mailing: OpenMailing, claim: Claim, outcome: Outcome | 'withdrawn'): Result {
    const base = {
      id: claim.id,
      mailing_id: mailing.id,
      address_id: claim.address_id,
      user_id: mailing.user_id,
      due_at: 0,
      suppress: false,
    };
    if (outcome === 'withdrawn') return { ...base, state: 'queued', reply: '' };
    const { reply } = outcome;
    if (outcome.kind === 'accepted') return { ...base, state: 'accepted', reply };
    if (outcome.kind === 'refused') {
      const verdict = classify(outcome);
      if (verdict.kind !== 'deferred') {
        return {
          ...base,
          state: verdict.kind === 'bounce' ? 'bounced' : 'failed',
          reply,
          suppress: verdict.kind === 'bounce',
        };
      }
    }
    const now = this.#deps.clock.now().getTime();
    const due_at = retryAt(claim.attempt + 1, claim.first_tried_at || now, now);
    return due_at === null
      ? { ...base, state: 'failed', reply: `given up after 4 days: ${reply}` }
      : { ...base, state: 'queued', reply, due_at };
  }
}

/** The address as the envelope needs it: the local part as given, the domain in ASCII form. */
function envelopeAddress(email: string): string {
  const at = email.lastIndexOf('@');
  return `${email.slice(0, at + 1)}${domainToASCII(email.slice(at + 1))}`;
}
