/** One socket to an SMTP relay: writes commands, reads replies, and limits every wait with a deadline. */
import net from 'node:net';
import tls from 'node:tls';
import { isMailText } from '../../mime/mail-data.ts';
import { type Reply, ReplyReader } from './reply-reader.ts';

export interface ConnectionListener {
  /** A complete reply arrived. */
  reply(reply: Reply): void;
  /** The deadline passed. */
  expired(): void;
  /** The connection is lost. Called once, as the last call. */
  lost(error: Error): void;
}

/**
 * How long to try each address of a host before the next address, in milliseconds. Node's default of 250 ms is too short for a distant
 * relay.
 */
const ADDRESS_ATTEMPT_MS = 3_000;

/** The size of the receive buffer without TLS, in bytes. */
const RECEIVE_BYTES = 4_096;

/** A connection to a relay. It knows nothing of the mails that are sent over it. */
export class SmtpConnection {
  readonly #monotonic: () => number;
  readonly #closed: (connection: SmtpConnection) => void;
  #socket: net.Socket;
  #reader = new ReplyReader();
  #listener: ConnectionListener | null = null;
  #error: Error | null = null;
  #deadline = Number.POSITIVE_INFINITY;
  /** When connecting began, in monotonic milliseconds. */
  readonly startedAt: number;
  /** When the deadline was last set, in monotonic milliseconds. */
  #waitsSince: number;

  /** Starts to connect. `closed` is called once the socket is closed, after the listener's `lost`. */
  constructor(
    target: { host: string; port: number },
    monotonic: () => number,
    closed: (connection: SmtpConnection) => void,
  ) {
    this.#monotonic = monotonic;
    this.#closed = closed;
    this.startedAt = monotonic();
    this.#waitsSince = this.startedAt;
    // Without TLS, all replies are read into one buffer, because allocating a buffer for each reply takes a tenth of the time of sending a
    // message.
    const received = Buffer.allocUnsafeSlow(RECEIVE_BYTES);
    const callback = (length: number) => {
      this.#read(received.subarray(0, length));
      return true;
    };
    this.#socket = net.connect({
      host: target.host,
      port: target.port,
      noDelay: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
      onread: { buffer: received, callback },
    });
    this.#attach(this.#socket);
  }

  set listener(listener: ConnectionListener) {
    this.#listener = listener;
  }

  /** Why the connection failed; null if it has not failed. */
  get failure(): Error | null {
    return this.#error;
  }

  /** Our own address in the connection. */
  get localAddress(): string {
    return this.#socket.localAddress ?? '127.0.0.1';
  }

  /** Calls back once the TCP connection is established. */
  onConnect(done: () => void): void {
    this.#socket.once('connect', done);
  }

  /** Starts TLS on the connection (RFC 3207 4) and calls back once it is established. */
  secure(host: string, verify: boolean, done: () => void): void {
    if (!this.#reader.isEmpty) {
      // The connection is closed, because otherwise a reply injected by an attacker before TLS would be treated as sent under TLS.
      this.fail(new Error('the relay sent plain text after it agreed to STARTTLS'));
      return;
    }
    const plain = this.#socket;
    const servername = net.isIP(host) === 0 ? { servername: host } : {};
    this.#socket = tls.connect({ socket: plain, host, ...servername, rejectUnauthorized: verify }, done);
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#attach(this.#socket);
  }

  /** Milliseconds since connecting began. */
  get age(): number {
    return this.#monotonic() - this.startedAt;
  }

  /** Milliseconds since the deadline was last set. */
  get waited(): number {
    return this.#monotonic() - this.#waitsSince;
  }

  /** Sets the deadline to `ms` milliseconds from now. */
  within(ms: number): void {
    this.#waitsSince = this.#monotonic();
    this.#deadline = this.#waitsSince + ms;
  }

  /** Calls the listener if the deadline has passed. The pool calls this at short intervals. */
  check(now: number): void {
    if (now < this.#deadline) return;
    this.#deadline = Number.POSITIVE_INFINITY;
    this.#listener?.expired();
  }

  /** Writes one or more commands, each with its CRLF. If they contain anything but printable ASCII, closes the connection instead. */
  write(command: string): void {
    if (isMailText(command)) this.#socket.write(command, 'latin1');
    else this.fail(new Error('a command would have held something other than printable ASCII'));
  }

  /** Writes a piece of a message, followed by `end` in the same packet. Calls back once the socket has flushed both. */
  send(piece: Buffer, end: string, flushed: () => void): void {
    if (end === '') {
      this.#socket.write(piece, flushed);
      return;
    }
    this.#socket.cork();
    this.#socket.write(piece);
    this.#socket.write(end, 'latin1', flushed);
    this.#socket.uncork();
  }

  /** Sends QUIT and closes (RFC 5321 4.1.1.10). */
  quit(withinMs: number): void {
    this.within(withinMs);
    this.#socket.end('QUIT\r\n');
  }

  /** Closes the connection at once. The listener's `lost` gets `error`, unless another error came first. */
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
