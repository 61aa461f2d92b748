/** One open connection that sends one mail after another: passes replies to the transactions and performs the resulting actions. */
import type { ConnectionListener, SmtpConnection } from '../connection.ts';
import type { Extensions } from '../handshake.ts';
import type { Outcome } from '../outcome.ts';
import type { PendingHandoff } from '../pending-handoffs.ts';
import type { RelayState } from '../relay-state.ts';
import { relayName } from '../relay-urls.ts';
import type { Reply } from '../reply-reader.ts';
import type { Timeouts } from '../timeouts.ts';
import { MessageWriter } from './message-writer.ts';
import {
  type Aborted,
  type Action,
  type Completed,
  type Envelope,
  envelopeProblem,
  type State,
  Transactions,
} from './transactions.ts';

export interface SessionOwner {
  /** A hand-off has its outcome. The outcome is 'withdrawn' if the message must no longer be sent and at most its envelope was written. */
  finished(session: Session, pending: PendingHandoff, outcome: Outcome | 'withdrawn'): void;
  /** Called right before the end of data is written, which is the moment to call `pipelineNext`. */
  endingData(session: Session): void;
  /** A transaction is complete, whatever its outcome. Called before `idle`, or before the pipelined mail continues. */
  completed(session: Session, outcome: Outcome): void;
  /** The session may take the next hand-off. */
  idle(session: Session): void;
  /** The connection closed before the relay could act on this mail, so it can be sent again without a duplicate. */
  requeue(pending: PendingHandoff): void;
  /**
   * The session takes no more hand-offs. May be called twice. `failure` is why the session broke, if it broke before it completed a single
   * transaction.
   */
  ended(session: Session, failure: Outcome | null): void;
}

/** How often a mail is sent again because its connection closed before the relay acted on it. */
const MAX_REQUEUES = 3;

/** The timeout of each state. */
const TIMEOUTS: Record<State, keyof Timeouts> = {
  idle: 'idle',
  rset: 'command',
  mail: 'mail',
  rcpt: 'rcpt',
  data: 'data',
  message: 'block',
  unflushed: 'block',
  end: 'endOfData',
  empty: 'endOfData',
};

interface Mail extends Envelope {
  readonly pending: PendingHandoff;
  readonly message: Buffer;
}

export class Session implements ConnectionListener {
  readonly relayState: RelayState;
  readonly #connection: SmtpConnection;
  readonly #offers: Extensions;
  readonly #timeouts: Timeouts;
  readonly #owner: SessionOwner;
  readonly #transactions: Transactions<Mail>;
  readonly #writer: MessageWriter;
  #isQuitting = false;

