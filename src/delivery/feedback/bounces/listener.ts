/** The small SMTP server that takes in what comes back: nothing but mail to our own return paths, handed on, never relayed. */
import { once } from 'node:events';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { type VisitorLimits, Visitors } from './connection-limits.ts';

/** A mail that came back. */
export interface ReturnedMail {
  rcpt: string;
  /** Envelope sender; empty for the null sender. */
  from: string;
  /** The mail as it came, up to `keepBytes`. */
  raw: Buffer;
}

export interface BounceListenerOptions {
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** Whether a recipient is ours; anything else is refused at RCPT with 550 5.1.1. */
  accept(rcpt: string): boolean;
  /** Keeps the mail. The sender hears 250 once this resolves and 451 when it rejects, so that it tries again. */
  onMail(mail: ReturnedMail): Promise<void>;
  /** Larger mail is refused with 552. */
  maxBytes: number;
  /** So much of a mail is handed on; the rest is read and dropped. */
  keepBytes: number;
  /** More are turned away with 421. */
  maxConnections: number;
  /** What one connection and one address may take. */
  limits: VisitorLimits;
}

export interface BounceListener {
  /** The port listened on. */
  port: number;
  /** Takes no more mail; resolves when nothing calls `onMail` any more, after 5 seconds at most plus its last run. */
  close(): Promise<void>;
}

const CLOSE_MS = 5000;
/** A connection that says nothing for so long is ended, within a mail too. */
const SILENCE_MS = 60_000;
const FIRST_BYTES = 16 * 1024;

/** Starts listening (RFC 5321; no AUTH, no STARTTLS). Rejects when the address cannot be listened on. */
export async function startBounceListener(options: BounceListenerOptions): Promise<BounceListener> {
  const { accept, onMail, maxBytes, keepBytes } = options;
  const visitors = new Visitors(options.limits);
  const running = new Set<Promise<void>>();

  async function take(stream: SMTPServerDataStream, { envelope }: SMTPServerSession): Promise<void> {
    const raw = await collect(stream, keepBytes);
    const [rcpt] = envelope.rcptTo;
    if (raw === null || rcpt === undefined) return;
    await onMail({ rcpt: rcpt.address, from: envelope.mailFrom === false ? '' : envelope.mailFrom.address, raw });
  }

  const server = new SMTPServer({
    // With one recipient a transaction, each mail is kept or not; the sender brings others in the next one (RFC 5321 §4.5.3.1.10).
    maxRecipients: 1,
    size: maxBytes,
    rejectOversized: true,
    maxClients: options.maxConnections,
    closeTimeout: CLOSE_MS,
    disabledCommands: ['AUTH', 'STARTTLS', 'WIZ', 'SHELL', 'KILL'],
    hideENHANCEDSTATUSCODES: false,
    disableReverseLookup: true,
    socketTimeout: SILENCE_MS,
    // The log is the one place where the library tells of every command.
    logger: {
      debug: ({ tnx, cid }: { tnx?: string; cid?: string } = {}) => {
        if (tnx === 'command' && cid !== undefined) visitors.speak(cid);
      },
    },
    onConnect({ id }, done) {
      const connection = [...server.connections].find((open) => open.id === id);
      const isIn = connection !== undefined && visitors.enter(connection);
      done(isIn ? null : refusal(421, 'Too many connections from your address'));
    },
    onClose: ({ id }) => visitors.leave(id),
    onRcptTo({ address }, _session, done) {
      done(accept(address) ? null : refusal(550, 'No such return path here'));
    },
    onData(stream, session, done) {
      visitors.deliver(session.id);
      const taken = take(stream, session).then(
        () => done(null, 'Noted'),
        () => done(refusal(451, 'Could not be kept, try again later')),
      );
      running.add(taken);
      void taken.finally(() => {
        running.delete(taken);
        visitors.delivered(session.id);
      });
    },
  });
  // A connection that breaks is the other side's affair, but without a listener it would end the process.
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
 * The first bytes of the mail, at most so many, or null when the mail is over the server's limit, which the server answers with 552 by
 * itself. They are copied into one piece of memory: a mail that comes byte by byte would cost a hundred times its size.
 */
async function collect(stream: SMTPServerDataStream, most: number): Promise<Buffer | null> {
  let memory = Buffer.alloc(0);
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const wanted = Math.min(chunk.length, most - length);
    if (length + wanted > memory.length) {
      const larger = Buffer.alloc(Math.min(most, Math.max(FIRST_BYTES, 2 * memory.length, length + wanted)));
      memory.copy(larger);
      memory = larger;
    }
    chunk.copy(memory, length, 0, wanted);
    length += wanted;
  }
  return stream.sizeExceeded ? null : memory.subarray(0, length);
}

function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}
