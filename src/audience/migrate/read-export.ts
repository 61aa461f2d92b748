/**
 * Converts the export of another service into two CSV files for the import: the contacts, with fields as columns, and the
 * leavers, which are addresses that unsubscribed, bounced or complained at the other service. The export is read twice: first to learn its
 * columns and lists, then to write the files.
 */
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { Db } from '../../database/open.ts';
import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import { stored } from '../../errors/stored.ts';
import { MEBIBYTE } from '../../units.ts';
import { parseAddress } from '../contacts/addresses.ts';
import { escapeFormula } from '../csv-write.ts';
import { listCustomFields } from '../fields/custom-fields.ts';
import { CsvError } from '../import/csv-parse.ts';
import type { GuessedColumns } from '../import/guess-columns.ts';
import type { MigrationJob } from '../import/import-job.ts';
import { notedValue } from '../import/rows.ts';
import { openExport } from './archive.ts';
import type { ExportedPerson, ExportedTemplate, ExportFile, Ignored, Vendor } from './export-files.ts';
import { ColumnCollector, type MigratedColumn, migratedValue } from './fields.ts';
import { VENDORS, type VendorName } from './vendors/index.ts';

/** An uploaded export to read. */
export interface ExportJob {
  databasePath: string;
  accountId: number;
  vendor: VendorName;
  /** The path of the uploaded file. */
  path: string;
  /** The name of the uploaded file, which tells the kind of file. */
  fileName: string;
  /** The folder for the files that are imported. */
  folder: string;
}

/** The export of another service. */
export interface UploadedExport {
  migration: MigrationJob;
  /** Columns and files that are ignored. */
  ignored: { columns: string[]; files: string[] };
  /** The templates, with the path of the HTML of each. */
  templates: { name: string; path: string }[];
}

/** The content of an export, ready to be previewed and imported. */
export interface ReadExport extends GuessedColumns, UploadedExport {
  /** The file of contacts; `columns` are its columns. */
  path: string;
}

/** The maximum number of lists that become segments. The field of a contact still has the other lists. */
const MAX_SEGMENTS = 100;
const MAX_LISTS = 10_000;
/** The maximum number of unsubscribe groups that are created. */
const MAX_GROUPS = 100;
/** The number of characters that are kept of an address. A longer text is not an address, so its row is refused in any case. */
const MAX_EMAIL = 1000;
/** The maximum size of all values of a contact together, because a longer row cannot be imported. */
const MAX_ROW = 900_000;
const MAX_TEMPLATES = 200;
const MAX_TEMPLATE_CHARACTERS = 2 * MEBIBYTE;
/** The maximum number of ignored columns, and of ignored files, that are named. */
const MAX_NAMED_IGNORED = 100;
/** The maximum number of values of a column that are named because they do not fit its field. */
const MAX_NAMED_VALUES = 3;
const CONTROL = /[\p{Cc}\u2028\u2029]+/gu;
const CONTROL_OR_BRACKET = /[\p{Cc}\u2028\u2029[\]]+/gu;

/** Reads an export. Returns `refusal`, a stored reason, if the file is not a valid export. */
export async function readExport(db: Db, job: ExportJob): Promise<ReadExport | { refusal: string }> {
  try {
    return await readTwice(db, job);
  } catch (error) {
    if (error instanceof CsvError) return { refusal: stored(error.said) };
    throw error;
  }
}

