/**
 * Tables of the history of contacts. src/audience/import/ owns the tables of imports, which have what an undo needs. src/audience/sunset/
 * owns the tables of sunset, the rule about contacts that have been inactive for long. src/audience/bulk/ owns the tables of actions on
 * many contacts.
 */

import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { address } from './audience.ts';
import { flag, id, integerOrZero } from './columns.ts';

/**
 * Times for which contacts were in a segment that they have left because of its rules; the timeline of a contact shows them. Current
 * members have only a row in `segment_recipients`, so that joining, which an import causes for thousands, writes nothing more.
 */
export const segmentLeaves = sqliteTable(
  'segment_leaves',
  {
    id: id(),
    /** Not a foreign key, because purging a segment would then look through the leaves of all segments. */
    segment_id: integer().notNull(),
    address_id: address(),
    joined_at: text().notNull(),
    left_at: text().notNull(),
  },
  (table) => [index('segment_leaves_address').on(table.address_id)],
);

/**
 * When a person, not a machine, last opened a mail or clicked in one. Rules of segments use it so that none of them reads all
 * events of all contacts. src/audience/segments/follow-activity.ts writes it.
 */
export const activity = sqliteTable('activity', {
  address_id: integer().primaryKey(),
  /** The last open or click, epoch milliseconds. */
  last_at: integer().notNull(),
  /** The last click, epoch milliseconds; null: never clicked. */
  last_click_at: integer(),
});

/** When a proxy last loaded the pictures of a contact's mails. The contact may or may not have opened the mail. */
export const proxiedActivity = sqliteTable('proxied_activity', {
  address_id: integer().primaryKey(),
  /** Epoch milliseconds. */
  last_at: integer().notNull(),
});

/** Moves of contacts to another contact type, for the timeline of a contact. */
export const contactMoves = sqliteTable(
  'contact_moves',
  {
    id: id(),
    contact_id: integer().notNull(),
    from_type_id: integer().notNull(),
    to_type_id: integer().notNull(),
    created_at: text().notNull(),
  },
  (table) => [index('contact_moves_contact').on(table.contact_id), index('contact_moves_target').on(table.to_type_id)],
);

/** Earlier addresses of contacts whose address was corrected, so that erasing the contact erases these addresses, too. */
export const earlierAddresses = sqliteTable(
  'earlier_addresses',
  {
    contact_id: integer().notNull(),
    address_id: address(),
  },
  (table) => [
    primaryKey({ columns: [table.contact_id, table.address_id] }),
    index('earlier_addresses_address').on(table.address_id),
  ],
);

/**
 * Earlier addresses of purged contacts. If a contact is added again under the last address and then erased, the earlier
 * addresses are erased, too.
 */
export const purgedCorrections = sqliteTable(
  'purged_corrections',
  {
    /** The last address of the contact. */
    address_id: address(),
    /** The id of the earlier address. */
    earlier_id: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.address_id, table.earlier_id] }),
    index('purged_corrections_earlier').on(table.earlier_id),
  ],
);

/**
 * The contacts that an import added, as ranges of ids: one transaction adds some thousand in a row, and no other transaction writes
 * meanwhile. A range may contain ids without a contact.
 */
export const importAdded = sqliteTable(
  'import_added',
  { import_id: integer().notNull(), first_id: integer().notNull(), last_id: integer().notNull() },
  (table) => [primaryKey({ columns: [table.import_id, table.first_id] })],
);

/** The state of a contact before an import changed it. */
export const importChanges = sqliteTable(
  'import_changes',
  {
    import_id: integer().notNull(),
    address_id: integer().notNull(),
    /** What `row_id` refers to: a contact, or a row of segment_recipients, unsubscribers or the consent log. */
    kind: text({ enum: ['contact', 'member', 'unsubscribed', 'tracking'] }).notNull(),
    row_id: integer().notNull(),
    /** The old values of the changed columns as JSON, or the old choice about opens and clicks; null if the import added the row. */
    before: text(),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.address_id, table.kind, table.row_id] })],
);

/** Contacts that an undo did not change, because they were changed after the import. */
export const importKept = sqliteTable(
  'import_kept',
  {
    import_id: integer().notNull(),
    contact_id: integer().notNull(),
    /** segment: the contact was added to a segment by hand. */
    reason: text({ enum: ['changed', 'moved', 'deleted', 'segment'] }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.contact_id] })],
);

/**
 * With sender nodes: changes of the lists of unsubscribed and suppressed addresses in this file that are not in JetStream yet.
 * Triggers on `unsubscribers` and `suppressions` add the rows in the transaction of the change, so that every change is
 * recorded. There is at most one row per address and list; a repeated change gets a new id.
 */
export const unpublishedChoices = sqliteTable(
  'unpublished_choices',
  {
    id: id(),
    user_id: user(),
    /** Not a foreign key, so that a row here does not keep an address from being removed. */
    address_id: integer().notNull(),
    /** The id of the unsubscribe group; 0: all mail; -1: the list of suppressed addresses. */
    list: integer().notNull(),
    /** Epoch milliseconds. */
    changed_at: integer().notNull(),
  },
  (table) => [uniqueIndex('unpublished_choices_place').on(table.address_id, table.list)],
);

