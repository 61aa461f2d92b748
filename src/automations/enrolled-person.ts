/** SQL for the contact of an enrolment. */
import { isLiveContact } from '../audience/eligibility.ts';

/** SQL join after enrolment `e` and its automation `au`: `r` is the row of the address in the targeted segment. */
export const ENROLLED_PERSON = `
  LEFT JOIN segment_recipients r ON au.automation_for_table = 'segments' AND r.segment_id = au.automation_for
    AND r.address_id = e.address_id AND r.is_removed = 0`;

/**
 * SQL after `ENROLLED_PERSON`: the contact whose values the mail gets. It is the contact that entered, in whichever contact type it is now;
 * or the contact with the same address in the targeted contact type, for example after another import; or that of the targeted segment.
 * Null for a recipient who is not a contact.
 */
export const CONTACT = `coalesce(
  (SELECT c.id FROM contacts c WHERE c.id = e.contact_id AND c.address_id = e.address_id AND ${isLiveContact('c')}),
  (SELECT k.id FROM contacts k WHERE au.automation_for_table = 'contacts' AND k.contact_type_id = au.automation_for
    AND k.address_id = e.address_id AND ${isLiveContact('k')}),
  r.contact_id)`;

/** SQL joins: the contact `p` of enrolment `e`. */
export const WITH_PERSON = `${ENROLLED_PERSON} LEFT JOIN contacts p ON p.id = ${CONTACT}`;
