/** Hands claimed recipients to the courier, each as one mail, and waits for their outcomes. */
import { setTimeout as pause } from 'node:timers/promises';
import { SENTENCES } from '../../sentences.ts';
import type { MailData } from '../mime/mail-data.ts';
import type { Claim } from '../queue/candidates.ts';
import type { OpenMailing } from '../queue/mailing-state.ts';
import type { ReadyMailing } from '../queue/mailings.ts';
import type { Courier, Outcome } from '../transport/courier.ts';

export interface HandoffsDeps {
  courier: Courier;
  /** Whether a mail of this mailing may leave now. */
  mayLeave(mailingId: number): boolean;
  /** Takes the outcome of each hand-off. */
  onOutcome(mailing: OpenMailing, claim: Claim, outcome: Outcome | 'withdrawn'): void;
  log(fields: object, text: string): void;
}

export class Handoffs {
  readonly #deps: HandoffsDeps;
  #inFlight = 0;
  /** How many wait for their DKIM signature, by the relay they may go over. */
  readonly #signing = new Map<number | null, number>();
  #onEnd: () => void = () => undefined;

  constructor(deps: HandoffsDeps) {
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

  /** Starts one. A mail that cannot be built, because of a bug or of its data, fails this recipient; the others continue. */
  start(mailing: OpenMailing, ready: ReadyMailing, claim: Claim): void {
    this.#inFlight++;
    const end = (outcome: Outcome | 'withdrawn') => {
      this.#inFlight--;
      this.#deps.onOutcome(mailing, claim, outcome);
      this.#onEnd();
    };
    this.#send(mailing, ready, claim).then(end, (error: unknown) => {
      this.#deps.log({ delivery: claim.id, err: String(error) }, 'a mail could not be built');
      end({ kind: 'refused', stage: 'data', code: 554, enhanced: '5.6.0', reply: SENTENCES.not_built });
    });
  }

  /** Resolves when half of those in progress have ended, or after `ms`. */
  async waitForHalf(ms: number): Promise<void> {
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

  async #send(mailing: OpenMailing, ready: ReadyMailing, claim: Claim): Promise<Outcome | 'withdrawn'> {
    const to = envelopeAddress(claim);
    const maySend = () => this.#deps.mayLeave(mailing.id);
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