/** What happens to inactive contacts: they get no more mail, are added to a segment, or are moved to another contact type. */
export const SUNSET_ACTIONS = ['stop', 'segment', 'move'] as const;

/** The sunset rule of an account, and how far its daily check of all contacts has come. */
export const sunsets = sqliteTable('sunsets', {
  user_id: user().primaryKey(),
  is_on: integer().$type<0 | 1>().notNull().default(0),
  months: integer().notNull(),
  least_mails: integer().notNull(),
  action: text({ enum: SUNSET_ACTIONS }).notNull(),
  /** The segment or contact type that inactive contacts go to, depending on the action; otherwise null. */
  segment_id: integer(),
  contact_type_id: integer(),
  /** When the next check begins, epoch milliseconds. */
  next_at: integerOrZero(),
  /** For a running check: contacts without activity since this time, epoch milliseconds, are inactive; null between two checks. */
  cutoff: integer(),
  /** The last contact that was checked. */
  after_id: integerOrZero(),
  /** The background thread lets all stopped contacts up to this id of `sunset_people` get mail again; null when that is done. */
  lift_to: integer(),
});

/**
 * Times for which contacts counted as inactive. A row whose `lifted_at` is null applies now; with the action stop, the contact then gets no
 * mail.
 */
export const sunsetPeople = sqliteTable(
  'sunset_people',
  {
    id: id(),
    user_id: user(),
    address_id: address(),
    action: text({ enum: SUNSET_ACTIONS }).notNull(),
    /** The contact was inactive since this time, epoch milliseconds. Activity from then on ends the row, even if it is reported late. */
    cutoff: integer().notNull(),
    created_at: text().notNull(),
    lifted_at: text(),
    /** Who ended the row: the contact (`person`) by becoming active, or a user of the account (`owner`). */
    lifted_by: text({ enum: ['person', 'owner'] }),
  },
  (table) => [
    index('sunset_people_address').on(table.address_id, table.lifted_at),
    index('sunset_people_present').on(table.user_id, table.id).where(sql`lifted_at IS NULL`),
  ],
);

/**
 * How many contacts the rule of an account was applied to on each day (UTC), and how many of the stopped contacts get mail
 * again. Triggers on `sunset_people` update it.
 */
export const sunsetDays = sqliteTable(
  'sunset_days',
  {
    user_id: user(),
    /** `YYYY-MM-DD`. */
    day: text().notNull(),
    stopped: integerOrZero(),
    moved: integerOrZero(),
    lifted: integerOrZero(),
  },
  (table) => [primaryKey({ columns: [table.user_id, table.day] })],
);

/** A bulk action on contacts, done by the background thread. Only src/audience/bulk/ changes it. */
export const contactJobs = sqliteTable(
  'contact_jobs',
  {
    id: id(),
    user_id: user(),
    action: text({ enum: ['unsubscribe', 'move', 'segment', 'delete'] }).notNull(),
    /** The contact type, group (null: all mail) or segment of the action. */
    target_id: integer(),
    /**
     * selecting (the contacts are collected) → running → done. Between selecting and running, `ready` waits for a user to confirm the
     * number. A cancelled job keeps what it has done. An undo goes from undoing to undone.
     */
    state: text({
      enum: ['selecting', 'ready', 'running', 'done', 'cancelled', 'undoing', 'undone', 'failed'],
    }).notNull(),
    /** The contacts to which the action applies, as JSON: a `ContactFilter`, or their ids. Null when the action has ended. */
    filter: text(),
    /** 1: a user must confirm the number of contacts before anything is changed. */
    needs_confirmation: flag(),
    /** Where collecting continues, as text: after this contact, or after this number of ids. Null at the beginning. */
    place: text(),
    /** The last contact that was processed. */
    after_id: integerOrZero(),
    /** The number of contacts of the job, and how many of them have been processed. */
    whole: integerOrZero(),
    done: integerOrZero(),
    /** How many contacts the action did not apply to: they were deleted since, or the contact type had their address already. */
    skipped: integerOrZero(),
    /** When the job was created. Contacts that the action changes get this time as `deleted_at` or `updated_at`. */
    created_at: text().notNull(),
    finished_at: text(),
  },
  (table) => [
    index('contact_jobs_user').on(table.user_id, table.id),
    index('contact_jobs_unfinished').on(table.id).where(sql`state IN ('selecting', 'running', 'undoing')`),
  ],
);

/** The contacts of a job, with what undoing it needs. */
export const contactJobItems = sqliteTable(
  'contact_job_items',
  {
    job_id: integer()
      .notNull()
      .references(() => contactJobs.id),
    contact_id: integer().notNull(),
    /** 1: the action was applied to this contact. */
    is_done: flag(),
    /** The contact type before a move. */
    type_before: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.job_id, table.contact_id] }),
    index('contact_job_items_contact').on(table.contact_id),
  ],
);
