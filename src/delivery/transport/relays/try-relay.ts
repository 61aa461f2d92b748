/**
 * Tests an SMTP relay with the courier's own SMTP client: connects, secures the connection, logs in, and asks whether the relay would
 * accept a mail from a sender to a recipient. RSET ends the transaction before a message is sent (RFC 5321 4.1.1.5). If a message is given,
 * the test hands it over instead, for a mail whose fate the caller wants to know at once.
 */
import type { MailData } from '../../mime/mail-data.ts';
import { SmtpConnection } from '../smtp/connection.ts';
import { Dialogue, handshake, NoReply } from '../smtp/handshake.ts';
import { type Outcome, replyOutcome, type Stage, withoutReply } from '../smtp/outcome.ts';
import type { Relay } from '../smtp/relay-urls.ts';
import { stuffDots } from '../smtp/session/message-writer.ts';
import { RFC_TIMEOUTS, type Timeouts } from '../smtp/timeouts.ts';

/** The stages of a test, in order. */
export const TRIAL_STAGES = ['connect', 'tls', 'auth', 'mail', 'rcpt', 'done'] as const;
export type TrialStage = (typeof TRIAL_STAGES)[number];

/** The result of a test. */
export interface Trial {
  /** The stage that failed; `done` if no stage failed. */
  stage: TrialStage;
  /** The relay's last reply, or why there was no reply; null if the test passed. */
  outcome: Outcome | null;
  /** The Node error code of a failed connection, such as ECONNREFUSED; empty if the relay replied or the test timed out. */
  error: string;
  /** True if a reply did not come in time. */
  isSilent: boolean;
}

export interface TrialOptions {
  /** For MAIL FROM and RCPT TO, in ASCII form. */
  from: string;
  to: string;
  /** Our name for EHLO; if it is empty, our IP address is sent. */
  name: string;
  /** The whole message; if absent, no message is sent. */
  message?: MailData;
  /** The longest wait for one reply, and for the whole test, in milliseconds. */
  replyMs?: number;
  totalMs?: number;
}

const REPLY_MS = 8_000;
const TOTAL_MS = 20_000;
/** The interval at which time limits are checked, and the longest wait for the connection to close, in milliseconds. */
const CHECK_MS = 100;

/** Tests a relay. Never rejects, and takes little longer than `totalMs`. */
export async function tryRelay(relay: Relay, options: TrialOptions): Promise<Trial> {
  const { from, to, name, message, replyMs = REPLY_MS, totalMs = TOTAL_MS } = options;
  const timeouts: Timeouts = { ...RFC_TIMEOUTS };
  for (const wait of ['connect', 'tls', 'greeting', 'command'] as const) timeouts[wait] = replyMs;
  const closed = Promise.withResolvers<void>();
  const monotonic = () => performance.now();
  const connection = new SmtpConnection(relay, monotonic, () => closed.resolve());
  const timer = setInterval(() => connection.check(monotonic()), CHECK_MS);
  try {
    const offers = await handshake(connection, relay, name, timeouts, totalMs);
    if ('kind' in offers) return failed(offers, connection);
    const dialogue = new Dialogue(connection, totalMs);
    for (const [stage, command] of [
      ['mail', `MAIL FROM:<${from}>`],
      ['rcpt', `RCPT TO:<${to}>`],
      ...(message === undefined
        ? []
        : [
            ['data', 'DATA'] as const,
            // The message ends with CRLF, so the dot is alone on its line (RFC 5321 4.5.2).
            ['body', `${stuffDots(message.bytes).toString('latin1')}.`] as const,
          ]),
    ] as const) {
      const outcome = await ask(dialogue, stage, command, replyMs);
      if (outcome !== null) return failed(outcome, connection);
    }
    if (message === undefined) await dialogue.ask(replyMs, 'RSET').catch(() => undefined);
    return { stage: 'done', outcome: null, error: '', isSilent: false };
  } finally {
    connection.quit(timeouts.quit);
    await Promise.race([closed.promise, new Promise((resolve) => setTimeout(resolve, CHECK_MS))]);
    connection.fail(new Error('the trial is over'));
    clearInterval(timer);
  }
}

/** Sends a command. Returns the outcome if the relay rejects the command; null if the relay accepts it. */
async function ask(dialogue: Dialogue, stage: Stage, command: string, ms: number): Promise<Outcome | null> {
  try {
    const reply = await dialogue.ask(ms, command);
    // The reply 354 asks for the message after DATA.
    return reply.code < (stage === 'data' ? 400 : 300) ? null : replyOutcome(stage, reply);
  } catch (error) {
    return withoutReply('deferred', stage, error instanceof Error ? error.message : String(error));
  }
}

/** Returns the result of a test that failed. If the message was rejected, the stage is `rcpt`. */
function failed(outcome: Outcome, { failure }: SmtpConnection): Trial {
  const { stage } = outcome;
  const code = failure !== null && 'code' in failure ? String(failure.code) : '';
  const isBeforeMessage = stage !== 'data' && stage !== 'body';
  return {
    stage: isBeforeMessage ? stage : 'rcpt',
    outcome,
    error: outcome.code === 0 ? code : '',
    isSilent: failure instanceof NoReply,
  };
}
