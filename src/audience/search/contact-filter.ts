/** Which contacts a search or a bulk action means, as SQL. */
import type { Db } from '../../database/open.ts';
import type { SegmentRule } from '../../database/schema/index.ts';
import { isSuppressed, isUnsubscribed, SUPPRESSED_ADDRESSES, UNSUBSCRIBED_ADDRESSES } from '../eligibility.ts';
import { ruleCondition } from '../segments/rule-sql.ts';
import { searchWords } from './search-text.ts';

/** Whether a contact may get mail: on the global unsubscribe list, suppressed, or neither. An unsubscribed one may be suppressed as well. */
export const CONTACT_STATES = ['mailable', 'unsubscribed', 'suppressed'] as const;

/** Contacts of an account. What is absent restricts nothing. */
export interface ContactFilter {
  accountId: number;
  /** Parts of names and addresses. */
  search?: string | undefined;
  typeId?: number | undefined;
  segmentId?: number | undefined;
  state?: (typeof CONTACT_STATES)[number] | undefined;
  /** Rules as in a segment, and how they are joined; without it: and. */
  rules?: readonly SegmentRule[] | undefined;
  queryType?: 'and' | 'or' | null | undefined;
}

/** Whether contact `c` is on the global unsubscribe list, as SQL. */
const IS_UNSUBSCRIBED = isUnsubscribed('c');
const IS_SUPPRESSED = isSuppressed('c');
const IN_STATE: Record<(typeof CONTACT_STATES)[number], string> = {
  mailable: `NOT ${IS_UNSUBSCRIBED} AND NOT ${IS_SUPPRESSED}`,
  unsubscribed: IS_UNSUBSCRIBED,
  suppressed: IS_SUPPRESSED,
};

/** The state of contact `c`, as SQL. */
export const CONTACT_STATE = `CASE WHEN ${IS_UNSUBSCRIBED} THEN 'unsubscribed' WHEN ${IS_SUPPRESSED} THEN 'suppressed' ELSE 'mailable' END`;

/** SQL text over a contact `c`, which is the same for filters of the same form, and the values of its named parameters. */
export interface FilterCondition {
  text: string;
  values: Record<string, string | number>;
}

/**
 * The condition that contact `c` is one of these. `now` is an ISO timestamp, for rules about time. The connection needs
 * the function of `installSearchText`.
 */
export function filterCondition(filter: ContactFilter, now: string): FilterCondition {
  const { accountId, search = '', typeId, segmentId, state, rules = [], queryType = null } = filter;
  const values: Record<string, string | number> = { account: accountId };
  const conditions = [
    'c.user_id = @account',
    'c.deleted_at IS NULL',
    'EXISTS (SELECT 1 FROM contact_types t WHERE t.id = c.contact_type_id AND t.user_id = c.user_id AND t.deleted_at IS NULL)',
  ];
  if (typeId !== undefined) {
    conditions.push('c.contact_type_id = @type');
    values.type = typeId;
  }
  if (segmentId !== undefined) {
    conditions.push(
      'EXISTS (SELECT 1 FROM segment_recipients r WHERE r.segment_id = @segment AND r.address_id = c.address_id AND r.contact_id = c.id AND r.is_removed = 0)',
    );
    values.segment = segmentId;
  }
  if (state !== undefined) conditions.push(IN_STATE[state]);
  if (rules.length > 0) {
    const condition = ruleCondition(accountId, rules, queryType, now);
    conditions.push(condition.text);
    Object.assign(values, condition.values);
  }
  const words = searchWords(search);
  if (words.length > 0) {
    conditions.push('has_words(c.email, c.first_name, c.last_name, @words)');
    values.words = JSON.stringify(words);
  }
  return { text: conditions.join(' AND '), values };
}

/** So many contact ids can be read at once and sorted in a few milliseconds. */
const SET_SIZE = 5000;

/**
 * Every contact id that can satisfy the filter where one part of it leaves few enough to be read at once; else null. Some of them may
 * fail other parts.
 */
export function findSmallSet({ $client }: Db, { accountId, typeId, segmentId, state }: ContactFilter): number[] | null {
  const sets: [isGiven: boolean, sql: string, values: Record<string, number | undefined>][] = [
    [
      segmentId !== undefined,
      'SELECT contact_id FROM segment_recipients WHERE segment_id = @segment AND is_removed = 0 AND contact_id IS NOT NULL',
      { segment: segmentId },
    ],
    [
      state === 'unsubscribed',
      `SELECT c.id FROM (${UNSUBSCRIBED_ADDRESSES}) a CROSS JOIN contacts c ON c.address_id = a.address_id`,
      { account: accountId },
    ],
    [
      state === 'suppressed',
      `SELECT c.id FROM (${SUPPRESSED_ADDRESSES}) a CROSS JOIN contacts c ON c.address_id = a.address_id`,
      { account: accountId },
    ],
    [
      typeId !== undefined,
      'SELECT id FROM contacts WHERE contact_type_id = @type AND deleted_at IS NULL',
      { type: typeId },
    ],
  ];
  for (const [isGiven, text, values] of sets) {
    if (!isGiven) continue;
    const ids = $client
      .prepare<unknown[], number>(`${text} LIMIT ${SET_SIZE + 1}`)
      .pluck()
      .all(values);
    if (ids.length <= SET_SIZE) return ids;
  }
  return null;
}
