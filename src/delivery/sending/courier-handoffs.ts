/** Hands claimed recipients to a courier of this process, each as one mail, and waits for their outcomes. */
import { setTimeout as pause } from 'node:timers/promises';
import { sentence } from '../../errors/sentences.ts';
import type { MailData } from '../mime/mail-data.ts';
import { MergedTooLarge } from '../mime/merged-size.ts';
import type { Claim } from '../queue/candidates.ts';
import type { OpenMailing } from '../queue/mailing-state.ts';
import type { ReadyMailing } from '../queue/ready-mailing.ts';
import type { Courier, Outcome } from '../transport/courier.ts';
import type { Batch } from './claims.ts';
import type { Handoffs, HandoffsDeps } from './handoffs.ts';

/** Like the worker's, with the courier; whether a mail may leave may depend on its recipient. */
export interface CourierHandoffsDeps extends Omit<HandoffsDeps, 'mayLeave'> {
  courier: Courier;
  /** Whether the mail of this recipient may leave now. */
  mayLeave(claim: Claim): boolean;
}

/** It bounds how many mails a crash can send twice. */
const RECORD_MS = 50;

export class CourierHandoffs implements Handoffs {
  readonly recordMs = RECORD_MS;
  readonly #deps: CourierHandoffsDeps;
  #inFlight = 0;
  /** How many wait for their DKIM signature, by the relay they may go over. */
  readonly #signing = new Map<number | null, number>();
  #onEnd: () => void = () => undefined;

  constructor(deps: CourierHandoffsDeps) {
    this.#deps = deps;
  }

  /** How many are not ended. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** How many more the courier takes now, of those for one relay or for any. Those that are being signed do not count there yet. */
  room(relayId: number | null): number {
    return this.#deps.courier.room(relayId) - (this.#signing.get(relayId) ?? 0);
  }

  /** Nothing of claims is kept on disk: at a start, whatever is in hand-off goes back to the queue. */
  assign(): void {}

  start({ mailing, ready, claims }: Batch): void {
    for (const claim of claims) this.startOne(mailing, ready, claim);
  }

  /** Starts one. A mail that cannot be built, because of a bug or of its data, fails this recipient; the others continue. */
  startOne(mailing: OpenMailing, ready: ReadyMailing, claim: Claim): void {
    this.#inFlight++;
    const end = (outcome: Outcome | 'withdrawn') => {
      this.#inFlight--;
      this.#deps.onOutcome(mailing, claim, outcome);
      this.#onEnd();
    };
    this.#send(mailing, ready, claim).then(end, (error: unknown) => {
      const isTooLarge = error instanceof MergedTooLarge;
      if (!isTooLarge) this.#deps.log({ delivery: claim.id, err: String(error) }, 'a mail could not be built');
      const reply = isTooLarge ? error.said : sentence('not_built');
      end({ kind: 'refused', stage: 'data', code: 554, enhanced: '5.6.0', reply });
    });
  }

  /** Resolves when half of those in progress have ended, or after `ms`. */
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

  /** At once, because whether a mail may leave is asked right before it begins. */
  hasStopped(): boolean {
    return true;
  }

  readonly unrecorded = 0;
  record(): void {}
  recorded(): void {}
  hold(): void {}

  close(graceMs: number): Promise<void> {
    return this.#deps.courier.close(graceMs);
  }

  async #send(mailing: OpenMailing, ready: ReadyMailing, claim: Claim): Promise<Outcome | 'withdrawn'> {
    const to = envelopeAddress(claim);
    const maySend = () => this.#deps.mayLeave(claim);
    const send = (message: (buffer?: Buffer) => MailData) =>
      this.#deps.courier.send(
        {
          from: ready.envelopeFrom(claim),
          to,
          relayId: mailing.relay_id,
          dotless: true,
          start: (buffer) => (maySend() ? message(buffer) : null),
          maySend,
        },
        { accountId: mailing.user_id, mailingId: mailing.id },
      );
    const signed = ready.renderSigned(claim, to);
    return signed === null
      ? send((buffer) => ready.render(claim, to, buffer))
      : this.#sendSigned(mailing.relay_id, signed, send);
  }

  /** Hands a mail over once it is signed; until then it counts against the courier's room. */
  async #sendSigned(
    relayId: number | null,
    signed: Promise<MailData>,
    send: (message: (buffer?: Buffer) => MailData) => Promise<Outcome | 'withdrawn'>,
  ): Promise<Outcome | 'withdrawn'> {
    const count = (change: number) => this.#signing.set(relayId, (this.#signing.get(relayId) ?? 0) + change);
    count(1);
    const message = await signed.finally(() => count(-1));
    return send(() => message);
  }
}

/** The address for the envelope: the local part as given, the domain in ASCII form. */
function envelopeAddress({ email, normalized_email: normalized }: Claim): string {
  const given = email ?? normalized;
  return given.slice(0, given.lastIndexOf('@')) + normalized.slice(normalized.lastIndexOf('@'));
}
