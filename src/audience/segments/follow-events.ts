/**
 * Updates segments with rules about reported events: the background thread reads new events in the order of their ids and updates
 * their contacts in the segments whose rules name one of the events, in one transaction with how far it came.
 */
import { findNamedValue, writeNamedValue } from '../../database/named-values.ts';
import type { Db } from '../../database/open.ts';
import { prepared } from '../../database/prepared.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { EVENT_FIELD } from '../events/names.ts';
import { eventsAtOnce, updateAccount } from './update-people.ts';

const FOLLOWED = 'contact_events_followed_to';

/** Returns true if more than `many` reported events are unread. */
export function areContactEventsFarBehind(client: Db['$client'], many: number): boolean {
  return newest(client) > followedTo(client) + many;
}

/** Returns true if there are unread reported events. */
export function hasNewContactEvents(client: Db['$client']): boolean {
  return newest(client) > followedTo(client);
}

function newest(client: Db['$client']): number {
  return prepared<[], { id: number }>(client, 'SELECT ifnull(max(id), 0) AS id FROM contact_events').get()?.id ?? 0;
}

function followedTo(client: Db['$client']): number {
  return Number(findNamedValue(client, FOLLOWED) ?? 0);
}

interface NewEvent {
  id: number;
  address_id: number;
  user_id: number;
  word: string;
}

/** Reads the next events, at most `rows`. Returns true if there may be more. Call inside a transaction. */
export function followContactEvents(db: Db, rows: number, clock: Clock): boolean {
  const client = db.$client;
  if (prepared(client, 'SELECT 1 FROM segments WHERE check_at IS NOT NULL LIMIT 1').get() === undefined) {
    // No segment has a rule about events.
    writeNamedValue(client, FOLLOWED, String(newest(client)));
    return false;
  }
  const limit = Math.min(rows, eventsAtOnce(client));
  const events = prepared<[number, number], NewEvent>(
    client,
    `SELECT v.id, v.address_id, v.user_id, w.word FROM contact_events v CROSS JOIN event_words w ON w.id = v.name_id
    WHERE v.id > ? ORDER BY v.id LIMIT ?`,
  ).all(followedTo(client), limit);
  const last = events.at(-1);
  if (last === undefined) return false;
  const now = isoTimestamp(clock.now());
  for (const [account, theirs] of Map.groupBy(events, ({ user_id }) => user_id)) {
    const byName = Map.groupBy(theirs, ({ word }) => word);
    updateAccount(db, account, now, ({ rules }) => {
      const names = new Set(
        rules.flatMap(({ type, field }) => (type === 'event' ? [field.slice(EVENT_FIELD.length)] : [])),
      );
      const people = [...names].flatMap((name) => byName.get(name) ?? []).map(({ address_id }) => address_id);
      return people.length === 0 ? null : JSON.stringify([...new Set(people)]);
    });
  }
  writeNamedValue(client, FOLLOWED, String(last.id));
  return events.length === limit;
}
