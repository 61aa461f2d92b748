/** What takes claimed recipients from the worker, hands each over as one mail and says what came of it. */
import type { Claim } from '../queue/candidates.ts';
import type { OpenMailing } from '../queue/mailing-state.ts';
import type { Outcome } from '../transport/courier.ts';
import type { Batch } from './claims.ts';

/** What the worker gives to its hand-offs. */
export interface HandoffsDeps {
  /** Whether a mail of this mailing may leave now. */
  mayLeave(mailingId: number): boolean;
  /** Takes the outcome of each hand-off. */
  onOutcome(mailing: OpenMailing, claim: Claim, outcome: Outcome | 'withdrawn'): void;
  log(fields: object, text: string): void;
}

export interface Handoffs {
  /** Outcomes are written within this time, in milliseconds. */
  readonly recordMs: number;
  /** How many are not ended. */
  readonly inFlight: number;
  /** How many more are taken now, of those for one relay or for any. */
  room(relayId: number | null): number;
  /** Called with claims in their transaction, for what must be on disk with them. */
  assign(batches: readonly Batch[]): void;
  /** Begins claims that were assigned and are on disk. */
  start(batch: Batch): void;
  /** Resolves when many of those in progress have ended, or after some time: at most `ms`, where outcomes are not safe elsewhere. */
  waitForMany(ms: number): Promise<void>;
  /** Whether no mail of a mailing that was stopped begins any more. The worker asks until it is so. */
  hasStopped(mailingId: number): boolean;
  /** How much the next `record` has to write, besides the outcomes. */
  readonly unrecorded: number;
  /** Called in the transaction that writes the outcomes it gave. */
  record(now: number): void;
  /** Called once that transaction is committed. */
  recorded(): void;
  /** Called before a round while all sending is held. */
  hold(): void;
  /** Begins nothing more, and lets those in progress end within `graceMs`. */
  close(graceMs: number): Promise<void>;
}
