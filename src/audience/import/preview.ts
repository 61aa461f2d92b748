/** Previews an import: computes from the staged rows, with the same rules as the import, what the import would do. */
import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../database/open.ts';
import { AUTOMATION_STATUS, BARS_ENTRY } from '../../database/schema/index.ts';
import { stored } from '../../errors/stored.ts';
import { CsvError } from './csv-parse.ts';
import {
  DEFAULT_OPTIONS,
  type ImportJob,
  type ImportOptions,
  type ImportProgress,
  type LeavingCount,
  sharedProgress,
} from './import-job.ts';
import { stageLeavers } from './lists.ts';
import { plannedFields } from './make-lists.ts';
import type { RowError } from './rows.ts';
import { dropStaged, type StagedFile, stage } from './staging.ts';
import { valueAfter } from './value-after.ts';

/**
 * The kinds of contacts in a preview. `skipped` contacts exist already and stay unchanged because of the options. `left` contacts have
 * unsubscribed or are suppressed; each of them also has another kind.
 */
export const PREVIEW_KINDS = ['new', 'changed', 'unchanged', 'skipped', 'left'] as const;
export type PreviewKind = (typeof PREVIEW_KINDS)[number];

/** The present value of a contact's field and the value it would get; null: none. */
interface FieldValue {
  field: string;
  before: string | null;
  after: string | null;
}

/** A contact in the file. */
interface PreviewPerson {
  line: number;
  email: string;
  /** The fields whose value would change, at most 20, with the beginnings of their values; empty for a new contact. */
  changes: FieldValue[];
}

/** One of the first rows of the file. */
interface SampleRow {
  line: number;
  email: string;
  kind: Exclude<PreviewKind, 'left'>;
  /** The fields of the file except the address, in the order of its columns, with the beginnings of their values. */
  values: FieldValue[];
}

/** What an import would do. */
export interface ImportPreview {
  /** 0 if nothing would be imported, because the file has neither a valid row nor, in a migration, a leaver. */
  is_possible: 0 | 1;
  rows: number;
  failed: number;
  /** Rows whose address occurs again in a later row. The later row counts. */
  repeated: number;
  /** Notes for the user, in their stored form. */
  notes: string[];
  errors: RowError[];
  /** The number of contacts of each kind. */
  counts: Record<PreviewKind, number>;
  /** How many values of contacts would be cleared. */
  removed: number;
  /** The domains that look misspelt, the most frequent first. */
  misspelt: MisspeltDomain[];
  /** The automations that contacts would enter. */
  automations: StartingAutomation[];
  /** How many contacts would get another value in each field. */
  fields: { field: string; count: number }[];
  /** For a migration: the number of leavers of each kind. */
  leaving: LeavingCount[];
  /** The first contacts of each kind. */
  people: Record<PreviewKind, PreviewPerson[]>;
  /** The first rows of the file that would be imported. */
  sample: SampleRow[];
}

/** The number of first rows that are kept with the values of all their fields. */
const SAMPLE_ROWS = 20;
/** The number of contacts of each kind that are kept for the preview. */
export const MAX_PREVIEWED = 100;
/** The number of changes of one contact that are kept for the preview. */
const MAX_CHANGES = 20;
/** The number of characters of a value that are kept for the preview. */
const MAX_CHARACTERS = 200;
/** The number of rows that are compared before the thread does other work. */
const CHUNK = 1000;

type Cell = string | number | null;

