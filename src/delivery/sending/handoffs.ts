/** The interface for sending claimed recipients' mails: through a courier in this process, or through sender nodes. */
import type { Log } from '../../log.ts';
import type { Claim } from '../queue/candidates.ts';
import type { OpenMailing } from '../queue/mailing-state.ts';
import type { Outcome } from '../transport/courier.ts';
import type { Batch } from './claims.ts';

/** The worker's functions that hand-offs call. */
export interface HandoffsDeps {
  /** Whether a mail of this mailing may be sent now. */
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
  /** How many more are accepted now, for one SMTP relay or for any. */
  room(relayId: number | null): number;
  /** Called inside the transaction that claims the recipients, to write whatever must be on disk with the claims. */
  assign(batches: readonly Batch[]): void;
  /** Begins to send claims that were assigned and are on disk. */
  start(batch: Batch): void;
  /**
   * Resolves when many of those in progress have ended, or after some time: after at most `ms` milliseconds if outcomes are not stored
   * elsewhere.
   */
  waitForMany(ms: number): Promise<void>;
  /** Whether a stopped mailing starts no more mails. The worker asks until this is true. */
  hasStopped(mailingId: number): boolean;
  /** The amount of data that the next `record` has to write, in addition to the outcomes. */
  readonly unrecorded: number;
  /** Called inside the transaction that writes the outcomes. */
  record(now: number): void;
  /** Called after that transaction has committed. */
  recorded(): void;
  /** Called before a round while all sending is held. */
  hold(): void;
  /** Starts nothing more, and gives hand-offs in progress `graceMs` milliseconds to end. */
  close(graceMs: number): Promise<void>;
}
