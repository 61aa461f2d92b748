/** The SMTP client: takes jobs, returns outcomes, and manages the connections to every relay by itself. */

import { SmtpConnection } from './connection.ts';
import { handshake } from './handshake.ts';
import { type Outcome, withoutReply } from './outcome.ts';
import { type Job, PendingJobs, type Ticket } from './pending-jobs.ts';
import { Throughput } from './rate.ts';
import { type Relay, relayName } from './relay.ts';
import { type Route, Routes } from './route.ts';
import { Session, type SessionOwner } from './session.ts';
import { RFC_TIMEOUTS, type Timeouts } from './timeouts.ts';

/** How long no envelope is pipelined after an end of data, once the relay has failed on one. */
const NO_PIPELINING_MS = 600_000;

export type PoolOptions = {
  /** The most open connections to each relay. */
  connections?: number;
  /** Our full domain name for EHLO; without one, the connection's IP address is used. */
  name?: string;
  /** A monotonic clock, in milliseconds. */
  monotonic?: () => number;
  /** Called whenever a relay could not be used, for the log. */
  onRelayFailure?: (relay: string, outcome: Outcome) => void;
  /** Shorter waits, for tests. */
  timeouts?: Partial<Timeouts>;
};

export class SmtpPool {
  readonly #maxConnections: number;
  readonly #name: string;
  readonly #monotonic: () => number;
  readonly #onRelayFailure: (relay: string, outcome: Outcome) => void;
  readonly #timeouts: Timeouts;
  readonly #routes: Routes;
  readonly #rate: Throughput;
  /** Jobs for the best relay; a job refused by one relay waits in the queue of the next. */
  readonly #queue = new PendingJobs();
  /** Every connection, from connecting to closed. */
  readonly #sockets = new Map<SmtpConnection, Route>();
  readonly #sessions = new Map<Session, Route>();
  readonly #idle: Session[] = [];
  /** The relay of every session, including ended ones. */
  readonly #routeBySession = new WeakMap<Session, Route>();
  /** Sessions whose relay has not replied for a long time, while another relay is available. */
  readonly #stalled = new Set<Session>();
  /** The pipelined job of each session at the last check. */
  readonly #lastPipelined = new WeakMap<Session, Ticket | null>();
  #sweep: NodeJS.Timeout | null = null;
  #closing = false;
  #allClosed: (() => void) | null = null;

  /** A pool for `relays` in order of preference. It connects when there is a job. */
  constructor(relays: readonly Relay[], options: PoolOptions = {}) {
    this.#maxConnections = options.connections ?? 20;
    this.#name = options.name ?? '';
    this.#monotonic = options.monotonic ?? (() => performance.now());
    this.#onRelayFailure = options.onRelayFailure ?? (() => {});
    this.#timeouts = { ...RFC_TIMEOUTS, ...options.timeouts };
    this.#routes = new Routes(relays, this.#maxConnections, this.#timeouts, this.#monotonic);
    this.#rate = new Throughput(this.#monotonic);
  }

