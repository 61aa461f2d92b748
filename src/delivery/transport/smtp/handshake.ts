/** From a bare connection to one that takes mail: greeting, EHLO, TLS, login. */
import { isIPv6 } from 'node:net';
import type { SmtpConnection } from './connection.ts';
import { Dialogue } from './dialogue.ts';
import { type Outcome, outcomeOf, type Stage, withoutReply } from './outcome.ts';
import { type Relay, relayName } from './relay.ts';
import type { Reply } from './reply.ts';
import type { Timeouts } from './timeouts.ts';

/** What the relay announced that matters to a transaction. */
export type Extensions = {
  /** RFC 2920. */
  pipelining: boolean;
  /** RFC 1870: the most bytes a message may have, 0 for no known limit; null where MAIL takes no SIZE. */
  size: number | null;
};

/** Keywords in upper case and what followed them. */
type Announced = Map<string, string>;

/** RFC 5321 4.5.3.1.4, without the line end. */
const MAX_COMMAND = 510;

/**
 * Leads a fresh connection to where MAIL FROM may follow. Gives what the relay offers, or why it will not do: held for
 * a 5xx and for impossible TLS or login, deferred for what may pass; the wire is then closing. `name` is how we
 * introduce ourselves where it is a full domain name, else our address is (RFC 5321 4.1.4). It takes at most `patience`
 * milliseconds from the beginning of the connection.
 */
export async function handshake(
  wire: SmtpConnection,
  relay: Relay,
  name: string,
  timeouts: Timeouts,
  patience: number,
): Promise<Extensions | Outcome> {
  const opening = new Opening(wire, relay, name, timeouts, patience);
  try {
    return await opening.run();
  } catch (error) {
    if (error instanceof Refusal) {
      wire.quit(timeouts.quit);
      return error.outcome;
    }
    const reason = error instanceof Error ? error : new Error(String(error));
    wire.fail(reason);
    const kind = opening.stage === 'tls' && !mayPass(reason) ? 'held' : 'deferred';
    return withoutReply(kind, opening.stage, `${relayName(relay)}: ${reason.message}`);
  }
}

/** Ends the handshake with an outcome while the connection still works. */
class Refusal extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super(outcome.reply);
    this.outcome = outcome;
  }
}

class Opening {
  readonly #wire: SmtpConnection;
  readonly #relay: Relay;
  readonly #name: string;
  readonly #timeouts: Timeouts;
  readonly #dialogue: Dialogue;
  #encrypted = false;
  #offers: Announced = new Map();
  stage: Stage = 'connect';

  constructor(wire: SmtpConnection, relay: Relay, name: string, timeouts: Timeouts, patience: number) {
    this.#wire = wire;
    this.#relay = relay;
    this.#name = name;
    this.#timeouts = timeouts;
    this.#dialogue = new Dialogue(wire, patience);
  }

  async run(): Promise<Extensions> {
    await this.#dialogue.event(this.#timeouts.connect, (done) => this.#wire.onConnect(done));
    if (this.#relay.tls === 'implicit') await this.#encrypt();
    this.#accept(await this.#dialogue.ask(this.#timeouts.greeting, null));
    await this.#hello();
    if (this.#relay.tls === 'required' || this.#relay.tls === 'offered') await this.#startTls();
    if (this.#relay.login !== null) await this.#login(this.#relay.login.user, this.#relay.login.password);
    const size = this.#offers.get('SIZE');
    return {
      pipelining: this.#offers.has('PIPELINING'),
      size: size === undefined ? null : Number(size) || 0,
    };
  }

  /** RFC 5321 3.2: HELO is for those who do not know EHLO, not for those who refuse us. */
  async #hello(): Promise<void> {
    const full = /^([a-z0-9-]+\.)+[a-z][a-z0-9-]*$/i.test(this.#name);
    const name = full ? this.#name : addressLiteral(this.#wire.localAddress);
    const reply = await this.#ask(`EHLO ${name}`);
    const unknown = [500, 501, 502, 504].includes(reply.code);
    this.#accept(unknown ? await this.#ask(`HELO ${name}`) : reply);
    this.#offers = unknown ? new Map() : announced(reply.text);
  }

  /** RFC 3207; what was announced before counts for nothing afterwards. */
  async #startTls(): Promise<void> {
    const reply = this.#offers.has('STARTTLS') ? await this.#ask('STARTTLS') : null;
    if (reply !== null && reply.code < 300) {
      await this.#encrypt();
      await this.#hello();
    } else if (this.#relay.tls === 'required') {
      this.stage = 'tls';
      if (reply === null)
        throw this.#impossible('no STARTTLS is offered, and mail must not cross the network in plain text');
      throw new Refusal(outcomeOf('tls', reply));
    }
  }

  async #encrypt(): Promise<void> {
    this.stage = 'tls';
    const { host, verify } = this.#relay;
    await this.#dialogue.event(this.#timeouts.tls, (done) => this.#wire.secure(host, verify, done));
    this.stage = 'connect';
    this.#encrypted = true;
  }

  /** RFC 4954, with PLAIN (RFC 4616) or else LOGIN. */
  async #login(user: string, password: string): Promise<void> {
    this.stage = 'auth';
    if (!this.#encrypted && !this.#relay.local) throw this.#impossible('a password is never sent in plain text');
    const mechanisms = (this.#offers.get('AUTH') ?? '').toUpperCase().split(' ');
    if (mechanisms.includes('PLAIN')) {
      // RFC 4954 4: an initial response that makes the line too long waits for the relay's 334.
      const token = base64(`\0${user}\0${password}`);
      const line = `AUTH PLAIN ${token}`;
      await this.#answer(line.length <= MAX_COMMAND ? [line] : ['AUTH PLAIN', token]);
    } else if (mechanisms.includes('LOGIN')) {
      await this.#answer(['AUTH LOGIN', base64(user), base64(password)]);
    } else {
      throw this.#impossible(`neither AUTH PLAIN nor AUTH LOGIN is offered${this.#encrypted ? '' : ' without TLS'}`);
    }
  }

  /** Sends each line after the 334 for the one before. */
  async #answer(lines: string[]): Promise<void> {
    for (const [index, line] of lines.entries()) {
      const reply = await this.#ask(line);
      if (index === lines.length - 1) this.#accept(reply);
      else if (reply.code !== 334) throw new Refusal(outcomeOf(this.stage, reply));
    }
  }

  #ask(command: string): Promise<Reply> {
    return this.#dialogue.ask(this.#timeouts.command, command);
  }

  #accept(reply: Reply): void {
    if (reply.code >= 300) throw new Refusal(outcomeOf(this.stage, reply));
  }

  #impossible(why: string): Refusal {
    return new Refusal(withoutReply('held', this.stage, `${relayName(this.#relay)}: ${why}`));
  }
}

/** During the TLS handshake: the network's failures and our timeouts may pass, a wrong certificate or protocol stays. */
function mayPass(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return ['', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'].includes(code);
}

/** RFC 5321 4.1.1.1; `AUTH=PLAIN` is how it was written before RFC 4954. */
function announced(text: string): Announced {
  const lines = text.split('\n').slice(1);
  return new Map(
    lines.map((line) => {
      const [keyword = '', ...rest] = line.trim().split(/[ =]+/);
      return [keyword.toUpperCase(), rest.join(' ')];
    }),
  );
}

function addressLiteral(address: string): string {
  return isIPv6(address) ? `[IPv6:${address}]` : `[${address}]`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