/** Computes what `importContacts` would do with this job now. */
export async function previewImport(db: Db, job: ImportJob, progress?: ImportProgress): Promise<ImportPreview> {
  const shownProgress = progress ?? (job.progress && sharedProgress(job.progress));
  const perKind = <T>(make: () => T): Record<PreviewKind, T> => ({
    new: make(),
    changed: make(),
    unchanged: make(),
    skipped: make(),
    left: make(),
  });
  const preview: ImportPreview = {
    is_possible: 0,
    rows: 0,
    failed: 0,
    repeated: 0,
    notes: [],
    errors: [],
    counts: perKind(() => 0),
    removed: 0,
    misspelt: [],
    automations: [],
    fields: [],
    leaving: [],
    people: perKind(() => []),
    sample: [],
  };
  try {
    const staged = await stage(db, job, shownProgress);
    const { rows, failed, notes, errors } = staged;
    const leaving = await stageLeavers(db, job);
    const is_possible = rows > failed || leaving.length > 0 ? 1 : 0;
    const misspelt = misspeltIn(staged, job.options ?? DEFAULT_OPTIONS);
    Object.assign(preview, { rows, failed, notes, errors, leaving, is_possible, misspelt });
    if (rows > failed) await compareRows(db, job, staged, preview, shownProgress);
    return preview;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { ...preview, notes: [...preview.notes, stored(error.said)] };
  } finally {
    dropStaged(db.$client);
  }
}

interface MisspeltDomain {
  domain: string;
  meant: string;
  rows: number;
  is_corrected: 0 | 1;
}

function misspeltIn({ misspelt }: StagedFile, { correctedDomains }: ImportOptions): MisspeltDomain[] {
  return [...misspelt]
    .map(([domain, slip]) => ({
      domain,
      ...slip,
      is_corrected: correctedDomains.includes(domain) ? (1 as const) : (0 as const),
    }))
    .sort((one, other) => other.rows - one.rows);
}

/** Compares the staged rows with the contacts of the list, and fills in the preview. */
async function compareRows(
  db: Db,
  job: ImportJob,
  { columns, fields }: Pick<StagedFile, 'columns' | 'fields'>,
  preview: ImportPreview,
  progress: ImportProgress | undefined,
): Promise<void> {
  const options = job.options ?? DEFAULT_OPTIONS;
  const people = prepareRows(db, job, columns, 's.rowid > ? AND s.rowid <= ? ORDER BY s.rowid');
  const rowCount = Number(db.$client.prepare('SELECT max(rowid) FROM sorted').pluck().get());
  const valuesOf = valueReader(db, job, columns);
  const automations = automationCounter(db, job);
  const perField = new Map<string, number>();
  const add = (kind: PreviewKind, person: PreviewPerson) => {
    preview.counts[kind]++;
    if (preview.people[kind].length < MAX_PREVIEWED) preview.people[kind].push(shortened(person));
  };
  for (let from = 0; from < rowCount; from += CHUNK) {
    for (const [line, email, contact, staysExcluded, ...cells] of people.iterate(
      job.accountId,
      job.typeId,
      from,
      from + CHUNK,
    )) {
      const isExisting = contact !== null;
      const changes = isExisting && options.existing === 'update' ? valuesOf(cells).filter(isChange) : [];
      for (const { field, after } of changes) {
        perField.set(field, (perField.get(field) ?? 0) + 1);
        if (after === null) preview.removed++;
      }
      const person = { line: Number(line), email: String(email), changes };
      add(kindOf(options, isExisting, changes), person);
      if (staysExcluded === 1) add('left', person);
    }
    automations.count(from, from + CHUNK);
    progress?.wrote(Math.min(from + CHUNK, rowCount), rowCount);
    await setImmediate();
  }
  preview.sample = sampleRows(db, job, { columns, fields }, valuesOf);
  preview.automations = automations.startingAutomations(preview.counts);
  preview.repeated = preview.rows - preview.failed - rowCount;
  preview.fields = [...perField].map(([field, count]) => ({ field, count }));
}

function kindOf({ existing }: ImportOptions, isExisting: boolean, changes: readonly FieldValue[]): SampleRow['kind'] {
  if (!isExisting) return 'new';
  if (existing === 'keep') return 'skipped';
  return changes.length > 0 ? 'changed' : 'unchanged';
}

