/** Counts and logs what nodes sent and was refused. However much of it comes, the log gets few lines. */
import type { Database } from 'better-sqlite3';
import { addRefusedMessages, type RefusedMessage } from '../delivery/reporting/sender-nodes.ts';

/** A line about a kind of message follows the one before after this time, and says how many there were. */
const SAY_MS = 10_000;
const TEXTS: Record<RefusedMessage, string> = {
  report: 'a report of a node is malformed and was left out',
  result: 'a node reported what became of recipients that it did not have; this was left out',
  sign_of_life: 'a sign of life of a node was refused',
  choice: 'a choice that a node published cannot be carried out and was left out',
  hits: 'opens and clicks that a node published are malformed and were left out',
  question: 'a question of a node is malformed and was not answered',
};

interface Counted {
  /** Those that are not in the database yet. */
  unwritten: number;
  /** Those that no line in the log tells of yet. */
  untold: number;
  /** When a line was logged, monotonic milliseconds. */
  saidAt: number;
}

export class Refusals {
  readonly #warn: (fields: object, text: string) => void;
  readonly #counted = new Map<RefusedMessage, Counted>();

  constructor(warn: (fields: object, text: string) => void) {
    this.#warn = warn;
  }

  /** Counts and logs that messages were refused; `fields` say which. */
  add(kind: RefusedMessage, fields: object, count = 1): void {
    this.#of(kind).unwritten += count;
    this.say(kind, fields, count);
  }

  /** Logs that messages were refused which the caller has counted in the database; `fields` say which. */
  say(kind: RefusedMessage, fields: object, count = 1): void {
    const counted = this.#of(kind);
    counted.untold += count;
    const now = performance.now();
    if (now - counted.saidAt < SAY_MS) return;
    this.#warn({ ...fields, count: counted.untold }, TEXTS[kind]);
    counted.untold = 0;
    counted.saidAt = now;
  }

  /** Whether there is something to be written. */
  get isWaiting(): boolean {
    return [...this.#counted.values()].some(({ unwritten }) => unwritten > 0);
  }

  /** Writes the counts, in a transaction of the caller, who calls `written` once that is committed. */
  write(client: Database): void {
    for (const [kind, { unwritten }] of this.#counted) if (unwritten > 0) addRefusedMessages(client, kind, unwritten);
  }

  /** Forgets what was written. Nothing may have been added since `write`. */
  written(): void {
    for (const counted of this.#counted.values()) counted.unwritten = 0;
  }

  /** Writes the counts in a transaction of their own. */
  flush(client: Database): void {
    if (!this.isWaiting) return;
    client.transaction(() => this.write(client)).immediate();
    this.written();
  }

  #of(kind: RefusedMessage): Counted {
    const counted = this.#counted.get(kind) ?? { unwritten: 0, untold: 0, saidAt: Number.NEGATIVE_INFINITY };
    this.#counted.set(kind, counted);
    return counted;
  }
}
