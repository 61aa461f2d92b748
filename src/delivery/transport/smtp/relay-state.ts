/** The state of each relay: whether it works, how many connections it accepts, and when it is tried again after a failure. */
import type { SmtpConnection } from './connection.ts';
import type { Outcome } from './outcome.ts';
import { PendingHandoffs } from './pending-handoffs.ts';
import type { Relay } from './relay-urls.ts';
import type { Timeouts } from './timeouts.ts';
import { TokenBucket } from './token-bucket.ts';

/** The pause after a first failure; it doubles with each further failure, up to the maximum. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** The part of a pause that is random, so that several processes do not try a relay at the same time. */
const RANDOM_SHARE = 0.25;
/** Failures beyond this number are not counted, because the pause has its maximum by then. */
const MAX_FAILURES = 10;
/** The factor by which the number of sessions that a relay seems to accept is raised. */
const GROWTH = 1.5;
/** How long to wait before opening more connections again after a relay has refused one, in milliseconds. */
const GROWTH_PAUSE_MS = 30_000;
/** The time after which a connection that is still being opened no longer counts against the number being opened, in milliseconds. */
const SLOW_OPENING_MS = 2_000;
/** How long a learned limit of messages per session is respected, in milliseconds. */
const SESSION_LIMIT_MS = 600_000;
/** How long no envelope is pipelined after an end of data, once the relay has failed on one, in milliseconds. */
const NO_PIPELINING_MS = 600_000;
/** The number of consecutively rejected senders after which a relay counts as failed, if there is another relay. */
const MAX_REFUSALS = 3;

export class RelayState {
  readonly relay: Relay;
  /** The hand-offs bound to this relay, and those whose sender another relay rejected. */
  readonly queue = new PendingHandoffs();
  /** True if mail bound to this relay has arrived. Other mail then goes to this relay only while no better relay works. */
  hasBoundMail = false;
  /** True if the common queue is next. It takes turns with mail bound to this relay. */
  isCommonNext = false;
  readonly throughput: Throughput;
  /** The number of sockets in any state. */
  sockets = 0;
  /** The connections still in their handshake. */
  readonly opening = new Set<SmtpConnection>();
  /** The number of sessions that reply in time. */
  responsive = 0;
  /** The number of sessions that no longer reply in time. */
  stalled = 0;
  /** The reason of the last failure; null while the relay works. */
  failure: Outcome | null = null;
  /** How long connecting and handshake may take together, in milliseconds. */
  handshakeMs: number;
  readonly #isAlone: boolean;
  readonly #maxConnections: number;
  readonly #timeouts: Timeouts;
  readonly #monotonic: () => number;
  readonly #rate: TokenBucket;
  /** The number of sessions that the relay seems to accept. */
  #limit: number;
  /** The largest number of open sessions since the relay last refused one. */
  #peak = 0;
  /** When `#limit` may be raised again, in monotonic milliseconds. */
  #growAt = 0;
  /** The number of failures since the last completed transaction. */
  #failures = 0;
  /** When the latest failure happened, in monotonic milliseconds. */
  #failedAt = 0;
  /** When the next attempt after a failure may begin, in monotonic milliseconds. */
  #retryAt = 0;
  /** The time before which no envelope is pipelined, in monotonic milliseconds. */
  #pipelineFrom = 0;
  /** The number of consecutively rejected senders. */
  #refusals = 0;
  /** The number of messages after which the relay closes a session. */
  #sessionLimit = Number.POSITIVE_INFINITY;
  /** Until when `#sessionLimit` is respected, in monotonic milliseconds. */
  #sessionLimitUntil = 0;
  /** The number of messages of the last session that the relay closed. */
  #lastSession = 0;

  /** `most` is the maximum number of connections, unless the relay has its own. `isAlone` is true if it is the only relay. */
  constructor(relay: Relay, isAlone: boolean, most: number, timeouts: Timeouts, monotonic: () => number) {
    this.relay = relay;
    this.#isAlone = isAlone;
    this.#maxConnections = relay.connections ?? most;
    this.#limit = this.#maxConnections;
    this.#rate = new TokenBucket(relay.rate ?? 0, monotonic);
    this.throughput = new Throughput(monotonic);
    this.#timeouts = timeouts;
    this.#monotonic = monotonic;
    this.handshakeMs = timeouts.handshake;
  }

