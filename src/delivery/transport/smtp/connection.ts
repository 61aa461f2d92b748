/** One socket to a relay: replies come out, commands go in, and a deadline hangs over the wait. */
import net from 'node:net';
import tls from 'node:tls';
import { isMailText } from '../../mime/mail-data.ts';
import { type Reply, ReplyReader } from './reply.ts';

export interface ConnectionListener {
  /** A complete reply arrived. */
  reply(reply: Reply): void;
  /** The deadline passed. */
  expired(): void;
  /** The connection is gone; called once, last. */
  lost(error: Error): void;
}

/** Different attempts for several addresses of one host; Node's 250 ms are too short for a distant relay. */
const ADDRESS_ATTEMPT_MS = 3_000;

const INBOX_BYTES = 4_096;

export class SmtpConnection {
  readonly #monotonic: () => number;
  readonly #closed: (wire: SmtpConnection) => void;
  #socket: net.Socket;
  #reader = new ReplyReader();
  #listener: ConnectionListener | null = null;
  #error: Error | null = null;
  #deadline = Number.POSITIVE_INFINITY;
  /** When it began to connect, and when it last began to wait. */
  readonly begun: number;
  #waitsSince: number;

  /** Starts to connect. `closed` is called once the socket is gone, after the listener's `lost`. */
  constructor(target: { host: string; port: number }, monotonic: () => number, closed: (wire: SmtpConnection) => void) {
    this.#monotonic = monotonic;
    this.#closed = closed;
    this.begun = monotonic();
    this.#waitsSince = this.begun;
    // Without TLS all replies are read into one buffer; an allocation for each costs a tenth of a hand-over.
    const inbox = Buffer.allocUnsafeSlow(INBOX_BYTES);
    const callback = (length: number) => {
      this.#read(inbox.subarray(0, length));
      return true;
    };
    this.#socket = net.connect({
      host: target.host,
      port: target.port,
      noDelay: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
      onread: { buffer: inbox, callback },
    });
    this.#attach(this.#socket);
  }

  set listener(listener: ConnectionListener) {
    this.#listener = listener;
  }

  /** Our own address in the connection. */
  get localAddress(): string {
    return this.#socket.localAddress ?? '127.0.0.1';
  }

  /** Calls back once the connection stands. */
  onConnect(done: () => void): void {
    this.#socket.once('connect', done);
  }

  /** Turns the connection into a TLS one and calls back once that stands (RFC 3207 4). */
  secure(host: string, verify: boolean, done: () => void): void {
    if (!this.#reader.empty) {
      // What a man in the middle put behind the 220 would else count as said under TLS.
      this.fail(new Error('the relay sent plain text after it agreed to STARTTLS'));
      return;
    }
    const plain = this.#socket;
    const servername = net.isIP(host) === 0 ? { servername: host } : {};
    this.#socket = tls.connect({ socket: plain, host, ...servername, rejectUnauthorized: verify }, done);
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#attach(this.#socket);
  }

  /** Milliseconds since it began to connect. */
  get age(): number {
    return this.#monotonic() - this.begun;
  }

  /** Milliseconds since the deadline was set last. */
  get waited(): number {
    return this.#monotonic() - this.#waitsSince;
  }

  /** Sets the deadline `ms` from now. */
  within(ms: number): void {
    this.#waitsSince = this.#monotonic();
    this.#deadline = this.#waitsSince + ms;
  }

  /** Tells the listener if the deadline has passed; to be called every so often. */
  check(now: number): void {
    if (now < this.#deadline) return;
    this.#deadline = Number.POSITIVE_INFINITY;
    this.#listener?.expired();
  }

  /** Writes one or more commands, each with its line end; drops the connection instead when they hold anything but ASCII. */
  write(command: string): void {
    if (isMailText(command)) this.#socket.write(command, 'latin1');
    else this.fail(new Error('a command would have held something other than printable ASCII'));
  }

  /** Writes a piece of a message, and `end` behind it in the same packet; calls back once the system took it. */
  send(piece: Buffer, end: string, taken: () => void): void {
    if (end === '') {
      this.#socket.write(piece, taken);
      return;
    }
    this.#socket.cork();
    this.#socket.write(piece);
    this.#socket.write(end, 'latin1', taken);
    this.#socket.uncork();
  }

  /** Says goodbye and closes (RFC 5321 4.1.1.10). */
  quit(withinMs: number): void {
    this.within(withinMs);
    this.#socket.end('QUIT\r\n');
  }

  /** Drops the connection at once; the listener hears of `error`, unless another one came first. */
  fail(error: Error): void {
    this.#error ??= error;
    this.#deadline = Number.POSITIVE_INFINITY;
    this.#socket.destroy();
  }

  #attach(socket: net.Socket): void {
    socket.on('error', (error) => {
      this.#error ??= error;
    });
    socket.on('close', () => {
      if (socket !== this.#socket) return;
      this.#deadline = Number.POSITIVE_INFINITY;
      this.#listener?.lost(this.#error ?? new Error('the relay closed the connection'));
      this.#closed(this);
    });
  }

  #read(chunk: Buffer): void {
    this.#reader.feed(chunk);
    while (!this.#socket.destroyed) {
      const reply = this.#reader.next();
      if (reply === null) return;
      if (reply.code === 0) this.fail(new Error(reply.text));
      else this.#listener?.reply(reply);
    }
  }
}
