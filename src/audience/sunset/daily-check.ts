/**
 * The daily check of all contacts of an account, which applies its sunset rule to the inactive ones. The background thread checks some
 * contacts at a time, and stores the inactive ones together with its progress, so that a kill loses nothing and no contact is found twice.
 */
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';
import { moveToType } from '../bulk/apply.ts';
import { Pace } from '../search/pace.ts';
import { isFarBehind } from '../segments/follow-activity.ts';
import { addContactsToSegment } from '../segments/segments.ts';
import { InactiveContacts } from './find-inactive.ts';
import { liftSome } from './lift.ts';
import { cutoffOf, hasTarget, type Sunset } from './rule.ts';

/** How long one call of `continueSunsets` works. */
const BACKGROUND_MS = 50;
/** After this number of inactive contacts, they are stored before more contacts are checked. */
const MAX_FOUND = 250;

/** Continues the checks that are due for a short time. Returns true if there is more to do. */
export async function continueSunsets(db: Db, clock: Clock): Promise<boolean> {
  const client = db.$client;
  const now = clock.now().getTime();
  const until = performance.now() + BACKGROUND_MS;
  // If the clock was set back, the next check could be far in the future. A check that is more than a day away is due.
  const due = client
    .prepare<[object], Sunset>(
      `SELECT * FROM sunsets WHERE lift_to IS NOT NULL OR (is_on = 1 AND (next_at <= @now OR next_at > @tomorrow)) ORDER BY random()`,
    )
    .all({ now, tomorrow: now + DAY_MS });
  let hasMore = false;
  for (const sunset of due) {
    if (sunset.lift_to !== null) await liftAll(client, sunset.user_id, sunset.lift_to, clock, until);
    if (sunset.is_on === 1 && (await checkContacts(db, sunset, clock, until))) hasMore = true;
    if (performance.now() >= until) return true;
  }
  return hasMore;
}

/** Ends the inactivity of the account's contacts up to the entry `to`, as `requestLiftAll` requested, until the time is over. */
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
  const nextCheck = new Date(now).setUTCHours(24, 0, 0, 0);
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
      if (ids.length > 0) applyRule(db, sunset, inactive, ids, isoTimestamp(clock.now()));
      const ended = { cutoff: null, after_id: 0, next_at: nextCheck };
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

/** Returns false if a user has changed the rule or restarted its check since `before` was read. `lift_to` does not affect the check. */
function isUnchanged(client: Database, { lift_to: _lift, ...before }: Sunset): boolean {
  const current = client.prepare<[number], Sunset>('SELECT * FROM sunsets WHERE user_id = ?').get(before.user_id);
  return isDeepStrictEqual({ ...current, lift_to: null }, { ...before, lift_to: null });
}

/** Stores contacts (ids) as inactive, and adds them to the rule's segment or moves them, as the rule says. */
function applyRule(db: Db, sunset: Sunset, inactive: InactiveContacts, contacts: readonly number[], now: string): void {
  const client = db.$client;
  const { user_id: account, action, segment_id: segment, contact_type_id: type } = sunset;
  const addressIds = inactive.store(contacts, now);
  if (addressIds.length === 0) return;
  const parameters = { addresses: JSON.stringify(addressIds), account, segment, type };
  if (action === 'segment' && segment !== null) {
    const added = client
      .prepare<[object], number>(`SELECT c.id FROM segments s CROSS JOIN json_each(@addresses) a CROSS JOIN contacts c
        ON c.contact_type_id = s.contact_type_id AND c.address_id = a.value AND c.deleted_at IS NULL
      WHERE s.id = @segment AND s.user_id = @account`)
      .pluck();
    addContactsToSegment(db, account, segment, added.all(parameters), now);
  }
  if (action === 'move' && type !== null) {
    const moved = client
      .prepare<
        [object],
        number
      >(`SELECT c.id FROM json_each(@addresses) a CROSS JOIN contacts c ON c.address_id = a.value
      WHERE c.user_id = @account AND c.deleted_at IS NULL AND c.contact_type_id <> @type`)
      .pluck();
    moveToType(db, account, moved.all(parameters), type, now);
  }
}
