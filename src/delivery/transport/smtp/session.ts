/**
 * One open SMTP connection and the transactions on it, one after the other. This is the hot path of sending.
 *
 * A transaction (RFC 5321 3.3), with the reply that leads to each state:
 *
 *   idle ──▶ [rset ─250─▶] mail ─250─▶ rcpt ─250─▶ data ─354─▶ body ─250─▶ accepted, idle again
 *                           │           │           │           └ 4xx, 5xx ─▶ deferred or refused, idle again
 *                           └ 4xx, 5xx ─┴───────────┴─▶ deferred, refused or held, idle again (with RSET where needed)
 *
 * Each state is named after the command whose reply it waits for; `body` waits for the reply to the end of data. With
 * PIPELINING (RFC 2920), MAIL, RCPT and DATA leave in one write, so a refusal is kept until all three are answered. If
 * DATA is then answered with 354 although no recipient was accepted, an empty message ends it: state `empty`.
 *
 * Pipelined envelope: when no more connections can be had, the next job's MAIL, RCPT and DATA are written together with
 * the end of data of the current message. Its transaction starts in `mail` as soon as the current one has its reply.
 *
 * A 421, a reply out of sequence, a timeout or a lost connection aborts the transaction and closes the connection.
 */

import type { ConnectionListener, SmtpConnection } from './connection.ts';
import { stuffDots } from './dot-stuffing.ts';
import { envelopeProblem, mailCommand, rcptCommand } from './envelope.ts';
import type { Extensions } from './handshake.ts';
import { type Outcome, replyOutcome, type Stage, withoutReply } from './outcome.ts';
import type { Job, Ticket } from './pending-jobs.ts';
import type { Reply } from './reply.ts';
import type { Timeouts } from './timeouts.ts';

export interface SessionOwner {
  /** The outcome of a job; 'withdrawn' if its message must no longer be sent and at most its envelope was written. */
  finished(session: Session, ticket: Ticket, outcome: Outcome | 'withdrawn'): void;
  /** Called right before the end of data is written: the moment to call `pipelineNext` with another job. */
  endingData(session: Session): void;
  /** A transaction is complete, whatever its outcome. Called before `free`, or before the pipelined job continues. */
  completed(session: Session, outcome: Outcome): void;
  /** The session may take the next job. */
  free(session: Session): void;
  /** The relay failed on an envelope pipelined after the end of data, although it offers PIPELINING. */
  pipeliningRejected(session: Session): void;
  /** The relay closed the session, after at least one completed transaction, instead of accepting another message. */
  closedByRelay(session: Session): void;
  /** The connection closed before the relay could act on this job, so it can be sent again without a duplicate. */
  requeue(ticket: Ticket): void;
  /**
   * The session accepts no more jobs; may be called twice. `failure`: why it broke, if it broke before completing a
   * single transaction.
   */
  ended(session: Session, failure: Outcome | null): void;
}

/** What the next reply answers. `empty` is the end of data of an empty message without recipients. */
type Step = 'idle' | 'rset' | 'mail' | 'rcpt' | 'data' | 'body' | 'empty';

/** The message is written in blocks of this size; each has its own timeout (RFC 5321 4.5.3.2.5). */
const BLOCK_BYTES = 65_536;

/** Size of the two buffers a connection builds its messages in: allocating one for each message costs more than building it. */
const MEMORY_BYTES = 65_536;

/** How often a job is sent again because its connection closed before the relay acted on it. */
const MAX_REQUEUES = 3;

const EMPTY: Buffer = Buffer.alloc(0);

/** A job and its message. */
interface BuiltJob {
  ticket: Ticket;
  message: Buffer;
}

