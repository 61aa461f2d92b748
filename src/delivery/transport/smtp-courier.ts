/** The courier that sends mail through the relays of SMTP_URL. */
import type { Courier, Handoff, Outcome } from './courier.ts';
import { SmtpPool } from './smtp/pool.ts';
import { parseRelays } from './smtp/relay.ts';

export interface SmtpOptions {
  connections: number;
  /** Our full domain name for EHLO; if empty, the connection's IP address is used. */
  name?: string;
  /** Called whenever a relay could not be used. */
  onRelayFailure(relay: string, outcome: Outcome): void;
}

/** Sends over a pool of open connections. The constructor throws an Error that names SMTP_URL if it can't be parsed. */
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
