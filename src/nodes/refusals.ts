/** Counts and logs rejected messages of nodes. However many there are, the log gets few lines. */

import type { Database } from 'better-sqlite3';
import { addRefusedMessages, type RefusedMessage } from '../delivery/reporting/sender-nodes.ts';
import type { Log } from '../log.ts';

/** The minimum time between two log lines about the same kind of message; each states how many there were. */
const SAY_MS = 10_000;
const TEXTS: Record<RefusedMessage, string> = {
  report: 'a report of a node is malformed and was left out',
  result: 'a node reported what became of recipients that it did not have; this was left out',
  sign_of_life: 'a sign of life of a node was refused',
  choice: 'a choice that a node published cannot be carried out and was left out',
  hits: 'opens and clicks that a node published are malformed and were left out',
  question: 'a question of a node is malformed and was not answered',
};

interface RefusalCount {
  /** Those not in the database yet. */
  unwritten: number;
  /** Those not logged yet. */
  unlogged: number;
  /** When the last line was logged, monotonic milliseconds. */
  loggedAt: number;
}

export class Refusals {
  readonly #log: Log;
  readonly #counted = new Map<RefusedMessage, RefusalCount>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Counts and logs rejected messages; `fields` identify them. */
  add(kind: RefusedMessage, fields: object, count = 1): void {
    this.#of(kind).unwritten += count;
    this.log(kind, fields, count);
  }

  /** Logs rejected messages that the caller has already counted in the database; `fields` identify them. */
  log(kind: RefusedMessage, fields: object, count = 1): void {
    const counted = this.#of(kind);
    counted.unlogged += count;
    const now = performance.now();
    if (now - counted.loggedAt < SAY_MS) return;
    this.#log({ ...fields, count: counted.unlogged }, TEXTS[kind], 'warn');
    counted.unlogged = 0;
    counted.loggedAt = now;
  }

  /** Whether there are counts to write. */
  get isWaiting(): boolean {
    return [...this.#counted.values()].some(({ unwritten }) => unwritten > 0);
  }

  /** Writes the counts in the caller's transaction. The caller calls `written` after the commit. */
  write(client: Database): void {
    for (const [kind, { unwritten }] of this.#counted) if (unwritten > 0) addRefusedMessages(client, kind, unwritten);
  }

  /** Clears the written counts. Nothing may have been added since `write`. */
  written(): void {
    for (const counted of this.#counted.values()) counted.unwritten = 0;
  }

  /** Writes the counts in a transaction of their own. */
  flush(client: Database): void {
    if (!this.isWaiting) return;
    client.transaction(() => this.write(client)).immediate();
    this.written();
  }

  #of(kind: RefusedMessage): RefusalCount {
    const counted = this.#counted.get(kind) ?? { unwritten: 0, unlogged: 0, loggedAt: Number.NEGATIVE_INFINITY };
    this.#counted.set(kind, counted);
    return counted;
  }
}
