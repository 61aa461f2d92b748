/** The SMTP client as the worker sees it: jobs go in, outcomes come out, connections are its own business. */
import { handshake } from './handshake.ts';
import type { Outcome } from './outcome.ts';
import { type Job, Queue, type Ticket } from './queue.ts';
import { Rate } from './rate.ts';
import { type Relay, relayName } from './relay.ts';
import { type Route, Routes } from './route.ts';
import { Session, type SessionOwner } from './session.ts';
import { RFC_TIMEOUTS, type Timeouts } from './timeouts.ts';
import { Wire } from './wire.ts';

/** How long a relay gets its envelopes alone after it did not take well to one behind a dot. */
const DEAF_MS = 600_000;

export type PoolOptions = {
  /** The most connections at a time, to all relays together. */
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
  readonly #rate: Rate;
  readonly #queue = new Queue();
  /** Every socket, from connecting to closed. */
  readonly #wires = new Set<Wire>();
  readonly #opening = new Set<Wire>();
  readonly #sessions = new Map<Session, Route>();
  readonly #idle: Session[] = [];
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
    this.#routes = new Routes(relays, this.#connections, this.#monotonic);
    this.#rate = new Rate(this.#monotonic);
  }

  /**
   * Hands over one message to one recipient and tells what became of it; 'withdrawn' where not a byte of it was
   * written because `start` gave null or the pool took it back. Where no relay can be had, the outcome's stage is
   * connect, tls or auth and the job did not begin. Rejects only with what `start` throws.
   */
  send(job: Job): Promise<Outcome | 'withdrawn'> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ job, resolve, reject, retried: false, next: null });
      this.#pump();
    });
  }

  /** How many jobs more would begin at once or within 100 ms; 0 while no relay can be had. */
  get capacity(): number {
    if (this.#closing) return 0;
    const route = this.#routes.preferred();
    const least = route === null ? 0 : route.failures > 0 ? 1 : Math.min(route.limit, this.#connections);
    const slots = Math.max(least, this.#sessions.size);
    return Math.max(0, slots + Math.floor(this.#rate.perSecond / 10) - this.active - this.pending);
  }

  /** Jobs of which something was written and whose outcome is open. */
  get active(): number {
    let jobs = 0;
    for (const session of this.#sessions.keys()) jobs += session.load;
    return jobs;
  }

  /** Jobs that wait for a connection; nothing of them is written. */
  get pending(): number {
    return this.#queue.length;
  }

  /** Sockets, whatever state they are in. */
  get sockets(): number {
    return this.#wires.size;
  }

  /** Milliseconds until a relay may be tried again; 0 where mail can go now. */
  get retryIn(): number {
    return this.#sessions.size > 0 ? 0 : this.#routes.pause();
  }

  /** Takes back what has not begun: each pending job ends as 'withdrawn'. */
  withdraw(): void {
    for (let ticket = this.#queue.shift(); ticket !== null; ticket = this.#queue.shift()) ticket.resolve('withdrawn');
  }

  /** Takes nothing more, withdraws what is pending, finishes what is in flight within `graceMs`, then drops the rest. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.withdraw();
    for (const session of [...this.#idle]) session.quit();
    for (const wire of this.#opening) wire.fail(new Error('closing'));
    if (this.#wires.size === 0) return;
    const closed = new Promise<void>((resolve) => {
      this.#allClosed = resolve;
    });
    const grace = setTimeout(() => {
      for (const wire of this.#wires) wire.fail(new Error('we shut down before the relay answered'));
    }, graceMs);
    await closed;
    clearTimeout(grace);
  }

  readonly #owner: SessionOwner = {
    settled: (ticket, outcome) => ticket.resolve(outcome),
    ending: (session) => {
      const route = this.#sessions.get(session);
      if (route !== undefined && this.#mayFollow(route)) this.#next((ticket) => session.follow(ticket));
    },
    carried: (session) => {
      this.#rate.add();
      const route = this.#sessions.get(session);
      if (route !== undefined) this.#routes.worked(route);
    },
    deaf: (session) => {
      const route = this.#sessions.get(session);
      if (route !== undefined) route.followAt = this.#monotonic() + DEAF_MS;
    },
    free: (session) => {
      if (this.#closing || this.#betterThan(this.#sessions.get(session))) session.quit();
      else this.#feed(session);
      // A relay that just proved itself, or was left alone long enough, may get more connections.
      this.#pump();
    },
    stale: (ticket) => {
      ticket.retried = true;
      this.#queue.unshift(ticket);
      this.#pump();
    },
    ended: (session, trouble) => {
      const route = this.#sessions.get(session);
      if (route === undefined) return;
      this.#sessions.delete(session);
      const place = this.#idle.indexOf(session);
      if (place !== -1) this.#idle.splice(place, 1);
      route.open--;
      if (trouble !== null) this.#failed(route, trouble);
      this.#pump();
    },
  };

  /** Brings waiting jobs and connections together. */
  #pump(): void {
    if (this.#closing) this.withdraw();
    while (this.#queue.length > 0) {
      const session = this.#idle.pop();
      if (session === undefined) break;
      this.#feed(session);
    }
    if (this.#queue.length === 0) return;
    const route = this.#routes.preferred();
    if (route === null) this.#giveUp();
    else this.#openMore(route);
  }

  /** Whether the next job is better off behind another one's dot: no connection more can be had, and it was never lost there. */
  #mayFollow(route: Route): boolean {
    if (this.#closing || this.#queue.first?.retried || this.#opening.size > 0) return false;
    if (this.#monotonic() < route.followAt) return false;
    const isFull = this.#wires.size >= this.#connections || !this.#routes.hasRoom(route);
    return isFull && !this.#betterThan(route);
  }

  /** Opens connections for what waits, as many as are due. */
  #openMore(route: Route): void {
    while (
      this.#queue.length > this.#opening.size &&
      this.#wires.size < this.#connections &&
      this.#routes.hasRoom(route)
    ) {
      void this.#open(route);
    }
  }

  /** Gives a free session the next job that begins, or rest. */
  #feed(session: Session): void {
    if (this.#next((ticket) => session.begin(ticket))) return;
    if (this.#closing) session.quit();
    else this.#idle.push(session);
  }

  /** Offers the waiting jobs, in turn, until one is taken; false when none was. The others ended at once. */
  #next(take: (ticket: Ticket) => Outcome | 'withdrawn' | null): boolean {
    for (let ticket = this.#queue.shift(); ticket !== null; ticket = this.#queue.shift()) {
      try {
        const ended = take(ticket);
        if (ended === null) return true;
        ticket.resolve(ended);
      } catch (error) {
        ticket.reject(error);
      }
    }
    return false;
  }

  /** Tells the waiting jobs why there is no relay for them, unless a connection is left that may still take them. */
  #giveUp(): void {
    const trouble = this.#routes.trouble();
    if (trouble === null || this.#sessions.size > 0 || this.#opening.size > 0) return;
    for (let ticket = this.#queue.shift(); ticket !== null; ticket = this.#queue.shift()) ticket.resolve(trouble);
  }

  async #open(route: Route): Promise<void> {
    route.opening++;
    const wire = new Wire(route.relay, this.#monotonic, (closed) => this.#forget(closed));
    this.#wires.add(wire);
    this.#opening.add(wire);
    this.#sweep ??= setInterval(() => this.#check(), Math.min(1000, Math.min(...Object.values(this.#timeouts)) / 4));

    const result = await handshake(wire, route.relay, this.#name, this.#timeouts);
    route.opening--;
    this.#opening.delete(wire);
    if ('kind' in result) {
      if (!this.#closing) this.#failed(route, result);
    } else {
      const session = new Session(wire, result, this.#timeouts, relayName(route.relay), this.#owner);
      this.#sessions.set(session, route);
      route.open++;
      this.#feed(session);
    }
    this.#pump();
  }

  #failed(route: Route, trouble: Outcome): void {
    this.#routes.failed(route, trouble);
    this.#onTrouble(relayName(route.relay), trouble);
  }

  /** Whether a relay higher in the list can be had again. */
  #betterThan(route: Route | undefined): boolean {
    const preferred = this.#routes.preferred();
    return preferred !== null && preferred !== route && this.#routes.hasRoom(preferred);
  }

  #check(): void {
    const now = this.#monotonic();
    for (const wire of this.#wires) wire.check(now);
    for (const session of this.#sessions.keys()) this.#freeFollower(session);
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

  #forget(wire: Wire): void {
    this.#wires.delete(wire);
    this.#pump();
    if (this.#wires.size > 0) return;
    if (this.#sweep !== null) clearInterval(this.#sweep);
    this.#sweep = null;
    this.#allClosed?.();
  }
}
