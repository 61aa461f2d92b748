/** Sending as a whole, held until the operator says go: after a restore, or when the clock has leapt (trust 11, 13). */
import type { Database } from 'better-sqlite3';

const DAY = 24 * 60 * 60 * 1000;
/** A gap longer than this since the service was last seen running is no pause: what came due in it is not sent unasked. */
const LONGEST_GAP_DAYS = 7;
const SEEN_EVERY_MS = 60_000;
/** A background thread not seen for longer has stalled: three beats are missing. */
export const STALLED_MS = 3 * SEEN_EVERY_MS;

/** Why sending is held, or null. */
export function heldReason(client: Database): string | null {
  const reason = client.prepare("SELECT value FROM installation WHERE name = 'sending_held'").pluck().get();
  return typeof reason === 'string' ? reason : null;
}

/** Holds all sending until `release`. */
export function holdSending(client: Database, reason: string): void {
  write(client, 'sending_held', reason);
}

/** Lets sending go on; what is due goes. False when it was not held. */
export function release(client: Database, now: number): boolean {
  return client
    .transaction(() => {
      write(client, 'last_seen', String(now));
      const { changes } = client.prepare("DELETE FROM installation WHERE name = 'sending_held'").run();
      if (changes > 0) write(client, 'released_at', String(now));
      return changes > 0;
    })
    .immediate();
}

/** When sending was last released from a hold, epoch milliseconds; 0 before. */
export function releasedAt(client: Database): number {
  return Number(client.prepare("SELECT value FROM installation WHERE name = 'released_at'").pluck().get() ?? 0);
}

/** When the background was last seen running, epoch milliseconds; 0 before its first step. */
export function lastSeen(client: Database): number {
  return Number(client.prepare("SELECT value FROM installation WHERE name = 'last_seen'").pluck().get() ?? 0);
}

/** Notes that the service runs at this wall time (epoch milliseconds), at most once a minute; a leap ahead holds sending. */
export class Heartbeat {
  readonly #client: Database;
  #seen: number;

  constructor(client: Database) {
    this.#client = client;
    this.#seen = lastSeen(client);
  }

  beat(now: number): void {
    if (this.#seen > 0 && now - this.#seen > LONGEST_GAP_DAYS * DAY) {
      const days = Math.floor((now - this.#seen) / DAY);
      holdSending(
        this.#client,
        `The clock is ${days} days past when the service last ran: nothing overdue is sent before a release`,
      );
    }
    if (Math.abs(now - this.#seen) < SEEN_EVERY_MS) return;
    this.#seen = now;
    write(this.#client, 'last_seen', String(now));
  }
}

function write(client: Database, name: string, value: string): void {
  client
    .prepare(
      'INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    )
    .run(name, value);
}
