/**
 * Finds the inactive contacts of an account, some at a time, each time with one statement. Activity means opens and clicks of
 * people, as in `activity` and the ledger; opens of proxies, because a person may have caused them; becoming a contact; and
 * what contacts did with forms, preference pages and unsubscribe links.
 */
import type { Database } from 'better-sqlite3';
import { DELIVERY_STATE, MAILING_ENDED } from '../../database/schema/index.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { isLiveContact, isSuppressed, isUnsubscribed } from '../eligibility.ts';
import { isMeasuredNow } from '../tracking-choice.ts';
import type { SunsetRule } from './rule.ts';

/** SQL: the sources in the consent log that contacts themselves caused. Triggers (drizzle/triggers.sql) have the same list. */
const CONTACT_SOURCES = "('one-click', 'page', 'provider', 'form')";

/**
 * SQL: true if the action of the rule would change something for the address of `c`: the address has a contact that is not in
 * the segment and was not removed from it by hand, or has no contact of the contact type.
 */
const ACTION_APPLIES = `CASE @action
    WHEN 'segment' THEN EXISTS (SELECT 1 FROM contacts o
        WHERE o.contact_type_id = @segmentType AND o.address_id = c.address_id AND o.deleted_at IS NULL)
      AND NOT EXISTS (SELECT 1 FROM segment_recipients r WHERE r.segment_id = @segment AND r.address_id = c.address_id)
    WHEN 'move' THEN NOT EXISTS (SELECT 1 FROM contacts o
        WHERE o.contact_type_id = @type AND o.address_id = c.address_id AND o.deleted_at IS NULL)
    ELSE true END`;

/**
 * SQL: true if contact `c` has no activity with a date since the cutoff. Of several contacts with the same address only the
 * first is checked. The condition is false for contacts that get no mail anyway, that are unmeasured, to which the action was already applied
 * without activity since, or whose inactivity ended since the cutoff.
 */
const IS_INACTIVE = `
  c.created_at < @since AND ${isLiveContact('c')}
  AND NOT EXISTS (SELECT 1 FROM activity y WHERE y.address_id = c.address_id AND y.last_at >= @cutoff)
  AND NOT EXISTS (SELECT 1 FROM proxied_activity y WHERE y.address_id = c.address_id AND y.last_at >= @cutoff)
  AND NOT EXISTS (SELECT 1 FROM sunset_people z INDEXED BY sunset_people_address
    WHERE z.address_id = c.address_id AND ((z.lifted_at IS NULL AND z.action = @action) OR z.lifted_at >= @since))
  AND NOT ${isUnsubscribed('c')} AND NOT ${isSuppressed('c')}
  AND NOT EXISTS (SELECT 1 FROM contacts o
    WHERE o.address_id = c.address_id AND o.id <> c.id AND (o.id < c.id OR o.created_at >= @since) AND ${isLiveContact('o')})
  AND NOT EXISTS (SELECT 1 FROM consent_log g
    WHERE g.address_id = c.address_id AND g.created_at >= @since AND g.source IN ${CONTACT_SOURCES})
  AND ${isMeasuredNow('c.address_id')}
  AND ${ACTION_APPLIES}`;

/** SQL: the measured mails that the contact `c` got since the cutoff. */
const MAILS = `
  FROM measured CROSS JOIN deliveries d ON d.mailing_id = measured.id AND d.address_id = c.address_id
  WHERE d.state = ${DELIVERY_STATE.accepted} AND d.is_unmeasured = 0 AND d.updated_at >= @cutoff`;

interface FoundInactive {
  /** The ids of the inactive contacts. */
  contacts: number[];
  /** The id of the last contact that was checked; null if there was none left. */
  last: number | null;
}

/** The maximum number of mails that one step looks up, which takes some milliseconds. */
const MAX_LOOKUPS = 10_000;

/** Finds and stores the contacts of an account to which a sunset rule applies. */
export class InactiveContacts {
  readonly #client: Database;
  readonly #maxRows: number;
  readonly #parameters: Record<string, string | number | null>;

  /** Contacts without activity since `cutoff`, epoch milliseconds, are inactive. */
  constructor(client: Database, account: number, rule: SunsetRule, cutoff: number) {
    this.#client = client;
    const since = isoTimestamp(new Date(cutoff));
    const mailings = measuredMailings(client, account, since);
    this.#parameters = {
      account,
      cutoff,
      since,
      least: rule.least_mails,
      action: rule.action,
      segment: rule.segment_id,
      type: rule.contact_type_id,
      segmentType: typeOfSegment(client, rule.segment_id),
      mailings: JSON.stringify(mailings),
    };
    this.#maxRows = Math.ceil(MAX_LOOKUPS / (mailings.length + 1));
  }

  /** Checks the next `rows` contacts after an id, or fewer if each check may be expensive. */
  step(after: number, rows: number): FoundInactive {
    const page =
      'SELECT id FROM contacts INDEXED BY contacts_user WHERE user_id = @account AND deleted_at IS NULL AND id > @after ORDER BY id LIMIT @rows';
    const parameters = { ...this.#parameters, after, rows: Math.min(rows, this.#maxRows) };
    const last = this.#client
      .prepare<[object], { last: number | null }>(`SELECT max(id) AS last FROM (${page})`)
      .get(parameters)?.last;
    if (last === null || last === undefined) return { contacts: [], last: null };
    const contacts = this.#client
      .prepare<[object], number>(`WITH measured (id) AS MATERIALIZED (SELECT value FROM json_each(@mailings))
      SELECT c.id FROM (${page}) p CROSS JOIN contacts c ON c.id = p.id
      WHERE ${IS_INACTIVE} AND (SELECT count(*) FROM (SELECT 1 ${MAILS} LIMIT @least)) = @least
        AND NOT EXISTS (SELECT 1 ${MAILS} AND d.by_person <> 0)`)
      .pluck()
      .all(parameters);
    return { contacts, last };
  }

  /**
   * Stores these contacts as inactive, except those that were active or stored meanwhile. Returns the address ids of the stored
   * ones. Call inside a transaction. `now` is an ISO timestamp.
   */
  store(contacts: readonly number[], now: string): number[] {
    return this.#client
      .prepare<[object], number>(`INSERT INTO sunset_people (user_id, address_id, action, cutoff, created_at)
      SELECT c.user_id, c.address_id, @action, @cutoff, @now FROM json_each(@contacts) f CROSS JOIN contacts c ON c.id = f.value
      WHERE ${IS_INACTIVE} RETURNING address_id`)
      .pluck()
      .all({ ...this.#parameters, contacts: JSON.stringify(contacts), now });
  }
}

function typeOfSegment(client: Database, segment: number | null): number | null {
  const type = client
    .prepare<[number | null], number>('SELECT contact_type_id FROM segments WHERE id = ?')
    .pluck()
    .get(segment);
  return type ?? null;
}

/**
 * Returns the mailings that may have sent mails since this time and in which at least one person opened or clicked, newest
 * first. If nobody opened or clicked, opens and clicks were not recorded or no mail arrived, so the mailing does not show that a
 * contact is inactive.
 */
function measuredMailings(client: Database, account: number, since: string): number[] {
  return client
    .prepare<[number, string], number>(`SELECT id FROM mailings INDEXED BY mailings_recent
    WHERE user_id = ? AND owner_kind IN ('single', 'schedule') AND ${MAILING_ENDED} >= ?
      AND people_opens + people_clicks > 0
    ORDER BY ${MAILING_ENDED} DESC`)
    .pluck()
    .all(account, since);
}
