/** The SMTP client: assigns hand-offs to free connections, and opens more connections if mails wait. */

import { SECOND_MS } from '../../../units.ts';
import type { Courier, Handoff } from '../courier.ts';
import type { Outcome } from './outcome.ts';
import type { PendingHandoff } from './pending-handoffs.ts';
import { Queues } from './queues.ts';
import { type RelayState, RelayStates } from './relay-state.ts';
import type { Relay } from './relay-urls.ts';
import type { Session } from './session/session.ts';
import { Sessions, type SessionsOptions } from './sessions.ts';
import { RFC_TIMEOUTS, type Timeouts } from './timeouts.ts';

export type PoolOptions = Partial<Omit<SessionsOptions, 'hasOtherRelay' | 'timeouts'>> & {
  /** The maximum number of open connections to each relay that has no limit of its own. */
  connections?: number;
  /** Shorter timeouts, for tests. */
  timeouts?: Partial<Timeouts>;
};

/** Mails that are likely to start within this time count as if they started at once. */
const SOON_MS = 100;

export class SmtpPool implements Courier {
  readonly #relayStates: RelayStates;
  readonly #queues: Queues;
  readonly #sessions: Sessions;
  #isClosing = false;

  /** Creates a pool for `relays` in order of preference. It connects when there is mail. */
  constructor(relays: readonly Relay[], options: PoolOptions = {}) {
    const { connections = 20, name = () => '', monotonic = () => performance.now() } = options;
    const { onRelayFailure = () => {}, onRelayAcceptance = () => {} } = options;
    const timeouts = { ...RFC_TIMEOUTS, ...options.timeouts };
    this.#relayStates = new RelayStates(relays, connections, timeouts, monotonic);
    this.#queues = new Queues(this.#relayStates);
    const hasOtherRelay = relays.length > 1;
    this.#sessions = new Sessions(
      { name, monotonic, hasOtherRelay, timeouts, onRelayFailure, onRelayAcceptance },
      {
        ready: (session) => this.#feed(session),
        changed: () => this.#pump(),
        finished: (session, pending, outcome) => this.#finish(session.relayState, pending, outcome),
        endingData: (session) => {
          if (this.#mayPipeline(session)) this.#give(session.relayState, (pending) => session.pipelineNext(pending));
        },
        completed: (session, outcome) => {
          session.relayState.throughput.add();
          this.#sessions.completed(session, outcome);
        },
        idle: (session) => {
          if (this.#isDone(session)) session.quit();
          else this.#feed(session);
          // The relay may now accept more connections: it has just worked, or its pause for growth is over.
          this.#pump();
        },
        requeue: (pending) => {
          this.#queues.requeue(pending);
          this.#pump();
        },
        ended: (session, failure) => {
          this.#sessions.ended(session, failure);
          this.#pump();
        },
      },
    );
  }

  /**
   * Sends one message to one recipient and resolves with the outcome. Resolves with 'withdrawn' if the message was not sent because `start`
   * returned null, `maySend` returned false, the pool was closed before, or the relay named by `relayId` does not exist.
   * - Every relay rejects the sender: the outcome is `held`.
   * - No permitted relay is available: the stage of the outcome is connect, tls or auth, and `start` was not called.
   *
   * Rejects only with what `start` throws.
   */
  send(handoff: Handoff): Promise<Outcome | 'withdrawn'> {
    const named = this.#relayStates.findById(handoff.relayId ?? null);
    if (named === undefined) return Promise.resolve('withdrawn');
    if (named !== null) named.hasBoundMail = true;
    const only = named?.queue ?? null;
    return new Promise((resolve, reject) => {
      this.#queues.push({ handoff, resolve, reject, only, requeues: 0, refusedBy: [], refusal: null, next: null });
      this.#pump();
    });
  }

  /**
   * Returns how many more mails would start at once or within `SOON_MS`, for the relay with this id, or with null for any; 0 while none of
   * their relays is available. Mail bound to one relay takes no capacity from other relays.
   */
  room(relayId: number | null = null): number {
    const named = this.#relayStates.findById(relayId);
    if (this.#isClosing || named === undefined) return 0;
    const { all, best, pause } = this.#relayStates;
    const relay = named ?? best;
    const counted = named === null ? all.filter((one) => one === best || !one.hasBoundMail) : [named];
    const sum = (count: (relayState: RelayState) => number) => counted.reduce((total, one) => total + count(one), 0);
    const least = relay?.isHealthy ? relay.slots : (relay?.pause ?? pause) === 0 ? 1 : 0;
    const { responsive, load } = this.#sessions.usageOf(counted);
    const pending = sum(({ queue }) => queue.length) + (named === null || named === best ? this.#queues.common : 0);
    const soon = Math.floor(sum(({ throughput }) => throughput.perSecond) / (SECOND_MS / SOON_MS));
    const room = Math.max(least, responsive) + soon - load - pending;
    return Math.max(0, Math.min(room, (relay?.allowance ?? room) - pending));
  }

  /** The number of mails in progress: started, and without an outcome yet. */
  get active(): number {
    return this.#sessions.load;
  }

  /** The number of mails that wait for a connection. */
  get pending(): number {
    return this.#queues.length;
  }

  /** Withdraws the pending hand-offs, gives those in progress `graceMs` milliseconds to finish, then closes every connection. */
  close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#queues.close();
    return this.#sessions.close(graceMs);
  }

  /** Gives waiting hand-offs to idle sessions and opens more connections if needed. */
  #pump(): void {
    if (this.pending === 0) return;
    const hasWork = (relayState: RelayState) => this.#queues.hasWorkFor(relayState);
    for (let idle = this.#sessions.takeIdle(hasWork); idle !== undefined; idle = this.#sessions.takeIdle(hasWork))
      this.#feed(idle);
    let waiting = this.#queues.common;
    for (const relayState of this.#relayStates.all) {
      while (
        // The first connection is also needed to wake mail that waits for the rate, because the checks of its deadlines do that.
        (relayState.sockets === 0 || relayState.allowance > relayState.connecting) &&
        relayState.queue.length + waiting > relayState.connecting &&
        relayState.hasRoom()
      )
        void this.#sessions.connect(relayState);
      // New mail goes to the first healthy relay; later relays get only mail that an earlier relay rejected. Failed relays listed before
      // the healthy relay are probed meanwhile.
      if (relayState.isHealthy) waiting = 0;
    }
    this.#queues.failUnreachable();
  }

  /** Returns true if a free session is to be closed. */
  #isDone({ relayState, completed }: Session): boolean {
    if (this.#isClosing || relayState.pause > 0 || relayState.isSpent(completed)) return true;
    return (
      !relayState.hasBoundMail &&
      relayState.queue.length === 0 &&
      this.#relayStates.betterThan(relayState)?.hasRoom() === true
    );
  }

  /**
   * Returns true if the next envelope is to be pipelined after the current message: it was never requeued, and no connection can be opened
   * for it.
   */
  #mayPipeline({ relayState, completed }: Session): boolean {
    const first = this.#queues.first(relayState);
    if (this.#isClosing || first === null || first.requeues > 0 || relayState.connecting > 0) return false;
    if (!relayState.mayPipeline || relayState.isSpent(completed + 1) || relayState.pause > 0) return false;
    if (first.only !== null) return !relayState.hasRoom();
    return !relayState.hasRoom() && this.#relayStates.betterThan(relayState)?.hasRoom() !== true;
  }

  /** Starts the next hand-off on a free session, or makes the session idle. */
  #feed(session: Session): void {
    if (this.#give(session.relayState, (pending) => session.begin(pending))) return;
    if (this.#isClosing) session.quit();
    else this.#sessions.addIdle(session);
  }

  /**
   * Passes a relay's waiting hand-offs to `start` until one is started. Returns false if none was started. Hand-offs before that one got an
   * outcome at once.
   */
  #give(relayState: RelayState, start: (pending: PendingHandoff) => Outcome | 'withdrawn' | null): boolean {
    for (;;) {
      const pending = this.#queues.shift(relayState);
      if (pending === null) return false;
      try {
        const outcome = start(pending);
        if (outcome === null) {
          relayState.began();
          return true;
        }
        this.#finish(relayState, pending, outcome);
      } catch (error) {
        pending.reject(error);
      }
    }
  }

  #finish(relayState: RelayState, pending: PendingHandoff, outcome: Outcome | 'withdrawn'): void {
    if (this.#queues.finish(relayState, pending, outcome)) this.#pump();
  }
}
