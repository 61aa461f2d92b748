/** What the pool knows of each relay: whether it works, how many connections it takes, and when a failed one is tried again. */

import type { SmtpConnection } from './connection.ts';
import type { Outcome } from './outcome.ts';
import { PendingJobs } from './pending-jobs.ts';
import type { Relay } from './relay.ts';
import type { Timeouts } from './timeouts.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** How long a relay that wanted fewer connections is left alone before it gets more again. */
const GROWTH_MS = 30_000;
/** A connection that takes longer to open no longer keeps others from being opened beside it. */
const SLOW_MS = 2_000;
/** How long it is believed that a relay ends its sessions after so many messages. */
const SESSION_LIMIT_MS = 600_000;
/** After so many refused senders in a row a relay counts as failed, where another one is listed. */
const MOST_REFUSALS = 3;

export class Route {
  readonly relay: Relay;
  /** Jobs that another relay has refused. */
  readonly queue = new PendingJobs();
  /** Sockets of every state, and those of them that are being opened. */
  sockets = 0;
  readonly opening = new Set<SmtpConnection>();
  /** Sessions that answer, and those that have not answered for long. */
  open = 0;
  stalled = 0;
  /** Nothing is written behind a message's dot before this moment: what was last, the relay did not take well. */
  followAt = 0;
  /** Why it failed last; null while it works. */
  trouble: Outcome | null = null;
  /** How long a connection may take to open, milliseconds. */
  patience: number;
  readonly #isAlone: boolean;
  readonly #most: number;
  readonly #timeouts: Timeouts;
  readonly #monotonic: () => number;
  /** The most sessions it seems to accept, and the most that have stood since it last refused one. */
  #limit: number;
  #peak = 0;
  #growAt = 0;
  /** Failures since it last carried a transaction, when the latest was, and until when it is not tried. */
  #failures = 0;
  #failedAt = 0;
  #retryAt = 0;
  /** Senders refused in a row. */
  #refusals = 0;
  /** After how many messages it ends a session: what is believed, until when, and what was seen last. */
  #sessionLimit = Number.POSITIVE_INFINITY;
  #sessionLimitUntil = 0;
  #lastSession = 0;

  /** `most`: the connections it may get. `isAlone`: whether there is no other relay for its mail. */
  constructor(relay: Relay, isAlone: boolean, most: number, timeouts: Timeouts, monotonic: () => number) {
    this.relay = relay;
    this.#isAlone = isAlone;
    this.#most = most;
    this.#limit = most;
    this.#timeouts = timeouts;
    this.#monotonic = monotonic;
    this.patience = timeouts.opening;
  }

  get isHealthy(): boolean {
    return this.#failures === 0;
  }

  /** Milliseconds until it may be tried; 0 where it may be now. */
  get pause(): number {
    return this.#retryAt === 0 ? 0 : Math.max(0, this.#retryAt - this.#monotonic());
  }

