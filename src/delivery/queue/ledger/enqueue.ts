/** Adds deliveries to the ledger: a single recipient, or a page of an audience. */
import type { Database, Statement } from 'better-sqlite3';
import { DELIVERY_STATE } from '../../../database/schema/index.ts';

interface NewDelivery {
  mailing_id: number;
  address_id: number;
  contact_id: number | null;
  segment_recipient_id: number | null;
  /** The run of the recipient's enrolment in an automation; 1 by default. */
  run?: number;
}

/** Returns a function that queues a delivery and returns its id, or null if the mailing already has one for this address and run. */
export function deliveryQueue(client: Database): (delivery: NewDelivery) => number | null {
  const insert = client.prepare<[object]>(`
    INSERT INTO deliveries (mailing_id, address_id, contact_id, segment_recipient_id, run, state)
    VALUES (@mailing_id, @address_id, @contact_id, @segment_recipient_id, @run, ${DELIVERY_STATE.queued}) ON CONFLICT DO NOTHING`);
  return (delivery) => {
    const { changes, lastInsertRowid } = insert.run({ run: 1, ...delivery });
    return changes === 0 ? null : Number(lastInsertRowid);
  };
}

/**
 * Prepares the statement that adds the contacts in `selection` to the mailing @mailing. `selection` is SQL with the columns address_id,
 * contact_id, segment_recipient_id and reason. Contacts with a reason get no mail and are in the final state `suppressed` at once.
 */
export function enqueueStatement(client: Database, selection: string): Statement<Record<string, unknown>> {
  return client.prepare(`
    INSERT INTO deliveries (mailing_id, address_id, contact_id, segment_recipient_id, state, reply)
    SELECT @mailing, address_id, contact_id, segment_recipient_id,
      iif(reason IS NULL, ${DELIVERY_STATE.queued}, ${DELIVERY_STATE.suppressed}), reason
    FROM (${selection})
    WHERE true ORDER BY address_id
    ON CONFLICT DO NOTHING`);
}
