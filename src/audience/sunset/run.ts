/**
 * The daily look of sunset rules at all contacts of their accounts: in the background, some contacts at a time. Who is found inactive is
 * noted together with how far the look came, so that a kill loses nothing and nobody is found twice.
 */
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { prepared } from '../../database/prepared.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { moveToType } from '../bulk/apply.ts';
import { Pace } from '../search/pace.ts';
import { isFarBehind } from '../segments/follow-activity.ts';
import { addContactsToSegment } from '../segments/segments.ts';
import { InactiveContacts } from './inactive.ts';
import { liftSome } from './lift.ts';
import { cutoffOf, hasTarget, type Sunset } from './rule.ts';

const DAY_MS = 86_400_000;
/** How long one call works. */
const BACKGROUND_MS = 50;
/** With so many found inactive, they are written before others are looked at. */
const MOST_FOUND = 250;

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
    for (const pace = new Pace(); place !== null && found.length < MOST_FOUND; await setImmediate()) {
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