/** Reads an export first for its columns, and then to write its contacts to files. A file that is not a valid export is a `CsvError`. */
async function readTwice(db: Db, job: ExportJob): Promise<ReadExport> {
  const archive = await openExport(job);
  try {
    const vendor = VENDORS[job.vendor];
    const { title, listsField } = vendor;
    const { ignored, collector, lists, templates, people, leaving } = await survey(archive.files, vendor, job.folder);
    const columns = collector.columns(listCustomFields(db, job.accountId));
    for (const column of collector.ignored) ignored.columns.add(column);
    const path = join(job.folder, 'people.csv');
    const leavingPath = join(job.folder, 'leaving.csv');
    const misfits = await writeFiles(
      vendor.read(archive.files, { columns: new Set(), files: new Set() }),
      { path, leavingPath, listsField },
      columns,
    );
    return {
      path,
      columns: [
        { name: 'email', field: 'email', samples: [], type: 'text' },
        ...columns.map(({ column, field, samples, type }) => ({ name: column, field, samples, type })),
      ],
      notes: [
        ...(people > 0 && leaving === 0 ? [stored(sentence('export_nobody_left', { name: title }))] : []),
        ...(people === 0 && leaving === 0 ? [stored(sentence('export_empty', { name: title }))] : []),
        ...misfitNotes(misfits),
        ...(lists.size > MAX_SEGMENTS ? [stored(sentence('export_lists', { count: MAX_SEGMENTS }))] : []),
      ],
      migration: {
        source: title,
        leavingPath,
        newFields: columns
          .filter(({ isNew }) => isNew)
          .map(({ field, type }) => ({ field_name: field, field_type: type })),
        listsField: columns.find(({ column }) => column === listsField)?.field ?? null,
        lists: [...lists].filter((name) => name !== '').slice(0, MAX_SEGMENTS),
      },
      ignored: {
        columns: [...ignored.columns].slice(0, MAX_NAMED_IGNORED).map(shownName),
        files: [...ignored.files].slice(0, MAX_NAMED_IGNORED).map(shownName),
      },
      templates,
    };
  } finally {
    archive.close();
  }
}

/** What the first reading of an export finds. */
interface Survey {
  ignored: Ignored;
  collector: ColumnCollector;
  lists: ReadonlySet<string>;
  templates: UploadedExport['templates'];
  people: number;
  /** The number of contacts and other addresses that are leavers. */
  leaving: number;
}

/** Reads an export to learn its columns and lists, and stores its templates in the folder. */
async function survey(files: readonly ExportFile[], vendor: Vendor, folder: string): Promise<Survey> {
  const ignored: Ignored = { columns: new Set(), files: new Set() };
  const collector = new ColumnCollector(vendor.writesMonthDay ?? false);
  const lists = new Set<string>();
  const templates: UploadedExport['templates'] = [];
  let [people, leaving] = [0, 0];
  for await (const item of vendor.read(files, ignored)) {
    if ('html' in item) {
      const isAccepted =
        templates.length < MAX_TEMPLATES && item.html.length <= MAX_TEMPLATE_CHARACTERS && item.name !== '';
      if (isAccepted) templates.push(await keepTemplate(item, folder, templates.length));
      else ignored.files.add(item.name);
      continue;
    }
    if (item.values !== null) people++;
    if (item.leavings.length > 0) leaving++;
    collector.add(valuesWithLists(item, vendor.listsField));
    for (const name of item.lists) if (lists.size < MAX_LISTS) lists.add(listName(name));
  }
  for (const column of vendor.used) ignored.columns.delete(column);
  return { ignored, collector, lists, templates, people, leaving };
}

async function keepTemplate({ name, html }: ExportedTemplate, folder: string, number: number) {
  const path = join(folder, `template-${number}.html`);
  await writeFile(path, html, { mode: 0o600 });
  return { name: listName(name), path };
}

/** Returns a name without control characters, so that it can also be shown on a terminal. */
const shownName = (name: string) => name.slice(-MAX_LINE_CHARACTERS).replaceAll(CONTROL, ' ').toWellFormed();

/** Returns a list's name as the name of a segment and as it is written in brackets in a field. */
function listName(name: string): string {
  return name.replaceAll(CONTROL_OR_BRACKET, ' ').trim().slice(0, MAX_LINE_CHARACTERS).toWellFormed();
}

