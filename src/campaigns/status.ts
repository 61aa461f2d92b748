/** Creates single sends and changes their status, which no other file does. A held send is a draft with a reason. */
import type { Database } from 'better-sqlite3';
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../database/open.ts';
import { SINGLE_SEND_STATUS, singleSends } from '../database/schema/index.ts';
import { type Held, holdFor, NOT_HELD } from '../delivery/queue/holds.ts';
import { keptMails } from '../delivery/reporting/mailing-report.ts';
import { sentence } from '../errors/sentences.ts';
import type { Log } from '../log.ts';
import { type Clock, isoTimestamp, plainTimestamp } from '../time/clock.ts';
import { MINUTE_MS } from '../units.ts';
import { publishSent } from './archive/archive.ts';

/** The columns of a change that the service made, not a user. */
const NOT_BY_USER = { changed_by: null };

type SingleSend = typeof singleSends.$inferSelect;
/** The columns of a single send that its creator sets; this file sets all others. */
type Columns = Omit<typeof singleSends.$inferInsert, 'id' | 'status' | 'held_code' | 'held_reason' | 'hidden_at'>;
/** The columns of a single send that is in the list of campaigns. Every new or queued single send is in the list. */
const LISTED = { hidden_at: null };

/**
 * Returns an SQL condition: a single send has this status. The number of the status is part of the text, because SQLite can use an index
 * of the single sends with one status only if the text names this status.
 */
export function hasStatus(status: keyof typeof SINGLE_SEND_STATUS): SQL {
  return sql`${singleSends.status} = ${sql.raw(`${SINGLE_SEND_STATUS[status]}`)}`;
}

/** Stores a new single send with the status queued. */
export function insertQueued(db: Db, columns: Columns): void {
  db.insert(singleSends)
    .values({ ...columns, status: SINGLE_SEND_STATUS.queued, ...NOT_HELD })
    .run();
}

/** Stores a copy of a single send as a draft. Returns its id. */
export function insertCopy(db: Db, columns: Columns): number {
  const values = { ...columns, status: SINGLE_SEND_STATUS.draft, ...holdFor('copy'), ...LISTED, ...NOT_BY_USER };
  return db.insert(singleSends).values(values).returning({ id: singleSends.id }).get().id;
}

/** Stores a new single send as a draft. Returns its id. */
export function insertDraft(db: Db, columns: Columns): number {
  const values = { ...columns, status: SINGLE_SEND_STATUS.draft, ...NOT_HELD, ...LISTED };
  return db.insert(singleSends).values(values).returning({ id: singleSends.id }).get().id;
}

/** Changes a single send that is a draft or queued, without changing its status. */
export function changeUnsent(db: Db, id: number, columns: Partial<Columns>): void {
  db.update(singleSends).set(columns).where(eq(singleSends.id, id)).run();
}

/** Changes a single send that is a draft or queued, and queues it. */
export function requeue(db: Db, id: number, columns: Partial<Columns>): void {
  db.update(singleSends)
    .set({ ...columns, status: SINGLE_SEND_STATUS.queued, ...NOT_HELD, ...LISTED })
    .where(eq(singleSends.id, id))
    .run();
}

/** Returns the queued sends that match `which`, with the time of their last change. */
export function queuedSends(db: Db, which: SQL | undefined): { id: number; updated_at: string }[] {
  const { id, updated_at } = singleSends;
  return db
    .select({ id, updated_at })
    .from(singleSends)
    .where(and(hasStatus('queued'), which))
    .all();
}

/** Moves the queued sends that match `which` to draft, with the reason. `now` is an ISO timestamp. For many sends use large-writes.ts. */
export function holdQueuedSends(db: Db, which: SQL | undefined, reason: Held, now: string): void {
  db.update(singleSends)
    .set({ status: SINGLE_SEND_STATUS.draft, ...reason, ...NOT_BY_USER, updated_at: now })
    .where(and(hasStatus('queued'), which))
    .run();
}

/** Moves a completed send back to running, because mails were queued again. `now` is an ISO timestamp. */
export function runAgain(db: Db, id: number, now: string): void {
  db.update(singleSends)
    .set({ status: SINGLE_SEND_STATUS.running, ...LISTED, updated_at: now })
    .where(and(eq(singleSends.id, id), hasStatus('completed')))
    .run();
}

