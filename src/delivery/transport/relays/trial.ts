/**
 * Tries a relay with the courier's own SMTP client: connects, secures the connection, logs in, and asks whether it would take a mail
 * from a sender to a recipient. RSET ends it before a message is sent (RFC 5321 4.1.1.5).
 */
import { SmtpConnection } from '../smtp/connection.ts';
import { Dialogue } from '../smtp/dialogue.ts';
import { handshake } from '../smtp/handshake.ts';
import { type Outcome, replyOutcome, type Stage, withoutReply } from '../smtp/outcome.ts';
import type { Relay } from '../smtp/relay-urls.ts';
import { RFC_TIMEOUTS, type Timeouts } from '../smtp/timeouts.ts';

/** How far a trial came. */
export const TRIAL_STAGES = ['connect', 'tls', 'auth', 'mail', 'rcpt', 'done'] as const;
export type TrialStage = (typeof TRIAL_STAGES)[number];

export interface Trial {
  /** The stage that failed; done: none. */
  stage: TrialStage;
  /** What the relay said last or why it said nothing; null once all went well. */
  outcome: Outcome | null;
  /** The code of a failed connection as Node names it, such as ECONNREFUSED; empty where the relay gave an answer or none came in time. */
  error: string;
  /** Whether a reply did not come in time. */
  isSilent: boolean;
}

export interface TrialOptions {
  /** For MAIL FROM and RCPT TO, in ASCII form. */
  from: string;
  to: string;
  /** Our name for EHLO; empty: our address is sent. */
  name: string;
  /** The longest wait for one reply, and for all together, in milliseconds. */
  replyMs?: number;
  totalMs?: number;
}

const REPLY_MS = 8_000;
const TOTAL_MS = 20_000;
const CHECK_MS = 100;

/** Tries a relay; rejects never, and takes little longer than `totalMs`. */
export async function tryRelay(relay: Relay, options: TrialOptions): Promise<Trial> {
  const { from, to, name, replyMs = REPLY_MS, totalMs = TOTAL_MS } = options;
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
    ] as const) {
      const outcome = await ask(dialogue, stage, command, replyMs);
      if (outcome !== null) return failed(outcome, connection);
    }
    await dialogue.ask(replyMs, 'RSET').catch(() => undefined);
    return { stage: 'done', outcome: null, error: '', isSilent: false };
  } finally {
    connection.quit(timeouts.quit);
    await Promise.race([closed.promise, new Promise((resolve) => setTimeout(resolve, CHECK_MS))]);
    connection.fail(new Error('the trial is over'));
    clearInterval(timer);
  }
}

/** The outcome if the relay does not agree, or null if it does. */
async function ask(dialogue: Dialogue, stage: Stage, command: string, ms: number): Promise<Outcome | null> {
  try {
    const reply = await dialogue.ask(ms, command);
    return reply.code < 300 ? null : replyOutcome(stage, reply);
  } catch (error) {
    return withoutReply('deferred', stage, error instanceof Error ? error.message : String(error));
  }
}

function failed(outcome: Outcome, { failure }: SmtpConnection): Trial {
  const { stage } = outcome;
  const code = failure !== null && 'code' in failure ? String(failure.code) : '';
  const isBeforeMessage = stage !== 'data' && stage !== 'body';
  return {
    stage: isBeforeMessage ? stage : 'rcpt',
    outcome,
    error: outcome.code === 0 ? code : '',
    isSilent: failure !== null && /^no reply within /.test(failure.message),
  };
}
