/** What a session does after a reply of the relay, as its transactions decide it. */
import type { Outcome } from '../outcome.ts';

/** What to do after a reply. Wherever the connection stays open, the next reply belongs to `state`. */
export type Action<Mail> =
  | { do: 'wait' }
  | { do: 'write'; commands: string }
  /** Write the message, then call `endOfDataWritten`; or call `withdraw` and close the connection. */
  | { do: 'writeMessage' }
  /** RSET is answered and no mail waits: the session is free. */
  | { do: 'rest' }
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
   * `rest`: the session is free. `pipelined`: the transaction of the pipelined mail has begun. `reset`: write RSET first.
   * `close`: close the connection, since the envelope of a cancelled mail is on it.
   */
  next: 'rest' | 'pipelined' | 'reset' | 'close';
}

/** A transaction has its outcome, and the connection must be closed. */
export interface Aborted<Mail> {
  do: 'abort';
  mail: Mail;
  outcome: Outcome;
  /** Whether the relay cannot have acted on the mail, so that it can be sent again without a duplicate. */
  canRepeat: boolean;
  /** The mail of which only the envelope was pipelined; the relay discards it when the connection closes. */
  pipelined: Mail | null;
  /** Whether the relay ended a session that had worked, instead of accepting another mail. */
  isSessionEnd: boolean;
  /** Whether the relay failed on a pipelined envelope, although it offers PIPELINING. */
  isPipeliningRejected: boolean;
}
