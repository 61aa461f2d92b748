/** Actions on many contacts: starting, cancelling, undoing and reading them. The background thread does the work (work.ts). */
import type { Db } from '../../database/open.ts';
import { conflict, Failure, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import type { ContactFilter } from '../search/contact-filter.ts';

export const JOB_ACTIONS = ['unsubscribe', 'move', 'segment', 'delete'] as const;
export type JobAction = (typeof JOB_ACTIONS)[number];
export const JOB_STATES = [
  'selecting',
  'ready',
  'running',
  'done',
  'cancelled',
  'undoing',
  'undone',
  'failed',
] as const;

/** How long an action can be undone after it ended. */
export const UNDO_MS = 3_600_000;
const UNDOABLE: readonly JobAction[] = ['move', 'delete'];
/** The most actions of an account that have not ended. */
const MOST_UNFINISHED = 20;
const TOO_MANY_REQUESTS = 429;

export interface Job {
  id: number;
  user_id: number;
  action: JobAction;
  target_id: number | null;
  state: (typeof JOB_STATES)[number];
  filter: string | null;
  needs_confirmation: 0 | 1;
  place: string | null;
  after_id: number;
  whole: number;
  done: number;
  skipped: number;
  created_at: string;
  finished_at: string | null;
}

export interface NewJob {
  accountId: number;
  action: JobAction;
  targetId: number | null;
  /** The contacts: by id, checked to belong to the account, or all of a filter. */
  contacts: readonly number[] | ContactFilter;
  /** Whether it waits, once its contacts are collected, until `confirmJob`. */
  needsConfirmation: boolean;
  /** ISO timestamp. */
  now: string;
}

/** Stores an action for the background thread; gives its id. Throws 429 while too many of the account have not ended. */
export function startJob(db: Db, given: NewJob): number {
  const { accountId, action, targetId, contacts, needsConfirmation, now } = given;
  const whole = 'length' in contacts ? contacts.length : 0;
  return db.transaction(
    () => {
      requireRoom(db, accountId);
      const id = db.$client
        .prepare<unknown[], number>(`
          INSERT INTO contact_jobs (user_id, action, target_id, state, filter, needs_confirmation, whole, created_at)
          VALUES (?, ?, ?, 'selecting', ?, ?, ?, ?) RETURNING id`)
        .pluck()
        .get(accountId, action, targetId, JSON.stringify(contacts), needsConfirmation ? 1 : 0, whole, now);
      return Number(id);
    },
    { behavior: 'immediate' },
  );
}

function requireRoom(db: Db, accountId: number): void {
  const unfinished = db.$client
    .prepare<[number], number>(
      "SELECT count(*) FROM contact_jobs WHERE state IN ('selecting', 'ready', 'running', 'undoing') AND user_id = ?",
    )
    .pluck()
    .get(accountId);
  if ((unfinished ?? 0) >= MOST_UNFINISHED) throw new Failure(TOO_MANY_REQUESTS, sentence('too_many_actions'));
}

/** The job of the account with this id. Throws 404. */
export function requireJob(db: Db, accountId: number, id: number): Job {
  const job = db.$client
    .prepare<[number, number], Job>('SELECT * FROM contact_jobs WHERE id = ? AND user_id = ?')
    .get(id, accountId);
  if (job === undefined) throw notFound();
  return job;
}

/** The newest jobs of the account, newest first. */
export function listJobs(db: Db, accountId: number, limit: number): Job[] {
  return db.$client
    .prepare<[number, number], Job>('SELECT * FROM contact_jobs WHERE user_id = ? ORDER BY id DESC LIMIT ?')
    .all(accountId, limit);
}

/** Stops a job after the contacts it is working on. What it did so far stays. Throws 409 when it has ended. */
export function cancelJob(db: Db, accountId: number, id: number, now: string): void {
  const { state } = requireJob(db, accountId, id);
  if (state !== 'selecting' && state !== 'ready' && state !== 'running') throw conflict(sentence('action_ended'));
  db.$client
    .prepare(`UPDATE contact_jobs SET state = 'cancelled', finished_at = ?, filter = NULL, place = NULL
       WHERE id = ? AND state IN ('selecting', 'ready', 'running')`)
    .run(now, id);
}

/** Lets a job that waits for it change the contacts it has collected. Throws 409 when it does not wait. */
export function confirmJob(db: Db, accountId: number, id: number): void {
  const { changes } = db.$client
    .prepare("UPDATE contact_jobs SET state = 'running' WHERE id = ? AND state = 'ready'")
    .run(requireJob(db, accountId, id).id);
  if (changes === 0) throw conflict(sentence('action_not_ready'));
}

/** Whether a job can be undone at this moment, epoch milliseconds. */
export function isUndoable({ action, state, finished_at, done }: Job, now: number): boolean {
  return (
    UNDOABLE.includes(action) &&
    (state === 'done' || state === 'cancelled') &&
    done > 0 &&
    finished_at !== null &&
    now - Date.parse(finished_at) <= UNDO_MS
  );
}

/** Takes back what a job did, in the background. Throws 409 when that is not possible or no longer. `now` is epoch milliseconds. */
export function undoJob(db: Db, accountId: number, id: number, now: number): void {
  if (!isUndoable(requireJob(db, accountId, id), now)) throw conflict(sentence('action_final'));
  db.$client
    .prepare("UPDATE contact_jobs SET state = 'undoing', after_id = 0, finished_at = NULL WHERE id = ?")
    .run(id);
}
