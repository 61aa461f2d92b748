/** A sender node: takes pages from the controller as long as its lease lasts, sends the mails and reports the outcomes. */

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Config } from '../../config.ts';
import type { Outcome } from '../../delivery/transport/courier.ts';
import type { Log, LogLevel } from '../../log.ts';
import { VERSION } from '../../version.ts';
import {
  BEAT_MS,
  type Beat,
  type BeatReply,
  CONTROLLER_SUBJECT,
  type Command,
  commandSubject,
  isUnderstood,
  NODE_LEASE_MS,
  type NodeSettings,
  type Page,
  PROTOCOL,
} from '../protocol.ts';
import { NodeContents } from './contents.ts';
import type { NodeStatus } from './node-metrics.ts';
import { HeldPages } from './pages.ts';
import { RelayShares } from './relay-shares.ts';
import { NodeRelays } from './relays.ts';
import { Reporter } from './reporter.ts';

const BEAT_TIMEOUT_MS = 2000;
/** The wait before a heartbeat that must follow soon. */
const SHORT_WAIT_MS = 100;
const NO_RELAY = 'There is no SMTP server.';
const MAX_NAME_CHARACTERS = 63;
/** The beginning of a lease that has never begun. */
const NEVER = { steady: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };

export class SenderNode {
  readonly #config: Config;
  readonly #connection: NatsConnection;
  readonly #log: Log;
  readonly #name: string;
  readonly #relays: NodeRelays;
  readonly #shares = new RelayShares();
  readonly #reporter: Reporter;
  readonly #contents: NodeContents;
  readonly #pages: HeldPages;
  readonly #ending = new AbortController();
  #run = '';
  #controllerRun = '';
  #commands: Subscription | null = null;
  /** When the lease began, by both clocks, in milliseconds. */
  #renewed = NEVER;
  /** The numbers of withdrawals carried out since the last heartbeat. */
  #withdrawn: number[] = [];
  /** The version of the settings that this node has. */
  #settings = '';
  #isLeaving = false;
  #lastLogged = '';

