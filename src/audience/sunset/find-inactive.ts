/**
 * Finds the contacts that an account's sunset rule applies to, in a daily check of all contacts. The background thread checks some contacts
 * at a time, and stores the inactive ones together with its progress, so that a kill loses nothing and no contact is found twice.
 */
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { DELIVERY_STATE, MAILING_ENDED } from '../../database/schema/index.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { moveToType } from '../bulk/apply.ts';
import { isLiveContact, isSuppressed, isUnsubscribed } from '../eligibility.ts';
import { Pace } from '../search/find-contacts.ts';
import { isFarBehind } from '../segments/follow-activity.ts';
import { addContactsToSegment } from '../segments/segments.ts';
import { isMeasuredNow } from '../tracking-choice.ts';
import { cutoffOf, hasTarget, liftSome, type Sunset, type SunsetRule } from './rule.ts';

const DAY_MS = 86_400_000;
/** How long one call works. */
const BACKGROUND_MS = 50;
/** The number of inactive contacts after which they are stored before more contacts are checked. */
const MAX_FOUND = 250;

/** Continues the checks that are due for a short time. Returns true if there is more to do. */
export async function continueSunsets(db: Db, clock: Clock): Promise<boolean> {
  const client = db.$client;
  const now = clock.now().getTime();
  const until = performance.now() + BACKGROUND_MS;
  // If the clock was set back, the next check could be far in the future. It is never more than a day away.
  const due = client
    .prepare<[object], Sunset>(
      `SELECT * FROM sunsets WHERE lift_to IS NOT NULL OR (is_on = 1 AND (next_at <= @now OR next_at > @tomorrow)) ORDER BY random()`,
    )
    .all({ now, tomorrow: now + DAY_MS });
  let hasMore = false;
  for (const sunset of due) {
    if (sunset.lift_to !== null) await liftAll(client, sunset.user_id, sunset.lift_to, clock, until);
    hasMore = (sunset.is_on === 1 && (await checkContacts(db, sunset, clock, until))) || hasMore;
    if (performance.now() >= until) return true;
  }
  return hasMore;
}

async function liftAll(client: Database, account: number, to: number, clock: Clock, until: number): Promise<void> {
  await inChunks(client, (rows) => {
    const hasMore = liftSome(client, account, to, rows, isoTimestamp(clock.now()));
    if (!hasMore)
      client.prepare('UPDATE sunsets SET lift_to = NULL WHERE user_id = ? AND lift_to = ?').run(account, to);
    return hasMore && performance.now() < until;
  });
}

/** Begins or continues the check of an account. Returns true if it should continue at once. */
async function checkContacts(db: Db, sunset: Sunset, clock: Clock, until: number): Promise<boolean> {
  const client = db.$client;
  const now = clock.now();
  const next = new Date(now).setUTCHours(24, 0, 0, 0);
  if (sunset.next_at > now.getTime() && sunset.next_at <= now.getTime() + DAY_MS) return false;
  // Unread opens would make active contacts inactive for a moment, and a move cannot be undone.
  if (isFarBehind(db, clock)) return false;
  const cutoff = sunset.cutoff ?? cutoffOf(now, sunset.months);
  const ids: number[] = [];
  let place: number | null = sunset.after_id;
  const inactive = new InactiveContacts(client, sunset.user_id, sunset, cutoff);
  if (hasTarget(client, sunset.user_id, sunset)) {
    for (const pace = new Pace(); place !== null && ids.length < MAX_FOUND; await setImmediate()) {
      const after: number = place;
      const { contacts, last } = pace.step((rows) => inactive.step(after, rows));
      ids.push(...contacts);
      place = last;
      if (performance.now() >= until) break;
    }
  } else place = null;
  await inChunks(client, () => {
    if (isUnchanged(client, sunset)) {
      if (ids.length > 0) apply(db, sunset, inactive, ids, isoTimestamp(clock.now()));
      const ended = { cutoff: null, after_id: 0, next_at: next };
      const progress = place === null ? ended : { cutoff, after_id: place, next_at: sunset.next_at };
      client
        .prepare(
          'UPDATE sunsets SET cutoff = @cutoff, after_id = @after_id, next_at = @next_at WHERE user_id = @account',
        )
        .run({ ...progress, account: sunset.user_id });
    }
    return false;
  });
  return place !== null;
}

/** Returns true if a rule and its progress are unchanged since they were read, because a user may have changed them meanwhile. */
function isUnchanged(client: Database, { lift_to: _lift, ...before }: Sunset): boolean {
  const now = client.prepare<[number], Sunset>('SELECT * FROM sunsets WHERE user_id = ?').get(before.user_id);
  return isDeepStrictEqual({ ...now, lift_to: null }, { ...before, lift_to: null });
}

