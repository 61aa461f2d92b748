/**
 * Applies the events that mail providers report: bounces and complaints suppress the address, unsubscribes unsubscribe it. Each event
 * counts once.
 */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { fromNormalized } from '../../../audience/contacts/addresses.ts';
import { isErasedRow } from '../../../audience/contacts/erased-addresses.ts';
import { suppressAddress } from '../../../audience/suppressions.ts';
import { addUnsubscribers } from '../../../audience/unsubscribes.ts';
import type { Db } from '../../../database/open.ts';
import { inTransaction } from '../../../database/transaction.ts';
import type { WriteLock } from '../../../database/write-lock.ts';
import { notFound } from '../../../errors/failure.ts';
import { isoTimestamp } from '../../../time/clock.ts';
import { DAY_MS } from '../../../units.ts';
import { recordReturned } from '../../transactional/returned.ts';
import { recordBounce } from '../bounces/record.ts';
import type { Recipient } from '../find-mail.ts';
import { countUnsubscribe } from '../opens-and-clicks.ts';
import { recipientFinder } from './event-recipients.ts';
import { countEvents, type EventCounts, findIntake, type Intake } from './intakes.ts';
import type { Effect, ProviderEvent } from './provider-event.ts';

/** The longest time to work before other requests get their turn, in milliseconds. */
const STRETCH_MS = 5;
/** How long such a stretch of work waits for the write lock, in milliseconds. */
const LOCK_WAIT_MS = 3000;
/**
 * How long an event is remembered, in milliseconds. This is longer than providers repeat an event, and longer than a signed request is
 * accepted.
 */
const REMEMBERED_MS = 3 * DAY_MS;
/**
 * The maximum number of events remembered per intake. If there are more, the oldest are forgotten. If a forgotten event is sent again, it has no
 * further effect.
 */
const MAX_REMEMBERED = 10_000;
/**
 * The maximum number of events remembered per intake for providers whose signature could be reused for another event. It suffices for two
 * events per second for as long as a signature is accepted.
 */
const MAX_SIGNED_REMEMBERED = 200_000;
/** The maximum number of old events that are forgotten in one transaction. */
const FORGOTTEN_AT_ONCE = 500;
const KEY_BYTES = 16;
const MAX_NAME_CHARACTERS = 100;

/** The count that each effect adds to. */
const COUNTED: Readonly<Record<Effect, keyof EventCounts>> = {
  permanent: 'permanent',
  returned: 'returned',
  temporary: 'temporary',
  complaint: 'complaints',
  unsubscribe: 'unsubscribes',
};

/** Reads all events of a request, in short stretches. Rethrows the reader's errors, so that a partly malformed request has no effect. */
export async function readAll(events: Iterable<ProviderEvent>): Promise<ProviderEvent[]> {
  const read: ProviderEvent[] = [];
  let began = performance.now();
  for (const event of events) {
    read.push(event);
    if (performance.now() - began < STRETCH_MS) continue;
    await setImmediate();
    began = performance.now();
  }
  return read;
}

/**
 * Applies events in transactions of a few milliseconds; resolves when all events are on disk. After a failure half-way, the provider sends
 * all of them again, and those already applied count as duplicates. Throws 404 if the intake was deleted in the meantime.
 */
export async function applyEvents(
  { db, lock }: { db: Db; lock: WriteLock },
  intake: Intake,
  events: readonly ProviderEvent[],
  now: Date,
): Promise<void> {
  for (let done = 0; done < events.length; await setImmediate()) {
    const from = done;
    done += await lock.write(() => inTransaction(db, () => applySome(db, intake, events, from, now)), LOCK_WAIT_MS);
  }
}

