/** The connections to every relay, from connecting to closed: opens them, enforces their deadlines, and tracks which are idle. */

import { SmtpConnection } from './connection.ts';
import { handshake } from './handshake.ts';
import { type Outcome, withoutReply } from './outcome.ts';
import type { PendingHandoff } from './pending-handoffs.ts';
import type { RelayState } from './relay-state.ts';
import { relayName } from './relay-urls.ts';
import { Session, type SessionOwner } from './session/session.ts';
import type { Timeouts } from './timeouts.ts';

/** The longest time between two checks of the deadlines, in milliseconds. */
const MAX_CHECK_MS = 1_000;

export interface SessionsOptions {
  /** Returns our full domain name for EHLO; if empty, the connection's IP address is used. */
  name: () => string;
  /** A monotonic clock, in milliseconds. */
  monotonic: () => number;
  /** True if there is a second relay that can replace one that does not reply. */
  hasOtherRelay: boolean;
  timeouts: Timeouts;
  /** Called whenever a relay failed. */
  onRelayFailure: (relay: string, outcome: Outcome, id: number | undefined) => void;
  /** Called whenever a relay accepted a mail. */
  onRelayAcceptance: (relay: string, id: number | undefined) => void;
}

export interface SessionsOwner extends SessionOwner {
  /** A connection is ready for mail. */
  ready(session: Session): void;
  /** A connection was opened or closed, or deadlines were checked: waiting hand-offs may now be sent. */
  changed(): void;
}

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #owner: SessionsOwner;
  /** Every connection, from connecting to closed. */
  readonly #connections = new Map<SmtpConnection, RelayState>();
  readonly #open = new Set<Session>();
  readonly #idle: Session[] = [];
  /** Sessions whose relay has not replied for a long time, while another relay is available. */
  readonly #stalled = new Set<Session>();
  /** The pipelined hand-off of each session at the last check. */
  readonly #lastPipelined = new WeakMap<Session, PendingHandoff | null>();
  #timer: NodeJS.Timeout | null = null;
  #isClosing = false;
  #allClosed: (() => void) | null = null;

  constructor(options: SessionsOptions, owner: SessionsOwner) {
    this.#options = options;
    this.#owner = owner;
  }

  /** The number of mails in progress on all sessions. */
  get load(): number {
    return sumOfLoads(this.#open);
  }

  /** Returns the number of open sessions with these relays that reply in time, and the number of mails in progress on them. */
  usageOf(relayStates: readonly RelayState[]): { responsive: number; load: number } {
    const sessions = [...this.#open].filter((one) => relayStates.includes(one.relayState) && !this.#stalled.has(one));
    return { responsive: sessions.length, load: sumOfLoads(sessions) };
  }

  /** Adds a session without work to the idle ones. */
  addIdle(session: Session): void {
    this.#idle.push(session);
  }

  /** Removes and returns the most recently used idle session for whose relay `isWanted` returns true. */
  takeIdle(isWanted: (relayState: RelayState) => boolean): Session | undefined {
    const at = this.#idle.findLastIndex((session) => isWanted(session.relayState));
    return at === -1 ? undefined : this.#idle.splice(at, 1)[0];
  }

  /** Opens one more connection to a relay. */
  async connect(relayState: RelayState): Promise<void> {
    const { name, monotonic, timeouts } = this.#options;
    const connection = new SmtpConnection(relayState.relay, monotonic, (closed) => this.#forget(closed));
    this.#connections.set(connection, relayState);
    relayState.sockets++;
    relayState.opening.add(connection);
    const shortest = Math.min(...Object.values(timeouts));
    this.#timer ??= setInterval(() => this.#check(), Math.min(MAX_CHECK_MS, shortest / 4));

    const { handshakeMs } = relayState;
    const result = await handshake(connection, relayState.relay, name(), timeouts, handshakeMs);
    relayState.opening.delete(connection);
    if ('kind' in result) {
      if (!this.#isClosing) this.#fail(relayState, result, connection.startedAt, connection.age >= handshakeMs);
    } else {
      const session = new Session(connection, result, relayState, timeouts, this.#owner);
      this.#open.add(session);
      relayState.opened(connection.age);
      this.#owner.ready(session);
    }
    this.#owner.changed();
  }

  /** Records a completed transaction: the relay is not stalled, and it works unless it rejected the sender. */
  completed(session: Session, outcome: Outcome): void {
    const { relayState } = session;
    if (this.#stalled.delete(session)) relayState.setStalled(false);
    if (!relayState.shouldTryNextRelay(outcome)) relayState.worked();
    if (outcome.kind === 'accepted') this.#options.onRelayAcceptance(relayName(relayState.relay), relayState.relay.id);
  }

  /** Removes a session that takes no more mail. May be called more than once. `failure` is as in `SessionOwner.ended`. */
  ended(session: Session, failure: Outcome | null): void {
    if (!this.#open.delete(session)) return;
    const { relayState } = session;
    const at = this.#idle.indexOf(session);
    if (at !== -1) this.#idle.splice(at, 1);
    if (this.#stalled.delete(session)) relayState.setStalled(false);
    relayState.responsive--;
    if (failure !== null) this.#fail(relayState, failure, session.startedAt);
  }

  /**
   * Sends QUIT on idle sessions and gives up connections that are being opened. Resolves once every connection is closed, at most after
   * `graceMs` milliseconds.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    for (const session of [...this.#idle]) session.quit();
    for (const [connection, { opening }] of this.#connections)
      if (opening.has(connection)) connection.fail(new Error('closing'));
    if (this.#connections.size === 0) return;
    const closed = new Promise<void>((resolve) => {
      this.#allClosed = resolve;
    });
    const grace = setTimeout(() => {
      for (const connection of this.#connections.keys())
        connection.fail(new Error('we shut down before the relay answered'));
    }, graceMs);
    await closed;
    clearTimeout(grace);
  }

  #fail(relayState: RelayState, failure: Outcome, startedAt: number, isSilent = false): void {
    relayState.failed(failure, startedAt, isSilent);
    this.#options.onRelayFailure(relayName(relayState.relay), failure, relayState.relay.id);
  }

  #check(): void {
    const now = this.#options.monotonic();
    for (const connection of this.#connections.keys()) connection.check(now);
    for (const session of this.#open) {
      this.#cancelOverduePipelined(session);
      if (this.#options.hasOtherRelay) this.#checkStalled(session);
    }
    this.#owner.changed();
  }

  /** Marks a session as stalled if its relay has not replied for too long. A relay with only stalled sessions has failed. */
  #checkStalled(session: Session): void {
    const { timeouts, monotonic } = this.#options;
    if (session.waited < timeouts.handshake || this.#stalled.has(session)) return;
    const { relayState } = session;
    this.#stalled.add(session);
    relayState.setStalled(true);
    if (relayState.responsive > 0) return;
    const why = `${relayName(relayState.relay)}: no reply within ${timeouts.handshake / 1000} s`;
    this.#fail(relayState, withoutReply('deferred', 'connect', why), monotonic());
  }

  /** Takes back a pipelined hand-off that has waited behind the same message since the last check, so that another session can send it. */
  #cancelOverduePipelined(session: Session): void {
    const { pipelined } = session;
    if (pipelined !== null && pipelined === this.#lastPipelined.get(session)) session.cancelPipelined();
    this.#lastPipelined.set(session, pipelined);
  }

  #forget(connection: SmtpConnection): void {
    const relayState = this.#connections.get(connection);
    if (relayState !== undefined) relayState.sockets--;
    this.#connections.delete(connection);
    // For a connection that closed during its handshake, `connect` calls `changed` after it has recorded the failure.
    if (relayState?.opening.has(connection) !== true) this.#owner.changed();
    if (this.#connections.size > 0) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#allClosed?.();
  }
}

function sumOfLoads(sessions: Iterable<Session>): number {
  let sum = 0;
  for (const { load } of sessions) sum += load;
  return sum;
}
