/** SQL for the contact of an enrolment. */
import { isLiveContact } from '../audience/eligibility.ts';

/** SQL after enrolment `e` and its automation `au`: joins `r`, the row of the address in the targeted segment. */
export const TARGET_SEGMENT_JOIN = `
  LEFT JOIN segment_recipients r ON au.automation_for_table = 'segments' AND r.segment_id = au.automation_for
    AND r.address_id = e.address_id AND r.is_removed = 0`;

/**
 * SQL after `TARGET_SEGMENT_JOIN`: the id of the contact whose values the mail gets. This is the contact who entered, even after a move to
 * another list; or else the contact with the same address in the targeted list, for example after another import; or else the contact in
 * the targeted segment. Null if the recipient is not a contact.
 */
export const CONTACT_ID = `coalesce(
  (SELECT c.id FROM contacts c WHERE c.id = e.contact_id AND c.address_id = e.address_id AND ${isLiveContact('c')}),
  (SELECT k.id FROM contacts k WHERE au.automation_for_table = 'contacts' AND k.contact_type_id = au.automation_for
    AND k.address_id = e.address_id AND ${isLiveContact('k')}),
  r.contact_id)`;

/** SQL after enrolment `e` and its automation `au`: joins `p`, the contact of the enrolment. */
export const CONTACT_JOINS = `${TARGET_SEGMENT_JOIN} LEFT JOIN contacts p ON p.id = ${CONTACT_ID}`;
