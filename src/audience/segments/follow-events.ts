/**
 * Reads reported events in the order of their ids, and updates the contacts of the events in the segments whose rules name one of these
 * events.
 */
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import type { Db } from '../../database/open.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { EVENT_FIELD } from '../events/names.ts';
import type { Segment } from './membership.ts';
import { eventsAtOnce, type ReadEvents, SegmentUpdate } from './update-people.ts';

/** The named value with the id of the last reported event that was read. */
export const EVENTS_FOLLOWED_TO = 'contact_events_followed_to';

/** Returns true if more than `many` reported events are unread. */
export function areContactEventsFarBehind(client: Db['$client'], many: number): boolean {
  return newestEventId(client) > followedTo(client) + many;
}

/** Returns true if there are unread reported events. */
export function hasNewContactEvents(client: Db['$client']): boolean {
  return newestEventId(client) > followedTo(client);
}

function newestEventId(client: Db['$client']): number {
  return client.prepare<[], { id: number }>('SELECT ifnull(max(id), 0) AS id FROM contact_events').get()?.id ?? 0;
}

function followedTo(client: Db['$client']): number {
  return Number(findNamedValue(client, EVENTS_FOLLOWED_TO) ?? 0);
}

interface NewEvent {
  id: number;
  address_id: number;
  user_id: number;
  word: string;
}

/**
 * Reads the next events, at most `rows`. Returns the update of segments that follows from these events, or null if there are none. Call it inside a
 * transaction.
 */
export function readContactEvents(db: Db, rows: number, clock: Clock): ReadEvents | null {
  const client = db.$client;
  if (client.prepare('SELECT 1 FROM segments WHERE check_at IS NOT NULL LIMIT 1').get() === undefined) {
    // No segment has a rule about events.
    writeNamedValue(client, EVENTS_FOLLOWED_TO, String(newestEventId(client)));
    return null;
  }
  const limit = Math.min(rows, eventsAtOnce(client));
  const events = client
    .prepare<[number, number], NewEvent>(`
    SELECT v.id, v.address_id, v.user_id, w.word FROM contact_events v CROSS JOIN event_words w ON w.id = v.name_id
    WHERE v.id > ? ORDER BY v.id LIMIT ?`)
    .all(followedTo(client), limit);
  const last = events.at(-1);
  if (last === undefined) return null;
  const accounts = [...Map.groupBy(events, ({ user_id }) => user_id)].map(([account, ofAccount]) => {
    const byName = Map.groupBy(ofAccount, ({ word }) => word);
    return {
      account,
      people: addressesOf(ofAccount),
      concernedBy({ rules }: Segment) {
        const names = rules.flatMap(({ type, field }) => (type === 'event' ? [field.slice(EVENT_FIELD.length)] : []));
        return addressesOf([...new Set(names)].flatMap((name) => byName.get(name) ?? []));
      },
    };
  });
  return {
    update: new SegmentUpdate(db, accounts, isoTimestamp(clock.now())),
    isFull: events.length === limit,
    end: () => writeNamedValue(client, EVENTS_FOLLOWED_TO, String(last.id)),
  };
}

function addressesOf(events: readonly NewEvent[]): number[] {
  return [...new Set(events.map(({ address_id }) => address_id))];
}
