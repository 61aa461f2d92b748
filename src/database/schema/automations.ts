/** Tables of automations: their steps, the enrolments of contacts and the steps they took, and what is still to be moved or let in. */

import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { DAY_MS } from '../../units.ts';
import { user } from './accounts.ts';
import { address } from './audience.ts';
import type { LanguageVersion } from './campaigns.ts';
import { changedBy, flag, id, integerOrZero, line, said, softStamps, stamps, tracking } from './columns.ts';
import { HELD_CODES } from './states.ts';

/** The two paths of a deciding step. */
export const BRANCHES = ['yes', 'no'] as const;

/**
 * How contacts of its target enter an automation: by joining the target, by an event, on a date in one of their fields,
 * by a change of a field, by confirming a form, or only by hand.
 */
export const TRIGGER_KINDS = ['join', 'event', 'date', 'field', 'form', 'hand'] as const;

/** When a contact may enter an automation again. */
export const RE_ENTRY = ['never', 'days', 'key'] as const;

export const automations = sqliteTable(
  'automations',
  {
    id: id(),
    user_id: user(),
    /** The target: the id of a list (`contacts`) or of a segment (`segments`); 0 and an empty table until it is chosen. */
    automation_for: integerOrZero(),
    automation_for_table: line(),
    trigger_kind: text({ enum: TRIGGER_KINDS }).notNull().default('join'),
    /** For the trigger `event`: the name of the event; otherwise empty. */
    trigger_event: line(),
    /** For `event`: the filter of its properties (src/audience/events/names.ts); empty: every event of the name. */
    trigger_filter: line(),
    /**
     * For `date` and `field`: the id of a custom field, or else the name of a field that every contact has. The id is then null, or the name
     * empty.
     */
    trigger_field_id: integer(),
    trigger_field: line(),
    /** For `field`: the value to which the field changes; empty: any value. */
    trigger_value: line(),
    /** For `date`: how many days after the date (with `trigger_before` 1: before the date) and at which hour contacts enter. */
    trigger_days: integerOrZero(),
    trigger_before: flag(),
    trigger_hour: integerOrZero(),
    /** For `date`: 1: contacts enter every year on the day of the date. */
    trigger_yearly: flag(),
    /** For `form`: the id of the form. */
    trigger_form_id: integer(),
    /** For `date`: contacts whose trigger time was up to this time have entered. Epoch milliseconds; null for other triggers. */
    dates_checked_to: integer(),
    /** For `date`: contacts whose trigger time was before this time do not enter. Epoch milliseconds; null for other triggers. */
    dates_since: integer(),
    /**
     * When a contact who has been in the automation may enter again: never; `days`: `re_entry_days` after the last entry; `key`: by an event
     * with a key by which the contact has not entered before.
     */
    re_entry: text({ enum: RE_ENTRY }).notNull().default('never'),
    re_entry_days: integerOrZero(),
    /** A run ends when its contact joins one of these segments: the goal is reached, or the exit rule applies. Null: no such segment. */
    goal_segment_id: integer(),
    exit_segment_id: integer(),
    /** How many of a hundred contacts who enter get nothing: the control group, with which the others are compared. */
    hold_out: integerOrZero(),
    /** When `hold_out` was last changed, epoch milliseconds: only contacts who have entered since then are compared. */
    hold_out_since: integerOrZero(),
    automation_name: text().notNull(),
    /** 1: a run ends when its contact leaves the target. */
    exit_criteria: flag(),
    /** 1: the automation ignores the frequency caps. Its mails still count towards the caps of others. */
    ignores_caps: flag(),
    unsubscribe_group_id: text().notNull(),
    /** 1: welcome; 2: custom. */
    automation_type: integer().notNull(),
    utr: text().notNull().unique(),
    /** One of `AUTOMATION_STATUS`. */
    status: integerOrZero(),
    live_at: text(),
    /** Why the automation was held and became a draft again: a code for programs and a stored reason for the report. */
    held_code: text({ enum: HELD_CODES }),
    held_reason: said(),
    changed_by: changedBy(),
    ...softStamps(),
  },
  (table) => [
    index('automations_user').on(table.user_id),
    index('automations_dates')
      .on(table.dates_checked_to)
      .where(sql`trigger_kind = 'date' AND status = 1 AND deleted_at IS NULL`),
    index('automations_fields')
      .on(table.user_id)
      .where(sql`trigger_kind = 'field' AND status = 1 AND deleted_at IS NULL`),
    index('automations_goal').on(table.goal_segment_id).where(sql`goal_segment_id IS NOT NULL`),
    index('automations_exit').on(table.exit_segment_id).where(sql`exit_segment_id IS NOT NULL`),
    index('automations_target').on(table.automation_for_table, table.automation_for).where(sql`deleted_at IS NULL`),
  ],
);