export class Session implements ConnectionListener {
  readonly #connection: SmtpConnection;
  readonly #offers: Extensions;
  readonly #timeouts: Timeouts;
  readonly #relay: string;
  readonly #owner: SessionOwner;
  #step: Step = 'idle';
  #ticket: Ticket | null = null;
  #message = EMPTY;
  #memory = Buffer.allocUnsafeSlow(MEMORY_BYTES);
  /** The job whose envelope is pipelined after the current message. Its message is built in the spare buffer. */
  #pipelined: BuiltJob | null = null;
  #spareMemory = Buffer.allocUnsafeSlow(MEMORY_BYTES);
  /** Whether the current job's envelope was pipelined after the previous message. */
  #wasPipelined = false;
  /** Set when a pipelined job was cancelled: its envelope is written already, so the connection closes after the current job. */
  #closeAfterCurrent = false;
  /** Messages passed to the socket, and those it has flushed. Until they are equal, the socket may still read the buffer. */
  #messagesWritten = 0;
  #messagesFlushed = 0;
  /** How many bytes of the message are written, and whether the socket has flushed the end of data. */
  #bytesWritten = 0;
  #endOfDataFlushed = false;
  /** The first refusal among pipelined commands; the replies to the others are still to come. */
  #refusal: Outcome | null = null;
  #recipientAccepted = false;
  /** Whether the relay accepted a MAIL whose transaction has not ended, so that RSET is needed before the next one. */
  #needsReset = false;
  #completed = 0;
  #quitting = false;

  /** Takes over a connection after its handshake; `relay` is the relay's name for people. */
  constructor(connection: SmtpConnection, offers: Extensions, timeouts: Timeouts, relay: string, owner: SessionOwner) {
    this.#connection = connection;
    this.#offers = offers;
    this.#timeouts = timeouts;
    this.#relay = relay;
    this.#owner = owner;
    connection.listener = this;
    connection.within(timeouts.idle);
  }

  /** The number of transactions completed on this connection. */
  get completed(): number {
    return this.#completed;
  }

  /** When the connection was started, in monotonic milliseconds. */
  get startedAt(): number {
    return this.#connection.startedAt;
  }

  /** Milliseconds the current job has waited for the relay; 0 without a job. */
  get waited(): number {
    return this.#ticket === null ? 0 : this.#connection.waited;
  }

