/** Sends each claimed recipient's mail through a courier in this process, and waits for the outcomes. */
import { setTimeout as pause } from 'node:timers/promises';
import { sentence } from '../../errors/sentences.ts';
import type { Clock } from '../../time/clock.ts';
import type { MailData } from '../mime/mail-data.ts';
import { MergedTooLarge } from '../mime/merged-size.ts';
import type { Claim } from '../queue/candidates.ts';
import type { OpenMailing } from '../queue/mailing-state.ts';
import { envelopeAddress, type ReadyMailing } from '../queue/ready-mailing.ts';
import type { Courier, Outcome } from '../transport/courier.ts';
import type { Batch } from './claims.ts';
import type { Handoffs, HandoffsDeps } from './handoffs.ts';
import { OutgoingMail, type OutgoingMessage, type SentMails } from './sent-mails.ts';

/**
 * The worker's dependencies and the courier. `mayLeave` takes the claim instead of the mailing, because on a sender node it may depend on
 * the recipient.
 */
export interface CourierHandoffsDeps extends Omit<HandoffsDeps, 'mayLeave' | 'onOutcome'> {
  courier: Courier;
  clock: Pick<Clock, 'now'>;
  /** Keeps mails as sent; null on a sender node, because the service keeps them. */
  sent: SentMails | null;
  /** Receives the outcome of each hand-off, and what was sent if the account keeps mails as sent. */
  onOutcome(mailing: OpenMailing, claim: Claim, outcome: Outcome | 'withdrawn', outgoing: OutgoingMessage | null): void;
  /** Returns true if the mail of this recipient may begin now, or may go on if the relay has accepted its envelope. */
  mayLeave(claim: Claim, hasEnvelope: boolean): boolean;
}

/** Outcomes are written within this time, in milliseconds. It limits how many mails a crash can send twice. */
const RECORD_MS = 50;

export class CourierHandoffs implements Handoffs {
  readonly recordMs = RECORD_MS;
  readonly #deps: CourierHandoffsDeps;
  #inFlight = 0;
  /** The number of mails waiting for their DKIM signature, by SMTP relay. */
  readonly #signing = new Map<number | null, number>();
  #onEnd: () => void = () => undefined;

  constructor(deps: CourierHandoffsDeps) {
    this.#deps = deps;
  }

  /** The number of unfinished sends. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Returns how many more mails the courier takes now, for one SMTP relay or for any. Mails that are being signed are subtracted, because
   * the courier does not count them yet.
   */
  room(relayId: number | null): number {
    return this.#deps.courier.room(relayId) - (this.#signing.get(relayId) ?? 0);
  }

  /**
   * Does nothing, because nothing about these claims must be on disk: at startup, all deliveries in the state `sending` go back to the
   * queue.
   */
  assign(): void {}

  start({ mailing, ready, kept, claims }: Batch): void {
    const { key } = ready;
    for (const claim of claims)
      this.startOne(mailing, ready, claim, kept && new OutgoingMail(ready, claim, kept, { key, isByNode: false }));
  }

  /**
   * Starts one send. `outgoing` records what is sent. A mail that cannot be built, because of a bug or its data, fails for this recipient;
   * the others continue.
   */
  startOne(mailing: OpenMailing, ready: ReadyMailing, claim: Claim, outgoing: OutgoingMessage | null): void {
    this.#inFlight++;
    const end = (outcome: Outcome | 'withdrawn') => {
      this.#inFlight--;
      if (outgoing instanceof OutgoingMail && outcome !== 'withdrawn' && outcome.kind === 'accepted')
        this.#deps.sent?.add(outgoing);
      this.#deps.onOutcome(mailing, claim, outcome, outgoing);
      this.#onEnd();
    };
    const fail = (error: unknown) => {
      const isTooLarge = error instanceof MergedTooLarge;
      if (!isTooLarge) this.#deps.log({ delivery: claim.id, err: String(error) }, 'a mail could not be built', 'error');
      const reply = isTooLarge ? error.said : sentence('not_built');
      end({ kind: 'refused', stage: 'data', code: 554, enhanced: '5.6.0', reply });
    };
    try {
      this.#send(mailing, ready, claim, outgoing).then(end, fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Resolves when half of the sends in progress have ended, or after `ms` milliseconds. */
  async waitForMany(ms: number): Promise<void> {
    const enough = this.#inFlight / 2;
    const half = new Promise<void>((resolve) => {
      this.#onEnd = () => {
        if (this.#inFlight <= enough) resolve();
      };
    });
    const timer = new AbortController();
    await Promise.race([half, pause(ms, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
  }

  /** Returns true at once, because `mayLeave` is asked right before each mail begins. */
  hasStopped(): boolean {
    return true;
  }

  /** The number of mails as sent that are not on disk yet. */
  get unrecorded(): number {
    return this.#deps.sent?.length ?? 0;
  }

  record(): void {
    this.#deps.sent?.write();
  }

  recorded(): void {
    this.#deps.sent?.clear();
  }

  hold(): void {}

  close(graceMs: number): Promise<void> {
    return this.#deps.courier.close(graceMs);
  }

  /**
   * Sends a mail and returns its outcome. It is not an async function, because the promises and closures of one would cost each mail more
   * than the promises here.
   */
  #send(
    mailing: OpenMailing,
    ready: ReadyMailing,
    claim: Claim,
    outgoing: OutgoingMessage | null,
  ): Promise<Outcome | 'withdrawn'> {
    const to = envelopeAddress(claim);
    const now = this.#deps.clock.now();
    const signing = ready.renderSigned(claim, to, now);
    if (signing === null) return this.#handOver(mailing, ready, claim, to, outgoing, null);
    return this.#counted(mailing.relay_id, signing).then((message) =>
      this.#handOver(mailing, ready, claim, to, outgoing, { date: now, message }),
    );
  }

  /** Gives a mail to the courier. If `signed` is null, the message is rendered when it is sent. */
  #handOver(
    mailing: OpenMailing,
    ready: ReadyMailing,
    claim: Claim,
    to: string,
    outgoing: OutgoingMessage | null,
    signed: { date: Date; message: MailData } | null,
  ): Promise<Outcome | 'withdrawn'> {
    const { clock, courier, mayLeave } = this.#deps;
    return courier.send(
      {
        from: ready.envelopeFrom(claim),
        to,
        relayId: mailing.relay_id,
        dotless: true,
        start: (buffer) => {
          if (!mayLeave(claim, false)) return null;
          const date = signed?.date ?? clock.now();
          const message = signed?.message ?? ready.render(claim, to, date, buffer);
          outgoing?.begin(date, message);
          return message;
        },
        maySend: () => mayLeave(claim, true),
      },
      { accountId: mailing.user_id, mailingId: mailing.id },
    );
  }

  /** Waits until a mail is signed. Until then, the mail counts against the courier's capacity. */
  #counted(relayId: number | null, signed: Promise<MailData>): Promise<MailData> {
    const count = (change: number) => this.#signing.set(relayId, (this.#signing.get(relayId) ?? 0) + change);
    count(1);
    return signed.finally(() => count(-1));
  }
}
