/**
 * Tables of what happened with people that no other table tells. Those of imports are what undoing one needs; src/audience/import/ owns them.
 * Those of sunset, the rule about contacts that have been inactive for long, are owned by src/audience/sunset/; those of actions on many
 * contacts by src/audience/bulk/.
 */

import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { user } from './accounts.ts';
import { address } from './audience.ts';
import { count, id } from './columns.ts';

/**
 * Who was in a segment and left it by its rules, from when to when, for the timeline of a person. Who is in it now has a row in
 * `segment_recipients`, so that joining, which an import does for thousands, writes nothing more.
 */
export const segmentLeaves = sqliteTable(
  'segment_leaves',
  {
    id: id(),
    /** Without a reference, which would look through the leaves of all segments when one is purged. */
    segment_id: integer().notNull(),
    address_id: address(),
    joined_at: text().notNull(),
    left_at: text().notNull(),
  },
  (table) => [index('segment_leaves_address').on(table.address_id)],
);

/**
 * When a person, not a machine, last opened a mail or clicked in one: for rules of segments, so that none of them reads all events of
 * everybody. src/audience/segments/follow-activity.ts writes it.
 */
export const activity = sqliteTable('activity', {
  address_id: integer().primaryKey(),
  /** The last open or click, epoch milliseconds. */
  last_at: integer().notNull(),
  /** The last click, epoch milliseconds; null without one. */
  last_click_at: integer(),
});

/** When a proxy last loaded pictures of somebody's mails, which a person may or may not have caused. */
export const proxiedActivity = sqliteTable('proxied_activity', {
  address_id: integer().primaryKey(),
  /** Epoch milliseconds. */
  last_at: integer().notNull(),
});

/** Moves of contacts to another contact type, for the timeline of a person. */
export const contactMoves = sqliteTable(
  'contact_moves',
  {
    id: id(),
    contact_id: integer().notNull(),
    from_type_id: integer().notNull(),
    to_type_id: integer().notNull(),
    created_at: text().notNull(),
  },
  (table) => [index('contact_moves_contact').on(table.contact_id)],
);

/** The addresses that a contact had before they were corrected, so that erasing the person erases those, too. */
export const earlierAddresses = sqliteTable(
  'earlier_addresses',
  {
    /** Without a reference, as in `contact_moves`. */
    contact_id: integer().notNull(),
    address_id: address(),
  },
  (table) => [
    primaryKey({ columns: [table.contact_id, table.address_id] }),
    index('earlier_addresses_address').on(table.address_id),
  ],
);

/**
 * The same for addresses whose contact was purged, so that whoever is added anew under its last address and then erased is erased under
 * the earlier ones, too.
 */
export const purgedCorrections = sqliteTable(
  'purged_corrections',
  {
    /** The address that the contact had at last. */
    address_id: address(),
    earlier_id: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.address_id, table.earlier_id] }),
    index('purged_corrections_earlier').on(table.earlier_id),
  ],
);

/**
 * The contacts an import added, as ranges of ids: one transaction adds some thousand in a row, and no other writes meanwhile. A range
 * may have ids that nobody got.
 */
export const importAdded = sqliteTable(
  'import_added',
  { import_id: integer().notNull(), first_id: integer().notNull(), last_id: integer().notNull() },
  (table) => [primaryKey({ columns: [table.import_id, table.first_id] })],
);

/** What an import changed for a person, as it was before. */
export const importChanges = sqliteTable(
  'import_changes',
  {
    import_id: integer().notNull(),
    address_id: integer().notNull(),
    /** What `row_id` names: a contact, a row of segment_recipients, one of unsubscribers, or one of the consent log. */
    kind: text({ enum: ['contact', 'member', 'unsubscribed', 'tracking'] }).notNull(),
    row_id: integer().notNull(),
    /** The columns that were changed as they were before, as JSON, or the choice about opens and clicks; null where the import added the row. */
    before: text(),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.address_id, table.kind, table.row_id] })],
);

/** Contacts that an undo left as they were, because they were changed after the import. */
export const importKept = sqliteTable(
  'import_kept',
  {
    import_id: integer().notNull(),
    contact_id: integer().notNull(),
    /** segment: they were added to a segment by hand. */
    reason: text({ enum: ['changed', 'moved', 'deleted', 'segment'] }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.contact_id] })],
);

/**
 * With sender nodes: whose place on which list was changed in this file and is not in JetStream yet. Triggers on `unsubscribers` and
 * `suppressions` add the rows in the transaction of the change, so that no way of changing a list is forgotten. There is at most one
 * for each person and list; one that is changed again gets a new id.
 */
export const unpublishedChoices = sqliteTable(
  'unpublished_choices',
  {
    id: id(),
    user_id: user(),
    /** Without a reference, so that a row here keeps no address in the file. */
    address_id: integer().notNull(),
    /** The group; 0: all mail; -1: the list of suppressed addresses. */
    list: integer().notNull(),
    /** Epoch milliseconds. */
    changed_at: integer().notNull(),
  },
  (table) => [uniqueIndex('unpublished_choices_place').on(table.address_id, table.list)],
);

/** What is done with inactive people: they get no more mail, are added to a segment, or are moved to a contact type. */
export const SUNSET_ACTIONS = ['stop', 'segment', 'move'] as const;

/** The rule of an account, and how far its daily look at all contacts is. */
export const sunsets = sqliteTable('sunsets', {
  user_id: user().primaryKey(),
  is_on: integer().$type<0 | 1>().notNull().default(0),
  months: integer().notNull(),
  least_mails: integer().notNull(),
  action: text({ enum: SUNSET_ACTIONS }).notNull(),
  /** Where inactive people go, by the action; null with others. */
  segment_id: integer(),
  contact_type_id: integer(),
  /** When the next look begins, epoch milliseconds. */
  next_at: count(),
  /** Of a look that is under way: inactive is who did nothing since, epoch milliseconds; null between two looks. */
  cutoff: integer(),
  /** The last contact that it has looked at. */
  after_id: count(),
  /** Everybody who was stopped up to this id of `sunset_people` is to get mail again; null when that is done. */
  lift_to: integer(),
});

/** Who was found inactive, from when to when. A row without an end is of now; with the action stop the person gets no mail. */
export const sunsetPeople = sqliteTable(
  'sunset_people',
  {
    id: id(),
    user_id: user(),
    address_id: address(),
    action: text({ enum: SUNSET_ACTIONS }).notNull(),
    /** They had done nothing since, epoch milliseconds: an act from then on ends it, also one that becomes known later. */
    cutoff: integer().notNull(),
    created_at: text().notNull(),
    lifted_at: text(),
    /** Whether they acted themselves, or somebody with access to the account ended it. */
    lifted_by: text({ enum: ['person', 'owner'] }),
  },
  (table) => [
    index('sunset_people_address').on(table.address_id, table.lifted_at),
    index('sunset_people_present').on(table.user_id, table.id).where(sql`lifted_at IS NULL`),
  ],
);

/** How many people the rule of an account was applied to on each day (UTC), and how many of those who were stopped get mail again. Triggers on `sunset_people` keep it. */
export const sunsetDays = sqliteTable(
  'sunset_days',
  {
    user_id: user(),
    /** `YYYY-MM-DD`. */
    day: text().notNull(),
    stopped: count(),
    moved: count(),
    lifted: count(),
  },
  (table) => [primaryKey({ columns: [table.user_id, table.day] })],
);

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