/** Applies events from index `from` on until the time of a stretch is over. Returns the number of these events. */
function applySome(db: Db, intake: Intake, events: readonly ProviderEvent[], from: number, now: Date): number {
  const client = db.$client;
  if (findIntake(client, intake.id) === undefined) throw notFound();
  const findRecipient = recipientFinder(client, now.getTime());
  const counts: EventCounts = {
    permanent: 0,
    returned: 0,
    temporary: 0,
    complaints: 0,
    unsubscribes: 0,
    others: 0,
    unmatched: 0,
    duplicates: 0,
  };
  const remember = client.prepare<[number, Buffer, number]>(
    'INSERT INTO provider_event_keys (intake_id, key, seen_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const oldestSigned = oldestRemembered(client, intake.id);
  const until = performance.now() + STRETCH_MS;
  let remembered = 0;
  let name = '';
  let at = from;
  for (; at < events.length && (at === from || performance.now() < until); at++) {
    const event = events[at];
    if (event === undefined) break;
    name = event.name.slice(0, MAX_NAME_CHARACTERS) || 'unnamed';
    if (event.effect === null && event.signedAt === undefined) {
      counts.others++;
      continue;
    }
    const key = createHash('sha256').update(event.key).digest().subarray(0, KEY_BYTES);
    const seenAt = event.signedAt ?? now.getTime();
    const isForgotten = event.signedAt !== undefined && event.signedAt <= oldestSigned;
    if (isForgotten || remember.run(intake.id, key, seenAt).changes === 0) {
      counts.duplicates++;
      continue;
    }
    remembered++;
    if (event.effect === null) {
      counts.others++;
      continue;
    }
    const recipient = findRecipient(intake.user_id, event);
    if (recipient === null) counts.unmatched++;
    else {
      applyEffect(db, intake.user_id, recipient, { ...event, effect: event.effect }, now);
      counts[COUNTED[event.effect]]++;
    }
  }
  const most = events[from]?.signedAt === undefined ? MAX_REMEMBERED : MAX_SIGNED_REMEMBERED;
  remembered -= forget(db, intake.id, { added: remembered, most }, now);
  countEvents(client, intake.id, counts, { name, remembered, now });
  return at - from;
}

function applyEffect(
  db: Db,
  accountId: number,
  { addressId, normalizedEmail, delivery, transactionalId }: Recipient,
  { effect, diagnostic }: { effect: Effect; diagnostic: string },
  now: Date,
): void {
  if (effect === 'temporary') return;
  const client = db.$client;
  const created_at = isoTimestamp(now);
  if (effect === 'unsubscribe') {
    const address = fromNormalized(normalizedEmail);
    const mailingId = delivery?.mailingId ?? null;
    if (!isErasedRow(client, addressId))
      addUnsubscribers(db, { accountId, groupId: null, source: 'provider', mailingId, now: created_at }, [address]);
    if (delivery !== null)
      countUnsubscribe(
        client,
        { delivery: delivery.id, mailing: delivery.mailingId, address: addressId },
        now.getTime(),
      );
    return;
  }
  const kind = effect === 'complaint' ? 'complaint' : 'bounce';
  const suppress = effect !== 'returned';
  if (delivery !== null) recordBounce(client, { deliveryId: delivery.id, kind, suppress, diagnostic }, now, created_at);
  if (transactionalId !== null) recordReturned(client, { id: transactionalId, kind, suppress, diagnostic }, now);
  // The address is suppressed even if the bounce is already recorded, because an earlier bounce of this delivery may not have suppressed
  // it.
  if (suppress) suppressAddress(client, { user_id: accountId, address_id: addressId, kind, diagnostic, created_at });
}

/**
 * Returns the time of the oldest signed event that is remembered, in epoch milliseconds; earlier events may have been forgotten, because
 * there were too many. Returns -Infinity as long as no event had to be forgotten.
 */
function oldestRemembered(client: Database, intakeId: number): number {
  const oldest = client
    .prepare<[number, number], { at: number | null }>(`
     SELECT (SELECT min(seen_at) FROM provider_event_keys WHERE intake_id = i.id) AS at
     FROM provider_intakes i WHERE id = ? AND remembered >= ?`)
    .get(intakeId, MAX_SIGNED_REMEMBERED);
  return oldest?.at ?? Number.NEGATIVE_INFINITY;
}

/**
 * Forgets events that are too old, and the oldest events beyond `most`. Returns the number of forgotten events. `added` is the number of
 * events added in this transaction.
 */
function forget(db: Db, intakeId: number, { added, most }: { added: number; most: number }, now: Date): number {
  const client = db.$client;
  const { changes } = client
    .prepare(`DELETE FROM provider_event_keys WHERE intake_id = @id AND key IN (
       SELECT key FROM provider_event_keys WHERE intake_id = @id AND seen_at < @before ORDER BY seen_at LIMIT ${FORGOTTEN_AT_ONCE})`)
    .run({ id: intakeId, before: now.getTime() - REMEMBERED_MS });
  const count = client
    .prepare<[number], { remembered: number }>('SELECT remembered FROM provider_intakes WHERE id = ?')
    .get(intakeId);
  const tooMany = (count?.remembered ?? 0) + added - changes - most;
  if (tooMany <= 0) return changes;
  const excess = client
    .prepare(`DELETE FROM provider_event_keys WHERE intake_id = @id AND key IN (
       SELECT key FROM provider_event_keys WHERE intake_id = @id ORDER BY seen_at LIMIT @tooMany)`)
    .run({ id: intakeId, tooMany });
  return changes + excess.changes;
}
