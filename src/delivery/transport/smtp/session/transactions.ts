/**
 * The mail transactions of one session, one after the other (RFC 5321 3.3): a state machine without a socket. It receives
 * the relay's replies and returns the next action.
 *
 *   idle ──▶ [rset ─250─▶] mail ─250─▶ rcpt ─250─▶ data ─354─▶ message ──▶ unflushed ──▶ end ─250─▶ accepted
 *                            │           │           │                                    └ 4xx, 5xx ─▶ deferred or refused
 *                            └ 4xx, 5xx ─┴───────────┴─▶ deferred, refused or held
 *
 * `rset`, `mail`, `rcpt` and `data` wait for the reply to that command. In `message` the text is being written. In
 * `unflushed` the end of data is written too, but the socket still holds a part, so the relay cannot have the whole
 * message. `end` waits for the reply to the end of data. After each outcome the next transaction may begin, with RSET
 * first if the relay accepted a MAIL that led to no message.
 *
 * PIPELINING (RFC 2920 3.1): MAIL, RCPT and DATA are written as one group, so after a refusal the replies to the others
 * are still to come, and the refusal is kept until then. If DATA is answered with 354 although no recipient was accepted,
 * the end of data is sent alone, and state `empty` waits for its reply. If the relay accepted the recipient but not the
 * sender, it would then send an empty message; in that case the connection is closed instead.
 *
 * Pipelined envelope: the group of the next mail may be written together with the end of data of this one. Its
 * transaction is then in state `mail` as soon as this one has its outcome.
 *
 * A 421, a reply that the command cannot have, a timeout and a lost connection abort the transaction, and the connection
 * must be closed.
 */
import type { Extensions } from '../handshake.ts';
import { type Outcome, replyOutcome, type Stage, withoutReply } from '../outcome.ts';
import type { Reply } from '../reply-reader.ts';

export type State = 'idle' | 'rset' | 'mail' | 'rcpt' | 'data' | 'message' | 'unflushed' | 'end' | 'empty';

// These constants are shared, so that a reply costs no allocation.
const WAIT = { do: 'wait' } as const;
const WRITE_MESSAGE = { do: 'writeMessage' } as const;
const IDLE = { do: 'idle' } as const;

export class Transactions<Mail extends Envelope> {
  readonly #offers: Extensions;
  readonly #relay: string;
  #state: State = 'idle';
  #mail: Mail | null = null;
  /** True if the envelope of `#mail` was pipelined after the previous message. */
  #wasPipelined = false;
  #pipelined: Mail | null = null;
  #isPipelinedCancelled = false;
  /** The first refusal among pipelined commands. */
  #refusal: Outcome | null = null;
  #isRecipientAccepted = false;
  /** True if the relay accepted a MAIL whose transaction has not ended with a message. */
  #needsReset = false;
  #completed = 0;

  /** `relay` is the relay's display name. */
  constructor(offers: Extensions, relay: string) {
    this.#offers = offers;
    this.#relay = relay;
  }

  get state(): State {
    return this.#state;
  }

  /** The mail of the transaction in progress. */
  get mail(): Mail | null {
    return this.#mail;
  }

  /** The mail whose envelope is pipelined after the message of `mail`. */
  get pipelined(): Mail | null {
    return this.#pipelined;
  }

  /** The number of transactions that ended without closing the connection. */
  get completed(): number {
    return this.#completed;
  }

