/** The interface for sending claimed recipients' mails: through a courier in this process, or through sender nodes. */
import type { Log } from '../../log.ts';
import type { Claim } from '../queue/candidates.ts';
import type { OpenMailing } from '../queue/mailing-state.ts';
import type { Outcome } from '../transport/courier.ts';
import type { Batch } from './claims.ts';

/** The worker's functions that hand-offs call. */
export interface HandoffsDeps {
  /** Returns true if a mail of this mailing may be sent now. */
  mayLeave(mailingId: number): boolean;
  /** Receives the outcome of each hand-off. */
  onOutcome(mailing: OpenMailing, claim: Claim, outcome: Outcome | 'withdrawn'): void;
  log: Log;
}

export interface Handoffs {
  /** Outcomes are written within this time, in milliseconds. */
  readonly recordMs: number;
  /** The number of unfinished hand-offs. */
  readonly inFlight: number;
  /** Returns how many more hand-offs are accepted now, for one SMTP relay or for any. */
  room(relayId: number | null): number;
  /** Writes whatever must be on disk with the claims. Called inside the transaction that claims the recipients. */
  assign(batches: readonly Batch[]): void;
  /** Begins to send claims that were assigned and are on disk. */
  start(batch: Batch): void;
  /**
   * Resolves when many of the hand-offs in progress have ended, or after some time. If outcomes are not stored elsewhere, that time is at
   * most `ms` milliseconds.
   */
  waitForMany(ms: number): Promise<void>;
  /** Returns true if a stopped mailing starts no more mails. The worker asks until this is true. */
  hasStopped(mailingId: number): boolean;
  /** The amount of data that the next `record` has to write, in addition to the outcomes. */
  readonly unrecorded: number;
  /** Writes data in addition to the outcomes. Called inside the transaction that writes the outcomes. */
  record(now: number): void;
  /** Forgets the data that `record` has written. Called after its transaction has committed. */
  recorded(): void;
  /** Called before a round while all sending is held. */
  hold(): void;
  /** Starts nothing more, and gives hand-offs in progress `graceMs` milliseconds to end. */
  close(graceMs: number): Promise<void>;
}