  /** `onOutcome` is called with the outcome of each hand-off. */
  constructor(config: Config, connection: NatsConnection, log: Log, onOutcome: (outcome: Outcome) => void) {
    this.#config = config;
    this.#connection = connection;
    this.#log = log;
    this.#name = nodeName(config);
    this.#relays = new NodeRelays(config, log);
    this.#reporter = new Reporter(connection, this.#name, () => this.#pages.pump());
    this.#contents = new NodeContents(connection);
    this.#pages = new HeldPages({
      courier: this.#relays,
      findContent: (name) => this.#contents.get(name),
      hasLease: () => this.#hasLease(),
      mayBegin: () => this.#hasLease() && !this.#reporter.isBehind,
      onEnded: (pageId, relayId, ended, outcome) => {
        this.#reporter.add(pageId, ended);
        this.#note(relayId, outcome);
        if (outcome !== 'withdrawn') onOutcome(outcome);
      },
      log,
    });
    this.#begin();
  }

  get status(): NodeStatus {
    const { isFailing: isRelayFailing } = this.#relays;
    return { isSending: this.#hasLease(), isRelayFailing, unreported: this.#reporter.unreported };
  }

  /** Sends heartbeats until `close` is called. */
  async run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const sentAt = performance.now();
      const isUpToDate = await this.#beat(sentAt);
      this.#pages.pump();
      const wait = isUpToDate ? BEAT_MS - (performance.now() - sentAt) : SHORT_WAIT_MS;
      await setTimeout(Math.max(0, wait), undefined, { signal }).catch(() => undefined);
    }
  }

  /**
   * Takes no more pages, finishes mails whose text is being written, returns all other recipients, and signs off once NATS has all reports.
   * While mails are in progress the node still sends heartbeats, so that the recipients of these mails are not given to another node.
   */
  async close(): Promise<void> {
    const graceMs = this.#config.SHUTDOWN_SECONDS * 1000;
    this.#isLeaving = true;
    this.#pages.withdrawAll();
    await this.#pages.close(graceMs);
    this.#ending.abort();
    this.#commands?.unsubscribe();
    this.#reporter.notify(this.#run, this.#controllerRun, () => ({ isLast: true }));
    await Promise.race([this.#reporter.finished(), setTimeout(graceMs, undefined, { ref: false })]);
  }

  /** Starts as a new run without pages. */
  #begin(): void {
    this.#commands?.unsubscribe();
    this.#pages.withdrawAll();
    // A run begins with the node's name, so that NATS permissions can keep other nodes from receiving this node's commands.
    this.#run = `${this.#name}.${randomBytes(12).toString('base64url')}`;
    this.#controllerRun = '';
    this.#renewed = NEVER;
    this.#withdrawn = [];
    const run = this.#run;
    this.#commands = this.#connection.subscribe(commandSubject(run), {
      callback: (error, message) => {
        if (error !== null) return;
        void this.#take(run, () => message.json<Command>()).then((isTaken) =>
          message.respond(Buffer.from(JSON.stringify({ isTaken }))),
        );
      },
    });
  }

  /** Carries out a command to a run. Returns false if the run is not the current one, or if the command cannot be understood. */
  async #take(run: string, read: () => Command): Promise<boolean> {
    try {
      const { brain: controllerRun, page, pageIn, withdraw } = read();
      const isForUs = () => run === this.#run && controllerRun === this.#controllerRun && !this.#ending.signal.aborted;
      if (!isForUs()) return false;
      if (withdraw !== undefined) this.#pages.withdraw(withdraw);
      if (page === undefined && pageIn === undefined) return true;
      const completePage = page ?? (await this.#contents.read<Page>(pageIn ?? ''));
      if (completePage === null || this.#isLeaving || !isForUs()) return false;
      this.#pages.take(completePage);
      return true;
    } catch (error) {
      this.#log({ err: String(error) }, 'a command of the service could not be read', 'warn');
      return false;
    }
  }

  /**
   * Sends one heartbeat and follows the reply. Returns false if the next heartbeat must follow soon, because the controller does not know
   * this node's pages or its open relays yet.
   */
  async #beat(sentAt: number): Promise<boolean> {
    const controllerRun = this.#controllerRun;
    const wall = Date.now();
    const reply = await this.#sendHeartbeat();
    if (reply === null || this.#ending.signal.aborted) return true;
    if (!isUnderstood(reply.protocol)) {
      this.#logOnce(
        `waits: the releases of this node and the service are too far apart (protocol ${PROTOCOL} here, ${reply.protocol} there); update the older one`,
        'error',
      );
      return true;
    }
    if (reply.isLost) {
      this.#logOnce('the service did not hear this node for too long and has given its recipients to others', 'warn');
      this.#begin();
      return false;
    }
    if (reply.brain !== controllerRun) {
      this.#controllerRun = reply.brain;
      // The new run may use these numbers for withdrawals of its own.
      this.#withdrawn = [];
      this.#reporter.notify(this.#run, reply.brain, () => ({ has: this.#pages.open }));
      return false;
    }
    // Withdrawals are carried out before the lease is renewed. Without a lease, no withdrawn mail can have started since.
    this.#pages.withdraw(reply.withdraw);
    this.#withdrawn = reply.withdraw.map(({ number }) => number);
    if (reply.isRenewed) {
      this.#renewed = { steady: sentAt, wall };
      this.#logOnce('this node sends');
    }
    const wasOpen = this.#relays.isOpen;
    await this.#followSettings(reply.settings);
    return reply.isRenewed && wasOpen === this.#relays.isOpen;
  }

  /** Sends a heartbeat and returns the reply; null if the controller does not reply. */
  async #sendHeartbeat(): Promise<BeatReply | null> {
    this.#shares.measure();
    const { capacity, refusal } = this.#shares.anyRelay;
    const isRefusing = this.#isLeaving || !this.#relays.isOpen;
    const beat: Beat = {
      protocol: PROTOCOL,
      version: VERSION,
      run: this.#run,
      name: this.#name,
      brain: this.#controllerRun,
      capacity: isRefusing ? 0 : capacity,
      rate: this.#shares.rate,
      refusal: this.#relays.isOpen || !this.#relays.areKnown ? refusal : NO_RELAY,
      ...(!isRefusing && { relays: this.#shares.byRelay }),
      warmUp: this.#config.WARM_UP,
      isEnding: this.#isLeaving,
      withdrawn: this.#withdrawn,
    };
    try {
      const bytes = Buffer.from(JSON.stringify(beat));
      const message = await this.#connection.request(`${CONTROLLER_SUBJECT.beat}.${this.#name}`, bytes, {
        timeout: BEAT_TIMEOUT_MS,
      });
      return message.json<BeatReply>();
    } catch {
      this.#logOnce('the service does not answer; waiting for it', 'warn');
      return null;
    }
  }

  /**
   * True if the lease was renewed recently by both clocks: the monotonic clock stands still while a machine is suspended, and the wall clock
   * can be set back.
   */
  #hasLease(): boolean {
    const { steady, wall } = this.#renewed;
    return performance.now() - steady < NODE_LEASE_MS && Date.now() - wall < NODE_LEASE_MS;
  }

  /** Switches to the controller's relays if they have changed, and returns mails that wait for the old relays. */
  async #followSettings(version: string): Promise<void> {
    if (!this.#relays.areFromController || version === this.#settings) return;
    try {
      const message = await this.#connection.request(CONTROLLER_SUBJECT.settings, '', { timeout: BEAT_TIMEOUT_MS });
      const settings = message.json<NodeSettings>();
      this.#settings = version;
      if (!this.#relays.replace(settings)) return;
      this.#shares.replace(settings.relays.flatMap(({ id }) => id ?? []));
      this.#pages.withdrawAll();
    } catch {
      // The next heartbeat asks again.
    }
  }

  /** Records an outcome. If the relay rejects this node, returns the mails that wait for that relay. */
  #note(relayId: number | null, outcome: Outcome | 'withdrawn'): void {
    const rejection = this.#shares.note(relayId, outcome);
    if (rejection === null || outcome === 'withdrawn') return;
    if (rejection === 'refused')
      this.#log({ reply: outcome.reply }, 'the SMTP servers take no mail from this node', 'warn');
    const rejecting = this.#shares.keyOf(relayId);
    this.#pages.withdrawAll((id) => this.#shares.keyOf(id) === rejecting);
  }

  #logOnce(text: string, level?: LogLevel): void {
    if (text !== this.#lastLogged) this.#log({ node: this.#name }, text, level);
    this.#lastLogged = text;
  }
}

/** Returns NODE_NAME, or the name of the machine in characters that NATS subjects allow. */
export function nodeName({ NODE_NAME }: Config): string {
  return (
    NODE_NAME ||
    hostname()
      .replace(/[^A-Za-z0-9_-]+/g, '-')
      .slice(0, MAX_NAME_CHARACTERS) ||
    'node'
  );
}