/** SQL: true if a single send is at rest: none of its mails will be sent unless a user queues it again. */
const AT_REST = `status IN (${SINGLE_SEND_STATUS.draft}, ${SINGLE_SEND_STATUS.completed}) AND held_code IS NOT 'sender_unverified'`;

/**
 * Hides single sends from the list of campaigns, except those that are not at rest. `hidden_at` is an ISO timestamp. If it is null, shows
 * all of them in the list again instead. Returns the number of changed single sends.
 */
export function hideSends(db: Db, ids: readonly number[], hidden_at: string | null): number {
  const which = hidden_at === null ? '' : `AND ${AT_REST}`;
  const sql = `UPDATE single_sends SET hidden_at = ? WHERE id IN (SELECT value FROM json_each(?)) ${which}`;
  return db.$client.prepare(sql).run(hidden_at, JSON.stringify(ids)).changes;
}

/** Returns the ids of the single sends in `ids` that are drafts at rest, so that deleting them loses no queued mail and no result. */
export function draftsAmong(db: Db, ids: readonly number[]): number[] {
  return db.$client
    .prepare<[string], number>(`
      SELECT id FROM single_sends WHERE id IN (SELECT value FROM json_each(?)) AND ${AT_REST} AND status = ${SINGLE_SEND_STATUS.draft}`)
    .pluck()
    .all(JSON.stringify(ids));
}

/**
 * Moves a send that is queued or waits for the verification of its sender to draft. Returns false if the send is neither. `now` is an ISO
 * timestamp.
 */
export function cancelBeforeStart(db: Db, id: number, now: string): boolean {
  const isWaiting = sql`(${singleSends.status} = ${SINGLE_SEND_STATUS.queued} OR ${singleSends.held_code} = 'sender_unverified')`;
  const { changes } = db
    .update(singleSends)
    .set({ status: SINGLE_SEND_STATUS.draft, ...holdFor('cancelled'), ...NOT_BY_USER, updated_at: now })
    .where(and(eq(singleSends.id, id), isWaiting))
    .run();
  return changes > 0;
}

/** SQL: true if it is recorded that the single send is to be held, and `finishHolds` (large-writes.ts) has not held it yet. */
export const IS_TO_BE_HELD = sql`EXISTS (SELECT 1 FROM unfinished_writes w, json_each(w.given, '$.sends') g
  WHERE w.kind = 'hold-sends' AND g.value ->> 'id' = ${singleSends.id})`;

/**
 * Moves a send from queued to running, and stores the sender that it uses. Returns false if the send was changed or cancelled since it was
 * read, or is to be held.
 */
export function startSend(
  db: Db,
  { id, updated_at }: Pick<SingleSend, 'id' | 'updated_at'>,
  sender: Pick<SingleSend, 'from_sender' | 'reply_to' | 'sender_name' | 'sender_address'>,
  now: Date,
): boolean {
  const { changes } = db
    .update(singleSends)
    .set({
      status: SINGLE_SEND_STATUS.running,
      ...NOT_HELD,
      ...sender,
      sent_at: plainTimestamp(now),
      updated_at: isoTimestamp(now),
    })
    .where(
      and(
        eq(singleSends.id, id),
        hasStatus('queued'),
        eq(singleSends.updated_at, updated_at),
        sql`NOT ${IS_TO_BE_HELD}`,
      ),
    )
    .run();
  return changes > 0;
}

/** Moves single sends whose mailing has ended to completed, publishes those that are in an archive, and logs their results. */
export function completeFinishedSends({ db, clock, log }: { db: Db; clock: Clock; log: Log }): void {
  const isFinished = `status = ${SINGLE_SEND_STATUS.running} AND EXISTS (SELECT 1 FROM mailings
    WHERE owner_kind = 'single' AND owner_id = single_sends.id AND finished_at IS NOT NULL)`;
  // Look before the transaction begins, because it takes the write lock from requests even if there is nothing to do.
  if (db.$client.prepare(`SELECT 1 FROM single_sends WHERE ${isFinished} LIMIT 1`).get() === undefined) return;
  const complete = () => {
    const completed = db.$client
      .prepare<[string], number>(
        `UPDATE single_sends SET status = ${SINGLE_SEND_STATUS.completed}, updated_at = ? WHERE ${isFinished} RETURNING id`,
      )
      .pluck()
      .all(isoTimestamp(clock.now()));
    publishSent(db.$client, completed);
    return completed;
  };
  for (const id of db.$client.transaction(complete).immediate())
    log(loggedFigures(db.$client, id), 'campaign finished');
}

