/** The SMTP handshake, from TCP connection to the first MAIL FROM: greeting, EHLO, TLS, login. */
import { isIPv6 } from 'node:net';
import type { ConnectionListener, SmtpConnection } from './connection.ts';
import { type Outcome, replyOutcome, type Stage, withoutReply } from './outcome.ts';
import { type Relay, relayName } from './relay-urls.ts';
import type { Reply } from './reply-reader.ts';
import type { Timeouts } from './timeouts.ts';

/** The extensions announced by the SMTP relay that matter to a transaction. */
export type Extensions = {
  /** True if the relay offers PIPELINING (RFC 2920). */
  pipelining: boolean;
  /** The largest message in bytes (SIZE, RFC 1870); 0 if no limit is known; null if SIZE is not offered. */
  size: number | null;
};

/** The parameters of the announced extensions, by keyword in upper case. */
type Announced = Map<string, string>;

/** The length of the longest command line (RFC 5321 4.5.3.1.4), without its CRLF. */
const MAX_COMMAND_BYTES = 510;

/**
 * Prepares a new connection for MAIL FROM. Returns the relay's extensions, or the outcome if the connection cannot be used: held after a
 * 5xx or if TLS or login is impossible, deferred after a temporary failure. The connection is then closing. `name` is sent in EHLO if it is
 * a full domain name; otherwise our IP address is sent (RFC 5321 4.1.4). The handshake takes at most `totalMs` milliseconds, counted from
 * the start of the connection.
 */
export async function handshake(
  connection: SmtpConnection,
  relay: Relay,
  name: string,
  timeouts: Timeouts,
  totalMs: number,
): Promise<Extensions | Outcome> {
  const negotiation = new Handshake(connection, relay, name, timeouts, totalMs);
  try {
    return await negotiation.run();
  } catch (error) {
    if (error instanceof Refusal) {
      connection.quit(timeouts.quit);
      return withoutLogin(error.outcome, relay);
    }
    const reason = error instanceof Error ? error : new Error(String(error));
    connection.fail(reason);
    const kind = negotiation.stage === 'tls' && !isTransient(reason) ? 'held' : 'deferred';
    return withoutReply(kind, negotiation.stage, `${relayName(relay)}: ${reason.message}`);
  }
}

/** Why a connection failed whose relay did not answer in time. */
export class NoReply extends Error {}

/** Thrown to end the handshake with an outcome while the connection still works, so that QUIT is sent. */
class Refusal extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super(outcome.reply);
    this.outcome = outcome;
  }
}

class Handshake {
  readonly #connection: SmtpConnection;
  readonly #relay: Relay;
  readonly #name: string;
  readonly #timeouts: Timeouts;
  readonly #dialogue: Dialogue;
  #encrypted = false;
  #offers: Announced = new Map();
  stage: Stage = 'connect';

  constructor(connection: SmtpConnection, relay: Relay, name: string, timeouts: Timeouts, totalMs: number) {
    this.#connection = connection;
    this.#relay = relay;
    this.#name = name;
    this.#timeouts = timeouts;
    this.#dialogue = new Dialogue(connection, totalMs);
  }

  async run(): Promise<Extensions> {
    await this.#dialogue.event(this.#timeouts.connect, (done) => this.#connection.onConnect(done));
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

  /** Says EHLO. HELO is tried only if the relay does not know EHLO, not if it rejects us (RFC 5321 3.2). */
  async #hello(): Promise<void> {
    const full = /^([a-z0-9-]+\.)+[a-z][a-z0-9-]*$/i.test(this.#name);
    const name = full ? this.#name : addressLiteral(this.#connection.localAddress);
    const reply = await this.#ask(`EHLO ${name}`);
    const unknown = [500, 501, 502, 504].includes(reply.code);
    this.#accept(unknown ? await this.#ask(`HELO ${name}`) : reply);
    this.#offers = unknown ? new Map() : parseExtensions(reply.text);
  }

  /** Starts TLS if the relay offers it. The extensions announced before TLS are discarded (RFC 3207 4.2). */
  async #startTls(): Promise<void> {
    const reply = this.#offers.has('STARTTLS') ? await this.#ask('STARTTLS') : null;
    if (reply !== null && reply.code < 300) {
      await this.#encrypt();
      await this.#hello();
    } else if (this.#relay.tls === 'required') {
      this.stage = 'tls';
      if (reply === null)
        throw this.#impossible('no STARTTLS is offered, and mail must not cross the network in plain text');
      throw new Refusal(replyOutcome('tls', reply));
    }
  }

