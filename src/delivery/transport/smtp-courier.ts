/** The courier that hands mails to the relays of SMTP_URL. */
import type { Courier, Handoff, Outcome } from './courier.ts';
import { SmtpPool } from './smtp/pool.ts';
import { parseRelays } from './smtp/relay.ts';

export interface SmtpOptions {
  connections: number;
  /** Our full domain name for EHLO; empty to give our address. */
  name?: string;
  /** Told whenever a relay could not be used. */
  onTrouble(relay: string, outcome: Outcome): void;
}

/** Hands mails over on a pool of kept connections; throws an Error naming SMTP_URL when it can't be read. */
export class SmtpCourier implements Courier {
  readonly #pool: SmtpPool;

  constructor(url: string, options: SmtpOptions) {
    this.#pool = new SmtpPool(parseRelays(url), options);
  }

  room(): number {
    return this.#pool.capacity;
  }

  send(handoff: Handoff): Promise<Outcome | 'withdrawn'> {
    return this.#pool.send(handoff);
  }

  close(graceMs: number): Promise<void> {
    return this.#pool.close(graceMs);
  }
}
