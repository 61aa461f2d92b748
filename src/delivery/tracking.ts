/** Opens and leaving: raw events and the counters they move, in one transaction each. */
import type { Database, Statement } from 'better-sqlite3';
import type { RecipientIds } from './tokens.ts';

/** A pixel hit that is not on disk yet. */
export interface Hit {
  ids: RecipientIds;
  /** Epoch milliseconds. */
  at: number;
}

/** Gathers pixel hits and writes them together: a hit costs no transaction of its own (trust 44). */
export class OpenHits {
  readonly #client: Database;
  readonly #isFirst: Statement<[number, number]>;
  readonly #again: Statement<[number]>;
  readonly #count: Statement<[number, number, number]>;
  readonly #event: Statement<[number, number, number]>;
  #waiting: Hit[] = [];

  constructor(client: Database) {
    this.#client = client;
    this.#isFirst = client.prepare(
      'UPDATE deliveries SET opens = opens + 1, opened_at = ? WHERE id = ? AND opened_at IS NULL AND state IN (1, 2)',
    );
    this.#again = client.prepare('UPDATE deliveries SET opens = opens + 1 WHERE id = ? AND opened_at IS NOT NULL');
    this.#count = client.prepare(
      'UPDATE mailings SET unique_opens = unique_opens + ?, total_opens = total_opens + ? WHERE id = ?',
    );
    this.#event = client.prepare(
      "INSERT INTO events (mailing_id, delivery_id, kind, happened_at) VALUES (?, ?, 'open', ?)",
    );
  }

  add(hit: Hit): void {
    this.#waiting.push(hit);
  }

  /** Writes what has gathered. */
  flush(): void {
    const hits = this.#waiting.splice(0);
    if (hits.length === 0) return;
    this.#client
      .transaction(() => {
        for (const { ids, at } of hits) {
          const first = this.#isFirst.run(at, ids.delivery).changes;
          if (first === 0 && this.#again.run(ids.delivery).changes === 0) continue;
          this.#count.run(first, 1, ids.mailing);
          this.#event.run(ids.mailing, ids.delivery, at);
        }
      })
      .immediate();
  }
}

/** Counts a recipient who left through a mail, once. Call inside the transaction that takes the address off. */
export function countLeaving(client: Database, ids: RecipientIds, at: number): void {
  const { changes } = client
    .prepare('UPDATE deliveries SET unsubscribed_at = ? WHERE id = ? AND mailing_id = ? AND unsubscribed_at IS NULL')
    .run(at, ids.delivery, ids.mailing);
  if (changes === 0) return;
  client.prepare('UPDATE mailings SET unsubscribes = unsubscribes + 1 WHERE id = ?').run(ids.mailing);
  client
    .prepare("INSERT INTO events (mailing_id, delivery_id, kind, happened_at) VALUES (?, ?, 'unsubscribe', ?)")
    .run(ids.mailing, ids.delivery, at);
}
