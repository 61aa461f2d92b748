/** One open connection, handing over message after message: the hot path. */

import type { ConnectionListener, SmtpConnection } from './connection.ts';
import { stuffDots } from './dot-stuffing.ts';
import { envelopeFault, mailCommand, rcptCommand } from './envelope.ts';
import type { Extensions } from './handshake.ts';
import { type Outcome, outcomeOf, type Stage, withoutReply } from './outcome.ts';
import type { Job, Ticket } from './pending-jobs.ts';
import type { Reply } from './reply.ts';
import type { Timeouts } from './timeouts.ts';

export interface SessionOwner {
  /** What became of a job; 'withdrawn' where its message may not leave any more and nothing but its envelope was written. */
  settled(session: Session, ticket: Ticket, outcome: Outcome | 'withdrawn'): void;
  /** The session is about to end a message with the dot: it may be given a job to `follow`. */
  ending(session: Session): void;
  /** A job came to its end, whatever that was; called before it is free or goes on with the job that follows. */
  carried(session: Session, outcome: Outcome): void;
  /** The session may take the next job. */
  free(session: Session): void;
  /** The relay did not take well to what followed a dot, although it offers PIPELINING. */
  deaf(session: Session): void;
  /** The relay ended the session, which has carried messages, instead of taking one more. */
  limited(session: Session): void;
  /** The connection was kept from an earlier message and is closed; the relay knows nothing of this job. */
  stale(ticket: Ticket): void;
  /**
   * The session takes nothing more; may be told twice. `trouble`: it broke before it carried a single transaction to
   * its end.
   */
  ended(session: Session, trouble: Outcome | null): void;
}

/** What the next reply answers. `dot` is the end of a message that has nobody to go to. */
type Step = 'idle' | 'rset' | 'mail' | 'rcpt' | 'data' | 'body' | 'dot';

/** The pieces RFC 5321 4.5.3.2.5 sets a timeout for. */
const BLOCK_BYTES = 65_536;

/** What a connection keeps to build messages in, twice: fresh memory for each costs more than the building. */
const MEMORY_BYTES = 65_536;

/** A job whose connections are closed again and again is no longer begun anew. */
const MOST_MOVES = 3;

const NOTHING: Buffer = Buffer.alloc(0);

/** A job whose message is built. */
interface Begun {
  ticket: Ticket;
  message: Buffer;
}

export class Session implements ConnectionListener {
  readonly #wire: SmtpConnection;
  readonly #offers: Extensions;
  readonly #timeouts: Timeouts;
  readonly #relay: string;
  readonly #owner: SessionOwner;
  #step: Step = 'idle';
  #ticket: Ticket | null = null;
  #message = NOTHING;
  #memory = Buffer.allocUnsafeSlow(MEMORY_BYTES);
  /** The job whose envelope was written behind the dot of the one at hand, its message built in the spare memory. */
  #following: Begun | null = null;
  #spare = Buffer.allocUnsafeSlow(MEMORY_BYTES);
  /** Whether the job at hand began behind a dot. */
  #followed = false;
  /** Whether an envelope was written whose job was taken back: the connection ends with the job at hand. */
  #isSpoilt = false;
  /** Messages given to the system, and those of them it has taken: memory it still reads is not written to. */
  #given = 0;
  #taken = 0;
  /** How much of the message is written, and whether the system took the dot behind it. */
  #written = 0;
  #dotTaken = false;
  /** The first refusal in a group of commands; replies to the others are still to come. */
  #refusal: Outcome | null = null;
  #recipientTaken = false;
  /** Whether the relay may still hold an envelope that came to nothing. */
  #envelopeOpen = false;
  #completed = 0;
  #leaving = false;

  /** Takes over a wire whose handshake is through; `relay` is the relay's name for people. */
  constructor(wire: SmtpConnection, offers: Extensions, timeouts: Timeouts, relay: string, owner: SessionOwner) {
    this.#wire = wire;
    this.#offers = offers;
    this.#timeouts = timeouts;
    this.#relay = relay;
    this.#owner = owner;
    wire.listener = this;
    wire.within(timeouts.idle);
  }

  /** Jobs that came to their end in it. */
  get completed(): number {
    return this.#completed;
  }

  /** When its connection began. */
  get begun(): number {
    return this.#wire.begun;
  }

