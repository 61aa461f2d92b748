/** The SMTP client as the worker sees it: jobs go in, outcomes come out, connections are its own business. */

import { SmtpConnection } from './connection.ts';
import { handshake } from './handshake.ts';
import { type Outcome, withoutReply } from './outcome.ts';
import { type Job, PendingJobs, type Ticket } from './pending-jobs.ts';
import { Throughput } from './rate.ts';
import { type Relay, relayName } from './relay.ts';
import { type Route, Routes } from './route.ts';
import { Session, type SessionOwner } from './session.ts';
import { RFC_TIMEOUTS, type Timeouts } from './timeouts.ts';

/** How long a relay gets its envelopes alone after it did not take well to one behind a dot. */
const DEAF_MS = 600_000;

export type PoolOptions = {
  /** The most connections at a time to each relay. */
  connections?: number;
  /** Our full domain name, to introduce ourselves with; without one it is our address. */
  name?: string;
  /** Milliseconds that never run backwards. */
  monotonic?: () => number;
  /** Told whenever a relay could not be used, for the log. */
  onTrouble?: (relay: string, outcome: Outcome) => void;
  /** Shorter waits, for tests. */
  timeouts?: Partial<Timeouts>;
};

export class SmtpPool {
  readonly #connections: number;
  readonly #name: string;
  readonly #monotonic: () => number;
  readonly #onTrouble: (relay: string, outcome: Outcome) => void;
  readonly #timeouts: Timeouts;
  readonly #routes: Routes;
  readonly #rate: Throughput;
  /** Jobs for whichever relay is best; those that one refused wait at the next. */
  readonly #queue = new PendingJobs();
  /** Every socket, from connecting to closed. */
  readonly #wires = new Map<SmtpConnection, Route>();
  readonly #sessions = new Map<Session, Route>();
  readonly #idle: Session[] = [];
  /** The relay of every session, also of one that has ended. */
  readonly #routeOf = new WeakMap<Session, Route>();
  /** Sessions whose relay has not answered for long while there is another one to use. */
  readonly #stalled = new Set<Session>();
  /** Jobs that stood behind a dot at the last look. */
  readonly #waiting = new WeakMap<Session, Ticket | null>();
  #sweep: NodeJS.Timeout | null = null;
  #closing = false;
  #allClosed: (() => void) | null = null;

  /** A pool for `relays` in order of preference; connects when there is something to send. */
  constructor(relays: readonly Relay[], options: PoolOptions = {}) {
    this.#connections = options.connections ?? 20;
    this.#name = options.name ?? '';
    this.#monotonic = options.monotonic ?? (() => performance.now());
    this.#onTrouble = options.onTrouble ?? (() => {});
    this.#timeouts = { ...RFC_TIMEOUTS, ...options.timeouts };
    this.#routes = new Routes(relays, this.#connections, this.#timeouts, this.#monotonic);
    this.#rate = new Throughput(this.#monotonic);
  }

