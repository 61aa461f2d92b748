/** The moments of a person that are not about mails, of which everybody has few: a query for each source, of an @address of an @account. */

import { sentence } from '../sentences.ts';

/** What somebody agreed to with a form `g`, as SQL. */
const CONSENT = `'${sentence('form_consent', {
  text: "' || g.consent_text || '",
  time: "' || replace(substr(g.asked_at, 1, 16), 'T', ' ') || '",
  asker: "' || g.asked_from || '",
  confirmer: "' || g.confirmed_from || '",
})}'`;

/** The newest changes of their lists and segments that are looked at: an address has more only where somebody tests with it. */
const MAX_CHANGES = 1000;

/**
 * Contacts that were deleted count too, until they are purged. Being in a segment is known by the row of today, having been in it by
 * that of leaving.
 */
export const RECORDED: readonly string[] = [
  `SELECT 'contact_created' AS kind, c.id, c.created_at AS at, t.name
   FROM contacts c LEFT JOIN contact_types t ON t.id = ifnull(
     (SELECT v.from_type_id FROM contact_moves v WHERE v.contact_id = c.id ORDER BY v.id LIMIT 1), c.contact_type_id)
   WHERE c.address_id = @address AND c.user_id = @account`,
  `SELECT 'contact_changed' AS kind, c.id, c.updated_at AS at, t.name
   FROM contacts c LEFT JOIN contact_types t ON t.id = c.contact_type_id
   WHERE c.address_id = @address AND c.user_id = @account AND c.updated_at <> c.created_at
     AND NOT EXISTS (SELECT 1 FROM contact_moves v WHERE v.contact_id = c.id AND v.created_at = c.updated_at)`,
  `SELECT 'contact_moved' AS kind, v.id, v.created_at AS at, t.name, f.name AS from_name
   FROM contacts c CROSS JOIN contact_moves v ON v.contact_id = c.id
     LEFT JOIN contact_types t ON t.id = v.to_type_id LEFT JOIN contact_types f ON f.id = v.from_type_id
   WHERE c.address_id = @address AND c.user_id = @account ORDER BY v.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'contact_deleted' AS kind, c.id, ifnull(c.deleted_at, t.deleted_at) AS at, t.name
   FROM contacts c CROSS JOIN contact_types t ON t.id = c.contact_type_id
   WHERE c.address_id = @address AND c.user_id = @account AND (c.deleted_at IS NOT NULL OR t.deleted_at IS NOT NULL)`,
  `WITH written (type_id, created_at, updated_at) AS (
     SELECT contact_type_id, created_at, updated_at FROM contacts WHERE address_id = @address
     UNION SELECT v.from_type_id, c.created_at, c.updated_at
     FROM contacts c CROSS JOIN contact_moves v ON v.contact_id = c.id WHERE c.address_id = @address)
   SELECT DISTINCT 'imported' AS kind, i.id, i.written_at AS at, i.file_name AS name
   FROM written w CROSS JOIN contact_imports i INDEXED BY contact_imports_written ON i.contact_type_id = w.type_id AND i.written_at IN (w.created_at, w.updated_at)
   WHERE i.user_id = @account`,
  `SELECT 'segment_joined' AS kind, r.id, r.created_at AS at, s.segment_name AS name
   FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = @address WHERE s.user_id = @account`,
  `SELECT 'segment_removed' AS kind, r.id, r.updated_at AS at, s.segment_name AS name
   FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = @address
   WHERE s.user_id = @account AND r.is_removed = 1`,
  `SELECT 'segment_joined' AS kind, l.id, l.joined_at AS at, s.segment_name AS name
   FROM segment_leaves l CROSS JOIN segments s ON s.id = l.segment_id AND s.user_id = @account
   WHERE l.address_id = @address ORDER BY l.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'segment_left' AS kind, l.id, l.left_at AS at, s.segment_name AS name
   FROM segment_leaves l CROSS JOIN segments s ON s.id = l.segment_id AND s.user_id = @account
   WHERE l.address_id = @address ORDER BY l.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'automation_entered' AS kind, e.id, e.entered_at AS at, a.automation_name AS name, a.utr, e.state, e.reason
   FROM automations a CROSS JOIN enrolments e ON e.automation_id = a.id AND e.address_id = @address
   WHERE a.user_id = @account AND a.deleted_at IS NULL`,
  `SELECT g.action AS kind, g.id, g.created_at AS at, ifnull(g.form_name, u.group_name) AS name,
     CASE WHEN g.asked_at IS NOT NULL THEN ${CONSENT} WHEN g.consent_text IS NOT NULL THEN g.consent_text ELSE g.source END AS reason
   FROM consent_log g LEFT JOIN unsubscribe_groups u ON u.id = g.unsubscribe_groups_id
   WHERE g.address_id = @address AND g.user_id = @account ORDER BY g.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'transactional' AS kind, t.id, t.created_at AS at, t.subject, t.utr, t.state, t.reply AS reason
   FROM transactional_mails t INDEXED BY transactional_mails_address
   WHERE t.address_id = @address AND t.user_id = @account ORDER BY t.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'suppressed' AS kind, s.id, s.created_at AS at, s.kind AS state, s.diagnostic AS reason
   FROM suppressions s WHERE s.address_id = @address AND s.user_id = @account`,
  `SELECT 'inactive' AS kind, z.id, z.created_at AS at, z.action AS state
   FROM sunset_people z WHERE z.address_id = @address AND z.user_id = @account`,
  `SELECT 'active_again' AS kind, z.id, z.lifted_at AS at, z.lifted_by AS state
   FROM sunset_people z WHERE z.address_id = @address AND z.user_id = @account AND z.lifted_at IS NOT NULL`,
];
