/** Records bounces of and complaints about accepted mail, each at most once. */
import type { Database } from 'better-sqlite3';
import { isErasedRow } from '../../../audience/contacts/erased-addresses.ts';
import { suppressAddress } from '../../../audience/suppressions.ts';
import { DELIVERY_STATE, MADE_BY } from '../../../database/schema/index.ts';
import type { Said } from '../../../errors/sentences.ts';
import { bounceDelivery, type ReturnedDelivery } from '../../queue/ledger/ended-deliveries.ts';
import { eventCounter } from '../event-counts.ts';

/** A bounce or complaint about one delivery. */
export interface Bounce {
  deliveryId: number;
  kind: 'bounce' | 'complaint';
  /** True if the address is to be suppressed. */
  suppress: boolean;
  /** A sentence, or one sanitized line. */
  diagnostic: Said;
}

interface Delivery extends ReturnedDelivery {
  address_id: number;
  user_id: number;
}

/**
 * Records a bounce or complaint in one transaction. A bounce moves the delivery to `bounced`, out of the `delivered` count; a complaint
 * only adds an event. Returns false if the delivery does not exist or the report is already recorded. For an erased contact the diagnostic
 * is not stored, because it often contains the address.
 */
export function recordBounce(
  client: Database,
  { deliveryId, kind, suppress, diagnostic }: Bounce,
  now: Date,
  recordedAt: string,
): boolean {
  return client
    .transaction(() => {
      const delivery = client
        .prepare<[number], Delivery>(
          'SELECT d.id, mailing_id, address_id, m.user_id, d.state FROM deliveries d JOIN mailings m ON m.id = d.mailing_id WHERE d.id = ?',
        )
        .get(deliveryId);
      if (delivery === undefined || isRecorded(client, deliveryId, kind, delivery)) return false;
      const storedDiagnostic = isErasedRow(client, delivery.address_id) ? '' : diagnostic;
      if (kind === 'complaint' || bounceDelivery(client, delivery, storedDiagnostic, now.getTime())) {
        client
          .prepare('INSERT INTO events (mailing_id, delivery_id, kind, happened_at) VALUES (?, ?, ?, ?)')
          .run(delivery.mailing_id, deliveryId, kind, now.getTime());
        const event = { mailing: delivery.mailing_id, link: null, by: MADE_BY.person, at: now.getTime() };
        if (kind === 'bounce') eventCounter(client)([{ ...event, kind, device: null }]);
      }
      const { user_id, address_id } = delivery;
      if (suppress) suppressAddress(client, { user_id, address_id, kind, diagnostic, created_at: recordedAt });
      return true;
    })
    .immediate();
}

/**
 * Returns the id of the account's latest accepted delivery to an address, for reports that give only the address; null if there is none.
 * The query reads one index entry per mailing of the account, because an index by address would slow down every mail sent.
 */
export function lastAccepted(client: Database, accountId: number, addressId: number): number | null {
  const last = client.prepare<[number, number], number | null>(LAST_ACCEPTED).pluck().get(addressId, accountId);
  return last ?? null;
}

/** The query of `lastAccepted`, exported so that a test can check its query plan. */
export const LAST_ACCEPTED = `
  SELECT max(d.id) FROM mailings m INDEXED BY mailings_user
    CROSS JOIN deliveries d INDEXED BY deliveries_person ON d.mailing_id = m.id AND d.address_id = ?
  WHERE m.user_id = ? AND d.state = ${DELIVERY_STATE.accepted}`;

/**
 * Returns true if this bounce or complaint is already recorded. A bounce is recognized by the state of the delivery, because searching the events
 * would get slower with every bounce of the mailing.
 */
function isRecorded(client: Database, deliveryId: number, kind: Bounce['kind'], delivery: Delivery): boolean {
  if (kind === 'bounce') return delivery.state === DELIVERY_STATE.bounced;
  const complaint = client.prepare(
    "SELECT 1 FROM events WHERE mailing_id = ? AND kind = 'complaint' AND delivery_id = ?",
  );
  return complaint.get(delivery.mailing_id, deliveryId) !== undefined;
}
