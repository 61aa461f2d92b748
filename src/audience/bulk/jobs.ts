/**
 * Bulk actions: starting, cancelling, undoing and reading them, and the work of the background thread on them. The work is done in
 * short transactions that also store the progress. After a kill the action continues from there, and no contact is processed twice.
 */

import { inChunks } from '../../database/bulk.ts';
import type { Db } from '../../database/open.ts';
import { contactJobs } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { isTransientSqliteError } from '../../database/write-lock.ts';
import { conflict, Failure, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';
import { HOUR_MS } from '../../units.ts';
import type { ContactFilter } from '../search/contact-filter.ts';
import { ContactFinder } from '../search/find-contacts.ts';
import { Pace } from '../search/pace.ts';
import { applyAction, type Job, revertAction } from './apply.ts';

/** How long after its end an action can be undone. */
const UNDO_MS = HOUR_MS;
/** How long after its creation an action can be confirmed. */
const CONFIRM_MS = HOUR_MS;
const UNDOABLE: readonly Job['action'][] = ['move', 'delete'];
/** The maximum number of unfinished actions of an account. */
const MAX_UNFINISHED = 20;

/**
 * Stores a bulk action for the background thread. `contacts` has the ids of contacts, which the caller has checked to belong to the
 * account, or a filter for all contacts that match it.
 * Throws 429 if the account has too many unfinished actions.
 */
export function startJob(
  db: Db,
  {
    contacts,
    ...job
  }: Pick<Job, 'user_id' | 'action' | 'target_id' | 'needs_confirmation' | 'created_at'> & {
    contacts: readonly number[] | ContactFilter;
  },
): Job {
  // The contacts of a filter are counted while they are collected.
  const whole = 'length' in contacts ? contacts.length : 0;
  return inTransaction(db, (tx) => {
    requireBelowLimit(db, job.user_id);
    return tx
      .insert(contactJobs)
      .values({ ...job, state: 'selecting', filter: JSON.stringify(contacts), whole })
      .returning()
      .get();
  });
}

function requireBelowLimit(db: Db, accountId: number): void {
  const unfinished = db.$client
    .prepare<[number], number>(
      "SELECT count(*) FROM contact_jobs WHERE state IN ('selecting', 'ready', 'running', 'undoing') AND user_id = ?",
    )
    .pluck()
    .get(accountId);
  if ((unfinished ?? 0) >= MAX_UNFINISHED) throw new Failure(429, sentence('too_many_actions'));
}

/** Returns the job of the account with this id. Throws 404. */
export function requireJob(db: Db, accountId: number, id: number): Job {
  const job = db.$client
    .prepare<[number, number], Job>('SELECT * FROM contact_jobs WHERE id = ? AND user_id = ?')
    .get(id, accountId);
  if (job === undefined) throw notFound();
  return job;
}

/** Returns the newest jobs of the account, newest first. */
export function listJobs(db: Db, accountId: number, limit: number): Job[] {
  return db.$client
    .prepare<[number, number], Job>('SELECT * FROM contact_jobs WHERE user_id = ? ORDER BY id DESC LIMIT ?')
    .all(accountId, limit);
}

/** Stops a job after the contacts that are being processed. The job keeps what it has done. Throws 409 if it has ended. */
export function cancelJob(db: Db, accountId: number, id: number, now: string): void {
  const { state } = requireJob(db, accountId, id);
  if (state !== 'selecting' && state !== 'ready' && state !== 'running') throw conflict(sentence('action_ended'));
  db.$client
    .prepare(`UPDATE contact_jobs SET state = 'cancelled', finished_at = ?, filter = NULL, place = NULL
       WHERE id = ? AND state IN ('selecting', 'ready', 'running')`)
    .run(now, id);
}

/** Confirms a job that has collected its contacts, so that the job changes them. Throws 409 if the job does not wait for a confirmation. */
export function confirmJob(db: Db, accountId: number, id: number): void {
  const { changes } = db.$client
    .prepare("UPDATE contact_jobs SET state = 'running' WHERE id = ? AND state = 'ready'")
    .run(requireJob(db, accountId, id).id);
  if (changes === 0) throw conflict(sentence('action_not_ready'));
}

/** Returns true if a job can be undone at `now`, epoch milliseconds. */
export function isUndoable({ action, state, finished_at, done }: Job, now: number): boolean {
  return (
    UNDOABLE.includes(action) &&
    (state === 'done' || state === 'cancelled') &&
    done > 0 &&
    finished_at !== null &&
    now - Date.parse(finished_at) <= UNDO_MS
  );
}

/** Makes the background thread undo a job. Throws 409 if it cannot, or can no longer, be undone. `now` is epoch milliseconds. */
export function undoJob(db: Db, accountId: number, id: number, now: number): void {
  if (!isUndoable(requireJob(db, accountId, id), now)) throw conflict(sentence('action_final'));
  db.$client
    .prepare("UPDATE contact_jobs SET state = 'undoing', after_id = 0, finished_at = NULL WHERE id = ?")
    .run(id);
}

/** How long one call of `continueJobs` works. */
const BACKGROUND_MS = 30;
/** The number of contacts in one transaction. Applying an action to them takes a few milliseconds. */
const CONTACTS_PER_TRANSACTION = 100;
/** How many rows of contact_job_items one transaction adds or removes. */
const IDS_PER_TRANSACTION = 1000;

/** The account whose job was processed last. The account after it is next, so that no account waits for all jobs of another. */
let lastAccount = 0;

/**
 * Continues the oldest job of an account for a short time. Returns true if there is more to do. Reports a failing job to
 * `onFailure` and ends that job. Throws if the disk fails.
 */
export async function continueJobs(
  db: Db,
  clock: Clock,
  onFailure: (id: number, error: unknown) => void,
): Promise<boolean> {
  // The accounts after the last processed one come first.
  const oldest = db.$client.prepare<[number], Job>(`
    SELECT * FROM contact_jobs WHERE state IN ('selecting', 'running', 'undoing') ORDER BY user_id < ?, user_id, id LIMIT 1`);
  const account = oldest.get(lastAccount + 1)?.user_id;
  if (account === undefined) return removeExpired(db, clock);
  lastAccount = account;
  const until = performance.now() + BACKGROUND_MS;
  const pace = new Pace();
  await inChunks(db.$client, () => {
    // The job is read again in each transaction, because a request may have cancelled it.
    const job = oldest.get(account);
    if (job?.user_id !== account) return false;
    try {
      db.$client.transaction(() => continueJob(db, job, clock, pace))();
    } catch (error) {
      if (isTransientSqliteError(error)) throw error;
      endJob(db, job.id, 'failed', clock);
      onFailure(job.id, error);
    }
    return performance.now() < until;
  });
  return oldest.get(account) !== undefined;
}

/**
 * Cancels the oldest job with stored items if nobody has confirmed it in time, or deletes some of its items if it can no longer be undone.
 * Newer jobs wait until the items of the oldest are deleted. Returns true if there may be more items to delete.
 */
function removeExpired(db: Db, clock: Clock): boolean {
  const now = clock.now().getTime();
  const oldest = 'SELECT id FROM contact_jobs WHERE id = (SELECT min(job_id) FROM contact_job_items)';
  const unconfirmed = db.$client
    .prepare<[string], number>(`${oldest} AND state = 'ready' AND created_at < ?`)
    .pluck()
    .get(isoTimestamp(new Date(now - CONFIRM_MS)));
  if (unconfirmed !== undefined) endJob(db, unconfirmed, 'cancelled', clock);
  const old = db.$client
    .prepare<[string], number>(`${oldest} AND finished_at < ?`)
    .pluck()
    .get(isoTimestamp(new Date(now - UNDO_MS)));
  if (old === undefined) return false;
  db.$client
    .prepare(
      `DELETE FROM contact_job_items WHERE rowid IN (SELECT rowid FROM contact_job_items WHERE job_id = ? LIMIT ${IDS_PER_TRANSACTION})`,
    )
    .run(old);
  return true;
}

function continueJob(db: Db, job: Job, clock: Clock, pace: Pace): void {
  if (job.state === 'selecting') collect(db, job, clock, pace);
  else if (job.state === 'running') apply(db, job, clock);
  else undo(db, job, clock);
}

function collect(db: Db, job: Job, clock: Clock, pace: Pace): void {
  const filter: ContactFilter | number[] = JSON.parse(job.filter ?? '');
  if (Array.isArray(filter)) {
    storeContacts(db, job, filter);
    return;
  }
  const finder = new ContactFinder(db, filter, 'oldest', isoTimestamp(clock.now()));
  // While the search index is incomplete, the search would miss contacts.
  if (finder.isIndexing) return;
  const { rows, next } = pace.step((candidates) => finder.step(job.place, 'c.id', candidates, candidates));
  const { changes } = db.$client
    .prepare('INSERT OR IGNORE INTO contact_job_items (job_id, contact_id) SELECT ?, value FROM json_each(?)')
    .run(job.id, JSON.stringify(rows.flat()));
  db.$client
    .prepare('UPDATE contact_jobs SET whole = whole + ?, place = ?, state = ? WHERE id = ?')
    .run(changes, next, next === null ? stateAfterCollecting(job, job.whole + changes) : 'selecting', job.id);
}

/** Returns the next state of a job that has collected all its contacts. A job without contacts needs no confirmation. */
function stateAfterCollecting({ needs_confirmation }: Job, whole: number): Job['state'] {
  return needs_confirmation === 1 && whole > 0 ? 'ready' : 'running';
}

/** Stores the next contacts of a job whose contacts were given as ids. */
function storeContacts(db: Db, job: Job, ids: readonly number[]): void {
  const from = Number(job.place ?? 0);
  const next = from + IDS_PER_TRANSACTION;
  db.$client
    .prepare('INSERT OR IGNORE INTO contact_job_items (job_id, contact_id) SELECT ?, value FROM json_each(?)')
    .run(job.id, JSON.stringify(ids.slice(from, next)));
  db.$client
    .prepare('UPDATE contact_jobs SET place = ?, state = ? WHERE id = ?')
    .run(String(next), next < ids.length ? 'selecting' : stateAfterCollecting(job, job.whole), job.id);
}

function apply(db: Db, job: Job, clock: Clock): void {
  const ids = nextItems(db, job).map(({ contact_id }) => contact_id);
  const last = ids.at(-1);
  if (last === undefined) {
    endJob(db, job.id, 'done', clock);
    return;
  }
  const applied = applyAction(db, job, ids, isoTimestamp(clock.now()));
  const mark = db.$client.prepare(
    'UPDATE contact_job_items SET is_done = 1, type_before = ? WHERE job_id = ? AND contact_id = ?',
  );
  for (const { id, typeBefore } of applied) mark.run(typeBefore, job.id, id);
  db.$client
    .prepare('UPDATE contact_jobs SET after_id = ?, done = done + ?, skipped = skipped + ? WHERE id = ?')
    .run(last, applied.length, ids.length - applied.length, job.id);
}

function undo(db: Db, job: Job, clock: Clock): void {
  const items = nextItems(db, job, 'AND is_done = 1');
  const last = items.at(-1);
  if (last === undefined) {
    endJob(db, job.id, 'undone', clock);
    return;
  }
  const changed = items.map(({ contact_id: id, type_before: typeBefore }) => ({ id, typeBefore }));
  const undone = revertAction(db, job, changed, isoTimestamp(clock.now()));
  db.$client
    .prepare('UPDATE contact_jobs SET after_id = ?, done = done - ? WHERE id = ?')
    .run(last.contact_id, undone, job.id);
}

interface JobItem {
  contact_id: number;
  type_before: number | null;
}

/** Returns the next contacts of a job that satisfy a condition, which is SQL that begins with AND. */
function nextItems(db: Db, job: Job, condition: 'AND is_done = 1' | '' = ''): JobItem[] {
  return db.$client
    .prepare<[number, number], JobItem>(`
      SELECT contact_id, type_before FROM contact_job_items
      WHERE job_id = ? AND contact_id > ? ${condition} ORDER BY contact_id LIMIT ${CONTACTS_PER_TRANSACTION}`)
    .all(job.id, job.after_id);
}

function endJob(db: Db, id: number, state: Job['state'], clock: Clock): void {
  db.$client
    .prepare('UPDATE contact_jobs SET state = ?, finished_at = ?, filter = NULL, place = NULL WHERE id = ?')
    .run(state, isoTimestamp(clock.now()), id);
}