  /** Milliseconds it has waited for the relay with a job; 0 without one. */
  get waited(): number {
    return this.#ticket === null ? 0 : this.#wire.waited;
  }

  /** Jobs of which something is written: none, one, or one and the one that follows it. */
  get load(): number {
    return (this.#ticket === null ? 0 : 1) + (this.#following === null ? 0 : 1);
  }

  /**
   * Begins to hand over a job; for an idle session. Gives null once something is written, else what became of the job
   * at once. Throws what the job's `start` throws, with nothing written.
   */
  begin(ticket: Ticket): Outcome | 'withdrawn' | null {
    const begun = this.#built(ticket, this.#memory);
    if (!('message' in begun)) return begun.ended;
    this.#carry(begun, false);

    // RFC 2920 3.1: all of these may go in one group, DATA last.
    const reset = this.#envelopeOpen ? 'RSET\r\n' : '';
    const commands = this.#offers.pipelining
      ? this.#envelope(begun)
      : mailCommand(ticket.job, begun.message, this.#offers);
    this.#wire.write(`${reset}${commands}`);
    if (this.#envelopeOpen) this.#await('rset', this.#timeouts.command);
    else this.#await('mail', this.#timeouts.mail);
    return null;
  }

  /**
   * Takes a job whose envelope goes behind the dot that is about to be written: the message may be the first in a group
   * of commands (RFC 2920 3.1), which saves a round trip. Gives and throws as `begin` does.
   */
  follow(ticket: Ticket): Outcome | 'withdrawn' | null {
    const begun = this.#built(ticket, this.#spare);
    if (!('message' in begun)) return begun.ended;
    this.#following = begun;
    return null;
  }

  /** The job that waits behind a dot. */
  get following(): Ticket | null {
    return this.#following?.ticket ?? null;
  }

  /** Gives up the job that waits behind a dot, which whoever asks takes back. */
  abandonFollowing(): void {
    this.#following = null;
    this.#isSpoilt = true;
  }

  #built(ticket: Ticket, memory: Buffer): Begun | { ended: Outcome | 'withdrawn' } {
    const message = ticket.job.start(memory)?.bytes;
    if (message === undefined) return { ended: 'withdrawn' };
    const fault = envelopeFault(ticket.job, message, this.#offers);
    return fault === null ? { ticket, message } : { ended: fault };
  }

  #carry({ ticket, message }: Begun, followed: boolean): void {
    this.#ticket = ticket;
    this.#message = message;
    this.#refusal = null;
    this.#recipientTaken = false;
    this.#followed = followed;
  }

  #envelope({ ticket: { job }, message }: Begun): string {
    return `${mailCommand(job, message, this.#offers)}${rcptCommand(job)}DATA\r\n`;
  }

  /** Says goodbye; for an idle session. */
  quit(): void {
    this.#leaving = true;
    this.#wire.quit(this.#timeouts.quit);
    this.#owner.ended(this, null);
  }

  reply(reply: Reply): void {
    if (this.#step === 'rset') {
      this.#answerToReset(reply);
    } else if (this.#ticket === null) {
      // Nothing was asked: the answer to QUIT, or the 421 of a relay that closes unused connections.
      this.#wire.fail(new Error(`the relay spoke out of turn: ${reply.code} ${reply.text}`));
    } else if (reply.code === 421 || this.#misplaced(reply.code)) {
      this.#breakOff(outcomeOf(this.#stage(), reply));
    } else {
      this.#advance(this.#ticket.job, reply);
    }
  }

  expired(): void {
    if (this.#step === 'idle' && !this.#leaving) this.quit();
    else this.#wire.fail(new Error(this.#lateness()));
  }

  lost(error: Error): void {
    if (this.#ticket !== null) {
      if (this.#step === 'mail' && this.#followed) this.#owner.deaf(this);
      this.#breakOff(withoutReply('deferred', this.#stage(), `${this.#relay}: ${error.message}`));
    } else {
      this.#owner.ended(this, null);
    }
  }

  #advance(job: Job, reply: Reply): void {
    const accepted = reply.code < 300;
    switch (this.#step) {
      case 'mail':
        if (reply.code >= 500 && this.#followed) {
          // It may be the place of the command that is refused, not the sender: the job has another try of its own.
          this.#owner.deaf(this);
          this.#breakOff(outcomeOf('mail', reply));
          return;
        }
        if (accepted) this.#envelopeOpen = true;
        else this.#refusal = outcomeOf('mail', reply);
        this.#next('rcpt', rcptCommand(job), this.#timeouts.rcpt);
        break;
      case 'rcpt':
        if (accepted) this.#recipientTaken = true;
        else this.#refusal ??= outcomeOf('rcpt', reply);
        this.#next('data', 'DATA\r\n', this.#timeouts.data);
        break;
      case 'data':
        this.#answerToData(reply);
        break;
      case 'body':
      case 'dot':
        this.#answerToDot(reply);
        break;
    }
  }

  /** Whether a reply cannot belong here, so that those after it would be taken for the wrong ones. */
  #misplaced(code: number): boolean {
    return this.#step === 'data' ? code < 300 : code >= 300 && code < 400;
  }

  #answerToReset(reply: Reply): void {
    if (reply.code >= 300) {
      this.#wire.fail(new Error(`RSET answered with ${reply.code} ${reply.text}`));
      return;
    }
    this.#envelopeOpen = false;
    if (this.#ticket === null) this.#rest();
    else this.#await('mail', this.#timeouts.mail);
  }

  /** Goes on to a command: already written where the relay pipelines, pointless after a refusal where it does not. */
  #next(step: 'rcpt' | 'data', command: string, ms: number): void {
    if (!this.#offers.pipelining && this.#refusal !== null) {
      this.#finish(this.#refusal);
      return;
    }
    if (!this.#offers.pipelining) this.#wire.write(command);
    this.#await(step, ms);
  }

  #answerToData(reply: Reply): void {
    if (reply.code >= 400) {
      this.#finish(this.#refusal ?? outcomeOf('data', reply));
    } else if (this.#refusal === null && this.#followed && this.#ticket?.job.mayGo?.() === false) {
      this.#leave();
    } else if (this.#refusal === null) {
      if (!this.#ticket?.job.dotless) this.#message = stuffDots(this.#message);
      this.#written = 0;
      this.#dotTaken = false;
      this.#step = 'body';
      this.#writeBlock();
    } else if (this.#recipientTaken) {
      // No sender but a recipient: a lone dot would mail emptiness to somebody, closing mails nothing (RFC 5321 4.1.1.4).
      this.#breakOff(this.#refusal);
    } else {
      // RFC 2920 3.1: DATA accepted without a recipient is answered with a lone dot.
      this.#wire.write('.\r\n');
      this.#await('dot', this.#timeouts.dot);
    }
  }

  #answerToDot(reply: Reply): void {
    this.#envelopeOpen = false;
    // Nobody accepts what they have not seen: the dot has left, even if the system has not told us yet.
    if (this.#written === this.#message.length && reply.code < 300) this.#dotTaken = true;
    const outcome = this.#refusal ?? outcomeOf(this.#stage(), reply);
    if (this.#step === 'dot' || this.#dotTaken) this.#finish(outcome);
    else this.#breakOff(outcome);
  }

  /**
   * Writes the next block of the message; the last one takes the dot along, and the envelope that follows it. Also called
   * when a block was taken.
   */
  readonly #writeBlock = (error?: Error | null): void => {
    if (error || this.#step !== 'body') return;
    this.#wire.within(this.#timeouts.block);
    const message = this.#message;
    const start = this.#written;
    if (message.length - start > BLOCK_BYTES) {
      this.#written += BLOCK_BYTES;
      this.#wire.send(message.subarray(start, this.#written), '', this.#writeBlock);
      return;
    }
    if (this.#offers.pipelining) this.#owner.ending(this);
    this.#written = message.length;
    this.#given++;
    const lineEnded = message.length === 0 || message[message.length - 1] === 0x0a;
    const end = `${lineEnded ? '' : '\r\n'}.\r\n${this.#following === null ? '' : this.#envelope(this.#following)}`;
    if (start === 0 && this.#hasRoomBehind(message, end.length)) {
      // One piece of memory costs a third less than two written together.
      this.#memory.write(end, message.length, 'latin1');
      this.#wire.send(this.#memory.subarray(0, message.length + end.length), '', this.#markDotTaken);
    } else {
      this.#wire.send(start === 0 ? message : message.subarray(start), end, this.#markDotTaken);
    }
  };

  /** Whether the message was built at the start of the connection's memory and so much is free behind it. */
  #hasRoomBehind(message: Buffer, length: number): boolean {
    const { buffer, byteOffset } = this.#memory;
    return message.buffer === buffer && message.byteOffset === byteOffset && message.length + length <= MEMORY_BYTES;
  }

  readonly #markDotTaken = (error?: Error | null): void => {
    this.#taken++;
    if (error || this.#step !== 'body' || this.#taken !== this.#given) return;
    this.#dotTaken = true;
    this.#wire.within(this.#timeouts.dot);
  };

  #await(step: Step, ms: number): void {
    this.#step = step;
    this.#wire.within(ms);
  }

  #finish(outcome: Outcome): void {
    const ticket = this.#release();
    this.#completed++;
    if (this.#given !== this.#taken) this.#memory = Buffer.allocUnsafeSlow(MEMORY_BYTES);
    if (ticket !== null) this.#owner.settled(this, ticket, outcome);
    const following = this.#following;
    this.#following = null;
    if (following !== null) {
      [this.#memory, this.#spare] = [this.#spare, this.#memory];
      this.#carry(following, true);
      this.#await('mail', this.#timeouts.mail);
    }
    this.#owner.carried(this, outcome);
    if (following !== null) return;
    if (this.#isSpoilt) {
      this.#wire.fail(new Error('an envelope was taken back'));
      this.#owner.ended(this, null);
    } else if (this.#envelopeOpen && !this.#offers.pipelining) {
      // Now, not with the next job: nothing may come between the last look at a stop and MAIL FROM (trust 9).
      this.#wire.write('RSET\r\n');
      this.#await('rset', this.#timeouts.command);
    } else {
      this.#rest();
    }
  }

  #rest(): void {
    this.#step = 'idle';
    this.#wire.within(this.#timeouts.idle);
    this.#owner.free(this);
  }

  /** Ends the connection before the message of a job that may not leave any more. */
  #leave(): void {
    const ticket = this.#release();
    this.#wire.fail(new Error('the message was withdrawn'));
    this.#owner.ended(this, null);
    if (ticket !== null) this.#owner.settled(this, ticket, 'withdrawn');
  }