  get isHealthy(): boolean {
    return this.#failures === 0;
  }

  /** Milliseconds until the relay may be tried; 0 if it may be tried now. */
  get pause(): number {
    return this.#retryAt === 0 ? 0 : Math.max(0, this.#retryAt - this.#monotonic());
  }

  /** True if no connection is open or being opened, and none may be opened yet. */
  get isUnreachable(): boolean {
    return this.pause > 0 && this.responsive + this.opening.size === 0;
  }

  /** The number of sessions that the relay may have, not counting stalled ones. */
  get slots(): number {
    return Math.min(this.#limit, this.#maxConnections - this.stalled);
  }

  /** The number of connections being opened that are not slow. */
  get connecting(): number {
    let connecting = 0;
    for (const connection of this.opening) if (connection.age < SLOW_OPENING_MS) connecting++;
    return connecting;
  }

  /**
   * Returns true if one more connection may be opened. The number being opened never exceeds the number that are or were open: if a relay
   * with a limit refuses a connection, enough others still work. A failed relay is probed with a single connection.
   */
  hasRoom(): boolean {
    if (this.sockets >= this.#maxConnections) return false;
    if (this.#failures > 0) return this.responsive + this.opening.size === 0 && this.pause === 0;
    const now = this.#monotonic();
    if (this.#limit < this.#maxConnections && now >= this.#growAt) {
      this.#limit = Math.min(this.#maxConnections, Math.ceil(this.#limit * GROWTH));
      this.#growAt = now + GROWTH_PAUSE_MS;
    }
    const { connecting } = this;
    return connecting < Math.max(1, this.responsive, this.#peak) && connecting + this.responsive < this.slots;
  }

  /** How many more mails the relay's rate allows to start now. */
  get allowance(): number {
    return this.#rate.available;
  }

  /** Records that a mail was started. */
  began(): void {
    this.#rate.take(1);
  }

  /** Records that a connection became ready for mail after this number of milliseconds. */
  opened(afterMs: number): void {
    this.responsive++;
    this.#peak = Math.max(this.#peak, this.responsive);
    if (afterMs < this.#timeouts.handshake) this.handshakeMs = this.#timeouts.handshake;
  }

  /**
   * Records that a connection started at `startedAt` could not be opened, or broke before its first completed transaction. `isSilent` is
   * true if it took too long to open. If mail has no other relay, the next connection then gets twice the time, at most that of RFC 5321
   * 4.5.3.2.1.
   */
  failed(failure: Outcome, startedAt: number, isSilent: boolean): void {
    if (isSilent && (this.#isAlone || this.hasBoundMail))
      this.handshakeMs = Math.min(this.#timeouts.greeting, this.handshakeMs * 2);
    if (this.responsive > 0) {
      // A slow connection says nothing about the others; a refused one shows how many the relay accepts.
      if (isSilent) return;
      this.#limit = this.responsive;
      this.#peak = this.responsive;
      this.#growAt = this.#monotonic() + GROWTH_PAUSE_MS;
    } else if (this.#failures === 0 || startedAt >= this.#failedAt) {
      this.#fail(failure);
    }
  }

  /** Returns true if the next relay is to be tried: this relay holds the mail or, if it is not the only relay, defers its sender. */
  shouldTryNextRelay({ kind, stage }: Outcome): boolean {
    return kind === 'held' || (kind === 'deferred' && stage === 'mail' && !this.#isAlone);
  }

  /** Records that the relay rejected the sender of a message. */
  refusedSender(refusal: Outcome): void {
    this.#refusals++;
    if (!this.#isAlone && (this.#failures > 0 || this.#refusals >= MAX_REFUSALS)) this.#fail(refusal);
  }

  /** Records a completed transaction whose sender was not rejected. */
  worked(): void {
    this.#refusals = 0;
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.#retryAt = 0;
    this.failure = null;
  }

  /** Records that a session no longer replies in time, or replies in time again. */
  setStalled(isStalled: boolean): void {
    this.stalled += isStalled ? 1 : -1;
    this.responsive += isStalled ? -1 : 1;
  }

  /** Records that the relay failed on a pipelined envelope although it offers PIPELINING. */
  rejectedPipelining(): void {
    this.#pipelineFrom = this.#monotonic() + NO_PIPELINING_MS;
  }

  /** True if envelopes may be pipelined after the end of data. */
  get mayPipeline(): boolean {
    return this.#monotonic() >= this.#pipelineFrom;
  }

  /**
   * Records the number of messages after which the relay closed a session. The same number twice in a row is taken for the relay's limit.
   */
  endedSession(messages: number): void {
    if (messages === this.#lastSession) {
      this.#sessionLimit = messages;
      this.#sessionLimitUntil = this.#monotonic() + SESSION_LIMIT_MS;
    }
    this.#lastSession = messages;
  }

  /** Returns true if a session has reached the relay's limit of messages. */
  isSpent(messages: number): boolean {
    return messages >= this.#sessionLimit && this.#monotonic() < this.#sessionLimitUntil;
  }

  #fail(failure: Outcome): void {
    const now = this.#monotonic();
    const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#retryAt = now + pause * (1 - RANDOM_SHARE * Math.random());
    this.#failures = Math.min(this.#failures + 1, MAX_FAILURES);
    this.#failedAt = now;
    this.#refusals = 0;
    this.#peak = 0;
    // Waiting hand-offs get this outcome. They were not started, so the stage of the outcome must be a stage before MAIL.
    const isBeforeMail = failure.stage === 'connect' || failure.stage === 'tls' || failure.stage === 'auth';
    this.failure = isBeforeMail ? failure : { ...failure, stage: 'connect' };
  }
}

/** The relays in order of preference. */
export class RelayStates {
  readonly all: readonly RelayState[];

  /** `most` is the maximum number of connections to each relay. `monotonic` is a monotonic clock, in milliseconds. */
  constructor(relays: readonly Relay[], most: number, timeouts: Timeouts, monotonic: () => number) {
    const isAlone = relays.length === 1;
    this.all = relays.map((relay) => new RelayState(relay, isAlone, most, timeouts, monotonic));
  }

  /**
   * Returns the relay with this id; null if any relay may be used, as always with relays of the environment, which have no id; undefined if
   * there is no such relay.
   */
  findById(relayId: number | null): RelayState | null | undefined {
    if (relayId === null || this.all.every(({ relay }) => relay.id === undefined)) return null;
    return this.all.find(({ relay }) => relay.id === relayId);
  }

  /** The first relay that works; null if none works. */
  get best(): RelayState | null {
    return this.all.find((relayState) => relayState.isHealthy) ?? null;
  }

  /** Returns the best relay if it is listed before this relay; otherwise null. */
  betterThan(relayState: RelayState): RelayState | null {
    const { best } = this;
    return best !== null && this.all.indexOf(best) < this.all.indexOf(relayState) ? best : null;
  }

  /** Milliseconds until some relay may be tried; 0 if a relay may be tried now. */
  get pause(): number {
    return Math.min(...this.all.map((relayState) => relayState.pause));
  }

  /** Why no relay is available: a temporary failure if there is one, otherwise the first relay's failure; null if no relay has failed. */
  get failure(): Outcome | null {
    const failures = this.all.flatMap((relayState) => relayState.failure ?? []);
    return failures.find(({ kind }) => kind === 'deferred') ?? failures[0] ?? null;
  }
}

const WINDOW_MS = 100;

/** The current throughput in messages per second, measured over short windows. */
class Throughput {
  readonly #monotonic: () => number;
  #since: number;
  #count = 0;
  #perSecond = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#since = monotonic();
  }

  /** Counts one message. */
  add(): void {
    this.#count++;
    this.#roll(WINDOW_MS);
  }

  /** The rate of the last full window; it falls to 0 when messages stop. */
  get perSecond(): number {
    this.#roll(2 * WINDOW_MS);
    return this.#perSecond;
  }

  #roll(after: number): void {
    const now = this.#monotonic();
    const elapsed = now - this.#since;
    if (elapsed < after) return;
    this.#perSecond = (this.#count * 1000) / elapsed;
    this.#since = now;
    this.#count = 0;
  }
}
