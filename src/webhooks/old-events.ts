/**
 * Removes events that no endpoint still waits for. Of each account with endpoints the newest 10 000 events of the last 30 days are
 * kept, because they can be sent again. Also disables endpoints for which too many events wait.
 */
import type { Database } from 'better-sqlite3';
import { DAY_MS } from '../units.ts';
import { disableEndpoint } from './endpoints.ts';

/** The maximum number of events of an account that are kept for sending again. */
const KEPT_EVENTS = 10_000;
/** How long events are kept for sending again. */
const KEPT_MS = 30 * DAY_MS;
/** An endpoint for which more events wait is disabled, because the file must not grow without limit. */
const MAX_UNSENT = 1_000_000;
/**
 * An endpoint for which more events wait for a retry is disabled, because deleting or enabling it writes all of these in one
 * transaction. The number is above KEPT_EVENTS, so that an endpoint that is enabled again is not disabled at once.
 */
const MAX_RETRIED = 20_000;
const EVENTS_PER_TRANSACTION = 1000;
/** The minimum time between two passes over all accounts. */
const PASS_MS = 10_000;

export class OldEvents {
  readonly #client: Database;
  /** When `remove` last read the events of an account, in monotonic milliseconds. */
  #workedAt = Number.NEGATIVE_INFINITY;
  /** The account that was finished last in this pass; 0 between two passes. */
  #lastAccount = 0;

  constructor(client: Database) {
    this.#client = client;
  }

  /**
   * Removes some events of the next account. Returns true if there is more to do in this pass over the accounts. `now` is in
   * epoch milliseconds, `monotonic` in monotonic milliseconds.
   */
  remove(now: number, monotonic: number): boolean {
    if (this.#lastAccount === 0 && monotonic - this.#workedAt < PASS_MS) return false;
    this.#workedAt = monotonic;
    const next = this.#client
      .prepare<[number], { user_id: number }>(
        'SELECT user_id FROM webhook_events INDEXED BY webhook_events_user WHERE user_id > ? ORDER BY user_id LIMIT 1',
      )
      .get(this.#lastAccount);
    if (next === undefined) {
      this.#lastAccount = 0;
      return false;
    }
    this.#disableLagging(next.user_id, now);
    const removed = this.#removeOf(next.user_id, now);
    if (removed < EVENTS_PER_TRANSACTION) this.#lastAccount = next.user_id;
    return true;
  }

  /** Removes up to EVENTS_PER_TRANSACTION events of an account, and returns their number. Disabled endpoints keep no events. */
  #removeOf(account: number, now: number): number {
    const removable = this.#client
      .prepare<[Record<string, number>], { id: number }>(`SELECT id FROM webhook_events INDEXED BY webhook_events_user
      WHERE user_id = @account
        AND id <= ifnull((SELECT min(position) FROM webhook_endpoints WHERE user_id = @account AND state = 'enabled'), id)
        AND (created_at < @oldest OR NOT EXISTS (SELECT 1 FROM webhook_endpoints WHERE user_id = @account) OR id <= ifnull((SELECT id FROM webhook_events INDEXED BY webhook_events_user
          WHERE user_id = @account ORDER BY id DESC LIMIT 1 OFFSET ${KEPT_EVENTS}), 0))
        AND NOT EXISTS (SELECT 1 FROM webhook_waiting w JOIN webhook_endpoints p ON p.id = w.endpoint_id
          WHERE w.event_id = webhook_events.id AND p.state = 'enabled')
      ORDER BY id LIMIT ${EVENTS_PER_TRANSACTION}`)
      .all({ account, oldest: now - KEPT_MS });
    if (removable.length === 0) return 0;
    const ids = JSON.stringify(removable.map(({ id }) => id));
    this.#client
      .transaction(() => {
        for (const [table, column] of [
          ['webhook_waiting', 'event_id'],
          ['webhook_events', 'id'],
        ])
          this.#client.prepare(`DELETE FROM ${table} WHERE ${column} IN (SELECT value FROM json_each(?))`).run(ids);
      })
      .immediate();
    return removable.length;
  }

  /** Disables the endpoints of an account for which too many events wait. */
  #disableLagging(account: number, now: number): void {
    const lagging = this.#client
      .prepare<[number], { id: number }>(`SELECT id FROM webhook_endpoints p WHERE user_id = ? AND state = 'enabled'
        AND (EXISTS (SELECT 1 FROM webhook_waiting WHERE endpoint_id = p.id LIMIT 1 OFFSET ${MAX_RETRIED})
          OR (SELECT max(id) FROM webhook_events) > position + ${MAX_UNSENT}
            AND EXISTS (SELECT 1 FROM webhook_events e INDEXED BY webhook_events_user
              WHERE e.user_id = p.user_id AND e.id > p.position LIMIT 1 OFFSET ${MAX_UNSENT}))`)
      .all(account);
    if (lagging.length === 0) return;
    this.#client
      .transaction(() => {
        for (const { id } of lagging) disableEndpoint(this.#client, id, 'too_many', new Date(now));
      })
      .immediate();
  }
}
