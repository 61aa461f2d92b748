/** Puts on the ledger what came back after a hand-off: returned mail and complaints, each once (trust 17, 18). */
import type { Database } from 'better-sqlite3';
import { State } from '../ledger.ts';

/** What a mail that came back says of one delivery. */
export interface Returned {
  deliveryId: number;
  kind: 'bounce' | 'complaint';
  /** Whether no later mailing may try the address. */
  suppress: boolean;
  /** One inert line for the owner. */
  diagnostic: string;
}

interface Delivery {
  mailing_id: number;
  address_id: number;
  user_id: number;
}

/**
 * Records it in one transaction: a returned mail moves its delivery from accepted to bounced (it leaves `delivered`), a
 * complaint is an event; both suppress as told. False when there is no such delivery or it is recorded already.
 */
export function recordReturned(
  client: Database,
  { deliveryId, kind, suppress, diagnostic }: Returned,
  now: Date,
  wireNow: string,
): boolean {
  return client
    .transaction(() => {
      const delivery = client
        .prepare<[number], Delivery>(
          'SELECT mailing_id, address_id, m.user_id FROM deliveries d JOIN mailings m ON m.id = d.mailing_id WHERE d.id = ?',
        )
        .get(deliveryId);
      if (delivery === undefined) return false;
      const seen = client.prepare('SELECT 1 FROM events WHERE mailing_id = ? AND kind = ? AND delivery_id = ?');
      if (seen.get(delivery.mailing_id, kind, deliveryId) !== undefined) return false;
      if (kind === 'bounce' && !bounce(client, deliveryId, delivery.mailing_id, diagnostic, now.getTime()))
        return false;
      client
        .prepare('INSERT INTO events (mailing_id, delivery_id, kind, happened_at) VALUES (?, ?, ?, ?)')
        .run(delivery.mailing_id, deliveryId, kind, now.getTime());
      if (suppress) suppressAddress(client, { ...delivery, kind, diagnostic }, wireNow);
      return true;
    })
    .immediate();
}

function bounce(client: Database, deliveryId: number, mailingId: number, diagnostic: string, now: number): boolean {
  const { changes } = client
    .prepare(
      `UPDATE deliveries SET state = ${State.bounced}, reply = ?, updated_at = ? WHERE id = ? AND state = ${State.accepted}`,
    )
    .run(diagnostic, now, deliveryId);
  if (changes > 0) {
    // Who opened and came back all the same, an alias behind the address say, is no longer among the delivered.
    client
      .prepare(`
        UPDATE mailings SET delivered = delivered - 1, bounces = bounces + 1,
          unique_opens = unique_opens - (SELECT opened_at IS NOT NULL FROM deliveries WHERE id = ?) WHERE id = ?`)
      .run(deliveryId, mailingId);
  }
  return changes > 0;
}

/** Keeps an address from every later mailing of the account; one suppressed already stays as it is. */
export function suppressAddress(
  client: Database,
  {
    user_id,
    address_id,
    kind,
    diagnostic,
  }: { user_id: number; address_id: number; kind: 'bounce' | 'complaint'; diagnostic: string },
  wireNow: string,
): void {
  client
    .prepare(`
      INSERT INTO suppressions (user_id, address_id, kind, diagnostic, created_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING`)
    .run(user_id, address_id, kind, diagnostic, wireNow);
}
