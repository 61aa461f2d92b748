/** A small SMTP server for returned mail: accepts mail only to our own addresses and relays nothing. */
import { once } from 'node:events';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';

/** A returned mail. */
export interface ReturnedMail {
  /** The recipient. */
  rcpt: string;
  /** The envelope sender; empty for the null sender. */
  from: string;
  /** The mail as received, cut after `keepBytes`. */
  raw: Buffer;
}

export interface BounceListenerOptions {
  host: string;
  /** The port to listen on; 0 picks a free port. */
  port: number;
  /** Returns true if a recipient is one of our addresses. Other recipients are rejected at RCPT with 550 5.1.1. */
  accept(rcpt: string): boolean;
  /** Stores the mail. The client gets 250 once this resolves, or 451 if it rejects, so that it tries again. */
  onMail(mail: ReturnedMail): Promise<void>;
  /** The maximum size of a mail in bytes. A larger mail is rejected with 552. */
  maxBytes: number;
  /** The number of bytes of a mail that are passed to `onMail`; the rest is read and discarded. */
  keepBytes: number;
  /** The maximum number of connections. Further connections get a 421 reply. */
  maxConnections: number;
  /** Limits per connection and per client address. */
  limits: ConnectionLimits;
}

export interface BounceListener {
  /** The port on which the server listens. */
  port: number;
  /** Stops accepting mail. Resolves within 5 seconds, plus the time of `onMail` calls that are still running. */
  close(): Promise<void>;
}

/** The time that open connections get to end after `close`, in milliseconds. */
const CLOSE_MS = 5000;
/** A connection that sends nothing for this time, in milliseconds, is closed, even in the middle of a mail. */
const SILENCE_MS = 60_000;
/** The initial size of the buffer for a mail, in bytes. */
const FIRST_BYTES = 16 * 1024;

/** Starts listening (RFC 5321; no AUTH, no STARTTLS). Rejects if it cannot listen on the given host and port. */
export async function startBounceListener(options: BounceListenerOptions): Promise<BounceListener> {
  const { accept, onMail, maxBytes, keepBytes } = options;
  const limiter = new ConnectionLimiter(options.limits);
  const running = new Set<Promise<void>>();

  async function store(stream: SMTPServerDataStream, { envelope }: SMTPServerSession): Promise<void> {
    const raw = await collect(stream, keepBytes);
    const [rcpt] = envelope.rcptTo;
    if (raw === null || rcpt === undefined) return;
    await onMail({ rcpt: rcpt.address, from: envelope.mailFrom === false ? '' : envelope.mailFrom.address, raw });
  }

  const server = new SMTPServer({
    // One recipient per transaction is allowed, so that the reply is about a single mail. The client retries further recipients later (RFC
    // 5321 §4.5.3.1.10).
    maxRecipients: 1,
    size: maxBytes,
    rejectOversized: true,
    maxClients: options.maxConnections,
    closeTimeout: CLOSE_MS,
    disabledCommands: ['AUTH', 'STARTTLS', 'WIZ', 'SHELL', 'KILL'],
    hideENHANCEDSTATUSCODES: false,
    disableReverseLookup: true,
    socketTimeout: SILENCE_MS,
    // The library reports commands only through its logger, and the limits need their number.
    logger: {
      debug: ({ tnx, cid }: { tnx?: string; cid?: string } = {}) => {
        if (tnx === 'command' && cid !== undefined) limiter.command(cid);
      },
    },
    onConnect({ id }, done) {
      const connection = [...server.connections].find((open) => open.id === id);
      const isAllowed = connection !== undefined && limiter.connected(connection);
      done(isAllowed ? null : refusal(421, 'Too many connections from your address'));
    },
    onClose: ({ id }) => limiter.disconnected(id),
    onRcptTo({ address }, _session, done) {
      done(accept(address) ? null : refusal(550, 'No such return path here'));
    },
    onData(stream, session, done) {
      limiter.dataStarted(session.id);
      const stored = store(stream, session).then(
        () => done(null, 'Noted'),
        () => done(refusal(451, 'Could not be kept, try again later')),
      );
      running.add(stored);
      void stored.finally(() => {
        running.delete(stored);
        limiter.dataEnded(session.id);
      });
    },
  });
  // Broken connections need no handling here, but an error event without a listener would end the process.
  server.on('error', () => undefined);

  const listening = server.listen(options.port, options.host);
  await once(listening, 'listening');
  const bound = listening.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : options.port,
    async close() {
      await new Promise<void>((resolve) => server.close(resolve));
      await Promise.all(running);
    },
  };
}