/** What a step of an automation does: sends a mail, decides which path the contact takes, ends the run, or changes the contact. */
export const STEP_KINDS = [
  'mail',
  'if',
  'split',
  'exit',
  'set_field',
  'move',
  'segment_add',
  'segment_remove',
  'wait_until',
  'webhook',
] as const;

/** What a contact waits for at a step: a reported event, a date of the contact, an hour of the contact's day, or a weekday. */
export const AWAITED = ['event', 'date', 'hour', 'weekday'] as const;

/**
 * The planned steps of automations; `steps` has those that enrolments have taken. A step other than a mail has its name in `subject`, and
 * no sender, template or content. The steps of both paths of a deciding step come after it, in the order in which they are read.
 */
export const automationSchedules = sqliteTable(
  'automation_schedules',
  {
    id: id(),
    user_id: user(),
    automation_id: integer()
      .notNull()
      .references(() => automations.id),
    sender_id: integer().notNull(),
    subject: text().notNull(),
    preheader: line(),
    /**
     * The step's place among the steps of its automation: steps with a lower position are taken earlier. Equal to the step's id until steps
     * are moved.
     */
    position: integerOrZero(),
    waiting_period: integer().notNull(),
    waiting_type: text({ enum: ['instantly', 'days', 'hours'] }).notNull(),
    utr: text().notNull().unique(),
    kind: text({ enum: STEP_KINDS }).notNull().default('mail'),
    /** The deciding step on whose path this step is, and which of its paths that is; null on the main path. */
    parent_id: integer(),
    branch: text({ enum: BRANCHES }),
    /** For `if`: the segment whose members take the path yes. For `segment_add` and `segment_remove`: the segment that changes. */
    segment_id: integer(),
    /** For `split`: how many contacts of a hundred take the path yes. */
    share: integer(),
    /** For `move`: the list the contact is moved to. */
    contact_type_id: integer(),
    /**
     * For `set_field`: the name of a field that every contact has, or else the id of a custom field; the other is null. For a wait for a
     * date: the id of a custom field.
     */
    field: text(),
    field_id: integer(),
    /** For `set_field`: the new value; empty: the field is cleared. For `webhook`: a note that is sent with the event. */
    value: text(),
    /** For `wait_until`: what contacts wait for. */
    until: text({ enum: AWAITED }),
    /** For a wait for an event: the name of the event. */
    event: text(),
    /** For a wait for an event: the filter of its properties; empty: no filter. */
    event_filter: text(),
    /** For a wait for an event: when the event or filter was last changed, epoch milliseconds; null: never. Earlier events do not count. */
    event_since: integer(),
    /** For a wait for a weekday: 1 is Monday. */
    weekday: integer(),
    /** For a wait for an hour, a date or a weekday: the hour of the day, 0 to 23. */
    hour: integer(),
    /** For a wait for an event or date: the number of hours after which the contact takes the path no. */
    timeout_hours: integer(),
    template_id: integer().notNull(),
    preview_img: text().notNull(),
    template_json: line(),
    template_html: line(),
    tracking: tracking(),
    /** The mail's versions in other languages than the account's; null: every contact gets the same mail. */
    languages: text({ mode: 'json' }).$type<LanguageVersion[]>(),
    changed_by: changedBy(),
    ...stamps(),
  },
  (table) => [
    index('automation_schedules_automation').on(table.automation_id, table.position),
    index('automation_schedules_until').on(table.user_id, table.until).where(sql`until IS NOT NULL`),
  ],
);

