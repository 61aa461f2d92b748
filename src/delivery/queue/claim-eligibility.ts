/**
 * Who may get a delivery when it is claimed. What depends on the audience alone is in audience/eligibility.ts; added here is what
 * depends on the delivery: whether the person left the automation, and the lookup of people whose contact was deleted, imported again
 * or given another address.
 */
import type { Database, Statement } from 'better-sqlite3';
import {
  isInactive,
  isInTargets,
  isLiveContact,
  refusalReason,
  suppressionReason,
} from '../../audience/eligibility.ts';
import { storedSql } from '../../errors/stored.ts';
import { LEFT_AUTOMATION, READDRESSED } from './automation-waits.ts';

/**
 * The joins from a delivery `d` to its person: `c`, their contact, if it is not deleted and still has the delivery's address; and
 * `r`, their row in the segment they were enqueued from.
 */
export const DELIVERY_PERSON = `
  LEFT JOIN contacts c ON c.id = d.contact_id AND c.address_id = d.address_id AND ${isLiveContact('c')}
  LEFT JOIN segment_recipients r ON r.id = d.segment_recipient_id AND r.address_id = d.address_id`;

/**
 * Whether the person of `d` has changed since they were enqueued and must be looked up again. People added to a segment by hand stay
 * in it as long as the segment exists, even without a contact; people removed by hand do not.
 */
export const NEEDS_LOOKUP = `
  CASE WHEN m.owner_kind NOT IN ('single', 'schedule') THEN 0
    WHEN r.by_hand = 1 AND EXISTS (SELECT 1 FROM segments g WHERE g.id = r.segment_id AND g.deleted_at IS NULL) THEN 0
    ELSE r.is_removed IS 1 OR c.id IS NULL END`;

/**
 * Why somebody is not asked to confirm a subscription by a form: it was confirmed, expired or removed, or their address is suppressed.
 * Who has left may subscribe again.
 */
const FORM_REASON = `
  CASE WHEN NOT EXISTS (SELECT 1 FROM form_requests q CROSS JOIN forms f ON f.id = q.form_id
      WHERE q.id = m.owner_id AND q.state = 'asked' AND q.email <> '') THEN ${storedSql('request_closed')}
    ELSE ${suppressionReason('d')} END`;

/** Why the person of `d` may not get the mail when it is claimed, as SQL; null when they may. */
export const CLAIM_REASON = `
  CASE WHEN m.owner_kind = 'form' THEN ${FORM_REASON} ELSE
  coalesce(CASE m.owner_kind WHEN 'schedule' THEN ${LEFT_AUTOMATION} END, ${refusalReason('d', 'm.unsubscribe_group_id')},
    CASE WHEN m.owner_kind IN ('single', 'schedule') AND ${isInactive('d')} THEN ${storedSql('inactive')} END,
    CASE WHEN NOT (${NEEDS_LOOKUP}) THEN NULL
      WHEN r.is_removed = 1 THEN ${storedSql('removed_from_segment')}
      WHEN EXISTS (SELECT 1 FROM contacts n
        WHERE n.id = d.contact_id AND n.address_id <> d.address_id AND ${isLiveContact('n')}) THEN ${READDRESSED}
      ELSE ${storedSql('contact_deleted')} END) END`;

interface Targets {
  targets: string;
  excluded: string;
}

/** Looks people up again: under the new address of their contact, or as another contact in the mailing's targets. */
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
    // If the new address already has a row in the mailing, that row is used and this one stays unchanged.
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

  /** Points queued deliveries of a mailing at their people's current contact or segment row, where there is one. */
  find(mailingId: number, deliveryIds: readonly number[]): void {
    const targets = this.#targets.get(mailingId);
    if (targets === undefined) return;
    const bound = { ids: JSON.stringify(deliveryIds), ...targets };
    this.#followAddress.run(bound);
    this.#findContact.run(bound);
  }
}