  /**
   * Sends one message to one recipient and returns the outcome, or 'withdrawn' if the message was not sent because
   * `start` returned null, `maySend` returned false or the pool withdrew it. The outcome is held if every relay refuses
   * the sender. If no relay is available, its stage is connect, tls or auth, and `start` was not called. Rejects only
   * with what `start` throws.
   */
  send(job: Job): Promise<Outcome | 'withdrawn'> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ job, resolve, reject, requeues: 0, refusedBy: [], refusal: null, next: null });
      this.#pump();
    });
  }

  /** How many more jobs would start at once or within 100 ms; 0 while no relay is available. */
  get capacity(): number {
    if (this.#closing) return 0;
    const { best } = this.#routes;
    const least = best !== null ? best.slots : this.#routes.pause === 0 ? 1 : 0;
    let busy = this.active + this.pending;
    for (const session of this.#stalled) busy -= session.load;
    const slots = Math.max(least, this.#sessions.size - this.#stalled.size);
    return Math.max(0, slots + Math.floor(this.#rate.perSecond / 10) - busy);
  }

  /** The number of jobs in progress: started, and without an outcome yet. */
  get active(): number {
    let jobs = 0;
    for (const session of this.#sessions.keys()) jobs += session.load;
    return jobs;
  }

  /** The number of jobs that wait for a connection. */
  get pending(): number {
    return this.#routes.all.reduce((sum, { queue }) => sum + queue.length, this.#queue.length);
  }

  /** The number of sockets in any state. */
  get sockets(): number {
    return this.#sockets.size;
  }

  /** Milliseconds until a relay may be tried again; 0 if mail can be sent now. */
  get retryIn(): number {
    return this.#sessions.size > 0 ? 0 : this.#routes.pause;
  }

  /** Resolves every job that has not started with 'withdrawn'. */
  withdraw(): void {
    for (const queue of [this.#queue, ...this.#routes.all.map((route) => route.queue)]) end(queue, () => 'withdrawn');
  }

  /** Withdraws the pending jobs, lets those in progress finish within `graceMs`, then closes every connection. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.withdraw();
    for (const session of [...this.#idle]) session.quit();
    for (const { opening } of this.#routes.all) for (const connection of opening) connection.fail(new Error('closing'));
    if (this.#sockets.size === 0) return;
    const closed = new Promise<void>((resolve) => {
      this.#allClosed = resolve;
    });
    const grace = setTimeout(() => {
      for (const connection of this.#sockets.keys())
        connection.fail(new Error('we shut down before the relay answered'));
    }, graceMs);
    await closed;
    clearTimeout(grace);
  }

  readonly #owner: SessionOwner = {
    finished: (session, ticket, outcome) => this.#finish(this.#routeBySession.get(session), ticket, outcome),
    endingData: (session) => {
      const route = this.#sessions.get(session);
      if (route !== undefined && this.#canPipeline(session, route))
        this.#next(route, (ticket) => session.pipelineNext(ticket));
    },
    completed: (session, outcome) => {
      this.#rate.add();
      const route = this.#sessions.get(session);
      if (route === undefined) return;
      if (this.#stalled.delete(session)) {
        route.stalled--;
        route.open++;
      }
      if (!route.shouldTryNextRelay(outcome)) route.worked();
    },
    pipeliningRejected: (session) => {
      const route = this.#sessions.get(session);
      if (route !== undefined) route.pipelineFrom = this.#monotonic() + NO_PIPELINING_MS;
    },
    free: (session) => {
      const route = this.#sessions.get(session);
      if (route === undefined || this.#isDone(session, route)) session.quit();
      else this.#feed(session, route);
      // The relay may now accept more connections: it has just worked, or its pause for growth is over.
      this.#pump();
    },
    closedByRelay: (session) => this.#sessions.get(session)?.endedSession(session.completed),
    requeue: (ticket) => {
      ticket.requeues++;
      this.#queueFor(ticket)?.unshift(ticket);
      this.#pump();
    },
    ended: (session, failure) => {
      const route = this.#sessions.get(session);
      if (route === undefined) return;
      this.#sessions.delete(session);
      const place = this.#idle.indexOf(session);
      if (place !== -1) this.#idle.splice(place, 1);
      if (this.#stalled.delete(session)) route.stalled--;
      else route.open--;
      if (failure !== null) this.#failed(route, failure, session.startedAt);
      this.#pump();
    },
  };

  /** Gives waiting jobs to idle sessions and opens more connections if needed. */
  #pump(): void {
    if (this.#closing) this.withdraw();
    if (this.pending === 0) return;
    for (let session = this.#idleOne(); session !== undefined; session = this.#idleOne()) {
      this.#idle.splice(this.#idle.indexOf(session), 1);
      const route = this.#sessions.get(session);
      if (route !== undefined) this.#feed(session, route);
    }
    let waiting = this.#queue.length;
    for (const route of this.#routes.all) {
      while (route.queue.length + waiting > route.connecting && route.hasRoom()) void this.#open(route);
      // Relays after a healthy one get only the jobs it refused. A failed relay before it is probed at the same time.
      if (route.isHealthy) waiting = 0;
    }
    this.#failWaitingJobs();
  }

  /** An idle session whose relay has a job waiting. */
  #idleOne(): Session | undefined {
    return this.#idle.findLast((session) => {
      const route = this.#sessions.get(session);
      return route !== undefined && (route.queue.length > 0 || (this.#queue.length > 0 && this.#getsCommonJobs(route)));
    });
  }

  /** Whether a relay gets jobs from the common queue: only while no better relay has all its connections open. */
  #getsCommonJobs(route: Route): boolean {
    const better = this.#routes.betterThan(route);
    return better === null || better.open < better.slots;
  }

  /** Whether a free session should be closed. */
  #isDone(session: Session, route: Route): boolean {
    if (this.#closing || route.pause > 0 || route.isSpent(session.completed)) return true;
    return route.queue.length === 0 && this.#routes.betterThan(route)?.hasRoom() === true;
  }

  /** Whether to pipeline the next job after the current message: only if no connection can be opened for it and it was never requeued. */
  #canPipeline(session: Session, route: Route): boolean {
    const first = route.queue.first ?? this.#queue.first;
    if (this.#closing || first === null || first.requeues > 0 || route.connecting > 0) return false;
    if (this.#monotonic() < route.pipelineFrom || route.isSpent(session.completed + 1) || route.pause > 0) return false;
    const isFull = route.sockets >= this.#maxConnections || !route.hasRoom();
    return isFull && this.#routes.betterThan(route)?.hasRoom() !== true;
  }

  /** Starts the next job on a free session, or makes the session idle. */
  #feed(session: Session, route: Route): void {
    if (this.#next(route, (ticket) => session.begin(ticket))) return;
    if (this.#closing) session.quit();
    else this.#idle.push(session);
  }

  /** Passes a relay's waiting jobs to `take` until one is started; false if none was. The others got an outcome at once. */
  #next(route: Route, take: (ticket: Ticket) => Outcome | 'withdrawn' | null): boolean {
    for (;;) {
      const ticket = route.queue.shift() ?? (this.#getsCommonJobs(route) ? this.#queue.shift() : null);
      if (ticket === null) return false;
      try {
        const ended = take(ticket);
        if (ended === null) return true;
        this.#finish(route, ticket, ended);
      } catch (error) {
        ticket.reject(error);
      }
    }
  }

  /** Resolves a job with its outcome. If the relay refused its sender, the job is queued for the next relay instead. */
  #finish(route: Route | undefined, ticket: Ticket, outcome: Outcome | 'withdrawn'): void {
    if (outcome === 'withdrawn' || route?.shouldTryNextRelay(outcome) !== true) {
      ticket.resolve(outcome);
      return;
    }
    if (outcome.code > 0) route.refusedSender(outcome);
    // One 4xx outweighs any number of 5xx, because the job then gets another try.
    if (ticket.refusal === null || (ticket.refusal.kind === 'held' && outcome.kind === 'deferred'))
      ticket.refusal = outcome;
    ticket.refusedBy = [...ticket.refusedBy, route.relay];
    const queue = this.#queueFor(ticket);
    if (queue === null || this.#closing) {
      ticket.resolve(ticket.refusal);
    } else {
      queue.push(ticket);
      this.#pump();
    }
  }

  /** The queue for a job: the common one, or that of the first relay that has not refused it; null if all have. */
  #queueFor({ refusedBy }: Ticket): PendingJobs | null {
    if (refusedBy.length === 0) return this.#queue;
    return this.#routes.all.find(({ relay }) => !refusedBy.includes(relay))?.queue ?? null;
  }

  /** Resolves the waiting jobs of failed relays with the failure, unless an open connection can still send them. */
  #failWaitingJobs(): void {
    const { best, failure } = this.#routes;
    for (const route of this.#routes.all) {
      const { failure: own } = route;
      if (own === null || route.pause === 0 || route.open + route.opening.size > 0) continue;
      end(route.queue, ({ refusal }) => (own.kind === 'held' ? (refusal ?? own) : own));
    }
    if (best !== null || failure === null) return;
    if (this.#routes.all.every(({ open, opening, pause }) => pause > 0 && open + opening.size === 0))
      end(this.#queue, () => failure);
  }

  async #open(route: Route): Promise<void> {
    const connection = new SmtpConnection(route.relay, this.#monotonic, (closed) => this.#forget(closed));
    this.#sockets.set(connection, route);
    route.sockets++;
    route.opening.add(connection);
    this.#sweep ??= setInterval(() => this.#check(), Math.min(1000, Math.min(...Object.values(this.#timeouts)) / 4));

    const { handshakeMs } = route;
    const result = await handshake(connection, route.relay, this.#name, this.#timeouts, handshakeMs);
    route.opening.delete(connection);
    if ('kind' in result) {
      if (!this.#closing) this.#failed(route, result, connection.startedAt, connection.age >= handshakeMs);
    } else {
      const session = new Session(connection, result, this.#timeouts, relayName(route.relay), this.#owner);
      this.#sessions.set(session, route);
      this.#routeBySession.set(session, route);
      route.opened(connection.age);
      this.#feed(session, route);
    }
    this.#pump();
  }

  #failed(route: Route, failure: Outcome, startedAt: number, isSilent = false): void {
    route.failed(failure, startedAt, isSilent);
    this.#onRelayFailure(relayName(route.relay), failure);
  }

  #check(): void {
    const now = this.#monotonic();
    for (const connection of this.#sockets.keys()) connection.check(now);
    for (const [session, route] of this.#sessions) {
      this.#cancelOverduePipelined(session);
      if (this.#routes.all.length > 1) this.#checkStalled(session, route);
    }
    this.#pump();
  }

  /** Marks a session as stalled if its relay has not replied for too long. A relay with only stalled sessions has failed. */
  #checkStalled(session: Session, route: Route): void {
    const { handshake: limit } = this.#timeouts;
    if (session.waited < limit || this.#stalled.has(session)) return;
    this.#stalled.add(session);
    route.stalled++;
    route.open--;
    if (route.open > 0) return;
    const relay = relayName(route.relay);
    this.#failed(
      route,
      withoutReply('deferred', 'connect', `${relay}: no reply within ${limit / 1000} s`),
      this.#monotonic(),
    );
  }

  /** Requeues a job that was already pipelined after the same message at the last check: a slow reply must not delay it. */
  #cancelOverduePipelined(session: Session): void {
    const { pipelined } = session;
    if (pipelined !== null && pipelined === this.#lastPipelined.get(session)) {
      session.cancelPipelined();
      this.#owner.requeue(pipelined);
    }
    this.#lastPipelined.set(session, pipelined);
  }

  #forget(connection: SmtpConnection): void {
    const route = this.#sockets.get(connection);
    if (route !== undefined) route.sockets--;
    this.#sockets.delete(connection);
    // If it closed during the handshake, #open first records what that means for the relay, then pumps.
    if (route?.opening.has(connection) !== true) this.#pump();
    if (this.#sockets.size > 0) return;
    if (this.#sweep !== null) clearInterval(this.#sweep);
    this.#sweep = null;
    this.#allClosed?.();
  }
}

/** Empties a queue and resolves each of its jobs. */
function end(queue: PendingJobs, outcome: (ticket: Ticket) => Outcome | 'withdrawn'): void {
  for (let ticket = queue.shift(); ticket !== null; ticket = queue.shift()) ticket.resolve(outcome(ticket));
}