/** Returns the numbers of recipients of a finished send by their final state, for the log. */
function loggedFigures(client: Database, id: number): object {
  return {
    single_send: id,
    ...client
      .prepare<[number], object>(
        `SELECT id AS mailing, recipients, delivered + returned AS accepted, bounces AS bounced, failed, suppressed AS skipped, cancelled,
         max(0, round(unixepoch(finished_at, 'subsec') - unixepoch(created_at, 'subsec'))) AS seconds
       FROM mailings WHERE owner_kind = 'single' AND owner_id = ?`,
      )
      .get(id),
  };
}

/**
 * Queues the sends that waited for the verification of one of these senders. A scheduled send that has missed its time by more than
 * `graceMinutes` stays held, and the reason says so.
 */
export function releaseSendsOfSenders(db: Db, senderIds: readonly number[], now: Date, graceMinutes: number): void {
  const waiting = db
    .select({ id: singleSends.id, schedule_type: singleSends.schedule_type, starts_at: singleSends.starts_at })
    .from(singleSends)
    .where(
      and(
        inArray(singleSends.sender_id, [...senderIds]),
        hasStatus('draft'),
        eq(singleSends.held_code, 'sender_unverified'),
      ),
    )
    .all();
  for (const { id, schedule_type, starts_at } of waiting) {
    const isScheduled = schedule_type === 1;
    const minutes = Math.floor((now.getTime() - starts_at) / MINUTE_MS);
    const isMissed = isScheduled && now.getTime() - starts_at > graceMinutes * MINUTE_MS;
    const cause = sentence('missed_unverified');
    db.update(singleSends)
      .set({
        ...(isMissed
          ? { held_code: 'missed_time', held_reason: sentence('held_missed_time', { minutes, cause }) }
          : { status: SINGLE_SEND_STATUS.queued, ...NOT_HELD }),
        starts_at: isScheduled ? starts_at : Math.max(starts_at, now.getTime()),
        ...NOT_BY_USER,
        updated_at: isoTimestamp(now),
      })
      .where(eq(singleSends.id, id))
      .run();
  }
}

/** The states of a single send as pages and the API show them, in the order in which a single send goes through them. */
export const SHOWN_STATES = [
  'draft',
  'scheduled',
  'preparing',
  'sending',
  'paused',
  'held',
  'cancelling',
  'cancelled',
  'done',
  'kept',
] as const;

/**
 * Returns an SQL condition: a single send that is not queued is held. `send` is its alias or table. Copied and cancelled single sends have a
 * `held_code` as well, but do not count as held, because a user made them drafts.
 */
export function isHeld(send: string): string {
  return `${send}.held_code NOT IN ('copy', 'cancelled')`;
}

/**
 * SQL: the shown state of a single send `s` with its mailing `m`, which may be missing (LEFT JOIN). `cancelling` lasts until every
 * recipient has a final state. `kept` means that the test outbox took all delivered mails, so that no recipient got any.
 */
export const SHOWN_STATE = `CASE
  WHEN m.id IS NULL AND s.status = ${SINGLE_SEND_STATUS.queued} THEN 'scheduled'
  WHEN m.id IS NULL AND ${isHeld('s')} THEN 'held'
  WHEN m.id IS NULL THEN 'draft'
  WHEN m.state = 'cancelled' THEN iif(m.finished_at IS NULL, 'cancelling', 'cancelled')
  WHEN m.state = 'enqueueing' THEN 'preparing'
  WHEN m.state = 'done' AND m.delivered > 0 AND ${keptMails('m')} >= m.delivered THEN 'kept'
  ELSE m.state END`;

/** SQL: the number of recipients of a mailing `m` who have their final state. */
export const FINISHED = '(m.delivered + m.bounces + m.failed + m.suppressed + m.cancelled)';
