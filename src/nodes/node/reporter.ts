/** Reports what became of recipients: on the stream, in order, repeated until NATS has it. */
import { setTimeout } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Ended, PROTOCOL, type Report } from '../protocol.ts';
import { SUBJECT } from '../streams.ts';

/** A report is sent this long after the first outcome in it, so that it holds many. It is sent within 50 ms of each, unless NATS is slow. */
const GATHER_MS = 20;
/** Far below what NATS takes in a message, at 1 000 characters of reply each. */
const MAX_ENDED = 500;
const PUBLISH_MS = 5000;
const RETRY_MS = 200;

/** What only the first report after a change says. */
type Notice = Pick<Report, 'has' | 'isLast'>;

export class Reporter {
  readonly #connection: NatsConnection;
  readonly #name: string;
  #waiting: { page: number; ended: Ended }[] = [];
  #notices: { run: string; brain: string; notice: () => Notice }[] = [];
  #number = 0;
  #brain = '';
  #sending: Promise<void> | null = null;

  constructor(connection: NatsConnection, name: string) {
    this.#connection = connection;
    this.#name = name;
  }

  /** Adds what became of a recipient of a page. */
  add(page: number, ended: Ended): void {
    this.#waiting.push({ page, ended });
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
      const ended = new Map<number, Ended[]>();
      for (const one of this.#waiting.splice(0, MAX_ENDED)) {
        const theirs = ended.get(one.page) ?? [];
        theirs.push(one.ended);
        ended.set(one.page, theirs);
      }
      const next = this.#waiting.length === 0 ? this.#notices.shift() : undefined;
      const report: Report = {
        protocol: PROTOCOL,
        run: next?.run ?? '',
        brain: next?.brain ?? this.#brain,
        ended: [...ended],
        ...next?.notice(),
      };
      await this.#publish(Buffer.from(JSON.stringify(report)));
    }
  }

  /** Publishes until NATS confirms it, each time with the same id, so that it is stored once. */
  async #publish(bytes: Uint8Array): Promise<void> {
    const msgID = `${this.#name}.${process.pid}.${STARTED}.${++this.#number}`;
    while (!this.#connection.isClosed()) {
      try {
        await jetstream(this.#connection).publish(`${SUBJECT.results}.${this.#name}`, bytes, {
          msgID,
          timeout: PUBLISH_MS,
        });
        return;
      } catch {
        await setTimeout(RETRY_MS);
      }
    }
  }
}

const STARTED = Date.now();