/** Returns the values of a contact with the field of its lists, such as `[VIP] [Graz]`. The brackets let a segment find a whole name. */
function valuesWithLists({ values, lists }: ExportedPerson, listsField: string): ReadonlyMap<string, string> {
  if (values === null) return new Map();
  const names = [...new Set(lists.map(listName))].filter((name) => name !== '');
  if (names.length === 0) return values;
  return new Map([...values, [listsField, names.map((name) => `[${name}]`).join(' ')]]);
}

/** The values of a column that do not fit its field: their number, and the first different ones. */
interface Misfits {
  count: number;
  named: Set<string>;
}

/** Returns a stored note for each column with values that do not fit its field. */
function misfitNotes(misfits: ReadonlyMap<string, Misfits>): string[] {
  return [...misfits].map(([name, { count, named }]) =>
    stored(sentence('export_values', { name, count, values: [...named].join(', ') })),
  );
}

/** Writes the files of contacts and of leavers. Returns the values that do not fit into their fields, by column. */
async function writeFiles(
  items: AsyncIterable<ExportedPerson | ExportedTemplate>,
  { path, leavingPath, listsField }: { path: string; leavingPath: string; listsField: string },
  columns: readonly MigratedColumn[],
): Promise<Map<string, Misfits>> {
  const misfits = new Map<string, Misfits>();
  const people = new CsvFile(path, ['email', ...columns.map(({ field }) => field)]);
  const leavingRows = new CsvFile(leavingPath, ['kind', 'name', 'email']);
  const groups = new Set<string>();
  try {
    for await (const item of items) {
      if ('html' in item) continue;
      if (parseAddress(item.email) !== null)
        for (const leaving of item.leavings) {
          const group = leaving.kind === 'group' ? listName(leaving.name) : '';
          const isKept = group !== '' && (groups.has(group) || groups.size < MAX_GROUPS);
          if (isKept) groups.add(group);
          // If no further group can be created, the contact is unsubscribed from all mail rather than mailed against its wish.
          const kind = leaving.kind === 'group' && !isKept ? 'all' : leaving.kind;
          await leavingRows.write([kind, isKept ? group : '', item.email]);
        }
      if (item.values === null) continue;
      const values = valuesWithLists(item, listsField);
      let length = 0;
      const cells = columns.map((column) => {
        const cell = values.get(column.column) ?? '';
        const value = migratedValue(column, cell);
        length += value.length;
        const isKept = value !== '' && length <= MAX_ROW;
        if (cell.trim() !== '' && !isKept) addMisfit(misfits, column.column, cell);
        return isKept ? value : '';
      });
      await people.write([item.email.slice(0, MAX_EMAIL), ...cells]);
    }
  } finally {
    await Promise.all([people.end(), leavingRows.end()]);
  }
  return misfits;
}

function addMisfit(misfits: Map<string, Misfits>, column: string, value: string): void {
  const misfit = misfits.get(column) ?? { count: 0, named: new Set() };
  misfits.set(column, misfit);
  misfit.count++;
  if (misfit.named.size < MAX_NAMED_VALUES) misfit.named.add(notedValue(value));
}

/** Writes a CSV file that `readCsv` reads back exactly. */
class CsvFile {
  readonly #stream: WriteStream;

  constructor(path: string, header: readonly string[]) {
    this.#stream = createWriteStream(path, { mode: 0o600 });
    // Without this listener, an error such as a full disk would end the whole thread. `write` and `end` throw the error instead.
    this.#stream.on('error', () => undefined);
    this.#stream.write(line(header));
  }

  async write(cells: readonly string[]): Promise<void> {
    if (this.#stream.errored !== null) throw this.#stream.errored;
    if (!this.#stream.write(line(cells))) await once(this.#stream, 'drain');
  }

  async end(): Promise<void> {
    this.#stream.end();
    await finished(this.#stream);
  }
}

function line(cells: readonly string[]): string {
  return `${cells.map((cell) => `"${escapeFormula(cell.toWellFormed()).replaceAll('"', '""')}"`).join(',')}\n`;
}
