/** What an import is asked to do, also beside a file of people, and what that makes of a contact that is there already. */
import type { FieldType } from '../contacts/contact-fields.ts';

export interface ImportOptions {
  /** What happens to contacts that are there already: the file changes them, or they stay as they are. */
  existing: 'update' | 'keep';
  /** What an empty cell does to a contact that is there already. */
  emptyCells: 'clear' | 'keep';
  /** The segment that everybody in the file is added to by hand; null: none. */
  segmentId: number | null;
  /** Whether people who join the target of a live automation by the import enter that automation. */
  startsAutomations: boolean;
  /** Where everybody in the file is marked as unsubscribed: from all mail, or from the group with this id. */
  unsubscribe: 'nothing' | 'all' | number;
}

export interface ImportJob {
  databasePath: string;
  accountId: number;
  typeId: number;
  /** The path of the uploaded file. */
  path: string;
  fileName: string;
  /** The field of each column of the file, '' for none; absent: as the header row says. */
  mapping?: string[];
  /** Absent: `DEFAULT_OPTIONS`. */
  options?: ImportOptions;
  /** What it takes over from another service beside the people of the file. */
  migration?: MigrationJob;
  /** Where the progress is written: bytes read, of how many, people written, of how many. Shared with the thread that shows it. */
  progress?: Float64Array;
}

/** Receives the progress of an import: first the bytes that are read and checked, then the people that are written. */
export interface ImportProgress {
  read(bytes: number, whole: number): void;
  wrote(people: number, whole: number): void;
}

/** Writes the progress into memory that other threads read: bytes read, of how many, people written, of how many. */
export function sharedProgress(shared: Float64Array): ImportProgress {
  return { read: (...bytes) => shared.set(bytes, 0), wrote: (...people) => shared.set(people, 2) };
}

/** What an import does when nothing is chosen. */
export const DEFAULT_OPTIONS: ImportOptions = {
  existing: 'update',
  emptyCells: 'keep',
  segmentId: null,
  startsAutomations: true,
  unsubscribe: 'nothing',
};

/** The columns whose empty value is null; the others are empty texts. */
const NULL_WHEN_EMPTY: ReadonlySet<string> = new Set(['country_id', 'alt_email']);

/**
 * The value that an import gives a column of a contact that is there already, as SQL. `given` and `present` name the row of the file
 * and the contact. The preview and the import both use it, so that the preview says what happens.
 */
export function valueAfter(column: string, { emptyCells }: ImportOptions, given: string, present: string): string {
  const value = `${given}.${column}`;
  // Where empty cells keep values, the reader leaves them out of the JSON.
  if (column === 'custom_values') return `json_patch(ifnull(${present}.custom_values, '{}'), ${value})`;
  if (column === 'email' || emptyCells === 'clear') return value;
  return NULL_WHEN_EMPTY.has(column)
    ? `ifnull(${value}, ${present}.${column})`
    : `ifnull(nullif(${value}, ''), ${present}.${column})`;
}

export interface MigrationJob {
  /** The service, as it writes itself. */
  source: string;
  /** A CSV file of those who left, bounced or complained there: kind, name of a group, address. */
  leavingPath: string;
  /** Custom fields that are made unless there are some of that name. */
  newFields: readonly { field_name: string; field_type: FieldType }[];
  /** The field that has the lists of a person, each in brackets; null without lists. Each of `lists` becomes a segment. */
  listsField: string | null;
  lists: readonly string[];
}

/** What becomes of those who left: they are unsubscribed from all mail or from a group, or suppressed. */
export const LEAVING_KINDS = ['all', 'group', 'bounce', 'complaint'] as const;
export type LeavingKind = (typeof LEAVING_KINDS)[number];

/** How many people are of a kind; of them, `added` are not on that list yet. */
export interface LeavingCount {
  kind: LeavingKind;
  /** Of a group; else ''. */
  name: string;
  people: number;
  added: number;
}
