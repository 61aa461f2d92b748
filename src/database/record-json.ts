/** Records as JSON made by SQLite, so that one expression serves both an endpoint's list and its details. */
import { setImmediate } from 'node:timers/promises';
import { and, fillPlaceholders, type SQL, sql } from 'drizzle-orm';
import { type SQLiteColumn, SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import type { TObject } from 'typebox';
import { MEBIBYTE } from '../units.ts';
import type { Db } from './open.ts';
import { type OwnedTable, ownedBy } from './ownership.ts';

/**
 * Returns the SQL `json_object` of a record: every property of its schema, in order, from the column of the same name, unless
 * `computed` has an expression for it. The caller must wrap a computed JSON value in `json(…)`.
 */
export function recordObject(schema: TObject, table: object, computed: Record<string, SQL> = {}): SQL {
  const columns: Record<string, unknown> = { ...table };
  const pairs = Object.keys(schema.properties).map((name) => {
    const expression = computed[name] ?? columns[name];
    if (expression === undefined) throw new Error(`No column or expression for ${name}`);
    return sql`${sql.raw(`'${name}'`)}, ${expression}`;
  });
  return sql`json_object(${sql.join(pairs, sql`, `)})`;
}

/** A page of a list. */
export interface Page {
  /** The records, comma-separated, without the brackets of the array. */
  json: Buffer;
  count: number;
  /** The id after which the next page starts. */
  last: number;
  /** True if a limit, or the end of a step of a search, ended the page, so that there may be more records. */
  mayHaveMore: boolean;
}

/** Where the records of a list come from. */
export interface ListSource {
  /** The expression for a record as JSON. */
  record: SQL;
  /** The tables and joins after FROM. */
  from: SQL;
  /** The condition for the rows; undefined: all rows. */
  where: SQL | undefined;
  /** The column by which the list is ordered. */
  id: SQLiteColumn;
  /** The total size of a row's large columns in bytes, if the table has any. */
  bytes?: SQL | undefined;
  /**
   * Finds the next rows in one short step, up to `limit` ids after an id, for a search that would take long over all rows. If
   * set, `where` is ignored.
   */
  find?: ((afterId: number, limit: number) => FoundIds) | undefined;
}

/** Returns the source of a list with the records of an account in a table. */
export function ownedList(record: SQL, table: OwnedTable, accountId: number): ListSource {
  return { record, from: sql`${table}`, where: ownedBy(table, accountId), id: table.id };
}

/** The result of one step of a search. */
export interface FoundIds {
  /** In ascending order. */
  ids: number[];
  /** The id after which the next step continues; null at the end. */
  next: number | null;
}

/** The maximum number of rows of a page. */
export const PAGE_ROWS = 1000;
/** A page ends with the row at which the large columns of its rows have more than this number of bytes in total. */
const PAGE_BYTES = MEBIBYTE;

/**
 * Returns a function that reads up to `limit` records after an id, ascending. SQLite makes the JSON, so that no JavaScript object per
 * row is needed. The statement is prepared once for all pages, because preparing takes a tenth of a page's time for long records.
 */
export function pageReader(db: Db, source: ListSource): (afterId: number, limit: number) => Page {
  const { record, from, id, find } = source;
  const isOneOf = (ids: unknown) => sql`${id} IN (SELECT value FROM json_each(${ids}))`;
  const where = find ? isOneOf(sql.placeholder('ids')) : source.where;
  const query = new SQLiteSyncDialect().sqlToQuery(sql`
    SELECT CAST(group_concat(record, ',') AS BLOB) AS json, count(*) AS count, max(id) AS last
    FROM (SELECT ${id} AS id, ${record} AS record FROM ${from}
          WHERE ${id} > ${sql.placeholder('after')} AND ${where} ORDER BY ${id} LIMIT ${sql.placeholder('rows')})`);
  const statement = db.$client.prepare<unknown[], { json: Buffer | null; count: number; last: number | null }>(
    query.sql,
  );
  const read = (after: number, limit: number, ids = ''): Page => {
    const rows = rowsWithin(db, find ? { ...source, where: isOneOf(ids) } : source, after, limit);
    const row = statement.get(...fillPlaceholders(query.params, { after, rows, ids }));
    return {
      json: row?.json ?? Buffer.alloc(0),
      count: row?.count ?? 0,
      last: row?.last ?? after,
      mayHaveMore: row?.count === rows,
    };
  };
  if (find === undefined) return (after, limit) => read(after, limit);
  return (after, limit) => {
    const { ids, next } = find(after, limit);
    const page = read(after, ids.length, JSON.stringify(ids));
    const isCut = page.last < (ids.at(-1) ?? after);
    if (isCut) return { ...page, mayHaveMore: true };
    return { ...page, last: next ?? page.last, mayHaveMore: next !== null };
  };
}

/** The part of a list that a caller asks for. */
export interface ListPart {
  /** The maximum number of records. */
  limit?: number;
  /** Only records with a higher id. */
  after_id?: number;
  /** Oldest records first, unless this is newest. */
  order?: 'oldest' | 'newest';
  /** With newest records first: only records with a lower id. */
  before_id?: number;
}

/** How many records a part with the newest first has if the caller sets no limit. */
const NEWEST_ROWS = 50;

/**
 * Returns the records of a part of a list, for a screen. Other requests are answered between two pages. The API sends lists by
 * src/http/list-response.ts instead, which needs less memory.
 */
export async function readPart<Row>(db: Db, source: ListSource, part: ListPart): Promise<Row[]> {
  if (part.order === 'newest') return JSON.parse(`[${readNewest(db, source, part)}]`);
  const read = pageReader(db, source);
  const records: Row[] = [];
  const maxRows = part.limit ?? Number.POSITIVE_INFINITY;
  for (let after = part.after_id ?? 0, mayHaveMore = true; mayHaveMore && records.length < maxRows; ) {
    const page = read(after, Math.min(PAGE_ROWS, maxRows - records.length));
    records.push(...JSON.parse(`[${page.json}]`));
    after = page.last;
    mayHaveMore = page.mayHaveMore;
    if (mayHaveMore) await setImmediate();
  }
  return records;
}

/** Returns the records of a part with the newest first, as comma-separated JSON texts. */
export function readNewest(
  db: Db,
  { record, from, where, id }: ListSource,
  { before_id: beforeId, limit = NEWEST_ROWS }: ListPart,
): string {
  const before = beforeId === undefined ? undefined : sql`${id} < ${beforeId}`;
  const rows = db.values<[string]>(
    sql`SELECT ${record} FROM ${from} WHERE ${and(where, before) ?? sql`1`} ORDER BY ${id} DESC LIMIT ${limit}`,
  );
  return rows.join(',');
}

/** Returns the expression for the total size in bytes of these columns: the `bytes` of a list. */
export function totalBytes(...columns: SQLiteColumn[]): SQL {
  return sql.join(
    columns.map((column) => sql`ifnull(octet_length(${column}), 0)`),
    sql` + `,
  );
}

/**
 * Returns how many of the next rows, at least one, fit in a page by the size of their large columns. Does not read the contents
 * of the columns.
 */
function rowsWithin(db: Db, { from, where, id, bytes }: ListSource, afterId: number, limit: number): number {
  if (bytes === undefined) return limit;
  const { rows } = db.get<{ rows: number }>(sql`
    SELECT count(*) AS rows FROM (
      SELECT sum(bytes) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - bytes AS before
      FROM (SELECT ${id} AS id, ${bytes} AS bytes FROM ${from} WHERE ${id} > ${afterId} AND ${where} ORDER BY ${id} LIMIT ${limit}))
    WHERE before < ${PAGE_BYTES}`);
  return Math.max(1, rows);
}

/** Returns one record as JSON text; undefined if no row satisfies `where`. */
export function readRecord(db: Db, record: SQL, from: SQL, where: SQL | undefined): string | undefined {
  return db.get<{ json: string } | undefined>(sql`SELECT ${record} AS json FROM ${from} WHERE ${where}`)?.json;
}

/**
 * Like `readRecord`, for code that runs often. The statement is prepared once. The returned function takes the values for the
 * `sql.placeholder`s in `where`.
 */
export function recordReader(
  db: Db,
  record: SQL,
  from: SQL,
  where: SQL | undefined,
): (values: Record<string, unknown>) => string | undefined {
  const query = new SQLiteSyncDialect().sqlToQuery(sql`SELECT ${record} FROM ${from} WHERE ${where}`);
  const statement = db.$client.prepare<unknown[], string>(query.sql).pluck();
  return (values) => statement.get(...fillPlaceholders(query.params, values));
}
