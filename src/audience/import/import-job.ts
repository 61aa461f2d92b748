/** The input of an import: its options, and what it takes over from another service. */
import type { FieldType } from '../fields/custom-fields.ts';

/** The user's choices for an import. */
export interface ImportOptions {
  /** update: the file changes contacts that exist already; keep: they stay as they are. */
  existing: 'update' | 'keep';
  /** clear: an empty cell clears the value of an existing contact; keep: the contact keeps the value. */
  emptyCells: 'clear' | 'keep';
  /** The id of the segment to which all contacts of the file are added by hand; null: none. */
  segmentId: number | null;
  /** True if contacts that join the target of a live automation through the import enter that automation. */
  startsAutomations: boolean;
  /** What all contacts of the file are unsubscribed from: nothing, all mail, or the group with this id. */
  unsubscribe: 'nothing' | 'all' | number;
  /** The domains of addresses that are corrected to the intended domain, because they look misspelt (`meantDomain`). */
  correctedDomains: readonly string[];
}

/** An import to run: the file, the contact type, the options, and where to show the progress. */
export interface ImportJob {
  databasePath: string;
  accountId: number;
  typeId: number;
  /** The path of the uploaded file. */
  path: string;
  fileName: string;
  /** The field of each column of the file, '' for none. If absent, the header row decides. */
  mapping?: string[];
  /** The user's choices; absent: `DEFAULT_OPTIONS`. */
  options?: ImportOptions;
  /** Custom fields to create for columns of the file, if the account has none of that name. */
  newFields?: readonly NewField[];
  /** For an export of another service: what is imported in addition to its contacts. */
  migration?: MigrationJob;
  /**
   * Shared memory for the progress: bytes read, bytes in all, contacts written, contacts in all. The thread that shows the
   * progress reads it.
   */
  progress?: Float64Array;
}

/** Receives the progress of an import: first the bytes that are read and checked, then the contacts that are written. */
export interface ImportProgress {
  read(bytes: number, total: number): void;
  wrote(people: number, total: number): void;
}

/** Returns a progress that writes into shared memory: bytes read, bytes in all, contacts written, contacts in all. */
export function sharedProgress(shared: Float64Array): ImportProgress {
  return { read: (...bytes) => shared.set(bytes, 0), wrote: (...people) => shared.set(people, 2) };
}

/** The options of an import if the user chooses none. */
export const DEFAULT_OPTIONS: ImportOptions = {
  existing: 'update',
  emptyCells: 'keep',
  segmentId: null,
  startsAutomations: true,
  unsubscribe: 'nothing',
  correctedDomains: [],
};

/** A custom field that an import creates. */
export interface NewField {
  field_name: string;
  field_type: FieldType;
}

/** What an import takes over from another service in addition to contacts. */
export interface MigrationJob {
  /** The name of the service in its own spelling. */
  source: string;
  /**
   * A CSV file of the leavers: addresses that unsubscribed, bounced or complained at the other service. Its columns: kind, name
   * of a group, address.
   */
  leavingPath: string;
  /** Custom fields to create if the account has none of that name. */
  newFields: readonly NewField[];
  /** The field with the names of a contact's lists, each in brackets; null if the export has no lists. Each of `lists` becomes a segment. */
  listsField: string | null;
  lists: readonly string[];
}

/** The kinds of leavers: unsubscribed from all mail or from a group, or suppressed after a bounce or a complaint. */
export const LEAVING_KINDS = ['all', 'group', 'bounce', 'complaint'] as const;
export type LeavingKind = (typeof LEAVING_KINDS)[number];

/** The number of leavers of a kind, and how many of them would be `added` to the account's unsubscribed or suppressed addresses. */
export interface LeavingCount {
  kind: LeavingKind;
  /** The name of the group; '' for the other kinds. */
  name: string;
  people: number;
  added: number;
}
