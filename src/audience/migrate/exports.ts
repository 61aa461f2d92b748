/** What is read from the export of another service, whichever it is. */
import { CsvError } from '../import/csv-parse.ts';

/** A file of an export: the uploaded one, or one inside of an archive. */
export interface ExportFile {
  /** Its path in the archive, or the name of the uploaded file. Never used to open anything. */
  name: string;
  open(): AsyncIterable<Buffer>;
}

/**
 * Why somebody gets no more mail there: they left everything, they left one list (`name`), their address bounced, or they complained.
 */
export type Leaving = { kind: 'all' | 'bounce' | 'complaint' } | { kind: 'group'; name: string };

/** A person as the export has them. */
export interface ExportedPerson {
  email: string;
  /** Values by field of a contact or name of a column; null: an address on a list, which becomes no contact. */
  values: ReadonlyMap<string, string> | null;
  /** The lists, tags or groups they are in. */
  lists: readonly string[];
  left: readonly Leaving[];
}

export interface ExportedTemplate {
  name: string;
  html: string;
}

/** What was left out, by what it is. */
export interface LeftOut {
  /** Columns that are of use only there, or too many. */
  columns: Set<string>;
  /** Files in the archive that are not known. */
  files: Set<string>;
}

/** One service that people move from. */
export interface Vendor {
  /** As it writes itself. */
  title: string;
  /** The name of the field that gets the lists of a person. */
  listsField: string;
  /** People, templates, in the order of the files. Throws a `CsvError` when a file is not what it should be. */
  read(files: readonly ExportFile[], leftOut: LeftOut): AsyncGenerator<ExportedPerson | ExportedTemplate>;
}

/** The error of an export that cannot be read. */
export function unreadable(text: string): CsvError {
  return new CsvError(null, text);
}
