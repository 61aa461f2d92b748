/**
 * The only place that defines who may get mail, in words and as SQL. No mail goes to addresses that unsubscribed from all mail
 * or from the mail's group, or that were suppressed after a bounce or complaint. No campaign goes to contacts that the account's
 * sunset rule stopped as inactive. Two further conditions select recipients: that a contact is not deleted, and that an address is in
 * a target. CLAIM_REASON in delivery/queue/candidates.ts has the conditions that depend on one delivery.
 * Each condition names the code of its reason, whose sentence is in errors/sentences.ts.
 */
import { storedSql } from '../errors/stored.ts';

/** SQL: true if the address of `row` (with `address_id`) has unsubscribed from all mail. */
export function isUnsubscribed(row: string): string {
  return `EXISTS (SELECT 1 FROM unsubscribers u WHERE u.address_id = ${row}.address_id AND u.unsubscribe_groups_id IS NULL)`;
}

/** SQL: true if the address of `row` (with `address_id`) is suppressed. */
export function isSuppressed(row: string): string {
  return `EXISTS (SELECT 1 FROM suppressions s WHERE s.address_id = ${row}.address_id)`;
}

/** SQL: why the address of `row` (with `address_id`) is suppressed; null if it is not. */
export function suppressionReason(row: string): string {
  return `(SELECT CASE kind WHEN 'complaint' THEN ${storedSql('suppressed_complaint')} ELSE ${storedSql('suppressed_bounce')} END
    FROM suppressions s WHERE s.address_id = ${row}.address_id)`;
}

/**
 * SQL: true if the account's sunset rule has stopped mail to the address of `row` (with `address_id`). For an active address,
 * which is the usual case, the index alone has the answer.
 */
export function isInactive(row: string): string {
  return `EXISTS (SELECT 1 FROM sunset_people z INDEXED BY sunset_people_address
    WHERE z.address_id = ${row}.address_id AND z.lifted_at IS NULL AND z.action = 'stop')`;
}

/**
 * SQL: why the address of `row` (with `address_id`) may not get any mail of the unsubscribe group `group` (SQL, null for none)
 * now, tests included; null if it may.
 */
export function refusalReason(row: string, group: string): string {
  return `
  CASE
    WHEN ${isUnsubscribed(row)} THEN ${storedSql('unsubscribed_all')}
    WHEN ${group} IS NOT NULL AND EXISTS
      (SELECT 1 FROM unsubscribers u WHERE u.address_id = ${row}.address_id AND u.unsubscribe_groups_id = ${group})
      THEN ${storedSql('unsubscribed_group')}
    WHEN ${isSuppressed(row)} THEN ${suppressionReason(row)}
  END`;
}

/** SQL: why the address of `row` may not get a campaign's mail of the unsubscribe group `group`; null if it may. */
export function ineligibilityReason(row: string, group: string): string {
  return `ifnull(${refusalReason(row, group)}, CASE WHEN ${isInactive(row)} THEN ${storedSql('inactive')} END)`;
}

/** SQL: the addresses of account @account that unsubscribed from all mail, as a query. */
export const UNSUBSCRIBED_ADDRESSES =
  'SELECT address_id FROM unsubscribers WHERE user_id = @account AND unsubscribe_groups_id IS NULL';

/** SQL: the suppressed addresses of account @account, as a query. */
export const SUPPRESSED_ADDRESSES = 'SELECT address_id FROM suppressions WHERE user_id = @account';

/** SQL: true if neither the contact with this alias nor its type is deleted. */
export function isLiveContact(contact: string): string {
  return `${contact}.deleted_at IS NULL AND EXISTS (
    SELECT 1 FROM contact_types ct WHERE ct.id = ${contact}.contact_type_id AND ct.deleted_at IS NULL)`;
}

/**
 * SQL: the address ids after @after up to @last that may be ineligible, because they unsubscribed from anything, are suppressed
 * or inactive. Checking every address would take a third of the time of enqueueing. Unsubscribers are read twice, because each of the two
 * indexes has the address ids of some of them.
 */
const POSSIBLY_INELIGIBLE = [
  'unsubscribers WHERE unsubscribe_groups_id IS NULL',
  'unsubscribers WHERE unsubscribe_groups_id IS NOT NULL',
  'suppressions WHERE true',
  'sunset_people INDEXED BY sunset_people_address WHERE lifted_at IS NULL',
]
  .map((source) => `SELECT address_id FROM ${source} AND address_id > @after AND address_id <= @last`)
  .join(' UNION ALL ');

/**
 * SQL: why the address of `row` in an audience gets no mail of the unsubscribe group `group` now; null if it gets mail. The reason is that
 * it is in one of the targets of @excluded, or is not eligible. Binds @after and @last, see `POSSIBLY_INELIGIBLE`.
 */
export function exclusionReason(row: string, group: string): string {
  return `CASE
    WHEN @excluded <> '[]' AND ${isInTargets('@excluded', `${row}.address_id`)} THEN ${storedSql('excluded')}
    WHEN ${row}.address_id IN (${POSSIBLY_INELIGIBLE}) THEN ${ineligibilityReason(row, group)}
    END`;
}

/** SQL: true if the address of `row` is in one of the targets of @earlier, which were read before. */
export function isReadEarlier(row: string): string {
  return `(@earlier <> '[]' AND ${isInTargets('@earlier', `${row}.address_id`)})`;
}

/** SQL: true if the address of `row` is in all of the targets of @within. */
export function isWithin(row: string): string {
  return `(@within = '[]' OR NOT EXISTS (SELECT 1 FROM json_each(@within) w
    WHERE NOT ${isInTargets('json_array(json(w.value))', `${row}.address_id`)}))`;
}

/** SQL: true if `address` (SQL) is in one of the targets in this JSON (SQL). */
export function isInTargets(targets: string, address: string): string {
  return `
  EXISTS (SELECT 1 FROM json_each(${targets}) x WHERE CASE x.value ->> 'table'
    WHEN 'contacts' THEN EXISTS (SELECT 1 FROM contacts e
      WHERE e.contact_type_id = x.value ->> 'id' AND e.address_id = ${address} AND e.deleted_at IS NULL)
    ELSE EXISTS (SELECT 1 FROM segment_recipients e
      WHERE e.segment_id = x.value ->> 'id' AND e.address_id = ${address} AND e.is_removed = 0) END)`;
}