/**
 * Returns SQL: true if an earlier run `n` forbids the contact to enter automation `au` at @at, epoch milliseconds. `eventKey` is SQL for
 * the key of the event; SQL NULL means an entry without a key.
 */
export const barsEntry = (
  eventKey: string,
) => `CASE au.re_entry WHEN 'days' THEN n.entered_at > @at - au.re_entry_days * ${DAY_MS}
    WHEN 'key' THEN ${eventKey} IS NULL OR n.event_key = ${eventKey} ELSE true END`;

/** SQL: `barsEntry` for the key @event_key. */
export const BARS_ENTRY = barsEntry('@event_key');

/** A contact's run through an automation. Each address has at most one active run per automation. */
export const enrolments = sqliteTable(
  'enrolments',
  {
    id: id(),
    automation_id: integer()
      .notNull()
      .references(() => automations.id),
    address_id: address(),
    contact_id: integer(),
    state: text({ enum: ['active', 'finished', 'left'] }).notNull(),
    /** Why the contact exited; null: the contact is still in the automation, or has completed it. */
    reason: said(),
    /** When the contact entered, epoch milliseconds. */
    entered_at: integer().notNull(),
    /** The contact's place in the series: steps with a higher position are still to come. 0 at entry. */
    position: integerOrZero(),
    /**
     * When the wait for the next step began, epoch milliseconds: at entry, or when the previous step was done. A mail is done when it has its
     * final state.
     */
    waiting_since: integer().notNull(),
    /** When the next step is due, epoch milliseconds. */
    due_at: integer().notNull(),
    /** The step at which the contact waited for an event, once that event has happened; null before that. */
    arrived_step: integer(),
    /** When that event happened, epoch milliseconds; null before that, and for events of releases that did not record the time. */
    arrived_at: integer(),
    /** The delivery that is queued or being sent; null while the contact waits for the next step. */
    delivery_id: integer(),
    /** 1 for the first entry of the address, and one more for each further entry. */
    run: integer().notNull().default(1),
    /** The key of the event by which the contact entered; null if the event has no key. */
    event_key: text(),
    /** When the run ended, epoch milliseconds; null while the run is active, and for runs of releases that did not record the time. */
    ended_at: integer(),
    /** When the contact joined the goal's segment, even if the run had ended by then; null: not yet. */
    goal_at: integer(),
  },
  (table) => [
    uniqueIndex('enrolments_person').on(table.automation_id, table.address_id, table.run),
    uniqueIndex('enrolments_active').on(table.automation_id, table.address_id).where(sql`state = 'active'`),
    index('enrolments_place')
      .on(table.automation_id, table.position, table.due_at)
      .where(sql`state = 'active' AND delivery_id IS NULL`),
    index('enrolments_delivery').on(table.delivery_id).where(sql`delivery_id IS NOT NULL`),
  ],
);

/**
 * How many enrolments of an automation are in each state and place. Triggers on `enrolments` update the counts, because
 * counting a million rows for each request takes too long. Rows may have a count of 0.
 */
export const enrolmentCounts = sqliteTable(
  'enrolment_counts',
  {
    automation_id: integer().notNull(),
    state: text({ enum: ['active', 'finished', 'left'] }).notNull(),
    /** Why the contacts exited; empty for other states. */
    reason: said().notNull().default(''),
    /** The position of active enrolments; 0 for others. */
    position: integerOrZero(),
    /** 1: active, and a mail is queued or being sent. */
    is_queued: flag(),
    people: integerOrZero(),
  },
  (table) => [
    primaryKey({ columns: [table.automation_id, table.state, table.reason, table.position, table.is_queued] }),
  ],
);

