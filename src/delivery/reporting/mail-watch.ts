/** Watches whether due mail is sent, and logs why it waits: the SMTP server fails, or does not answer a hand-off. */
import type { Database } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';
import { sendingHeldReason } from '../queue/holds.ts';
import { relayFailing } from '../queue/relay-use.ts';
import { oldestDueAt, readGauges } from './gauges.ts';

/** Shorter waits are not logged: a relay is restarted, or its limit of connections is reached. */
const NEWS_AFTER_MS = 60_000;
/** A hand-off that takes this long is logged. RFC 5321, 4.5.3.2 lets an SMTP server take ten minutes for the last reply. */
const SILENT_AFTER_MS = 120_000;
/** While mail still waits, it is logged again after this time. */
const REPEATED_MS = 10 * 60_000;
const LOOK_MS = 5000;

interface MailWatchDeps {
  client: Database;
  config: Config;
  /** The current time, epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds. */
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
   * Looks every five seconds. Call it with each step. Mail that waits for sender nodes, or while all sending is held,
   * is logged elsewhere.
   */
  look(): void {
    const { monotonic, log } = this.#deps;
    const at = monotonic();
    if (at - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = at;
    const row = this.#find();
    if (row === null) {
      if (this.#waits) log({}, 'mail leaves again');
      this.#waits = false;
      return;
    }
    if (this.#waits && at - this.#loggedAt < REPEATED_MS) return;
    this.#waits = true;
    this.#loggedAt = at;
    log(row, 'mail waits', 'warn');
  }

  /** Why mail waits, with figures; null if it is sent. */
  #find(): object | null {
    const { client, config, now } = this.#deps;
    if (sendingHeldReason(client) !== null) return null;
    const time = now();
    const failure = relayFailing(client, config);
    const dueSince = failure === null ? null : oldestDueAt(client, time);
    if (failure !== null && dueSince !== null && time - dueSince >= NEWS_AFTER_MS) {
      const { relay, reply } = failure;
      return { relay, reason: reply, oldest_due_seconds: Math.floor((time - dueSince) / 1000) };
    }
    const { oldestSending } = readGauges(client);
    if (config.NATS_URL.length > 0 || oldestSending === null || time - oldestSending < SILENT_AFTER_MS) return null;
    const seconds = Math.floor((time - oldestSending) / 1000);
    return { reason: 'the SMTP server does not answer a hand-off', oldest_sending_seconds: seconds };
  }
}