  /** Ends the connection in the middle of a job. A refusal that was already given stands. */
  #breakOff(outcome: Outcome): void {
    const verdict = this.#refusal ?? outcome;
    const isKept = this.#completed > 0 && this.#refusal === null;
    const isEarly = this.#step === 'mail' || (outcome.code === 421 && (this.#step === 'rcpt' || this.#step === 'data'));
    const untouched = this.#step === 'rset' || (isKept && isEarly);
    if (isKept && isEarly && verdict.kind === 'deferred') this.#owner.limited(this);
    const ticket = this.#release();
    const following = this.#following;
    this.#following = null;
    this.#wire.fail(new Error(verdict.reply));
    this.#owner.ended(this, this.#completed === 0 && verdict.kind === 'deferred' ? verdict : null);
    // What followed has not been heard, or was forgotten with the connection: nothing but its envelope was written.
    if (following !== null) this.#owner.stale(following.ticket);
    if (ticket === null) return;
    if (untouched && ticket.moves < MOST_MOVES) this.#owner.stale(ticket);
    else this.#owner.settled(this, ticket, verdict);
  }

  #release(): Ticket | null {
    const ticket = this.#ticket;
    this.#ticket = null;
    this.#message = NOTHING;
    this.#step = 'idle';
    return ticket;
  }

  /** The stage a trouble now belongs to: before the system took the dot, the relay cannot have the whole message. */
  #stage(): Stage {
    switch (this.#step) {
      case 'idle':
      case 'rset':
        return 'mail';
      case 'dot':
        return 'data';
      case 'body':
        return this.#dotTaken ? 'body' : 'data';
      default:
        return this.#step;
    }
  }

  #lateness(): string {
    if (this.#step !== 'body')
      return `no answer to ${this.#step === 'dot' ? 'the dot' : this.#step.toUpperCase()} in time`;
    return this.#dotTaken ? 'no answer to the message in time' : 'the message was not taken in time';
  }
}
