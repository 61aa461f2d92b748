/** Which contacts a search selects, and the SQL condition for them. */
import type { SegmentRule } from '../../database/schema/index.ts';
import { isSuppressed, isUnsubscribed } from '../eligibility.ts';
import { ruleCondition } from '../segments/rule-sql.ts';
import { searchWords } from './search-text.ts';

/**
 * The mail states of a contact: on the global unsubscribe list, suppressed, or neither. An unsubscribed contact may be suppressed as well.
 */
export const CONTACT_STATES = ['mailable', 'unsubscribed', 'suppressed'] as const;

/** Selects contacts of an account. An absent property does not restrict them. */
export interface ContactFilter {
  accountId: number;
  /** Parts of names and addresses. */
  search?: string | undefined;
  typeId?: number | undefined;
  segmentId?: number | undefined;
  state?: (typeof CONTACT_STATES)[number] | undefined;
  /** Rules as in a segment. */
  rules?: readonly SegmentRule[] | undefined;
  /** The operator that joins the rules; `and` if absent. */
  queryType?: 'and' | 'or' | null | undefined;
}

/** SQL: true if contact `c` is on the global unsubscribe list. */
const IS_UNSUBSCRIBED = isUnsubscribed('c');
const IS_SUPPRESSED = isSuppressed('c');
/** SQL: true if contact `c` has this mail state. */
const IN_STATE: Record<(typeof CONTACT_STATES)[number], string> = {
  mailable: `NOT ${IS_UNSUBSCRIBED} AND NOT ${IS_SUPPRESSED}`,
  unsubscribed: IS_UNSUBSCRIBED,
  suppressed: IS_SUPPRESSED,
};

/** SQL: the mail state of contact `c`. */
export const CONTACT_STATE = `CASE WHEN ${IS_UNSUBSCRIBED} THEN 'unsubscribed' WHEN ${IS_SUPPRESSED} THEN 'suppressed' ELSE 'mailable' END`;

/** SQL over a contact `c`, which is the same text for filters of the same form, and the values of its named parameters. */
export interface FilterCondition {
  text: string;
  values: Record<string, string | number>;
}

/**
 * Returns the condition that contact `c` satisfies the filter. `now` is an ISO timestamp, for rules about time. The connection
 * needs the function of `installSearchText`.
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