  /** The jobs in progress: 0, 1, or 2 with a pipelined one. */
  get load(): number {
    return (this.#ticket === null ? 0 : 1) + (this.#pipelined === null ? 0 : 1);
  }

  /**
   * Starts a transaction on an idle session. Returns null if it was started, otherwise the outcome, with nothing
   * written. Throws what the job's `start` throws, also with nothing written.
   */
  begin(ticket: Ticket): Outcome | 'withdrawn' | null {
    const built = this.#build(ticket, this.#memory);
    if (!('message' in built)) return built.ended;
    this.#startTransaction(built, false);

    // RFC 2920 3.1: MAIL, RCPT and DATA may be written as one group if DATA is last.
    const reset = this.#needsReset ? 'RSET\r\n' : '';
    const commands = this.#offers.pipelining
      ? this.#envelopeCommands(built)
      : mailCommand(ticket.job, built.message, this.#offers);
    this.#connection.write(`${reset}${commands}`);
    if (this.#needsReset) this.#await('rset', this.#timeouts.command);
    else this.#await('mail', this.#timeouts.mail);
    return null;
  }

  /**
   * Pipelines the job's envelope after the end of data that is about to be written. RFC 2920 3.1 allows message text
   * as the first part of a command group; this saves a round trip. Returns and throws as `begin` does.
   */
  pipelineNext(ticket: Ticket): Outcome | 'withdrawn' | null {
    const built = this.#build(ticket, this.#spareMemory);
    if (!('message' in built)) return built.ended;
    this.#pipelined = built;
    return null;
  }

  /** The job whose envelope is pipelined after the current message. */
  get pipelined(): Ticket | null {
    return this.#pipelined?.ticket ?? null;
  }

  /** Forgets the pipelined job, which the caller puts back in a queue. */
  cancelPipelined(): void {
    this.#pipelined = null;
    this.#closeAfterCurrent = true;
  }

  #build(ticket: Ticket, memory: Buffer): BuiltJob | { ended: Outcome | 'withdrawn' } {
    const message = ticket.job.start(memory)?.bytes;
    if (message === undefined) return { ended: 'withdrawn' };
    const problem = envelopeProblem(ticket.job, message, this.#offers);
    return problem === null ? { ticket, message } : { ended: problem };
  }

  #startTransaction({ ticket, message }: BuiltJob, wasPipelined: boolean): void {
    this.#ticket = ticket;
    this.#message = message;
    this.#refusal = null;
    this.#recipientAccepted = false;
    this.#wasPipelined = wasPipelined;
  }

  #envelopeCommands({ ticket: { job }, message }: BuiltJob): string {
    return `${mailCommand(job, message, this.#offers)}${rcptCommand(job)}DATA\r\n`;
  }

  /** Sends QUIT; for an idle session. */
  quit(): void {
    this.#quitting = true;
    this.#connection.quit(this.#timeouts.quit);
    this.#owner.ended(this, null);
  }

  reply(reply: Reply): void {
    if (this.#step === 'rset') {
      this.#answerToReset(reply);
    } else if (this.#ticket === null) {
      // No command is open: this is the reply to QUIT, or the 421 of a relay that closes an unused connection.
      this.#connection.fail(new Error(`unexpected reply: ${reply.code} ${reply.text}`));
    } else if (reply.code === 421 || this.#isOutOfSequence(reply.code)) {
      this.#abort(replyOutcome(this.#stage(), reply));
    } else {
      this.#advance(this.#ticket.job, reply);
    }
  }

  expired(): void {
    if (this.#step === 'idle' && !this.#quitting) this.quit();
    else this.#connection.fail(new Error(this.#timeoutMessage()));
  }

  lost(error: Error): void {
    if (this.#ticket !== null) {
      if (this.#step === 'mail' && this.#wasPipelined) this.#owner.pipeliningRejected(this);
      this.#abort(withoutReply('deferred', this.#stage(), `${this.#relay}: ${error.message}`));
    } else {
      this.#owner.ended(this, null);
    }
  }

  #advance(job: Job, reply: Reply): void {
    const accepted = reply.code < 300;
    switch (this.#step) {
      case 'mail':
        if (reply.code >= 500 && this.#wasPipelined) {
          // The relay may object to the pipelining rather than to the sender, so the job is tried once more without it.
          this.#owner.pipeliningRejected(this);
          this.#abort(replyOutcome('mail', reply));
          return;
        }
        if (accepted) this.#needsReset = true;
        else this.#refusal = replyOutcome('mail', reply);
        this.#next('rcpt', rcptCommand(job), this.#timeouts.rcpt);
        break;
      case 'rcpt':
        if (accepted) this.#recipientAccepted = true;
        else this.#refusal ??= replyOutcome('rcpt', reply);
        this.#next('data', 'DATA\r\n', this.#timeouts.data);
        break;
      case 'data':
        this.#answerToData(reply);
        break;
      case 'body':
      case 'empty':
        this.#answerToEndOfData(reply);
        break;
    }
  }

  /** Whether the command cannot have this reply (354 answers only DATA). Later replies would be matched to the wrong commands. */
  #isOutOfSequence(code: number): boolean {
    return this.#step === 'data' ? code < 300 : code >= 300 && code < 400;
  }

  #answerToReset(reply: Reply): void {
    if (reply.code >= 300) {
      this.#connection.fail(new Error(`RSET answered with ${reply.code} ${reply.text}`));
      return;
    }
    this.#needsReset = false;
    if (this.#ticket === null) this.#becomeIdle();
    else this.#await('mail', this.#timeouts.mail);
  }

  /** Moves to the next command. With PIPELINING it is written already; without, it is written now unless one was refused. */
  #next(step: 'rcpt' | 'data', command: string, ms: number): void {
    if (!this.#offers.pipelining && this.#refusal !== null) {
      this.#complete(this.#refusal);
      return;
    }
    if (!this.#offers.pipelining) this.#connection.write(command);
    this.#await(step, ms);
  }

  #answerToData(reply: Reply): void {
    if (reply.code >= 400) {
      this.#complete(this.#refusal ?? replyOutcome('data', reply));
    } else if (this.#refusal === null && this.#wasPipelined && this.#ticket?.job.maySend?.() === false) {
      this.#withdraw();
    } else if (this.#refusal === null) {
      if (!this.#ticket?.job.dotless) this.#message = stuffDots(this.#message);
      this.#bytesWritten = 0;
      this.#endOfDataFlushed = false;
      this.#step = 'body';
      this.#writeBlock();
    } else if (this.#recipientAccepted) {
      // MAIL was refused but RCPT accepted: ending the data would mail an empty message, closing mails nothing (RFC 5321 4.1.1.4).
      this.#abort(this.#refusal);
    } else {
      // RFC 2920 3.1: if DATA is accepted without any recipient, the client sends the end of data alone.
      this.#connection.write('.\r\n');
      this.#await('empty', this.#timeouts.endOfData);
    }
  }

  #answerToEndOfData(reply: Reply): void {
    this.#needsReset = false;
    // A relay that accepts the message has received the end of data, even if the socket has not called back yet.
    if (this.#bytesWritten === this.#message.length && reply.code < 300) this.#endOfDataFlushed = true;
    const outcome = this.#refusal ?? replyOutcome(this.#stage(), reply);
    if (this.#step === 'empty' || this.#endOfDataFlushed) this.#complete(outcome);
    else this.#abort(outcome);
  }

  /**
   * Writes the next block of the message; also the callback for each flushed block. The last block is written together
   * with the end of data and the pipelined envelope.
   */
  readonly #writeBlock = (error?: Error | null): void => {
    if (error || this.#step !== 'body') return;
    this.#connection.within(this.#timeouts.block);
    const message = this.#message;
    const start = this.#bytesWritten;
    if (message.length - start > BLOCK_BYTES) {
      this.#bytesWritten += BLOCK_BYTES;
      this.#connection.send(message.subarray(start, this.#bytesWritten), '', this.#writeBlock);
      return;
    }
    if (this.#offers.pipelining) this.#owner.endingData(this);
    this.#bytesWritten = message.length;
    this.#messagesWritten++;
    const endsWithLine = message.length === 0 || message[message.length - 1] === 0x0a;
    const end = `${endsWithLine ? '' : '\r\n'}.\r\n${this.#pipelined === null ? '' : this.#envelopeCommands(this.#pipelined)}`;
    if (start === 0 && this.#hasRoomAfter(message, end.length)) {
      // One write from one buffer costs a third less than two corked together.
      this.#memory.write(end, message.length, 'latin1');
      this.#connection.send(this.#memory.subarray(0, message.length + end.length), '', this.#markFlushed);
    } else {
      this.#connection.send(start === 0 ? message : message.subarray(start), end, this.#markFlushed);
    }
  };

  /** Whether the message lies at the start of the connection's buffer, with `length` bytes free after it. */
  #hasRoomAfter(message: Buffer, length: number): boolean {
    const { buffer, byteOffset } = this.#memory;
    return message.buffer === buffer && message.byteOffset === byteOffset && message.length + length <= MEMORY_BYTES;
  }

  readonly #markFlushed = (error?: Error | null): void => {
    this.#messagesFlushed++;
    if (error || this.#step !== 'body' || this.#messagesFlushed !== this.#messagesWritten) return;
    this.#endOfDataFlushed = true;
    this.#connection.within(this.#timeouts.endOfData);
  };

  #await(step: Step, ms: number): void {
    this.#step = step;
    this.#connection.within(ms);
  }

  #complete(outcome: Outcome): void {
    const ticket = this.#clearJob();
    this.#completed++;
    if (this.#messagesWritten !== this.#messagesFlushed) this.#memory = Buffer.allocUnsafeSlow(MEMORY_BYTES);
    if (ticket !== null) this.#owner.finished(this, ticket, outcome);
    const pipelined = this.#pipelined;
    this.#pipelined = null;
    if (pipelined !== null) {
      [this.#memory, this.#spareMemory] = [this.#spareMemory, this.#memory];
      this.#startTransaction(pipelined, true);
      this.#await('mail', this.#timeouts.mail);
    }
    this.#owner.completed(this, outcome);
    if (pipelined !== null) return;
    if (this.#closeAfterCurrent) {
      this.#connection.fail(new Error('a pipelined envelope was cancelled'));
      this.#owner.ended(this, null);
    } else if (this.#needsReset && !this.#offers.pipelining) {
      // Now rather than with the next job: no round trip may lie between its last check for a stop and MAIL.
      this.#connection.write('RSET\r\n');
      this.#await('rset', this.#timeouts.command);
    } else {
      this.#becomeIdle();
    }
  }

  #becomeIdle(): void {
    this.#step = 'idle';
    this.#connection.within(this.#timeouts.idle);
    this.#owner.free(this);
  }

  /** Closes the connection instead of sending a message that must no longer be sent: DATA is already accepted. */
  #withdraw(): void {
    const ticket = this.#clearJob();
    this.#connection.fail(new Error('the message was withdrawn'));
    this.#owner.ended(this, null);
    if (ticket !== null) this.#owner.finished(this, ticket, 'withdrawn');
  }

