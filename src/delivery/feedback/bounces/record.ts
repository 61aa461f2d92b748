/** Puts on the ledger what came back after a hand-off: returned mail and complaints, each once (trust 17, 18). */
import type { Database } from 'better-sqlite3';
import { State } from '../../queue/ledger.ts';
import { advanceEnrolments } from '../../queue/series.ts';

/** What a mail that came back says of one delivery. */
export interface Bounce {
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
  state: number;
}

/**
 * Records it in one transaction: a returned mail moves its delivery to bounced (an accepted one leaves `delivered`), a complaint
 * is an event; both suppress as told. False when there is no such delivery or it is recorded already.
 */
export function recordBounce(
  client: Database,
  { deliveryId, kind, suppress, diagnostic }: Bounce,
  now: Date,
  wireNow: string,
): boolean {
  return client
    .transaction(() => {
      const delivery = client
        .prepare<[number], Delivery>(
          'SELECT mailing_id, address_id, m.user_id, d.state FROM deliveries d JOIN mailings m ON m.id = d.mailing_id WHERE d.id = ?',
        )
        .get(deliveryId);
      if (delivery === undefined || isRecorded(client, deliveryId, kind, delivery)) return false;
      if (kind === 'complaint' || bounce(client, deliveryId, delivery, diagnostic, now.getTime())) {
        client
          .prepare('INSERT INTO events (mailing_id, delivery_id, kind, happened_at) VALUES (?, ?, ?, ?)')
          .run(delivery.mailing_id, deliveryId, kind, now.getTime());
      }
      if (suppress) suppressAddress(client, { ...delivery, kind, diagnostic }, wireNow);
      return true;
    })
    .immediate();
}

/**
 * The latest of an account's accepted deliveries to an address, for reports that name nothing but the address; null when there
 * is none. One probe for each mailing of the account: an index of the ledger by address would cost every mail sent.
 */
export function lastAccepted(client: Database, userId: number, addressId: number): number | null {
  const last = client.prepare<[number, number], number | null>(LAST_ACCEPTED).pluck().get(addressId, userId);
  return last ?? null;
}

/** Exported for the test of its plan. */
export const LAST_ACCEPTED = `
  SELECT max(d.id) FROM mailings m INDEXED BY mailings_user
    CROSS JOIN deliveries d INDEXED BY deliveries_person ON d.mailing_id = m.id AND d.address_id = ?
  WHERE m.user_id = ? AND d.state = ${State.accepted}`;

/** A returned mail shows in the state; looking through the events for it would cost more with every bounce of the mailing. */
function isRecorded(client: Database, deliveryId: number, kind: Bounce['kind'], delivery: Delivery): boolean {
  if (kind === 'bounce') return delivery.state === State.bounced;
  const seen = client.prepare("SELECT 1 FROM events WHERE mailing_id = ? AND kind = 'complaint' AND delivery_id = ?");
  return seen.get(delivery.mailing_id, deliveryId) !== undefined;
}

/**
 * Moves a delivery to bounced. The return path is known only to who took the mail over, so that a delivery still queued or in
 * hand-off has left too, its acceptance lost or not on disk yet: it must not leave again. False in the other final states.
 */
function bounce(client: Database, deliveryId: number, delivery: Delivery, diagnostic: string, now: number): boolean {
  const { changes } = client
    .prepare(`
      UPDATE deliveries SET state = ${State.bounced}, reply = ?, updated_at = ?
      WHERE id = ? AND state IN (${State.queued}, ${State.sending}, ${State.accepted})`)
    .run(diagnostic, now, deliveryId);
  if (changes === 0) return false;
  const wasAccepted = Number(delivery.state === State.accepted);
  // Who opened and came back all the same, an alias behind the address say, is no longer among the delivered. Never tried and
  // yet returned is what a restored copy has sent since: it was taken up, then.
  client
    .prepare(`
      UPDATE mailings SET delivered = delivered - @wasAccepted, bounces = bounces + 1,
        triggered = triggered + (SELECT attempt = 0 FROM deliveries WHERE id = @id),
        unique_opens = unique_opens - (SELECT opened_at IS NOT NULL FROM deliveries WHERE id = @id)
      WHERE id = @mailing`)
    .run({ wasAccepted, id: deliveryId, mailing: delivery.mailing_id });
  advanceEnrolments(client, delivery.mailing_id, [deliveryId], 'through', now);
  return true;
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
