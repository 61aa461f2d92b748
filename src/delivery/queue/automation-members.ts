/** Who is still in an automation, as SQL: in its target, and not left. */
import { SENTENCES } from '../../sentences.ts';

/** Whether the person of the row `row` is in the target of their automation (`au`) now, as SQL. */
export function isMember(row: string): string {
  return `
  CASE au.automation_for_table
    WHEN 'contacts' THEN EXISTS (SELECT 1 FROM contacts k
      WHERE k.contact_type_id = au.automation_for AND k.address_id = ${row}.address_id AND k.deleted_at IS NULL)
    ELSE EXISTS (SELECT 1 FROM segment_recipients k
      WHERE k.segment_id = au.automation_for AND k.address_id = ${row}.address_id AND k.is_removed = 0)
  END`;
}

/**
 * Why the person of delivery `d`, a mail of an automation, has left that automation, as SQL; null while they are in it. Whoever leaves
 * while the mail is queued does not get it.
 */
export const LEFT_AUTOMATION = `(
  SELECT CASE WHEN e.state = 'left' THEN e.reason
    WHEN au.exit_criteria = 1 AND NOT (${isMember('d')}) THEN '${SENTENCES.left_target}' END
  FROM enrolments e INDEXED BY enrolments_delivery CROSS JOIN automations au ON au.id = e.automation_id
  WHERE e.delivery_id = d.id)`;

/** Why a mail is suppressed when the person's address has changed and the new address gets its own mail or is excluded. */
export const READDRESSED = SENTENCES.readdressed;
