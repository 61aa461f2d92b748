/** Publishes the outcomes of mails on the stream of results, in order. Each report is repeated until NATS has acknowledged it. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type JetStreamClient, jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Ended, MAX_ENDED, PROTOCOL, type Report } from '../protocol.ts';
import { SUBJECT } from '../streams.ts';

/**
 * A report is sent this long after its first outcome, so that it contains many outcomes. Unless NATS is slow, every outcome is sent within
 * 50 ms.
 */
const GATHER_MS = 40;
/** The maximum total length of the replies in a report, in characters, which have up to three bytes. NATS allows 1 MiB per message. */
const MAX_CHARACTERS = 250_000;
const PUBLISH_MS = 2000;
const RETRY_MS = 200;
/**
 * If NATS has not acknowledged an outcome for this long, no mail starts, because unreported mails may be sent twice if the node is lost.
 */
const BEHIND_MS = 1000;

/** Fields that only the first report after a change contains. */
type Notice = Pick<Report, 'has' | 'isLast'>;

interface Waiting {
  pageId: number;
  ended: Ended;
  /** When the outcome became known, monotonic milliseconds. */
  at: number;
}

export class Reporter {
  readonly #connection: NatsConnection;
  readonly #stream: JetStreamClient;
  readonly #name: string;
  readonly #onTaken: () => void;
  readonly #waiting: Waiting[] = [];
  /** Identifies this process, so that its reports have unique ids. */
  readonly #process = randomBytes(9).toString('base64url');
  readonly #notices: { run: string; controllerRun: string; notice: () => Notice }[] = [];
  #number = 0;
  #controllerRun = '';
  #sending: Promise<void> | null = null;
  /** The time of the oldest outcome in the report that NATS has not acknowledged; infinite if NATS has acknowledged every report. */
  #unconfirmedAt = Number.POSITIVE_INFINITY;

  /** `onTaken` is called after each report that NATS acknowledged. */
  constructor(connection: NatsConnection, name: string, onTaken: () => void) {
    this.#connection = connection;
    this.#stream = jetstream(connection);
    this.#name = name;
    this.#onTaken = onTaken;
  }

  /** True if NATS is so slow to acknowledge reports that no mail may start. */
  get isBehind(): boolean {
    const oldest = Math.min(this.#unconfirmedAt, this.#waiting[0]?.at ?? Number.POSITIVE_INFINITY);
    return performance.now() - oldest > BEHIND_MS;
  }

  /** The number of outcomes that are not in a report yet. */
  get unreported(): number {
    return this.#waiting.length;
  }

  /** Adds the outcome of a recipient of a page. */
  add(pageId: number, ended: Ended): void {
    this.#waiting.push({ pageId, ended, at: performance.now() });
    this.#start();
  }

  /** Adds a notice from a run of this node to a run of the controller. The notice is sent after all outcomes added before. */
  notify(run: string, controllerRun: string, notice: () => Notice): void {
    this.#controllerRun = controllerRun || this.#controllerRun;
    this.#notices.push({ run, controllerRun, notice });
    this.#start();
  }

  /** Resolves once NATS has acknowledged everything. */
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
      const ended = this.#takeOutcomes();
      const next = this.#waiting.length === 0 ? this.#notices.shift() : undefined;
      const report: Report = {
        protocol: PROTOCOL,
        run: next?.run ?? '',
        brain: next?.controllerRun ?? this.#controllerRun,
        ended,
        ...next?.notice(),
      };
      await this.#publish(Buffer.from(JSON.stringify(report)));
      this.#unconfirmedAt = Number.POSITIVE_INFINITY;
      this.#onTaken();
    }
  }

  /** Removes and returns the outcomes that fit into the next report, by page. */
  #takeOutcomes(): Report['ended'] {
    const byPage = new Map<number, Ended[]>();
    let count = 0;
    let characters = 0;
    for (const { pageId, ended: outcome } of this.#waiting) {
      const [, , , , , reply = ''] = outcome;
      characters += reply.length;
      if (count === MAX_ENDED || (count > 0 && characters > MAX_CHARACTERS)) break;
      count++;
      const outcomes = byPage.get(pageId);
      if (outcomes === undefined) byPage.set(pageId, [outcome]);
      else outcomes.push(outcome);
    }
    this.#waiting.splice(0, count);
    return [...byPage];
  }

  /** Publishes a report until NATS acknowledges it. All attempts have the same id, so that the report is stored once. */
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
