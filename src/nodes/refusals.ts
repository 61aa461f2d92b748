/** Counts and logs rejected messages of nodes. The log gets few lines, however many messages are rejected. */

import type { Database } from 'better-sqlite3';
import { addRefusedMessages, type RefusedMessage } from '../delivery/reporting/refused-messages.ts';
import type { Log } from '../log.ts';

/** The minimum time between two log lines about the same kind of message. A line states how many messages were rejected since the last one. */
const LOG_MS = 10_000;
const TEXTS: Record<RefusedMessage, string> = {
  report: 'a report of a node is malformed and was skipped',
  result: 'a node reported results of recipients that it did not have; they were skipped',
  sign_of_life: 'a heartbeat of a node was refused',
  choice: 'a choice that a node published cannot be applied and was skipped',
  hits: 'opens and clicks that a node published are malformed and were skipped',
  question: 'a question of a node is malformed and was not answered',
};

interface RefusalCount {
  /** The number of messages that is not in the database yet. */
  unwritten: number;
  /** The number of messages that is not logged yet. */
  unlogged: number;
  /** When the last line was logged, monotonic milliseconds. */
  loggedAt: number;
}

export class Refusals {
  readonly #log: Log;
  readonly #counts = new Map<RefusedMessage, RefusalCount>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Counts and logs rejected messages; `fields` identify them. */
  add(kind: RefusedMessage, fields: object, count = 1): void {
    this.#countOf(kind).unwritten += count;
    this.log(kind, fields, count);
  }

  /** Logs rejected messages that the caller has already counted in the database; `fields` identify them. */
  log(kind: RefusedMessage, fields: object, count = 1): void {
    const total = this.#countOf(kind);
    total.unlogged += count;
    const now = performance.now();
    if (now - total.loggedAt < LOG_MS) return;
    this.#log({ ...fields, count: total.unlogged }, TEXTS[kind], 'warn');
    total.unlogged = 0;
    total.loggedAt = now;
  }

  /** True if counts are not in the database yet. */
  get isWaiting(): boolean {
    return [...this.#counts.values()].some(({ unwritten }) => unwritten > 0);
  }

  /** Writes the counts in the caller's transaction. The caller calls `written` after the commit. */
  write(client: Database): void {
    for (const [kind, { unwritten }] of this.#counts) if (unwritten > 0) addRefusedMessages(client, kind, unwritten);
  }

  /** Clears the written counts. Nothing may have been added since `write`. */
  written(): void {
    for (const count of this.#counts.values()) count.unwritten = 0;
  }

  /** Writes the counts in a transaction of their own. */
  flush(client: Database): void {
    if (!this.isWaiting) return;
    client.transaction(() => this.write(client)).immediate();
    this.written();
  }

  #countOf(kind: RefusedMessage): RefusalCount {
    const count = this.#counts.get(kind) ?? { unwritten: 0, unlogged: 0, loggedAt: Number.NEGATIVE_INFINITY };
    this.#counts.set(kind, count);
    return count;
  }
}
