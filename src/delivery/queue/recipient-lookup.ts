/**
 * Looks up again the queued recipients that have changed since they were enqueued, because their contact has a new address or was deleted.
 */
import type { Database, Statement } from 'better-sqlite3';
import { isInTargets, isLiveContact } from '../../audience/eligibility.ts';

/**
 * SQL: 1 if the recipient of `d` has changed since being enqueued and must be looked up again, otherwise 0. `m` is the mailing, and `c` and
 * `r` are as in `DELIVERY_PERSON` of candidates.ts. Recipients added to a segment by hand stay in it as long as the segment exists, even
 * without a contact; those removed by hand do not.
 */
export const NEEDS_LOOKUP = `
  CASE WHEN m.owner_kind NOT IN ('single', 'schedule') THEN 0
    WHEN r.by_hand = 1 AND EXISTS (SELECT 1 FROM segments g WHERE g.id = r.segment_id AND g.deleted_at IS NULL) THEN 0
    ELSE r.is_removed IS 1 OR c.id IS NULL END`;

/** The targets of a mailing, and the targets that it excludes, as JSON. */
interface Targets {
  targets: string;
  excluded: string;
}

/** Looks recipients up again: under the new address of their contact, or as another contact in the mailing's targets. */
export class RecipientLookup {
  readonly #targets: Statement<[number], Targets>;
  readonly #followAddress: Statement<{ ids: string } & Targets>;
  readonly #findContact: Statement<{ ids: string } & Targets>;

  constructor(client: Database) {
    this.#targets = client.prepare(`
      SELECT CASE owner_kind
          WHEN 'single' THEN ifnull((SELECT recipient_id FROM single_sends WHERE id = owner_id), '[]')
          ELSE (SELECT json_array(json_object('table', automation_for_table, 'id', automation_for)) FROM automations
            WHERE id = automation_id) END AS targets,
        CASE owner_kind
          WHEN 'single' THEN ifnull((SELECT exclude_specific_recipient_id FROM single_sends WHERE id = owner_id), '[]')
          ELSE '[]' END AS excluded
      FROM mailings WHERE id = ?`);
    // If the mailing already has a row for the new address, that row is used and this one stays unchanged.
    this.#followAddress = client.prepare(`
      UPDATE OR IGNORE deliveries SET address_id = (SELECT n.address_id FROM contacts n WHERE n.id = deliveries.contact_id)
      WHERE id IN (SELECT value FROM json_each(@ids)) AND EXISTS (SELECT 1 FROM contacts n
        WHERE n.id = deliveries.contact_id AND n.address_id <> deliveries.address_id AND ${isLiveContact('n')}
          AND NOT ${isInTargets('@excluded', 'n.address_id')})`);
    this.#findContact = client.prepare(`
      UPDATE deliveries SET contact_id = f.contact_id, segment_recipient_id = f.recipient_id
      FROM (SELECT d.id, ifnull(p.id, s.contact_id) AS contact_id, s.id AS recipient_id
        FROM json_each(@ids) i CROSS JOIN deliveries d ON d.id = i.value CROSS JOIN json_each(@targets) x
          LEFT JOIN contacts c ON c.id = d.contact_id AND ${isLiveContact('c')}
          LEFT JOIN contacts p ON x.value ->> 'table' = 'contacts' AND p.contact_type_id = CAST(x.value ->> 'id' AS INTEGER)
            AND p.address_id = d.address_id AND ${isLiveContact('p')}
          LEFT JOIN segment_recipients s ON x.value ->> 'table' = 'segments' AND s.segment_id = CAST(x.value ->> 'id' AS INTEGER)
            AND s.address_id = d.address_id AND s.is_removed = 0
            AND EXISTS (SELECT 1 FROM segments g WHERE g.id = s.segment_id AND g.deleted_at IS NULL)
            AND (s.by_hand = 1 OR EXISTS (SELECT 1 FROM contacts o WHERE o.id = s.contact_id AND ${isLiveContact('o')}))
        WHERE (p.id IS NOT NULL OR s.id IS NOT NULL) AND (c.id IS NULL OR c.address_id = d.address_id)) f
      WHERE f.id = deliveries.id`);
  }

  /** Points queued deliveries of a mailing at their recipients' current contact or segment row, if there is one. */
  find(mailingId: number, deliveryIds: readonly number[]): void {
    const targets = this.#targets.get(mailingId);
    if (targets === undefined) return;
    const bound = { ids: JSON.stringify(deliveryIds), ...targets };
    this.#followAddress.run(bound);
    this.#findContact.run(bound);
  }
}