  /**
   * Hands over one message to one recipient and tells what became of it; 'withdrawn' where not a byte of it was
   * written because `start` gave null or the pool took it back. It is held when every relay refuses its sender. Where no
   * relay can be had, the outcome's stage is connect, tls or auth and the job did not begin. Rejects only with what
   * `start` throws.
   */
  send(job: Job): Promise<Outcome | 'withdrawn'> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ job, resolve, reject, moves: 0, refusedBy: [], refusal: null, next: null });
      this.#pump();
    });
  }

  /** How many jobs more would begin at once or within 100 ms; 0 while no relay can be had. */
  get capacity(): number {
    if (this.#closing) return 0;
    const { best } = this.#routes;
    const least = best !== null ? best.slots : this.#routes.pause === 0 ? 1 : 0;
    let busy = this.active + this.pending;
    for (const session of this.#stalled) busy -= session.load;
    const slots = Math.max(least, this.#sessions.size - this.#stalled.size);
    return Math.max(0, slots + Math.floor(this.#rate.perSecond / 10) - busy);
  }

  /** Jobs of which something was written and whose outcome is open. */
  get active(): number {
    let jobs = 0;
    for (const session of this.#sessions.keys()) jobs += session.load;
    return jobs;
  }

  /** Jobs that wait for a connection; nothing of them is written. */
  get pending(): number {
    return this.#routes.all.reduce((sum, { queue }) => sum + queue.length, this.#queue.length);
  }

  /** Sockets, whatever state they are in. */
  get sockets(): number {
    return this.#wires.size;
  }

  /** Milliseconds until a relay may be tried again; 0 where mail can go now. */
  get retryIn(): number {
    return this.#sessions.size > 0 ? 0 : this.#routes.pause;
  }

  /** Takes back what has not begun: each pending job ends as 'withdrawn'. */
  withdraw(): void {
    for (const queue of [this.#queue, ...this.#routes.all.map((route) => route.queue)]) end(queue, () => 'withdrawn');
  }

  /** Takes nothing more, withdraws what is pending, finishes what is in flight within `graceMs`, then drops the rest. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.withdraw();
    for (const session of [...this.#idle]) session.quit();
    for (const { opening } of this.#routes.all) for (const wire of opening) wire.fail(new Error('closing'));
    if (this.#wires.size === 0) return;
    const closed = new Promise<void>((resolve) => {
      this.#allClosed = resolve;
    });
    const grace = setTimeout(() => {
      for (const wire of this.#wires.keys()) wire.fail(new Error('we shut down before the relay answered'));
    }, graceMs);
    await closed;
    clearTimeout(grace);
  }

  readonly #owner: SessionOwner = {
    settled: (session, ticket, outcome) => this.#settle(this.#routeOf.get(session), ticket, outcome),
    ending: (session) => {
      const route = this.#sessions.get(session);
      if (route !== undefined && this.#mayFollow(session, route)) this.#next(route, (ticket) => session.follow(ticket));
    },
    carried: (session, outcome) => {
      this.#rate.add();
      const route = this.#sessions.get(session);
      if (route === undefined) return;
      if (this.#stalled.delete(session)) {
        route.stalled--;
        route.open++;
      }
      if (!route.isForAnother(outcome)) route.worked();
    },
    deaf: (session) => {
      const route = this.#sessions.get(session);
      if (route !== undefined) route.followAt = this.#monotonic() + DEAF_MS;
    },
    free: (session) => {
      const route = this.#sessions.get(session);
      if (route === undefined || this.#isDone(session, route)) session.quit();
      else this.#feed(session, route);
      // A relay that just proved itself, or was left alone long enough, may get more connections.
      this.#pump();
    },
    limited: (session) => this.#sessions.get(session)?.endedSession(session.completed),
    stale: (ticket) => {
      ticket.moves++;
      this.#queueFor(ticket)?.unshift(ticket);
      this.#pump();
    },
    ended: (session, trouble) => {
      const route = this.#sessions.get(session);
      if (route === undefined) return;
      this.#sessions.delete(session);
      const place = this.#idle.indexOf(session);
      if (place !== -1) this.#idle.splice(place, 1);
      if (this.#stalled.delete(session)) route.stalled--;
      else route.open--;
      if (trouble !== null) this.#failed(route, trouble, session.begun);
      this.#pump();
    },
  };

  /** Brings waiting jobs and connections together. */
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
      while (route.queue.length + waiting > route.fresh && route.hasRoom()) void this.#open(route);
      // A relay further down gets only what was refused; a failed one is probed beside the work.
      if (route.isHealthy) waiting = 0;
    }
    this.#giveUp();
  }

  /** An idle session there is a job for. */
  #idleOne(): Session | undefined {
    return this.#idle.findLast((session) => {
      const route = this.#sessions.get(session);
      return route !== undefined && (route.queue.length > 0 || (this.#queue.length > 0 && this.#mayTake(route)));
    });
  }

  /** Whether a relay gets jobs that may go anywhere: not while a better one has all the connections it takes. */
  #mayTake(route: Route): boolean {
    const better = this.#routes.betterThan(route);
    return better === null || better.open < better.slots;
  }

  /** Whether a free session has nothing more to do. */
  #isDone(session: Session, route: Route): boolean {
    if (this.#closing || route.pause > 0 || route.isSpent(session.completed)) return true;
    return route.queue.length === 0 && this.#routes.betterThan(route)?.hasRoom() === true;
  }

  /** Whether the next job is better off behind another one's dot: no connection more can be had, and it was never lost there. */
  #mayFollow(session: Session, route: Route): boolean {
    const first = route.queue.first ?? this.#queue.first;
    if (this.#closing || first === null || first.moves > 0 || route.fresh > 0) return false;
    if (this.#monotonic() < route.followAt || route.isSpent(session.completed + 1) || route.pause > 0) return false;
    const isFull = route.sockets >= this.#connections || !route.hasRoom();
    return isFull && this.#routes.betterThan(route)?.hasRoom() !== true;
  }

  /** Gives a free session the next job that begins, or rest. */
  #feed(session: Session, route: Route): void {
    if (this.#next(route, (ticket) => session.begin(ticket))) return;
    if (this.#closing) session.quit();
    else this.#idle.push(session);
  }

  /** Offers a relay the jobs that wait for it, in turn, until one is taken; false when none was. The others ended at once. */
  #next(route: Route, take: (ticket: Ticket) => Outcome | 'withdrawn' | null): boolean {
    for (;;) {
      const ticket = route.queue.shift() ?? (this.#mayTake(route) ? this.#queue.shift() : null);
      if (ticket === null) return false;
      try {
        const ended = take(ticket);
        if (ended === null) return true;
        this.#settle(route, ticket, ended);
      } catch (error) {
        ticket.reject(error);
      }
    }
  }

  /** Tells what became of a job; one whose sender is refused, for good or for now, goes on to a relay that has not refused it yet. */
  #settle(route: Route | undefined, ticket: Ticket, outcome: Outcome | 'withdrawn'): void {
    if (outcome === 'withdrawn' || route?.isForAnother(outcome) !== true) {
      ticket.resolve(outcome);
      return;
    }
    if (outcome.code > 0) route.refusedSender(outcome);
    // What may pass is tried again, so one such answer outweighs refusals for good.
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

  /** Where a job waits: for any relay, or for the first that has not refused it; null where all have. */
  #queueFor({ refusedBy }: Ticket): PendingJobs | null {
    if (refusedBy.length === 0) return this.#queue;
    return this.#routes.all.find(({ relay }) => !refusedBy.includes(relay))?.queue ?? null;
  }

  /** Tells the waiting jobs why there is no relay for them, unless a connection is left that may still take them. */
  #giveUp(): void {
    const { best, trouble } = this.#routes;
    for (const route of this.#routes.all) {
      const { trouble: own } = route;
      if (own === null || route.pause === 0 || route.open + route.opening.size > 0) continue;
      end(route.queue, ({ refusal }) => (own.kind === 'held' ? (refusal ?? own) : own));
    }
    if (best !== null || trouble === null) return;
    if (this.#routes.all.every(({ open, opening, pause }) => pause > 0 && open + opening.size === 0))
      end(this.#queue, () => trouble);
  }

  async #open(route: Route): Promise<void> {
    const wire = new SmtpConnection(route.relay, this.#monotonic, (closed) => this.#forget(closed));
    this.#wires.set(wire, route);
    route.sockets++;
    route.opening.add(wire);
    this.#sweep ??= setInterval(() => this.#check(), Math.min(1000, Math.min(...Object.values(this.#timeouts)) / 4));

    const { patience } = route;
    const result = await handshake(wire, route.relay, this.#name, this.#timeouts, patience);
    route.opening.delete(wire);
    if ('kind' in result) {
      if (!this.#closing) this.#failed(route, result, wire.begun, wire.age >= patience);
    } else {
      const session = new Session(wire, result, this.#timeouts, relayName(route.relay), this.#owner);
      this.#sessions.set(session, route);
      this.#routeOf.set(session, route);
      route.opened(wire.age);
      this.#feed(session, route);
    }
    this.#pump();
  }

  #failed(route: Route, trouble: Outcome, begun: number, isSilent = false): void {
    route.failed(trouble, begun, isSilent);
    this.#onTrouble(relayName(route.relay), trouble);
  }

  #check(): void {
    const now = this.#monotonic();
    for (const wire of this.#wires.keys()) wire.check(now);
    for (const [session, route] of this.#sessions) {
      this.#freeFollower(session);
      if (this.#routes.all.length > 1) this.#checkStalled(session, route);
    }
    this.#pump();
  }

  /** Counts a session out that has waited for its relay too long; a relay of which none is left has failed. */
  #checkStalled(session: Session, route: Route): void {
    const { opening: patience } = this.#timeouts;
    if (session.waited < patience || this.#stalled.has(session)) return;
    this.#stalled.add(session);
    route.stalled++;
    route.open--;
    if (route.open > 0) return;
    const relay = relayName(route.relay);
    this.#failed(
      route,
      withoutReply('deferred', 'connect', `${relay}: no answer within ${patience / 1000} s`),
      this.#monotonic(),
    );
  }

  /** Takes a job back that has waited behind the same dot since the last look: it must not hang with that message. */
  #freeFollower(session: Session): void {
    const { following } = session;
    if (following !== null && following === this.#waiting.get(session)) {
      session.abandonFollowing();
      this.#owner.stale(following);
    }
    this.#waiting.set(session, following);
  }

  #forget(wire: SmtpConnection): void {
    const route = this.#wires.get(wire);
    if (route !== undefined) route.sockets--;
    this.#wires.delete(wire);
    // Of one that did not come to a session it is not known yet what that means for its relay.
    if (route?.opening.has(wire) !== true) this.#pump();
    if (this.#wires.size > 0) return;
    if (this.#sweep !== null) clearInterval(this.#sweep);
    this.#sweep = null;
    this.#allClosed?.();
  }
}

/** Empties a queue, each of its jobs ended so. */
function end(queue: PendingJobs, outcomeOf: (ticket: Ticket) => Outcome | 'withdrawn'): void {
  for (let ticket = queue.shift(); ticket !== null; ticket = queue.shift()) ticket.resolve(outcomeOf(ticket));
}
