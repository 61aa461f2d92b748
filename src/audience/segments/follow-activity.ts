/**
 * Updates segments with rules about opens and clicks. Nothing more is written when an event happens: the background thread
 * reads new events in the order of their ids, records in `activity` when contacts were last active, and updates these contacts
 * in the segments, in one transaction with how far it came. So a kill loses nothing. An event is read once neither a burst nor
 * the trap link can reveal any more that a machine caused it.
 */
import { inChunks } from '../../database/bulk.ts';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import type { Db } from '../../database/open.ts';
import { prepared } from '../../database/prepared.ts';
import { MADE_BY } from '../../database/schema/index.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { liftActive } from '../sunset/rule.ts';
import { areContactEventsFarBehind, followContactEvents, hasNewContactEvents } from './follow-events.ts';
import { eventsAtOnce, updateSegments } from './update-people.ts';

/** How long one call of `followActivity` works. */
const BACKGROUND_MS = 50;
/**
 * With more new events than this, a send to a segment waits until they are read. Fewer come in during a step of the background thread.
 */
const MANY_EVENTS = 1000;
const FOLLOWED = 'activity_followed_to';
/**
 * How long after an open or click another one may reveal that a machine caused both: the ten seconds of the trap link, and the
 * time until it is written.
 */
const UNSETTLED_MS = 10_500;

/** Returns true if so many events are unread that segments with rules about them are not reliable. */
export function isFarBehind({ $client: client }: Db, clock: Clock): boolean {
  if (areContactEventsFarBehind(client, MANY_EVENTS)) return true;
  const after = followedTo(client) + MANY_EVENTS;
  const next = prepared<[object], { is_unsettled: 0 | 1 }>(
    client,
    `SELECT ${IS_UNSETTLED} AS is_unsettled FROM events WHERE id > @after ORDER BY id LIMIT 1`,
  ).get({ after, ...settling(clock) });
  return next?.is_unsettled === 0;
}

/** Reads new events for a short time and updates segments. Returns true if there is more to do. */
export async function followActivity(db: Db, clock: Clock): Promise<boolean> {
  const client = db.$client;
  const until = performance.now() + BACKGROUND_MS;
  let hasMore = false;
  if (hasNewHits(client))
    await inChunks(client, (rows) => {
      hasMore = followSome(db, rows, clock);
      return hasMore && performance.now() < until;
    });
  let hasMoreReported = false;
  if (hasNewContactEvents(client))
    await inChunks(client, (rows) => {
      hasMoreReported = followContactEvents(db, rows, clock);
      return hasMoreReported && performance.now() < until;
    });
  return hasMore || hasMoreReported;
}

/** Returns true if there are unread events, settled or not. */
export function hasNewEvents(client: Db['$client']): boolean {
  return hasNewHits(client) || hasNewContactEvents(client);
}

/** Returns true if there are unread opens and clicks. */
function hasNewHits(client: Db['$client']): boolean {
  const newest = prepared<[], number>(client, 'SELECT ifnull(max(id), 0) FROM events').pluck().get() ?? 0;
  return newest > followedTo(client);
}

/**
 * SQL: true if it is not settled yet who made an event. An event in the future was recorded while the clock was wrong, so it does not wait.
 */
const IS_UNSETTLED = "happened_at BETWEEN @now - @unsettled AND @now AND kind IN ('open', 'click')";

function settling(clock: Clock) {
  return { now: clock.now().getTime(), unsettled: UNSETTLED_MS };
}

function followedTo(client: Db['$client']): number {
  return Number(findNamedValue(client, FOLLOWED) ?? 0);
}

/** Reads the next events, at most `rows`. Returns true if there may be more. */
function followSome(db: Db, rows: number, clock: Clock): boolean {
  const client = db.$client;
  const now = isoTimestamp(clock.now());
  const after = followedTo(client);
  const events = Math.min(rows, eventsAtOnce(client));
  const next = prepared<[object], { last: number | null; count: number }>(
    client,
    `WITH next AS (SELECT id, ${IS_UNSETTLED} AS is_unsettled FROM events WHERE id > @after ORDER BY id LIMIT @events)
    SELECT max(id) AS last, count(*) AS count FROM next
    WHERE id < ifnull((SELECT min(id) FROM next WHERE is_unsettled = 1), 9e15)`,
  ).get({ after, events, ...settling(clock) });
  if (next === undefined || next.last === null) return false;
  const people = prepared<[{ after: number; to: number }], number>(
    client,
    `INSERT INTO activity (address_id, last_at, last_click_at)
    SELECT d.address_id, max(e.happened_at), max(e.happened_at) FILTER (WHERE e.kind = 'click')
    FROM events e CROSS JOIN deliveries d ON d.id = e.delivery_id CROSS JOIN mailings m ON m.id = e.mailing_id
    WHERE e.id > @after AND e.id <= @to AND e.made_by = ${MADE_BY.person} AND e.kind IN ('open', 'click') AND m.owner_kind IN ('single', 'schedule')
    GROUP BY d.address_id
    ON CONFLICT (address_id) DO UPDATE SET last_at = max(last_at, excluded.last_at),
      last_click_at = nullif(max(ifnull(last_click_at, 0), ifnull(excluded.last_click_at, 0)), 0)
    RETURNING address_id`,
  )
    .pluck()
    .all({ after, to: next.last });
  const maybe = prepared<[{ after: number; to: number }], number>(
    client,
    `INSERT INTO proxied_activity (address_id, last_at)
    SELECT d.address_id, max(e.happened_at)
    FROM events e CROSS JOIN deliveries d ON d.id = e.delivery_id CROSS JOIN mailings m ON m.id = e.mailing_id
    WHERE e.id > @after AND e.id <= @to AND e.made_by = ${MADE_BY.proxied} AND m.owner_kind IN ('single', 'schedule')
    GROUP BY d.address_id
    ON CONFLICT (address_id) DO UPDATE SET last_at = max(last_at, excluded.last_at)
    RETURNING address_id`,
  )
    .pluck()
    .all({ after, to: next.last });
  if (people.length > 0) liftActive(client, people, now);
  if (people.length + maybe.length > 0)
    updateSegments(db, [...new Set([...people, ...maybe])], now, ({ type }) => type !== 'event');
  writeNamedValue(client, FOLLOWED, String(next.last));
  return next.count === events;
}