function apply(db: Db, sunset: Sunset, inactive: InactiveContacts, contacts: readonly number[], now: string): void {
  const client = db.$client;
  const { user_id: account, action, segment_id: segment, contact_type_id: type } = sunset;
  const people = inactive.store(contacts, now);
  if (people.length === 0) return;
  const parameters = { people: JSON.stringify(people), account, segment, type };
  if (action === 'segment' && segment !== null) {
    const added = client
      .prepare<[object], number>(`SELECT c.id FROM segments s CROSS JOIN json_each(@people) p CROSS JOIN contacts c
        ON c.contact_type_id = s.contact_type_id AND c.address_id = p.value AND c.deleted_at IS NULL
      WHERE s.id = @segment AND s.user_id = @account`)
      .pluck();
    addContactsToSegment(db, account, segment, added.all(parameters), now);
  }
  if (action === 'move' && type !== null) {
    const moved = client
      .prepare<[object], number>(`SELECT c.id FROM json_each(@people) p CROSS JOIN contacts c ON c.address_id = p.value
      WHERE c.user_id = @account AND c.deleted_at IS NULL AND c.contact_type_id <> @type`)
      .pluck();
    moveToType(db, account, moved.all(parameters), type, now);
  }
}

/*
 * Finds the inactive contacts of an account, some at a time, each time with one statement. Activity means opens and clicks of
 * people, as in `activity` and the ledger; opens of proxies, because a person may have caused them; becoming a contact; and
 * what contacts did with forms, preference pages and unsubscribe links.
 */

/** SQL: the sources in the consent log that contacts themselves caused. Triggers (drizzle/triggers.sql) have the same list. */
const BY_PERSON = "('one-click', 'page', 'provider', 'form')";

/**
 * SQL: true if the action of the rule would change something for the address of `c`: it has a contact that is not in the
 * segment and was not removed from it by hand, or it has no contact of the contact type.
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
 * first is checked. False for contacts that get no mail anyway, that are unmeasured, to which the action was already applied
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
    WHERE g.address_id = c.address_id AND g.created_at >= @since AND g.source IN ${BY_PERSON})
  AND ${isMeasuredNow('c.address_id')}
  AND ${ACTION_APPLIES}`;

/** SQL: the measured mails that the contact `c` got since the cutoff. */
const MAILS = `
  FROM measured CROSS JOIN deliveries d ON d.mailing_id = measured.id AND d.address_id = c.address_id
  WHERE d.state = ${DELIVERY_STATE.accepted} AND d.is_unmeasured = 0 AND d.updated_at >= @cutoff`;

/** The inactive contacts found, and the last contact checked; null at the end. */
interface FoundInactive {
  contacts: number[];
  last: number | null;
}

/** The maximum number of mails that one step looks up, which takes some milliseconds. */
const MAX_LOOKUPS = 10_000;

export class InactiveContacts {
  readonly #client: Database;
  readonly #mostRows: number;
  readonly #bound: Record<string, string | number | null>;

  /** Contacts without activity since `cutoff`, epoch milliseconds, are inactive. */
  constructor(client: Database, account: number, rule: SunsetRule, cutoff: number) {
    this.#client = client;
    const since = isoTimestamp(new Date(cutoff));
    const mailings = measuredMailings(client, account, since);
    this.#bound = {
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
    this.#mostRows = Math.ceil(MAX_LOOKUPS / (mailings.length + 1));
  }

  /** Checks the next `rows` contacts after an id, or fewer if each check may be expensive. */
  step(after: number, rows: number): FoundInactive {
    const page =
      'SELECT id FROM contacts INDEXED BY contacts_user WHERE user_id = @account AND deleted_at IS NULL AND id > @after ORDER BY id LIMIT @rows';
    const bound = { ...this.#bound, after, rows: Math.min(rows, this.#mostRows) };
    const last = this.#client
      .prepare<[object], { last: number | null }>(`SELECT max(id) AS last FROM (${page})`)
      .get(bound)?.last;
    if (last === null || last === undefined) return { contacts: [], last: null };
    const contacts = this.#client
      .prepare<[object], number>(`WITH measured (id) AS MATERIALIZED (SELECT value FROM json_each(@mailings))
      SELECT c.id FROM (${page}) p CROSS JOIN contacts c ON c.id = p.id
      WHERE ${IS_INACTIVE} AND (SELECT count(*) FROM (SELECT 1 ${MAILS} LIMIT @least)) = @least
        AND NOT EXISTS (SELECT 1 ${MAILS} AND d.by_person <> 0)`)
      .pluck()
      .all(bound);
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
      .all({ ...this.#bound, contacts: JSON.stringify(contacts), now });
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
 * Returns the mailings that may have sent mails since then and that at least one person opened or clicked in, newest
 * first. If nobody did, opens and clicks were not recorded or no mail arrived, so the mailing does not show that a
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
