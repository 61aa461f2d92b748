/** What an import from another service has beside a file of people. */
import type { FieldType } from '../../contacts/contact-fields.ts';

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