/**
 * The automation of which one statement is moving many enrolments to another place. While the row exists, the trigger does not
 * count each enrolment; the transaction counts all of them at once and deletes the row.
 */
export const batchMoves = sqliteTable('batch_moves', { automation_id: integer().primaryKey() });

/**
 * A change of an automation's steps whose enrolments are still being moved to their new places. Until all are moved, none of
 * the automation's mails is enqueued.
 */
export const automationMoves = sqliteTable('automation_moves', {
  automation_id: integer().primaryKey(),
  /** Enrolments at places from `low` to below `high` are moved; null: all enrolments. */
  low: integer(),
  high: integer(),
  /** 1: a step was removed, so enrolments without a step still to come are completed. */
  is_removal: integer().$type<0 | 1>().notNull(),
  /** Enrolments with an address id up to this one have been moved. */
  moved_to_address: integer().notNull().default(0),
});

/** Contacts of a list or segment who are let in to a live automation, page by page. The row is removed after the last page. */
export const automationBackfills = sqliteTable(
  'automation_backfills',
  {
    automation_id: integer().notNull(),
    /** The list (`contacts`) or segment whose contacts enter. */
    source_table: text({ enum: ['contacts', 'segments'] }).notNull(),
    source_id: integer().notNull(),
    /** Contacts with an address id up to this one have been looked at. */
    after_address: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.automation_id, table.source_table, table.source_id] })],
);

/**
 * The order of steps before a change, while enrolments are moved: an enrolment that waited for the step at `position` goes to
 * the place `landing`. The last row, without a step, is for enrolments that had taken all steps.
 */
export const movedMails = sqliteTable(
  'moved_mails',
  {
    automation_id: integer().notNull(),
    position: integer().notNull(),
    schedule_id: integer().notNull(),
    landing: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.automation_id, table.position] })],
);

/**
 * What happened to contacts in automations, one line per step and contact. Triggers on `enrolments` and `steps` write it, so that no line
 * is missing or without its step. Lines are kept for EVENTS_DAYS.
 */
export const enrolmentLog = sqliteTable(
  'enrolment_log',
  {
    id: id(),
    automation_id: integer().notNull(),
    address_id: address(),
    run: integer().notNull(),
    /** entered, finished, left, or for a step what was done: `STEP_OUTCOMES`. */
    code: text().notNull(),
    /** The id of the step in automation_schedules; null for entries and ends. */
    step_id: integer(),
    /** Why the contact exited, or the values that decided at a step; null for other lines. */
    reason: said(),
    /** Epoch milliseconds. */
    happened_at: integer().notNull(),
  },
  (table) => [
    index('enrolment_log_automation').on(table.automation_id, table.id),
    index('enrolment_log_person').on(table.address_id, table.id),
  ],
);

/**
 * What was done at a step: a mail was queued, or skipped because the contact had it; the run ended; which path the contact takes; or the
 * contact was changed or webhooks were told (`done`), or not, because the contact, field, list or segment no longer exists.
 */
export const STEP_OUTCOMES = ['mail', 'skipped', 'exit', ...BRANCHES, 'done', 'not_done'] as const;

/**
 * One step that an enrolment took: its outcome, and the delivery if it was a mail. The unique index lets each step be taken once, so no
 * mail is sent twice. The planned steps are in `automation_schedules`.
 */
export const steps = sqliteTable(
  'steps',
  {
    id: id(),
    enrolment_id: integer()
      .notNull()
      .references(() => enrolments.id),
    schedule_id: integer().notNull(),
    delivery_id: integer(),
    taken_at: integer().notNull(),
    outcome: text({ enum: STEP_OUTCOMES }).notNull().default('mail'),
  },
  (table) => [uniqueIndex('steps_once').on(table.enrolment_id, table.schedule_id)],
);
