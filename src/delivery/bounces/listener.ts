/** The small SMTP server that takes in what comes back: nothing but mail to our own return paths, handed on, never relayed. */
import { once } from 'node:events';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';

/** A mail that came back. */
export interface ReturnedMail {
  rcpt: string;
  /** Envelope sender; empty for the null sender. */
  from: string;
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
  /** More are turned away with 421. */
  maxConnections: number;
}

export interface BounceListener {
  /** The port listened on. */
  port: number;
  /** Takes no more mail; resolves when nothing calls `onMail` any more, after 5 seconds at most plus its last run. */
  close(): Promise<void>;
}

const CLOSE_MS = 5000;

/** Starts listening (RFC 5321; no AUTH, no STARTTLS). Rejects when the address cannot be listened on. */
export async function startBounceListener(options: BounceListenerOptions): Promise<BounceListener> {
  const { accept, onMail, maxBytes } = options;
  const running = new Set<Promise<void>>();

  async function take(stream: SMTPServerDataStream, { envelope }: SMTPServerSession): Promise<void> {
    const raw = await collect(stream);
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
    onRcptTo({ address }, _session, done) {
      done(accept(address) ? null : refusal(550, 'No such return path here'));
    },
    onData(stream, session, done) {
      const taken = take(stream, session).then(
        () => done(null, 'Noted'),
        () => done(refusal(451, 'Could not be kept, try again later')),
      );
      running.add(taken);
      void taken.finally(() => running.delete(taken));
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

/** The whole mail, or null when it is over the limit: then the rest is read away, and the server answers 552 by itself. */
async function collect(stream: SMTPServerDataStream): Promise<Buffer | null> {
  let chunks: Buffer[] = [];
  for await (const chunk of stream) {
    if (stream.sizeExceeded) chunks = [];
    else chunks.push(chunk);
  }
  return stream.sizeExceeded ? null : Buffer.concat(chunks);
}

function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}