  async #encrypt(): Promise<void> {
    this.stage = 'tls';
    const { host, verify } = this.#relay;
    await this.#dialogue.event(this.#timeouts.tls, (done) => this.#connection.secure(host, verify, done));
    this.stage = 'connect';
    this.#encrypted = true;
  }

  /** Logs in (RFC 4954) with PLAIN (RFC 4616), or else with LOGIN. */
  async #login(user: string, password: string): Promise<void> {
    this.stage = 'auth';
    if (!this.#encrypted && !this.#relay.local) throw this.#impossible('a password is never sent in plain text');
    const mechanisms = (this.#offers.get('AUTH') ?? '').toUpperCase().split(' ');
    if (mechanisms.includes('PLAIN')) {
      // If the initial response makes the line too long, the response is sent after the relay's 334 (RFC 4954 4).
      const token = plainToken(user, password);
      const line = `AUTH PLAIN ${token}`;
      await this.#answer(line.length <= MAX_COMMAND_BYTES ? [line] : ['AUTH PLAIN', token]);
    } else if (mechanisms.includes('LOGIN')) {
      await this.#answer(['AUTH LOGIN', base64(user), base64(password)]);
    } else {
      throw this.#impossible(`neither AUTH PLAIN nor AUTH LOGIN is offered${this.#encrypted ? '' : ' without TLS'}`);
    }
  }

  /** Sends each line after the 334 reply to the line before. */
  async #answer(lines: string[]): Promise<void> {
    for (const [index, line] of lines.entries()) {
      const reply = await this.#ask(line);
      if (index === lines.length - 1) this.#accept(reply);
      else if (reply.code !== 334) throw new Refusal(replyOutcome(this.stage, reply));
    }
  }

  #ask(command: string): Promise<Reply> {
    return this.#dialogue.ask(this.#timeouts.command, command);
  }

  #accept(reply: Reply): void {
    if (reply.code >= 300) throw new Refusal(replyOutcome(this.stage, reply));
  }

  #impossible(why: string): Refusal {
    return new Refusal(withoutReply('held', this.stage, `${relayName(this.#relay)}: ${why}`));
  }
}

/** Returns the outcome without our credentials, in case the relay repeats them. */
function withoutLogin(outcome: Outcome, { login }: Relay): Outcome {
  if (login === null || login.password === '') return outcome;
  const { user, password } = login;
  const secrets = [plainToken(user, password), base64(password), password].filter(({ length }) => length >= 4);
  return { ...outcome, reply: secrets.reduce((reply, secret) => reply.replaceAll(secret, '…'), outcome.reply) };
}

/** Returns the AUTH PLAIN message (RFC 4616 2). */
function plainToken(user: string, password: string): string {
  return base64(`\0${user}\0${password}`);
}

/** Returns true if a failed TLS handshake may succeed later, as after network errors and timeouts, but not after a wrong certificate. */
function isTransient(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return ['', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'].includes(code);
}

/** Parses the reply to EHLO (RFC 5321 4.1.1.1). Relays older than RFC 4954 write `AUTH=PLAIN`. */
function parseExtensions(text: string): Announced {
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

/** The commands and replies of a connection before it sends mail: one command at a time. */
export class Dialogue implements ConnectionListener {
  readonly #connection: SmtpConnection;
  readonly #totalMs: number;
  #waiting: { for: 'reply' | 'event'; resolve: (reply: Reply) => void; reject: (error: Error) => void } | null = null;
  #lost: Error | null = null;

  /** `totalMs` is the maximum time in milliseconds from the start of the connection to the end of the dialogue. */
  constructor(connection: SmtpConnection, totalMs: number) {
    this.#connection = connection;
    this.#totalMs = totalMs;
    connection.listener = this;
  }

  /** Waits at most `ms` milliseconds until `start` calls back. Rejects if the connection is lost or too slow. */
  async event(ms: number, start: (done: () => void) => void): Promise<void> {
    const answer = this.#wait('event', ms);
    start(() => this.#resolve({ code: 0, text: '' }));
    await answer;
  }

  /** Writes `command`, or nothing if it is null, and returns the reply. Rejects if the connection is lost or too slow. */
  ask(ms: number, command: string | null): Promise<Reply> {
    const answer = this.#wait('reply', ms);
    if (command !== null && this.#lost === null) this.#connection.write(`${command}\r\n`);
    return answer;
  }

  reply(reply: Reply): void {
    if (this.#waiting?.for === 'reply') this.#resolve(reply);
    else this.#connection.fail(new Error(`unexpected reply: ${reply.code} ${reply.text}`));
  }

  expired(): void {
    this.#connection.fail(new NoReply(`no reply within ${Math.round(this.#connection.waited / 100) / 10} s`));
  }

  lost(error: Error): void {
    this.#lost = error;
    this.#waiting?.reject(error);
    this.#waiting = null;
  }

  #wait(what: 'reply' | 'event', ms: number): Promise<Reply> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    this.#connection.within(Math.max(0, Math.min(ms, this.#totalMs - this.#connection.age)));
    return new Promise((resolve, reject) => {
      this.#waiting = { for: what, resolve, reject };
    });
  }

  #resolve(reply: Reply): void {
    this.#waiting?.resolve(reply);
    this.#waiting = null;
  }
}
