/** Tables of the actions on many contacts. */
import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { count, id } from './columns.ts';

/** An action on many contacts, done by the background thread. It is changed by src/audience/bulk/ alone. */
export const contactJobs = sqliteTable(
  'contact_jobs',
  {
    id: id(),
    user_id: user(),
    action: text({ enum: ['unsubscribe', 'move', 'segment', 'delete'] }).notNull(),
    /** The contact type, group (null: all mail) or segment of the action. */
    target_id: integer(),
    /**
     * selecting (the contacts are collected) → running → done; ready comes between the two and waits for a person to confirm the number;
     * cancelled stays as far as it came; undoing → undone.
     */
    state: text({
      enum: ['selecting', 'ready', 'running', 'done', 'cancelled', 'undoing', 'undone', 'failed'],
    }).notNull(),
    /** Which contacts, as JSON: a `ContactFilter`, or their ids. Null when the action has ended. */
    filter: text(),
    /** 1: a person confirms the number of contacts before anything is done. */
    needs_confirmation: count(),
    /** Where collecting goes on, as text: after this contact, or after so many ids. Null at the beginning. */
    place: text(),
    /** The last contact that was worked on. */
    after_id: count(),
    whole: count(),
    done: count(),
    /** Contacts the action did not apply to: deleted meanwhile, or the contact type has their address already. */
    skipped: count(),
    /** The `deleted_at` or `updated_at` of the contacts it changed. */
    created_at: text().notNull(),
    finished_at: text(),
  },
  (table) => [
    index('contact_jobs_user').on(table.user_id, table.id),
    index('contact_jobs_unfinished').on(table.id).where(sql`state IN ('selecting', 'running', 'undoing')`),
  ],
);

/** The contacts of a job, with what undoing needs. */
export const contactJobItems = sqliteTable(
  'contact_job_items',
  {
    job_id: integer()
      .notNull()
      .references(() => contactJobs.id),
    contact_id: integer().notNull(),
    /** 1: the action was applied. */
    is_done: count(),
    /** The contact type before a move. */
    type_before: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.job_id, table.contact_id] }),
    index('contact_job_items_contact').on(table.contact_id),
  ],
);