/** Returns the first rows of the file that would be imported. */
function sampleRows(
  db: Db,
  job: ImportJob,
  { columns, fields }: Pick<StagedFile, 'columns' | 'fields'>,
  valuesOf: ReturnType<typeof valueReader>,
): SampleRow[] {
  const firstRows = prepareRows(
    db,
    job,
    columns,
    `s.rowid IN (SELECT rowid FROM sorted ORDER BY last_line LIMIT ${SAMPLE_ROWS}) ORDER BY s.last_line`,
  );
  return firstRows.all(job.accountId, job.typeId).map(([line, email, contact, , ...cells]) => {
    const values = valuesOf(cells, true);
    const kind = kindOf(job.options ?? DEFAULT_OPTIONS, contact !== null, values.filter(isChange));
    const valuesByField = new Map(values.map((value) => [value.field, shortenedValue(value)]));
    const shown = fields.flatMap((field) => {
      const value = field === 'email' ? undefined : valuesByField.get(field);
      if (value === undefined) return [];
      return [kind === 'skipped' ? { ...value, after: value.before } : value];
    });
    return { line: Number(line), email: String(email), kind, values: shown };
  });
}

/**
 * Prepares a query for those rows of temp.sorted that meet a condition: line, address, id of the existing contact or null, 1 if the
 * contact stays excluded from mail, and for each column the present value and the one after the import. Unsubscribes from all mail and from
 * groups are in two indexes, so they are looked up separately.
 */
function prepareRows(
  db: Db,
  { migration, options = DEFAULT_OPTIONS }: ImportJob,
  columns: readonly string[],
  rows: string,
) {
  const after = (column: string) =>
    column === 'email' ? 'ifnull(s.email, s.normalized)' : valueAfter(column, options, 's', 'c');
  return db.$client
    .prepare<unknown[], Cell[]>(`
      SELECT s.last_line, ifnull(s.email, s.normalized), c.id,
        EXISTS (SELECT 1 FROM unsubscribers u WHERE u.address_id = a.id AND u.unsubscribe_groups_id IS NULL)
          OR EXISTS (SELECT 1 FROM unsubscribers u WHERE u.address_id = a.id AND u.unsubscribe_groups_id IS NOT NULL)
          OR EXISTS (SELECT 1 FROM suppressions x WHERE x.address_id = a.id)${migration ? ' OR EXISTS (SELECT 1 FROM leavers l WHERE l.normalized = s.normalized)' : ''},
        ${columns.map((column) => `c.${column}, ${after(column)}`).join(', ')}
      FROM sorted s LEFT JOIN addresses a ON a.user_id = ? AND a.normalized_email = s.normalized
        LEFT JOIN contacts c ON c.contact_type_id = ? AND c.address_id = a.id AND c.deleted_at IS NULL
      WHERE ${rows}`)
    .raw();
}

/** Shortens the values of a contact for the preview, because a contact may have a megabyte of values. */
function shortened({ changes, ...person }: PreviewPerson): PreviewPerson {
  return { ...person, changes: changes.slice(0, MAX_CHANGES).map(shortenedValue) };
}

function shortenedValue({ field, before, after }: FieldValue): FieldValue {
  const cut = (text: string | null) =>
    text !== null && text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
  return { field, before: cut(before), after: cut(after) };
}

const isChange = ({ before, after }: FieldValue) => before !== after;

/**
 * Returns a function that reads the values of a contact, each with the value it would get. Unchanged columns are omitted unless
 * all are requested.
 */
function valueReader(db: Db, job: ImportJob, columns: readonly string[]) {
  const custom = new Map(plannedFields(db, job).map(({ id, field_name }) => [String(id), field_name]));
  const countryName = db.$client.prepare<[Cell], string>('SELECT name FROM countries WHERE id = ?').pluck();
  const shown = (column: string, value: Cell) => {
    if (value === null || value === '') return null;
    return column === 'country_id' ? (countryName.get(value) ?? null) : String(value);
  };
  return (cells: readonly Cell[], includesUnchanged = false): FieldValue[] =>
    columns.flatMap((column, at) => {
      const before = cells[2 * at] ?? null;
      const after = cells[2 * at + 1] ?? null;
      if (before === after && !includesUnchanged) return [];
      if (column !== 'custom_values') {
        const field = column === 'country_id' ? 'country' : column;
        // An empty value is '' or null; `shown` returns null for both.
        return [{ field, before: shown(column, before), after: shown(column, after) }];
      }
      const [old, next] = [before, after].map((json): Record<string, string> => JSON.parse(String(json ?? '{}')));
      return [...custom].map(([id, field]) => ({ field, before: old?.[id] || null, after: next?.[id] || null }));
    });
}

