/**
 * Updates segments with rules about opens, clicks and reported events. Nothing more is written when an event happens: the background
 * thread reads new events in the order of their ids, records in `activity` when contacts were last active, and updates these contacts in
 * the segments, in short transactions. The last transaction records how far events were read, so a kill loses nothing. An open or click is
 * read once neither a burst nor the trap link can reveal any more that a machine caused it.
 */
import { inChunks } from '../../database/bulk.ts';
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import type { Db } from '../../database/open.ts';
import { MADE_BY } from '../../database/schema/index.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { liftActive } from '../sunset/lift.ts';
import { areContactEventsFarBehind, hasNewContactEvents, readContactEvents } from './follow-events.ts';
import type { Segment } from './membership.ts';
import { isActivityRule } from './rules.ts';
import { type ActiveContacts, eventsAtOnce, type ReadEvents, SegmentUpdate } from './update-people.ts';

/** How long one call of `followActivity` works. */
const BACKGROUND_MS = 50;
/**
 * With more new events than this, a send to a segment waits until they are read. Fewer events come in during a step of the background thread.
 */
const MANY_EVENTS = 1000;
/** The named value with the id of the last open or click that was read. */
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
  const next = client
    .prepare<[object], { is_unsettled: 0 | 1 }>(
      `SELECT ${IS_UNSETTLED} AS is_unsettled FROM events WHERE id > @after ORDER BY id LIMIT 1`,
    )
    .get({ after, ...settlingParameters(clock) });
  return next?.is_unsettled === 0;
}

/** Reads new events for a short time and updates segments. Returns true if there is more to do. */
export async function followActivity(db: Db, clock: Clock): Promise<boolean> {
  const client = db.$client;
  const until = performance.now() + BACKGROUND_MS;
  const hasMoreHits = hasNewHits(client) && (await follow(db, until, (rows) => readHits(db, rows, clock)));
  const hasMore =
    hasNewContactEvents(client) && (await follow(db, until, (rows) => readContactEvents(db, rows, clock)));
  return hasMoreHits || hasMore;
}

/** Reads events and updates segments until `until`, in monotonic milliseconds. Returns true if there may be more events. */
async function follow(db: Db, until: number, read: (rows: number) => ReadEvents | null): Promise<boolean> {
  let events: ReadEvents | null = null;
  let hasMore = false;
  await inChunks(db.$client, (rows) => {
    events ??= read(rows);
    if (events?.update.continue()) return true;
    events?.end();
    hasMore = events?.isFull ?? false;
    events = null;
    return hasMore && performance.now() < until;
  });
  return hasMore;
}

/** Returns true if there are unread events, settled or not. */
export function hasNewEvents(client: Db['$client']): boolean {
  return hasNewHits(client) || hasNewContactEvents(client);
}

/** Returns true if there are unread opens and clicks. */
function hasNewHits(client: Db['$client']): boolean {
  const newest = client.prepare<[], number>('SELECT ifnull(max(id), 0) FROM events').pluck().get() ?? 0;
  return newest > followedTo(client);
}

/**
 * SQL: true if it is not settled yet who made an event. An event in the future was recorded while the clock was wrong, so it does not wait.
 */
const IS_UNSETTLED = "happened_at BETWEEN @now - @unsettled AND @now AND kind IN ('open', 'click')";

function settlingParameters(clock: Clock) {
  return { now: clock.now().getTime(), unsettled: UNSETTLED_MS };
}

function followedTo(client: Db['$client']): number {
  return Number(findNamedValue(client, FOLLOWED) ?? 0);
}

/**
 * Reads the next opens and clicks, at most `rows`, and records when contacts were last active. Returns the update of segments that follows
 * from these events, or null if there are none. Reading an event twice changes nothing.
 */
function readHits(db: Db, rows: number, clock: Clock): ReadEvents | null {
  const client = db.$client;
  const now = isoTimestamp(clock.now());
  const after = followedTo(client);
  const limit = Math.min(rows, eventsAtOnce(client));
  const next = client
    .prepare<[object], { last: number | null; count: number }>(`
    WITH next AS (SELECT id, ${IS_UNSETTLED} AS is_unsettled FROM events WHERE id > @after ORDER BY id LIMIT @limit)
    SELECT max(id) AS last, count(*) AS count FROM next
    WHERE id < ifnull((SELECT min(id) FROM next WHERE is_unsettled = 1), 9e15)`)
    .get({ after, limit, ...settlingParameters(clock) });
  if (next === undefined || next.last === null) return null;
  const { last, count } = next;
  const people = client
    .prepare<[{ after: number; to: number }], number>(`INSERT INTO activity (address_id, last_at, last_click_at)
    SELECT d.address_id, max(e.happened_at), max(e.happened_at) FILTER (WHERE e.kind = 'click')
    FROM events e CROSS JOIN deliveries d ON d.id = e.delivery_id CROSS JOIN mailings m ON m.id = e.mailing_id
    WHERE e.id > @after AND e.id <= @to AND e.made_by = ${MADE_BY.person} AND e.kind IN ('open', 'click') AND m.owner_kind IN ('single', 'schedule')
    GROUP BY d.address_id
    ON CONFLICT (address_id) DO UPDATE SET last_at = max(last_at, excluded.last_at),
      last_click_at = nullif(max(ifnull(last_click_at, 0), ifnull(excluded.last_click_at, 0)), 0)
    RETURNING address_id`)
    .pluck()
    .all({ after, to: last });
  const proxied = client
    .prepare<[{ after: number; to: number }], number>(`INSERT INTO proxied_activity (address_id, last_at)
    SELECT d.address_id, max(e.happened_at)
    FROM events e CROSS JOIN deliveries d ON d.id = e.delivery_id CROSS JOIN mailings m ON m.id = e.mailing_id
    WHERE e.id > @after AND e.id <= @to AND e.made_by = ${MADE_BY.proxied} AND m.owner_kind IN ('single', 'schedule')
    GROUP BY d.address_id
    ON CONFLICT (address_id) DO UPDATE SET last_at = max(last_at, excluded.last_at)
    RETURNING address_id`)
    .pluck()
    .all({ after, to: last });
  if (people.length > 0) liftActive(client, people, now);
  const accounts = activeContacts(client, [...new Set([...people, ...proxied])]);
  return {
    update: new SegmentUpdate(db, accounts, now),
    isFull: count === limit,
    end: () => writeNamedValue(client, FOLLOWED, String(last)),
  };
}

/** Returns these contacts (address ids) by account, for the segments with rules about opens and clicks. */
function activeContacts(client: Db['$client'], people: readonly number[]): ActiveContacts[] {
  if (people.length === 0) return [];
  if (client.prepare('SELECT 1 FROM segments WHERE check_at IS NOT NULL LIMIT 1').get() === undefined) return [];
  const owned = client
    .prepare<[string], { account: number; address: number }>(
      'SELECT a.user_id AS account, a.id AS address FROM json_each(?) p CROSS JOIN addresses a ON a.id = p.value',
    )
    .all(JSON.stringify(people));
  return [...Map.groupBy(owned, ({ account }) => account)].map(([account, ofAccount]) => {
    const ids = ofAccount.map(({ address }) => address);
    const isConcerned = ({ rules }: Segment) => rules.some((rule) => isActivityRule(rule) && rule.type !== 'event');
    return { account, people: ids, concernedBy: (segment) => (isConcerned(segment) ? ids : []) };
  });
}
