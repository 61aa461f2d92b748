/**
 * Whom the sunset rule of an account means, and its daily look at all contacts: in the background, some contacts at a time. Who is found
 * inactive is noted together with how far the look came, so that a kill loses nothing and nobody is found twice.
 */
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { prepared } from '../../database/prepared.ts';
import { DELIVERY_STATE } from '../../database/schema/index.ts';
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
/** With so many found inactive, they are written before others are looked at. */
const MAX_FOUND = 250;

/** Does what is due for a short time; gives whether there is more to do. */
export async function continueSunsets(db: Db, clock: Clock): Promise<boolean> {
  const client = db.$client;
  const now = clock.now().getTime();
  const until = performance.now() + BACKGROUND_MS;
  // If the clock was set back, the next look would be too far ahead: it is never more than a day away.
  const due = prepared<[object], Sunset>(
    client,
    `SELECT * FROM sunsets WHERE lift_to IS NOT NULL OR (is_on = 1 AND (next_at <= @now OR next_at > @tomorrow)) ORDER BY random()`,
  ).all({ now, tomorrow: now + DAY_MS });
  let hasMore = false;
  for (const sunset of due) {
    if (sunset.lift_to !== null) await liftAll(client, sunset.user_id, sunset.lift_to, clock, until);
    hasMore = (sunset.is_on === 1 && (await look(db, sunset, clock, until))) || hasMore;
    if (performance.now() >= until) return true;
  }
  return hasMore;
}

async function liftAll(client: Database, account: number, to: number, clock: Clock, until: number): Promise<void> {
  await inChunks(client, (rows) => {
    const hasMore = liftSome(client, account, to, rows, isoTimestamp(clock.now()));
    if (!hasMore)
      prepared(client, 'UPDATE sunsets SET lift_to = NULL WHERE user_id = ? AND lift_to = ?').run(account, to);
    return hasMore && performance.now() < until;
  });
}

/** Goes on with the look of an account, or begins it; gives whether it is to go on at once. */
async function look(db: Db, sunset: Sunset, clock: Clock, until: number): Promise<boolean> {
  const client = db.$client;
  const now = clock.now();
  const next = new Date(now).setUTCHours(24, 0, 0, 0);
  if (sunset.next_at > now.getTime() && sunset.next_at <= now.getTime() + DAY_MS) return false;
  // Opens that are not read yet would make active people inactive for a moment, and a move is not taken back.
  if (isFarBehind(db, clock)) return false;
  const cutoff = sunset.cutoff ?? cutoffOf(now, sunset.months);
  const found: number[] = [];
  let place: number | null = sunset.after_id;
  const inactive = new InactiveContacts(client, sunset.user_id, sunset, cutoff);
  if (hasTarget(client, sunset.user_id, sunset)) {
    for (const pace = new Pace(); place !== null && found.length < MAX_FOUND; await setImmediate()) {
      const after: number = place;
      const { contacts, last } = pace.step((rows) => inactive.step(after, rows));
      found.push(...contacts);
      place = last;
      if (performance.now() >= until) break;
    }
  } else place = null;
  await inChunks(client, () => {
    if (isAsBefore(client, sunset)) {
      if (found.length > 0) apply(db, sunset, inactive, found, isoTimestamp(clock.now()));
      const ended = { cutoff: null, after_id: 0, next_at: next };
      const progress = place === null ? ended : { cutoff, after_id: place, next_at: sunset.next_at };
      prepared(
        client,
        'UPDATE sunsets SET cutoff = @cutoff, after_id = @after_id, next_at = @next_at WHERE user_id = @account',
      ).run({ ...progress, account: sunset.user_id });
    }
    return false;
  });
  return place !== null;
}

/** Whether a rule and how far its look is are as they were read: somebody may have changed it meanwhile. */
function isAsBefore(client: Database, { lift_to: _lift, ...before }: Sunset): boolean {
  const now = prepared<[number], Sunset>(client, 'SELECT * FROM sunsets WHERE user_id = ?').get(before.user_id);
  return isDeepStrictEqual({ ...now, lift_to: null }, { ...before, lift_to: null });
}

function apply(db: Db, sunset: Sunset, inactive: InactiveContacts, contacts: readonly number[], now: string): void {
  const client = db.$client;
  const { user_id: account, action, segment_id: segment, contact_type_id: type } = sunset;
  const people = inactive.note(contacts, now);
  if (people.length === 0) return;
  const given = { people: JSON.stringify(people), account, segment, type };
  if (action === 'segment' && segment !== null) {
    const added = prepared<[object], number>(
      client,
      `SELECT c.id FROM segments s CROSS JOIN json_each(@people) p CROSS JOIN contacts c
        ON c.contact_type_id = s.contact_type_id AND c.address_id = p.value AND c.deleted_at IS NULL
      WHERE s.id = @segment AND s.user_id = @account`,
    ).pluck();
    addContactsToSegment(db, account, segment, added.all(given), now);
  }
  if (action === 'move' && type !== null) {
    const moved = prepared<[object], number>(
      client,
      `SELECT c.id FROM json_each(@people) p CROSS JOIN contacts c ON c.address_id = p.value
      WHERE c.user_id = @account AND c.deleted_at IS NULL AND c.contact_type_id <> @type`,
    ).pluck();
    moveToType(db, account, moved.all(given), type, now);
  }
}

/*
 * Finds the inactive contacts of an account, some at a time and all of these with one statement. Acts are opens and clicks of people, as
 * `activity` and the ledger have them, opens of proxies, since a person may have caused them, becoming a contact, and what people did with
 * forms, preference pages and unsubscribe links.
 */

