/** Actions on many contacts: starting, cancelling, undoing and reading them. The background thread does the work (work.ts). */
import type { Db } from '../../database/open.ts';
import { conflict, notFound } from '../../failure.ts';
import type { ContactFilter } from '../search/contact-filter.ts';

export const JOB_ACTIONS = ['unsubscribe', 'move', 'segment', 'delete'] as const;
export type JobAction = (typeof JOB_ACTIONS)[number];
export const JOB_STATES = ['selecting', 'running', 'done', 'cancelled', 'undoing', 'undone', 'failed'] as const;

/** How long an action can be undone after it ended. */
export const UNDO_MS = 3_600_000;
const UNDOABLE: readonly JobAction[] = ['move', 'delete'];

export interface Job {
  id: number;
  user_id: number;
  action: JobAction;
  target_id: number | null;
  state: (typeof JOB_STATES)[number];
  filter: string | null;
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
  /** ISO timestamp. */
  now: string;
}

/** Stores an action for the background thread; gives its id. */
export function startJob(db: Db, { accountId, action, targetId, contacts, now }: NewJob): number {
  const given = Array.isArray(contacts) ? JSON.stringify(contacts) : null;
  return db.transaction(
    () => {
      const id = db.$client
        .prepare<unknown[], number>(`
          INSERT INTO contact_jobs (user_id, action, target_id, state, filter, created_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING id`)
        .pluck()
        .get(
          accountId,
          action,
          targetId,
          given === null ? 'selecting' : 'running',
          given === null ? JSON.stringify(contacts) : null,
          now,
        );
      if (given !== null) {
        const items = 'INSERT INTO contact_job_items (job_id, contact_id) SELECT ?, value FROM json_each(?)';
        const { changes } = db.$client.prepare(items).run(id, given);
        db.$client.prepare('UPDATE contact_jobs SET whole = ? WHERE id = ?').run(changes, id);
      }
      return Number(id);
    },
    { behavior: 'immediate' },
  );
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
  if (state !== 'selecting' && state !== 'running') throw conflict('The action has ended');
  db.$client
    .prepare(`UPDATE contact_jobs SET state = 'cancelled', finished_at = ?, filter = NULL, place = NULL
       WHERE id = ? AND state IN ('selecting', 'running')`)
    .run(now, id);
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
  if (!isUndoable(requireJob(db, accountId, id), now)) throw conflict('This action cannot be undone, or no longer');
  db.$client
    .prepare("UPDATE contact_jobs SET state = 'undoing', after_id = 0, finished_at = NULL WHERE id = ?")
    .run(id);
}