  /** Takes over a connection after its handshake. `relayState` is the state of the connection's relay. */
  constructor(
    connection: SmtpConnection,
    offers: Extensions,
    relayState: RelayState,
    timeouts: Timeouts,
    owner: SessionOwner,
  ) {
    this.relayState = relayState;
    this.#connection = connection;
    this.#offers = offers;
    this.#timeouts = timeouts;
    this.#owner = owner;
    this.#transactions = new Transactions(offers, relayName(relayState.relay));
    this.#writer = new MessageWriter(connection, timeouts.block, {
      endingData: () => {
        if (offers.pipelining) owner.endingData(this);
        return this.#transactions.endOfDataWritten();
      },
      flushed: () => {
        if (this.#transactions.endOfDataFlushed()) this.#startDeadline();
      },
    });
    connection.listener = this;
    this.#startDeadline();
  }

  /** The number of transactions completed on this connection. */
  get completed(): number {
    return this.#transactions.completed;
  }

  /** When the connection was started, in monotonic milliseconds. */
  get startedAt(): number {
    return this.#connection.startedAt;
  }

  /** How many milliseconds the current mail has waited for the relay; 0 if there is no mail. */
  get waited(): number {
    return this.#transactions.mail === null ? 0 : this.#connection.waited;
  }

  /** The number of mails in progress: 0, 1, or 2 with a pipelined one. */
  get load(): number {
    return (this.#transactions.mail === null ? 0 : 1) + (this.#transactions.pipelined === null ? 0 : 1);
  }

  /** The hand-off whose envelope is pipelined after the current message. */
  get pipelined(): PendingHandoff | null {
    return this.#transactions.pipelined?.pending ?? null;
  }

  /**
   * Starts a transaction on an idle session. Returns null if it was started; otherwise the outcome, and nothing is written. If the
   * hand-off's `start` throws, throws the same error, and nothing is written.
   */
  begin(pending: PendingHandoff): Outcome | 'withdrawn' | null {
    const mail = this.#build(pending, this.#writer.buffer);
    if (!isMail(mail)) return mail;
    this.#connection.write(this.#transactions.begin(mail));
    this.#startDeadline();
    return null;
  }

  /** Pipelines the envelope after the end of data that is about to be written. Returns and throws as `begin` does. */
  pipelineNext(pending: PendingHandoff): Outcome | 'withdrawn' | null {
    const mail = this.#build(pending, this.#writer.spareBuffer);
    if (!isMail(mail)) return mail;
    this.#transactions.pipeline(mail);
    return null;
  }

  /** Takes back the pipelined hand-off, so that another session can send it. */
  cancelPipelined(): void {
    const mail = this.#transactions.cancelPipelined();
    if (mail !== null) this.#owner.requeue(mail.pending);
  }

  /** Sends QUIT. Call it on an idle session. */
  quit(): void {
    this.#isQuitting = true;
    this.#connection.quit(this.#timeouts.quit);
    this.#owner.ended(this, null);
  }

  reply(reply: Reply): void {
    this.#act(this.#transactions.reply(reply));
  }

  expired(): void {
    if (this.#transactions.state === 'idle' && !this.#isQuitting) this.quit();
    else this.#connection.fail(new Error(this.#transactions.overdue));
  }

  lost(error: Error): void {
    const aborted = this.#transactions.lost(error.message);
    if (aborted === null) this.#owner.ended(this, null);
    else this.#abort(aborted);
  }

  #build(pending: PendingHandoff, buffer: Buffer): Mail | Outcome | 'withdrawn' {
    const { from, to } = pending.handoff;
    const message = pending.handoff.start(buffer)?.bytes;
    if (message === undefined) return 'withdrawn';
    const mail = { from, to, size: message.length, message, pending };
    return envelopeProblem(mail, this.#offers) ?? mail;
  }

  #act(action: Action<Mail>): void {
    switch (action.do) {
      case 'wait':
        this.#startDeadline();
        break;
      case 'write':
        this.#connection.write(action.commands);
        this.#startDeadline();
        break;
      case 'writeMessage':
        this.#writeMessage();
        break;
      case 'idle':
        this.#becomeIdle();
        break;
      case 'complete':
        this.#complete(action);
        break;
      case 'abort':
        this.#abort(action);
        break;
      case 'close':
        this.#connection.fail(new Error(action.why));
        break;
    }
  }

  /**
   * Writes the message, or withdraws it if its mailing was stopped since the envelope was written. The reply to the envelope may arrive
   * late: a process that was suspended in between continues after others may have sent the mail.
   */
  #writeMessage(): void {
    const { mail } = this.#transactions;
    if (mail === null) return;
    const { pending, message } = mail;
    if (pending.handoff.maySend?.() !== false) {
      this.#writer.write(message, pending.handoff.dotless === true);
      return;
    }
    this.#transactions.withdraw();
    this.#connection.fail(new Error('the message was withdrawn'));
    this.#owner.ended(this, null);
    this.#owner.finished(this, pending, 'withdrawn');
  }

  #complete({ mail, outcome, next }: Completed<Mail>): void {
    this.#writer.prepareNext(next === 'pipelined');
    this.#owner.finished(this, mail.pending, outcome);
    if (next !== 'idle') this.#startDeadline();
    this.#owner.completed(this, outcome);
    if (next === 'close') {
      this.#connection.fail(new Error('a pipelined envelope was cancelled'));
      this.#owner.ended(this, null);
    } else if (next === 'reset') {
      this.#connection.write('RSET\r\n');
    } else if (next === 'idle') {
      this.#becomeIdle();
    }
  }

  #becomeIdle(): void {
    this.#startDeadline();
    this.#owner.idle(this);
  }

  #abort({ mail, outcome, canRepeat, pipelined, isSessionEnd, isPipeliningRejected }: Aborted<Mail>): void {
    if (isPipeliningRejected) this.relayState.rejectedPipelining();
    if (isSessionEnd) this.relayState.endedSession(this.completed);
    this.#writer.stop();
    this.#connection.fail(new Error(outcome.reply));
    this.#owner.ended(this, this.completed === 0 && outcome.kind === 'deferred' ? outcome : null);
    if (pipelined !== null) this.#owner.requeue(pipelined.pending);
    if (canRepeat && mail.pending.requeues < MAX_REQUEUES) this.#owner.requeue(mail.pending);
    else this.#owner.finished(this, mail.pending, outcome);
  }

  /** Starts the deadline of the current state. */
  #startDeadline(): void {
    this.#connection.within(this.#timeouts[TIMEOUTS[this.#transactions.state]]);
  }
}

function isMail(built: Mail | Outcome | 'withdrawn'): built is Mail {
  return typeof built === 'object' && 'message' in built;
}