/** Entries of the consent log that people themselves caused. Triggers (drizzle/) know them, too. */
const BY_PERSON = "('one-click', 'page', 'provider', 'form')";

/**
 * Whether the action of the rule changes something for the person of `c`, as SQL: a contact of theirs is not in the segment and was not
 * taken out of it, or none of theirs is of the contact type.
 */
const IS_CONCERNED = `CASE @action
    WHEN 'segment' THEN EXISTS (SELECT 1 FROM contacts o
        WHERE o.contact_type_id = @segmentType AND o.address_id = c.address_id AND o.deleted_at IS NULL)
      AND NOT EXISTS (SELECT 1 FROM segment_recipients r WHERE r.segment_id = @segment AND r.address_id = c.address_id)
    WHEN 'move' THEN NOT EXISTS (SELECT 1 FROM contacts o
        WHERE o.contact_type_id = @type AND o.address_id = c.address_id AND o.deleted_at IS NULL)
    ELSE true END`;

/**
 * Whether the person of contact `c` did nothing that is dated, as SQL. Of several contacts with an address the first stands for all. Who
 * gets no mail anyway, whose opens and clicks are not recorded, to whom the action was applied and who did not act since, or who was let go
 * since then is left alone.
 */
const IS_IDLE = `
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
  AND ${IS_CONCERNED}`;

/** The mails that the person of `c` got since then, and of which it is known whether they opened them. */
const MAILS = `
  FROM measured CROSS JOIN deliveries d ON d.mailing_id = measured.id AND d.address_id = c.address_id
  WHERE d.state = ${DELIVERY_STATE.accepted} AND d.is_unmeasured = 0 AND d.updated_at >= @cutoff`;

/** How many were found, and the last contact that was looked at; null at the end. */
interface FoundInactive {
  contacts: number[];
  last: number | null;
}

/** Mails that are looked up in one step at most, which takes some milliseconds. */
const MAX_LOOKUPS = 10_000;

export class InactiveContacts {
  readonly #client: Database;
  readonly #mostRows: number;
  readonly #bound: Record<string, string | number | null>;

  /** Inactive is who did nothing since `cutoff`, epoch milliseconds. */
  constructor(client: Database, account: number, rule: SunsetRule, cutoff: number) {
    this.#client = client;
    const since = isoTimestamp(new Date(cutoff));
    const mailings = measuredMailings(client, account, since);
    this.#bound = {
      ...{ account, cutoff, since, least: rule.least_mails },
      ...{ action: rule.action, segment: rule.segment_id, type: rule.contact_type_id },
      segmentType: typeOfSegment(client, rule.segment_id),
      mailings: JSON.stringify(mailings),
    };
    this.#mostRows = Math.ceil(MAX_LOOKUPS / (mailings.length + 1));
  }

  /** Looks at the next `rows` contacts after an id, or fewer where each may cost much. */
  step(after: number, rows: number): FoundInactive {
    const page =
      'SELECT id FROM contacts INDEXED BY contacts_user WHERE user_id = @account AND deleted_at IS NULL AND id > @after ORDER BY id LIMIT @rows';
    const bound = { ...this.#bound, after, rows: Math.min(rows, this.#mostRows) };
    const last = prepared<[object], { last: number | null }>(this.#client, `SELECT max(id) AS last FROM (${page})`).get(
      bound,
    )?.last;
    if (last === null || last === undefined) return { contacts: [], last: null };
    const contacts = prepared<[object], number>(
      this.#client,
      `WITH measured (id) AS MATERIALIZED (SELECT value FROM json_each(@mailings))
      SELECT c.id FROM (${page}) p CROSS JOIN contacts c ON c.id = p.id
      WHERE ${IS_IDLE} AND (SELECT count(*) FROM (SELECT 1 ${MAILS} LIMIT @least)) = @least
        AND NOT EXISTS (SELECT 1 ${MAILS} AND d.by_person <> 0)`,
    )
      .pluck()
      .all(bound);
    return { contacts, last };
  }

  /**
   * Notes these contacts as inactive, except who acted or was noted meanwhile; gives the address ids of those it noted. Call inside a
   * transaction. `now` is an ISO timestamp.
   */
  note(contacts: readonly number[], now: string): number[] {
    return prepared<[object], number>(
      this.#client,
      `INSERT INTO sunset_people (user_id, address_id, action, cutoff, created_at)
      SELECT c.user_id, c.address_id, @action, @cutoff, @now FROM json_each(@contacts) f CROSS JOIN contacts c ON c.id = f.value
      WHERE ${IS_IDLE} RETURNING address_id`,
    )
      .pluck()
      .all({ ...this.#bound, contacts: JSON.stringify(contacts), now });
  }
}

function typeOfSegment(client: Database, segment: number | null): number | null {
  const type = prepared<[number | null], number>(client, 'SELECT contact_type_id FROM segments WHERE id = ?')
    .pluck()
    .get(segment);
  return type ?? null;
}

/**
 * The mailings of which people may have got mails since then, the newest first, and which at least one person opened or clicked in.
 * Where nobody did, nothing was counted or nothing arrived, and neither says that somebody is inactive.
 */
function measuredMailings(client: Database, account: number, since: string): number[] {
  return prepared<[number, string], number>(
    client,
    `SELECT id FROM mailings INDEXED BY mailings_recent
    WHERE user_id = ? AND owner_kind IN ('single', 'schedule') AND CASE WHEN finished_at IS NULL THEN '9' ELSE finished_at END >= ?
      AND people_opens + people_clicks > 0
    ORDER BY CASE WHEN finished_at IS NULL THEN '9' ELSE finished_at END DESC`,
  )
    .pluck()
    .all(account, since);
}
