/** A sender node: takes pages from the brain for as long as its lease lasts, hands the mails over and reports what became of them. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Config } from '../../config.ts';
import type { Outcome } from '../../delivery/transport/courier.ts';
import { VERSION } from '../../version.ts';
import { isAboutNode } from '../about-node.ts';
import {
  BEAT_MS,
  type Beat,
  type BeatReply,
  BRAIN,
  type Command,
  commandSubject,
  NODE_LEASE_MS,
  type NodeSettings,
  PROTOCOL,
} from '../protocol.ts';
import { NodeContents } from './contents.ts';
import { HeldPages } from './pages.ts';
import { NodeRelays } from './relays.ts';
import { Reporter } from './reporter.ts';

const BEAT_TIMEOUT_MS = 2000;
/** The wait for the next sign of life while the brain does not know yet what this node has. */
const GREETING_MS = 100;
/** A node whose relays refused it tries one mail after this time. */
const TRIAL_AFTER_MS = 15_000;
const MIN_CAPACITY = 200;
/** A node takes what it sends in so many seconds, so that it never waits for the brain. */
const CAPACITY_SECONDS = 0.6;

export class SenderNode {
  readonly #config: Config;
  readonly #connection: NatsConnection;
  readonly #log: (fields: object, text: string) => void;
  readonly #name: string;
  readonly #relays: NodeRelays;
  readonly #reporter: Reporter;
  readonly #pages: HeldPages;
  readonly #ending = new AbortController();
  #run = '';
  #brain = '';
  #commands: Subscription | null = null;
  /** The moment from which the lease counts; monotonic milliseconds. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  #withdrawn: number[] = [];
  #settings = '';
  #refusal = '';
  #refusedAt = 0;
  #sent = 0;
  #rate = 0;
  #said = '';

  constructor(config: Config, connection: NatsConnection, log: (fields: object, text: string) => void) {
    this.#config = config;
    this.#connection = connection;
    this.#log = log;
    this.#name = nodeName(config);
    this.#relays = new NodeRelays(config, log);
    this.#reporter = new Reporter(connection, this.#name);
    const contents = new NodeContents(connection);
    this.#pages = new HeldPages({
      courier: this.#relays,
      findContent: (name) => contents.get(name),
      mayBegin: () => performance.now() - this.#renewedAt < NODE_LEASE_MS,
      onEnded: (page, ended, outcome) => {
        this.#reporter.add(page, ended);
        this.#note(outcome);
      },
      log,
    });
    this.#begin();
  }

  /** Gives signs of life until `close` is called. */
  async run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const askedAt = performance.now();
      const isKnown = await this.#beat(askedAt);
      this.#pages.pump();
      const wait = isKnown ? BEAT_MS - (performance.now() - askedAt) : GREETING_MS;
      await setTimeout(Math.max(0, wait), undefined, { signal }).catch(() => undefined);
    }
  }

  /** Takes no more pages, finishes what is in flight, gives back the rest, and says good-bye once NATS has all reports. */
  async close(): Promise<void> {
    const graceMs = this.#config.SHUTDOWN_SECONDS * 1000;
    this.#ending.abort();
    this.#commands?.unsubscribe();
    this.#pages.withdrawAll();
    await this.#pages.close(graceMs);
    this.#reporter.notify(this.#run, this.#brain, () => ({ isLast: true }));
    await Promise.race([this.#reporter.finished(), setTimeout(graceMs, undefined, { ref: false })]);
  }

  /** Starts as a new run, with nothing. */
  #begin(): void {
    this.#commands?.unsubscribe();
    this.#pages.withdrawAll();
    this.#run = randomBytes(12).toString('base64url');
    this.#brain = '';
    this.#renewedAt = Number.NEGATIVE_INFINITY;
    this.#withdrawn = [];
    const run = this.#run;
    this.#commands = this.#connection.subscribe(commandSubject(run), {
      callback: (error, message) => {
        if (error !== null) return;
        const isTaken = run === this.#run && this.#take(() => message.json<Command>());
        message.respond(Buffer.from(JSON.stringify({ isTaken })));
      },
    });
  }

  /** Does what the brain says; false if it is not the one this node works for, or cannot be understood. */
  #take(read: () => Command): boolean {
    try {
      const { brain, page, withdraw } = read();
      if (brain !== this.#brain || this.#ending.signal.aborted) return false;
      if (withdraw !== undefined) this.#pages.withdraw(withdraw);
      if (page !== undefined) this.#pages.take(page);
      return true;
    } catch (error) {
      this.#log({ err: String(error) }, 'a message of the service could not be read');
      return false;
    }
  }

  /** Gives one sign of life; whether the service knows what this node has, or does not answer. */
  async #beat(askedAt: number): Promise<boolean> {
    const brain = this.#brain;
    const reply = await this.#ask();
    if (reply === null || this.#ending.signal.aborted) return true;
    if (reply.protocol !== PROTOCOL) {
      this.#say(`this release does not understand that of the service (protocol ${reply.protocol}, not ${PROTOCOL})`);
      return true;
    }
    if (reply.isLost) {
      this.#say('the service did not hear this node for too long and has given its recipients to others');
      this.#begin();
      return false;
    }
    if (reply.brain !== brain) {
      this.#brain = reply.brain;
      this.#reporter.notify(this.#run, reply.brain, () => ({ has: this.#pages.open }));
      return false;
    }
    // Before the lease is renewed: until then nothing of it can have begun since the service stopped it.
    this.#pages.withdraw(reply.withdraw);
    this.#withdrawn = reply.withdraw.map(({ number }) => number);
    if (reply.isRenewed) this.#renewedAt = askedAt;
    if (reply.isRenewed) this.#say('this node sends');
    await this.#followSettings(reply.settings);
    return reply.isRenewed;
  }

  async #ask(): Promise<BeatReply | null> {
    const beat: Beat = {
      protocol: PROTOCOL,
      version: VERSION,
      run: this.#run,
      name: this.#name,
      brain: this.#brain,
      capacity: this.#capacity(),
      rate: this.#rate,
      refusal: this.#relays.isOpen ? this.#refusal : 'There is no relay.',
      withdrawn: this.#withdrawn,
    };
    try {
      const bytes = Buffer.from(JSON.stringify(beat));
      const message = await this.#connection.request(BRAIN.beat, bytes, { timeout: BEAT_TIMEOUT_MS });
      return message.json<BeatReply>();
    } catch {
      this.#say('the service does not answer; waiting for it');
      return null;
    }
  }

  async #followSettings(version: string): Promise<void> {
    if (!this.#relays.areGiven || version === this.#settings) return;
    try {
      const message = await this.#connection.request(BRAIN.settings, '', { timeout: BEAT_TIMEOUT_MS });
      this.#relays.replace(message.json<NodeSettings>());
      this.#settings = version;
    } catch {
      // The next sign of life asks again.
    }
  }

  /** How many recipients this node takes at a time. */
  #capacity(): number {
    this.#rate = this.#sent / (BEAT_MS / 1000);
    this.#sent = 0;
    if (!this.#relays.isOpen) return 0;
    if (this.#refusal !== '') return performance.now() - this.#refusedAt < TRIAL_AFTER_MS ? 0 : 1;
    return Math.max(MIN_CAPACITY, Math.ceil(this.#rate * CAPACITY_SECONDS));
  }

  /** Stops this node when its relays take no mail from it, and gives its share back. */
  #note(outcome: Outcome | 'withdrawn'): void {
    if (outcome === 'withdrawn') return;
    if (outcome.kind === 'accepted') {
      this.#sent++;
      this.#refusal = '';
    } else if (isAboutNode(outcome)) {
      this.#refusedAt = performance.now();
      if (this.#refusal === '') this.#log({ reply: outcome.reply }, 'the relays take no mail from this node');
      this.#refusal = outcome.reply;
      this.#pages.withdrawAll();
    }
  }

  #say(text: string): void {
    if (text !== this.#said) this.#log({ node: this.#name }, text);
    this.#said = text;
  }
}

/** The name of a node in lists: NODE_NAME, or that of the machine. */
function nodeName({ NODE_NAME }: Config): string {
  return (
    NODE_NAME ||
    hostname()
      .replace(/[^A-Za-z0-9_-]+/g, '-')
      .slice(0, 63) ||
    'node'
  );
}