  /** Begins a transaction in state `idle`; returns the commands to write. */
  begin(mail: Mail): string {
    this.#start(mail, false);
    const commands = this.#offers.pipelining ? commandGroup(mail, this.#offers) : mailCommand(mail, this.#offers);
    if (!this.#needsReset) return commands;
    this.#state = 'rset';
    return `RSET\r\n${commands}`;
  }

  /**
   * Schedules this mail's envelope to be written with the end of data. May be called only in the state `message`, and only with PIPELINING.
   */
  pipeline(mail: Mail): void {
    this.#pipelined = mail;
  }

  /** Call it right before the end of data is written; returns the commands to write after it, in the same packet. */
  endOfDataWritten(): string {
    this.#state = 'unflushed';
    return this.#pipelined === null ? '' : commandGroup(this.#pipelined, this.#offers);
  }

  /** Call it when the socket has flushed the end of data. Returns true if its reply is still to come. */
  endOfDataFlushed(): boolean {
    if (this.#state !== 'unflushed') return false;
    this.#state = 'end';
    return true;
  }

  /**
   * Takes back the pipelined mail and returns it; null if there is none. Its envelope is already written, so the connection is closed after
   * the current transaction.
   */
  cancelPipelined(): Mail | null {
    const mail = this.#pipelined;
    if (mail !== null) this.#isPipelinedCancelled = true;
    this.#pipelined = null;
    return mail;
  }

  /** Gives up the transaction instead of writing its message. DATA has been accepted, so the connection must be closed. */
  withdraw(): void {
    this.#mail = null;
    this.#state = 'idle';
  }

  /** Processes a reply. Returns what to do next. */
  reply(reply: Reply): Action<Mail> {
    if (this.#state === 'rset') return this.#resetAnswered(reply);
    const mail = this.#mail;
    // No command is open: this is the reply to QUIT, or the 421 of a relay that closes an unused connection.
    if (mail === null) return { do: 'close', why: `unexpected reply: ${reply.code} ${reply.text}` };
    if (reply.code === 421 || this.#isOutOfSequence(reply.code)) return this.#abort(mail, this.#outcome(reply), reply);
    switch (this.#state) {
      case 'mail':
        return this.#mailAnswered(mail, reply);
      case 'rcpt':
        if (reply.code < 300) this.#isRecipientAccepted = true;
        else this.#refusal ??= this.#outcome(reply);
        return this.#advance(mail, 'data', 'DATA\r\n');
      case 'data':
        return this.#dataAnswered(mail, reply);
      default:
        return this.#endOfDataAnswered(mail, reply);
    }
  }

  /** Call it if the connection is lost or a reply did not come in time. Returns null if no transaction was in progress. */
  lost(why: string): Aborted<Mail> | null {
    if (this.#mail === null) return null;
    return this.#abort(this.#mail, withoutReply('deferred', this.#stage, `${this.#relay}: ${why}`), null);
  }

  /** The event that is overdue when the deadline of the current state passes, for the error message. */
  get overdue(): string {
    if (this.#state === 'message' || this.#state === 'unflushed') return 'the message could not be written in time';
    const isEnd = this.#state === 'end' || this.#state === 'empty';
    return `no reply to ${isEnd ? 'the end of data' : this.#state.toUpperCase()} in time`;
  }

  #start(mail: Mail, wasPipelined: boolean): void {
    this.#mail = mail;
    this.#wasPipelined = wasPipelined;
    this.#refusal = null;
    this.#isRecipientAccepted = false;
    this.#state = 'mail';
  }

  /** Returns true if the command cannot have this reply (354 answers only DATA). Later replies would be matched to the wrong commands. */
  #isOutOfSequence(code: number): boolean {
    return this.#state === 'data' ? code < 300 : code >= 300 && code < 400;
  }

  #resetAnswered(reply: Reply): Action<Mail> {
    if (reply.code >= 300) return { do: 'close', why: `RSET answered with ${reply.code} ${reply.text}` };
    this.#needsReset = false;
    this.#state = this.#mail === null ? 'idle' : 'mail';
    return this.#mail === null ? IDLE : WAIT;
  }

  #mailAnswered(mail: Mail, reply: Reply): Action<Mail> {
    // After a 5xx the relay may object to the pipelining rather than to the sender, so the mail is sent again without pipelining.
    if (reply.code >= 500 && this.#wasPipelined) return this.#abort(mail, this.#outcome(reply), reply);
    if (reply.code < 300) this.#needsReset = true;
    else this.#refusal = this.#outcome(reply);
    return this.#advance(mail, 'rcpt', rcptCommand(mail));
  }

  /** Goes on to the next command. With PIPELINING it is already written; otherwise it is written unless a command was refused. */
  #advance(mail: Mail, state: 'rcpt' | 'data', command: string): Action<Mail> {
    if (!this.#offers.pipelining && this.#refusal !== null) return this.#complete(mail, this.#refusal);
    this.#state = state;
    return this.#offers.pipelining ? WAIT : { do: 'write', commands: command };
  }

  #dataAnswered(mail: Mail, reply: Reply): Action<Mail> {
    if (reply.code >= 400) return this.#complete(mail, this.#refusal ?? this.#outcome(reply));
    if (this.#refusal === null) {
      this.#state = 'message';
      return WRITE_MESSAGE;
    }
    // The connection is closed, so that nothing is sent (RFC 5321 4.1.1.4); the end of data would send an empty message.
    if (this.#isRecipientAccepted) return this.#abort(mail, this.#refusal, reply);
    this.#state = 'empty';
    return { do: 'write', commands: '.\r\n' };
  }

  #endOfDataAnswered(mail: Mail, reply: Reply): Action<Mail> {
    // A relay that accepts the message has received the end of data, even if the socket has not reported that yet.
    if (this.#state === 'unflushed' && reply.code < 300) this.#state = 'end';
    const outcome = this.#refusal ?? this.#outcome(reply);
    if (this.#state !== 'end' && this.#state !== 'empty') return this.#abort(mail, outcome, reply);
    this.#needsReset = false;
    return this.#complete(mail, outcome);
  }

  #complete(mail: Mail, outcome: Outcome): Completed<Mail> {
    this.#completed++;
    const pipelined = this.#pipelined;
    this.#pipelined = null;
    if (pipelined !== null) {
      this.#start(pipelined, true);
      return { do: 'complete', mail, outcome, next: 'pipelined' };
    }
    this.#mail = null;
    this.#state = 'idle';
    if (this.#isPipelinedCancelled) return { do: 'complete', mail, outcome, next: 'close' };
    if (!this.#needsReset || this.#offers.pipelining) return { do: 'complete', mail, outcome, next: 'idle' };
    // RSET is sent now rather than with the next mail, because no round trip may lie between that mail's `start` and its MAIL.
    this.#state = 'rset';
    return { do: 'complete', mail, outcome, next: 'reset' };
  }

  /** Ends the transaction for good. If there was an earlier refusal, it is the outcome. `reply` is null if the connection was lost. */
  #abort(mail: Mail, outcome: Outcome, reply: Reply | null): Aborted<Mail> {
    const verdict = this.#refusal ?? outcome;
    const state = this.#state;
    // A session that worked before and ends before the message says nothing about the mail.
    const isEarly = state === 'mail' || (reply?.code === 421 && (state === 'rcpt' || state === 'data'));
    const isSessionEnd = isEarly && this.#completed > 0 && this.#refusal === null;
    const pipelined = this.#pipelined;
    this.#pipelined = null;
    this.#mail = null;
    this.#state = 'idle';
    return {
      do: 'abort',
      mail,
      outcome: verdict,
      canRepeat: state === 'rset' || isSessionEnd,
      pipelined,
      isSessionEnd: isSessionEnd && verdict.kind === 'deferred',
      isPipeliningRejected: this.#wasPipelined && state === 'mail' && (reply === null || reply.code >= 500),
    };
  }

  #outcome(reply: Reply): Outcome {
    return replyOutcome(this.#stage, reply);
  }

  /** The stage of an outcome in this state. Until the end of data is flushed, the relay cannot have the whole message. */
  get #stage(): Stage {
    switch (this.#state) {
      case 'idle':
      case 'rset':
        return 'mail';
      case 'message':
      case 'unflushed':
      case 'empty':
        return 'data';
      case 'end':
        return 'body';
      default:
        return this.#state;
    }
  }
}

/** A mail's data for the commands before its message. */
export interface Envelope {
  readonly from: string;
  readonly to: string;
  /** The length of the message in bytes, before dot-stuffing. */
  readonly size: number;
}

/** Matches addresses that cannot end the angle brackets, the argument or the line. */
const SENDER = /^[!-;=?-~]*$/;
const RECIPIENT = /^[!-;=?-~]+$/;

/** Returns MAIL FROM with its CRLF, and with the message's size if the relay announced SIZE (RFC 1870 3). */
function mailCommand({ from, size }: Envelope, offers: Extensions): string {
  return `MAIL FROM:<${from}>${offers.size === null ? '' : ` SIZE=${size}`}\r\n`;
}

function rcptCommand({ to }: Envelope): string {
  return `RCPT TO:<${to}>\r\n`;
}

/** Returns MAIL, RCPT and DATA as one group, which RFC 2920 3.1 allows because DATA is last. */
function commandGroup(envelope: Envelope, offers: Extensions): string {
  return `${mailCommand(envelope, offers)}${rcptCommand(envelope)}DATA\r\n`;
}

/** Returns the outcome of a mail that this relay is certain to reject, without asking the relay; null if the mail can be sent. */
export function envelopeProblem({ from, to, size }: Envelope, offers: Extensions): Outcome | null {
  if (!SENDER.test(from)) return withoutReply('held', 'mail', 'the sender address is not valid in an SMTP command');
  if (!RECIPIENT.test(to)) return withoutReply('refused', 'rcpt', 'the address is not valid in an SMTP command');
  if (offers.size && size > offers.size) {
    return withoutReply('held', 'mail', `the message has ${size} bytes, the relay accepts at most ${offers.size}`);
  }
  return null;
}

/** The action after a reply. If the connection stays open, the next reply belongs to `state`. */
export type Action<Mail> =
  | { do: 'wait' }
  | { do: 'write'; commands: string }
  /** Write the message, then call `endOfDataWritten`; or call `withdraw` and close the connection. */
  | { do: 'writeMessage' }
  /** RSET is answered and no mail waits: the session is idle. */
  | { do: 'idle' }
  | Completed<Mail>
  | Aborted<Mail>
  /** Close the connection and call `lost`. */
  | { do: 'close'; why: string };

/** A transaction has its outcome, and the connection can be used further. */
export interface Completed<Mail> {
  do: 'complete';
  mail: Mail;
  outcome: Outcome;
  /**
   * `idle`: the session is idle. `pipelined`: the transaction of the pipelined mail has begun. `reset`: write RSET first. `close`: close
   * the connection, because the envelope of a cancelled mail has been written to it.
   */
  next: 'idle' | 'pipelined' | 'reset' | 'close';
}

/** A transaction has its outcome, and the connection must be closed. */
export interface Aborted<Mail> {
  do: 'abort';
  mail: Mail;
  outcome: Outcome;
  /** True if the relay cannot have acted on the mail, so that it can be sent again without a duplicate. */
  canRepeat: boolean;
  /**
   * The mail of which only the envelope was pipelined; null if there is none. The relay discards the envelope when the connection closes.
   */
  pipelined: Mail | null;
  /** True if the relay ended a session that had worked, instead of accepting another mail. */
  isSessionEnd: boolean;
  /** True if the relay failed on a pipelined envelope, although it offers PIPELINING. */
  isPipeliningRejected: boolean;
}