  /** How many sessions it may have that answer. */
  get slots(): number {
    return Math.min(this.#limit, this.#most - this.stalled);
  }

  /** Connections that are being opened and do not take long. */
  get fresh(): number {
    let fresh = 0;
    for (const wire of this.opening) if (wire.age < SLOW_MS) fresh++;
    return fresh;
  }

  /**
   * Whether one more connection may be opened: as many at a time as stand or have stood, so that a relay with a limit
   * shows it to a connection that can be spared. A failed relay is probed by one.
   */
  hasRoom(): boolean {
    if (this.sockets >= this.#most) return false;
    if (this.#failures > 0) return this.open + this.opening.size === 0 && this.pause === 0;
    const now = this.#monotonic();
    if (this.#limit < this.#most && now >= this.#growAt) {
      this.#limit = Math.min(this.#most, Math.ceil(this.#limit * 1.5));
      this.#growAt = now + GROWTH_MS;
    }
    const { fresh } = this;
    return fresh < Math.max(1, this.open, this.#peak) && fresh + this.open < this.slots;
  }

  /** A connection is ready to carry mail after so many milliseconds. */
  opened(afterMs: number): void {
    this.open++;
    this.#peak = Math.max(this.#peak, this.open);
    if (afterMs < this.#timeouts.opening) this.patience = this.#timeouts.opening;
  }

  /**
   * A connection, begun at this moment, did not come about or broke before it was of use; `isSilent` where it took too
   * long to open. A lone relay gets twice the time then, up to that of RFC 5321 4.5.3.2.1.
   */
  failed(trouble: Outcome, begun: number, isSilent: boolean): void {
    if (isSilent && this.#isAlone) this.patience = Math.min(this.#timeouts.greeting, this.patience * 2);
    if (this.open > 0) {
      // One that hangs says nothing about the others; one that is refused shows how many the relay takes.
      if (isSilent) return;
      this.#limit = this.open;
      this.#peak = this.open;
      this.#growAt = this.#monotonic() + GROWTH_MS;
    } else if (this.#failures === 0 || begun >= this.#failedAt) {
      this.#fail(trouble);
    }
  }

  /** Whether another relay is to be asked: this one took nothing of a message, be it for good or, where there is another, for now. */
  isForAnother({ kind, stage }: Outcome): boolean {
    return kind === 'held' || (kind === 'deferred' && stage === 'mail' && !this.#isAlone);
  }

  /** It refused the sender of a message. */
  refusedSender(refusal: Outcome): void {
    this.#refusals++;
    if (!this.#isAlone && (this.#failures > 0 || this.#refusals >= MOST_REFUSALS)) this.#fail(refusal);
  }

  /** A transaction came to its end and its sender was not refused. */
  worked(): void {
    this.#refusals = 0;
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.#retryAt = 0;
    this.trouble = null;
  }

  /** It ended a session that was to take a message more; the same number twice in a row is believed to be its limit. */
  endedSession(messages: number): void {
    if (messages === this.#lastSession) {
      this.#sessionLimit = messages;
      this.#sessionLimitUntil = this.#monotonic() + SESSION_LIMIT_MS;
    }
    this.#lastSession = messages;
  }

  /** Whether a session takes nothing more after so many messages. */
  isSpent(messages: number): boolean {
    return messages >= this.#sessionLimit && this.#monotonic() < this.#sessionLimitUntil;
  }

  #fail(trouble: Outcome): void {
    const now = this.#monotonic();
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#retryAt = now + pause * (0.75 + Math.random() / 4);
    this.#failures = Math.min(this.#failures + 1, 10);
    this.#failedAt = now;
    this.#refusals = 0;
    this.#peak = 0;
    // Those who hear of it later had not begun: for them, no connection could be had.
    const early = trouble.stage === 'connect' || trouble.stage === 'tls' || trouble.stage === 'auth';
    this.trouble = early ? trouble : { ...trouble, stage: 'connect' };
  }
}

/** The relays of SMTP_URL, in order of preference. */
export class Routes {
  readonly all: readonly Route[];

  /** `most`: the connections each relay may get. `monotonic`: milliseconds that never run backwards. */
  constructor(relays: readonly Relay[], most: number, timeouts: Timeouts, monotonic: () => number) {
    const isAlone = relays.length === 1;
    this.all = relays.map((relay) => new Route(relay, isAlone, most, timeouts, monotonic));
  }

  /** The first relay that works, or null. */
  get best(): Route | null {
    return this.all.find((route) => route.isHealthy) ?? null;
  }

  /** The first relay that works and stands before this one, or null. */
  betterThan(route: Route): Route | null {
    const { best } = this;
    return best !== null && this.all.indexOf(best) < this.all.indexOf(route) ? best : null;
  }

  /** Milliseconds until some relay may be tried; 0 where one may be now. */
  get pause(): number {
    return Math.min(...this.all.map((route) => route.pause));
  }

  /** Why no relay can be had: what may pass, if anything may, otherwise the first relay's reason. */
  get trouble(): Outcome | null {
    const troubles = this.all.flatMap((route) => route.trouble ?? []);
    return troubles.find((trouble) => trouble.kind === 'deferred') ?? troubles[0] ?? null;
  }
}