  /** Closes the connection in the middle of a transaction. A refusal that already came is the outcome. */
  #abort(outcome: Outcome): void {
    const verdict = this.#refusal ?? outcome;
    const isReused = this.#completed > 0 && this.#refusal === null;
    const isEarly = this.#step === 'mail' || (outcome.code === 421 && (this.#step === 'rcpt' || this.#step === 'data'));
    const canRequeue = this.#step === 'rset' || (isReused && isEarly);
    if (isReused && isEarly && verdict.kind === 'deferred') this.#owner.closedByRelay(this);
    const ticket = this.#clearJob();
    const pipelined = this.#pipelined;
    this.#pipelined = null;
    this.#connection.fail(new Error(verdict.reply));
    this.#owner.ended(this, this.#completed === 0 && verdict.kind === 'deferred' ? verdict : null);
    // Of the pipelined job only the envelope was written, and the relay discards it when the connection closes.
    if (pipelined !== null) this.#owner.requeue(pipelined.ticket);
    if (ticket === null) return;
    if (canRequeue && ticket.requeues < MAX_REQUEUES) this.#owner.requeue(ticket);
    else this.#owner.finished(this, ticket, verdict);
  }

  #clearJob(): Ticket | null {
    const ticket = this.#ticket;
    this.#ticket = null;
    this.#message = EMPTY;
    this.#step = 'idle';
    return ticket;
  }

  /** The stage a failure at this point belongs to. Until the end of data is flushed, the relay cannot have the whole message. */
  #stage(): Stage {
    switch (this.#step) {
      case 'idle':
      case 'rset':
        return 'mail';
      case 'empty':
        return 'data';
      case 'body':
        return this.#endOfDataFlushed ? 'body' : 'data';
      default:
        return this.#step;
    }
  }

  #timeoutMessage(): string {
    if (this.#step !== 'body')
      return `no reply to ${this.#step === 'empty' ? 'the end of data' : this.#step.toUpperCase()} in time`;
    return this.#endOfDataFlushed ? 'no reply to the end of data in time' : 'the message could not be written in time';
  }
}