/** An automation that contacts of the file would enter. */
interface StartingAutomation {
  utr: string;
  automation_name: string;
  /** How many contacts would enter; if that is not known exactly, the maximum. */
  people: number;
  /** 0 for a segment, because its members are known only once the contacts are written. */
  is_exact: 0 | 1;
}

/** The maximum number of automations in the preview. */
export const MAX_AUTOMATIONS = 100;

/** A live automation that contacts of the list or segment enter. */
interface LiveAutomation {
  id: number;
  utr: string;
  automation_name: string;
  /** The id of the segment that the automation is for; null: the automation is for a list. */
  segment: number | null;
}

/**
 * Returns two functions: one counts the contacts between two rows of temp.sorted and must be called for every range; the other
 * returns the automations at the end. `counts` has the contacts of the whole file.
 */
function automationCounter(db: Db, { accountId, typeId, options = DEFAULT_OPTIONS }: ImportJob) {
  const client = db.$client;
  const live = options.startsAutomations
    ? client
        .prepare<unknown[], LiveAutomation>(`
          SELECT au.id, au.utr, au.automation_name, s.id AS segment
          FROM automations au LEFT JOIN segments s ON au.automation_for_table = 'segments' AND s.id = au.automation_for AND s.deleted_at IS NULL
          WHERE au.user_id = ? AND au.status = ${AUTOMATION_STATUS.live} AND au.trigger_kind = 'join' AND au.deleted_at IS NULL
            AND (s.contact_type_id = ? OR s.id = ? OR (au.automation_for_table = 'contacts' AND au.automation_for = ?))
          ORDER BY au.id LIMIT ${MAX_AUTOMATIONS}`)
        .all(accountId, typeId, options.segmentId, typeId)
    : [];
  // Contacts that were in an automation before enter again only if it allows re-entry.
  const countBarred = client
    .prepare<Record<string, number | null>, number>(`
      SELECT count(*) FROM sorted s CROSS JOIN addresses a ON a.user_id = @account AND a.normalized_email = s.normalized
      WHERE s.rowid > @after AND s.rowid <= @until AND EXISTS (SELECT 1 FROM automations au CROSS JOIN enrolments n
          ON n.automation_id = au.id AND n.address_id = a.id AND (n.state = 'active' OR ${BARS_ENTRY}) WHERE au.id = @automation)
        AND NOT EXISTS (SELECT 1 FROM contacts c WHERE c.contact_type_id = @type AND c.address_id = a.id AND c.deleted_at IS NULL)`)
    .pluck();
  const parameters = { account: accountId, type: typeId, at: Date.now(), event_key: null };
  const barredCount = new Map<number, number>();
  return {
    count(after: number, until: number): void {
      for (const { id, segment } of live)
        if (segment === null)
          barredCount.set(
            id,
            (barredCount.get(id) ?? 0) + (countBarred.get({ ...parameters, automation: id, after, until }) ?? 0),
          );
    },
    startingAutomations(counts: Record<'new' | 'changed' | 'unchanged' | 'skipped', number>): StartingAutomation[] {
      const peopleOf = ({ id, segment }: LiveAutomation) => {
        if (segment === null) return counts.new - (barredCount.get(id) ?? 0);
        // The import adds every contact of the file to the segment of its options.
        const isJoinedByAll = segment === options.segmentId;
        return counts.new + counts.changed + (isJoinedByAll ? counts.unchanged + counts.skipped : 0);
      };
      return live
        .map((automation) => ({
          utr: automation.utr,
          automation_name: automation.automation_name,
          people: peopleOf(automation),
          is_exact: automation.segment === null ? (1 as const) : (0 as const),
        }))
        .filter(({ people }) => people > 0);
    },
  };
}
