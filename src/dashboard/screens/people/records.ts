/** The records of the API that the screens about people show. */
import type { Static } from 'typebox';
import type { ListedContactType } from '../../../audience/contact-types/operations.ts';
import type { FieldType } from '../../../audience/contacts/contact-fields.ts';
import type { Field } from '../../../audience/fields/operations.ts';
import type { Segment } from '../../../audience/segments/operations/segments.ts';
import type { listGroups } from '../../../audience/unsubscribed/groups.ts';

export interface FoundContact {
  id: number;
  contact_type_name: string;
  fullname: string;
  email: string;
  mail_state: 'mailable' | 'unsubscribed' | 'suppressed';
  created_at: string;
  fields: Record<string, string | null>;
}

export interface SearchResult {
  contacts: FoundContact[];
  next: string | null;
  total: number | null;
  is_total_exact: 0 | 1;
  is_indexing: 0 | 1;
}

/** What the filters and actions can be about. */
export interface Choices {
  types: readonly ListedContactType[];
  segments: readonly Segment[];
  groups: readonly Static<typeof listGroups.record>[];
  /** Every field of a contact by its name: the built-in ones, then the account's own. */
  fields: readonly Field[];
}

export interface Job {
  id: number;
  action: 'move' | 'delete' | 'unsubscribe' | 'segment';
  /** The contact type, group (null: all mail) or segment of the action. */
  target_id: number | null;
  state: 'selecting' | 'ready' | 'running' | 'done' | 'cancelled' | 'undoing' | 'undone' | 'failed';
  whole: number;
  done: number;
  skipped: number;
  is_undoable: 0 | 1;
  created_at: string;
}

export interface Moment {
  kind:
    | 'inactive'
    | 'active_again'
    | 'contact_created'
    | 'contact_changed'
    | 'contact_moved'
    | 'contact_deleted'
    | 'imported'
    | 'segment_joined'
    | 'segment_left'
    | 'segment_removed'
    | 'automation_entered'
    | 'mail'
    | 'transactional'
    | 'opened'
    | 'clicked'
    | 'bounced'
    | 'complained'
    | 'unsubscribed'
    | 'resubscribed'
    | 'subscribed'
    | 'tracking_allowed'
    | 'tracking_refused'
    | 'tracking_undone'
    | 'suppressed';
  happened_at: string;
  name: string | null;
  /** Of a move: the contact type before. */
  from_name: string | null;
  /** Of the single send, of the mail of an automation, or of the automation; null where it was deleted. */
  utr: string | null;
  /** Of the automation that a mail belongs to. */
  automation_utr: string | null;
  subject: string | null;
  state: string | null;
  reason: string | null;
  url: string | null;
  is_machine: 0 | 1;
  is_proxied: 0 | 1;
  /** Of a mail: how many were counted. */
  opens: number | null;
  clicks: number | null;
}

export interface PersonContact {
  id: number;
  contact_type_name: string;
  fullname: string;
  custom_field: Record<string, { field_name: string; field_value: string | null }> | null;
  [field: string]: unknown;
}

export interface Person {
  email: string;
  contacts: PersonContact[];
  unsubscribed: { unsubscribe_groups_id: number | null; group_name: string | null; created_at: string }[];
  segments: { segment_id: number; segment_name: string; by_hand: 0 | 1 }[];
  suppression: string | null;
  earlier_emails: string[];
  named_in_segments: { segment_id: number; segment_name: string }[];
}

/** How an upload is to be imported: what was last previewed. */
export interface ImportPlan {
  contact_type_id: number;
  mapping: string[];
  existing: 'update' | 'keep';
  empty_cells: 'clear' | 'keep';
  to_segment_id: number | null;
  start_automations: 0 | 1;
  unsubscribe: 0 | 1;
  unsubscribe_groups_id: number | null;
}

/** What the export of another service has beside people. */
export interface Migration {
  source: string;
  new_fields: { field_name: string; field_type: FieldType }[];
  lists: string[];
  templates: string[];
  left_out_columns: string[];
  left_out_files: string[];
}

export interface Upload {
  id: string;
  state: 'looked' | 'previewing' | 'running' | 'done' | 'failed';
  file_name: string;
  columns: { name: string; field: string | null; samples: string[] }[];
  notes: string[];
  bytes_read: number;
  bytes: number;
  written: number;
  whole: number;
  plan: ImportPlan | null;
  /** Null for a CSV file. */
  migration: Migration | null;
  import_id: number | null;
  /** Of an import that imported nobody: how many rows failed, and why the first of them did. */
  failed: number;
  errors: { line: number; field: string; text: string }[];
}
