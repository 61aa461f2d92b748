/** Reports what became of recipients: on the stream, in order, repeated until NATS has it. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type JetStreamClient, jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Ended, MAX_ENDED, PROTOCOL, type Report } from '../protocol.ts';
import { SUBJECT } from '../streams.ts';

/** A report is sent this long after the first outcome in it, so that it holds many. It is sent within 50 ms of each, unless NATS is slow. */
const GATHER_MS = 40;
/** Replies in a report have so many characters at most, of up to three bytes each. NATS takes 1 MiB in a message. */
const MAX_CHARACTERS = 250_000;
const PUBLISH_MS = 2000;
const RETRY_MS = 200;
/** While NATS has not taken an outcome for this long, no mail begins: what is not reported may be sent twice if the node is lost. */
const BEHIND_MS = 1000;

/** What only the first report after a change says. */
type Notice = Pick<Report, 'has' | 'isLast'>;

interface Waiting {
  page: number;
  ended: Ended;
  /** When it was known; monotonic milliseconds. */
  at: number;
}

export class Reporter {
  readonly #connection: NatsConnection;
  readonly #stream: JetStreamClient;
  readonly #name: string;
  readonly #onTaken: () => void;
  readonly #waiting: Waiting[] = [];
  /** Of this process, so that its reports have ids of their own. */
  readonly #process = randomBytes(9).toString('base64url');
  readonly #notices: { run: string; brain: string; notice: () => Notice }[] = [];
  #number = 0;
  #brain = '';
  #sending: Promise<void> | null = null;
  /** When the oldest outcome was known of the report that NATS has not taken; infinite when there is none. */
  #unconfirmedAt = Number.POSITIVE_INFINITY;

  /** `onTaken` is called after each report that NATS took. */
  constructor(connection: NatsConnection, name: string, onTaken: () => void) {
    this.#connection = connection;
    this.#stream = jetstream(connection);
    this.#name = name;
    this.#onTaken = onTaken;
  }

  /** Whether NATS is slow to take reports, so that no mail may begin. */
  get isBehind(): boolean {
    const oldest = Math.min(this.#unconfirmedAt, this.#waiting[0]?.at ?? Number.POSITIVE_INFINITY);
    return performance.now() - oldest > BEHIND_MS;
  }

  /** Adds what became of a recipient of a page. */
  add(page: number, ended: Ended): void {
    this.#waiting.push({ page, ended, at: performance.now() });
    this.#start();
  }

  /** Adds a notice of a run of this node to a run of the brain; it follows everything that was added before. */
  notify(run: string, brain: string, notice: () => Notice): void {
    this.#brain = brain || this.#brain;
    this.#notices.push({ run, brain, notice });
    this.#start();
  }

  /** Resolves once NATS has everything. */
  async finished(): Promise<void> {
    while (this.#sending !== null) await this.#sending;
  }

  #start(): void {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length + this.#notices.length > 0) {
      if (this.#waiting.length < MAX_ENDED) await setTimeout(GATHER_MS);
      this.#unconfirmedAt = this.#waiting[0]?.at ?? Number.POSITIVE_INFINITY;
      const ended = this.#gathered();
      const next = this.#waiting.length === 0 ? this.#notices.shift() : undefined;
      const report: Report = {
        protocol: PROTOCOL,
        run: next?.run ?? '',
        brain: next?.brain ?? this.#brain,
        ended,
        ...next?.notice(),
      };
      await this.#publish(Buffer.from(JSON.stringify(report)));
      this.#unconfirmedAt = Number.POSITIVE_INFINITY;
      this.#onTaken();
    }
  }

  /** Takes what the next report has room for, by page. */
  #gathered(): Report['ended'] {
    const ended = new Map<number, Ended[]>();
    let count = 0;
    let characters = 0;
    for (const { page, ended: one } of this.#waiting) {
      characters += one[5]?.length ?? 0;
      if (count === MAX_ENDED || (count > 0 && characters > MAX_CHARACTERS)) break;
      count++;
      const theirs = ended.get(page);
      if (theirs === undefined) ended.set(page, [one]);
      else theirs.push(one);
    }
    this.#waiting.splice(0, count);
    return [...ended];
  }

  /** Publishes until NATS confirms it, each time with the same id, so that it is stored once. */
  async #publish(bytes: Uint8Array): Promise<void> {
    const msgID = `${this.#process}.${++this.#number}`;
    while (!this.#connection.isClosed()) {
      try {
        await this.#stream.publish(`${SUBJECT.results}.${this.#name}`, bytes, { msgID, timeout: PUBLISH_MS });
        return;
      } catch {
        await setTimeout(RETRY_MS);
      }
    }
  }
}

export type NodeLog = (fields: object, text: string, level?: 'warn') => void;
