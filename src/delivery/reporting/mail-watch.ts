/** Watches whether due mail is sent, and logs why it waits: the SMTP server fails, or does not answer a hand-off. */
import type { Database } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';
import { MINUTE_MS } from '../../units.ts';
import { sendingHeldReason } from '../queue/holds.ts';
import { currentRelayFailure } from '../queue/relay-use.ts';
import { oldestDueAt, readGauges } from './gauges.ts';

/**
 * How long mail must wait before it is logged, in milliseconds. Shorter waits are usual while a relay is restarted or has no connection
 * free.
 */
const WAITING_AFTER_MS = 60_000;
/**
 * The duration of a hand-off from which it is logged, in milliseconds. RFC 5321, 4.5.3.2 lets an SMTP server take ten minutes for the last
 * reply.
 */
const SILENT_AFTER_MS = 120_000;
/** The time after which mail that still waits is logged again, in milliseconds. */
const REPEAT_MS = 10 * MINUTE_MS;
/** How often the state of mail is read, in milliseconds. */
const POLL_MS = 5000;

interface MailWatchDeps {
  client: Database;
  config: Config;
  /** Returns the current time in epoch milliseconds. */
  now(): number;
  /** Returns the time on a monotonic clock, in milliseconds. */
  monotonic(): number;
  log: Log;
}

export class MailWatch {
  readonly #deps: MailWatchDeps;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #waits = false;

  constructor(deps: MailWatchDeps) {
    this.#deps = deps;
  }

  /**
   * Looks every five seconds whether mail waits, and logs changes. Call it with each step. Mail that waits for sender nodes, or while all
   * sending is held, is logged elsewhere.
   */
  look(): void {
    const { monotonic, log } = this.#deps;
    const at = monotonic();
    if (at - this.#lookedAt < POLL_MS) return;
    this.#lookedAt = at;
    const row = this.#find();
    if (row === null) {
      if (this.#waits) log({}, 'mail leaves again');
      this.#waits = false;
      return;
    }
    if (this.#waits && at - this.#loggedAt < REPEAT_MS) return;
    this.#waits = true;
    this.#loggedAt = at;
    log(row, 'mail waits', 'warn');
  }

  /** Returns why mail waits, with figures, for the log; null if no mail waits. */
  #find(): object | null {
    const { client, config, now } = this.#deps;
    if (sendingHeldReason(client) !== null) return null;
    const time = now();
    const failure = currentRelayFailure(client, config);
    const dueSince = failure === null ? null : oldestDueAt(client, time);
    if (failure !== null && dueSince !== null && time - dueSince >= WAITING_AFTER_MS) {
      const { relay, reply } = failure;
      return { relay, reason: reply, oldest_due_seconds: Math.floor((time - dueSince) / 1000) };
    }
    const { oldestSending } = readGauges(client);
    if (config.NATS_URL.length > 0 || oldestSending === null || time - oldestSending < SILENT_AFTER_MS) return null;
    const seconds = Math.floor((time - oldestSending) / 1000);
    return { reason: 'the SMTP server does not answer a hand-off', oldest_sending_seconds: seconds };
  }
}