/**
 * Reads a mail and returns its first `most` bytes; null if the mail exceeds the server's limit, to which the library replies 552. The bytes
 * are copied into one buffer, because keeping the chunks of a mail that arrives byte by byte would take a hundred times the mail's size.
 */
async function collect(stream: SMTPServerDataStream, most: number): Promise<Buffer | null> {
  let memory = Buffer.alloc(0);
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytesToKeep = Math.min(chunk.length, most - length);
    if (length + bytesToKeep > memory.length) {
      const larger = Buffer.alloc(Math.min(most, Math.max(FIRST_BYTES, 2 * memory.length, length + bytesToKeep)));
      memory.copy(larger);
      memory = larger;
    }
    chunk.copy(memory, length, 0, bytesToKeep);
    length += bytesToKeep;
  }
  return stream.sizeExceeded ? null : memory.subarray(0, length);
}

function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}

export interface ConnectionLimits {
  /** The maximum number of connections at a time from one address, or from one /64 network of IPv6, which usually belongs to one customer. */
  perAddress: number;
  /** The maximum number of commands on one connection. */
  commands: number;
  /** The maximum number of milliseconds between connecting, or the previous mail, and the content of the next mail. */
  idleMs: number;
  /** The maximum duration of a connection in milliseconds. */
  lifetimeMs: number;
}

/** A connection, as far as the limits need it. `send` sends an SMTP reply. */
interface Connection {
  id: string;
  remoteAddress: string;
  send(code: number, text: string): void;
}

interface LimitedConnection {
  connection: Connection;
  network: string;
  commands: number;
  idleTimer: NodeJS.Timeout | undefined;
  lifetimeTimer: NodeJS.Timeout;
}

/** Enforces the limits. A connection that exceeds a limit is closed with a 421 reply (RFC 5321 §3.8). */
export class ConnectionLimiter {
  readonly #limits: ConnectionLimits;
  readonly #connections = new Map<string, LimitedConnection>();
  readonly #perNetwork = new Map<string, number>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Registers a connection. Returns false if too many are open from the same address. */
  connected(connection: Connection): boolean {
    const network = networkKey(connection.remoteAddress);
    const connections = this.#perNetwork.get(network) ?? 0;
    if (connections >= this.#limits.perAddress) return false;
    this.#perNetwork.set(network, connections + 1);
    const lifetimeTimer = setTimeout(
      () => connection.send(421, 'Connected for too long'),
      this.#limits.lifetimeMs,
    ).unref();
    const limited = { connection, network, commands: 0, idleTimer: undefined, lifetimeTimer };
    this.#connections.set(connection.id, limited);
    this.#startIdleTimer(limited);
    return true;
  }

  /** Counts a command. */
  command(id: string): void {
    const limited = this.#connections.get(id);
    if (limited !== undefined && ++limited.commands > this.#limits.commands)
      limited.connection.send(421, 'Too many commands');
  }

  /** Called when the content of a mail starts; until it ends, only the limit on the connection's duration applies. */
  dataStarted(id: string): void {
    clearTimeout(this.#connections.get(id)?.idleTimer);
  }

  /** Called when the mail has been replied to. */
  dataEnded(id: string): void {
    const limited = this.#connections.get(id);
    if (limited !== undefined) this.#startIdleTimer(limited);
  }

  /** Called when the connection has closed. */
  disconnected(id: string): void {
    const limited = this.#connections.get(id);
    if (limited === undefined) return;
    this.#connections.delete(id);
    clearTimeout(limited.idleTimer);
    clearTimeout(limited.lifetimeTimer);
    const remaining = (this.#perNetwork.get(limited.network) ?? 1) - 1;
    if (remaining > 0) this.#perNetwork.set(limited.network, remaining);
    else this.#perNetwork.delete(limited.network);
  }

  #startIdleTimer(limited: LimitedConnection): void {
    const { connection } = limited;
    limited.idleTimer = setTimeout(() => connection.send(421, 'No mail for too long'), this.#limits.idleMs).unref();
  }
}

/**
 * Returns the key under which connections are counted: the IPv4 address, or the first 64 bits of an IPv6 address. An IPv4-mapped IPv6
 * address counts as IPv4.
 */
function networkKey(address: string): string {
  const plain = address.replace(/^::ffff:/i, '');
  if (!plain.includes(':')) return plain;
  const [head = ''] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  return [...groups, '0', '0', '0', '0'].slice(0, 4).join(':');
}
