/** The courier that hands mails to a relay. */
import nodemailer, { type Transporter } from 'nodemailer';
import type { Courier, Handoff, Outcome } from './courier.ts';

const CONNECTIONS = 5;
const QUEUED = 4 * CONNECTIONS;

/** Hands mails to the relay of an SMTP URL over a few kept connections. */
export class SmtpCourier implements Courier {
  readonly #transport: Transporter;
  #flights = 0;

  constructor(url: string) {
    this.#transport = nodemailer.createTransport({
      url,
      pool: true,
      maxConnections: CONNECTIONS,
      maxMessages: Number.POSITIVE_INFINITY,
    });
  }

  room(): number {
    return QUEUED - this.#flights;
  }

  async send(handoff: Handoff): Promise<Outcome | 'withdrawn'> {
    const raw = handoff.start();
    if (raw === null) return 'withdrawn';
    this.#flights++;
    try {
      const { response } = await this.#transport.sendMail({ envelope: { from: handoff.from, to: [handoff.to] }, raw });
      return { kind: 'accepted', stage: 'body', code: 250, enhanced: null, reply: String(response) };
    } catch (error) {
      return outcomeOf(error);
    } finally {
      this.#flights--;
    }
  }

  async close(): Promise<void> {
    this.#transport.close();
  }
}

function outcomeOf(error: unknown): Outcome {
  const fields: { responseCode?: number; response?: string; command?: string } = Object(error);
  const code = fields.responseCode ?? 0;
  const reply = fields.response ?? (error instanceof Error ? error.message : String(error));
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})/.exec(reply)?.[1] ?? null;
  const isRefused = code >= 500 && (fields.command === 'RCPT TO' || fields.command === 'DATA');
  return {
    kind: isRefused ? 'refused' : 'deferred',
    stage: fields.command === 'RCPT TO' ? 'rcpt' : 'body',
    code,
    enhanced,
    reply,
  };
}
