/** Finds out whether the dates with slashes of a file have the month or the day first. */
import { createReadStream } from 'node:fs';
import { type DateOrder, isValidValue, shownDateOrder, writtenValue } from '../fields/custom-fields.ts';
import { readCsv } from './csv.ts';
import type { Header } from './rows.ts';

/** The number of first rows that are read, so that a large file is not read twice. */
const MAX_ROWS = 50_000;
const DATE_TYPES: ReadonlySet<string> = new Set(['datetime-local', 'yearly-date']);

/**
 * Returns the order of dates with slashes in each column of dates, by the place of the column. One row with a day above 12, such as
 * `12/31/1990`, shows the order for its column. A column that no row decides, or that has other dates, has none.
 */
export async function dateOrders(path: string, { columns }: Header): Promise<ReadonlyMap<number, DateOrder>> {
  const orders = new Map<number, DateOrder>();
  const undecided = new Map(
    columns.flatMap((column, at) =>
      column?.custom && DATE_TYPES.has(column.custom.field_type) ? [[at, column.custom.field_type] as const] : [],
    ),
  );
  if (undecided.size === 0) return orders;
  const csv = await readCsv(() => createReadStream(path));
  let read = 0;
  for await (const { rows } of csv.batches()) {
    for (const cells of rows)
      for (const [at, type] of undecided) {
        const cell = (cells[at] ?? '').trim();
        const order = shownDateOrder(cell);
        if (order !== null) orders.set(at, order);
        if (order !== null || isValidValue(type, writtenValue(type, cell))) undecided.delete(at);
      }
    read += rows.length;
    if (undecided.size === 0 || read >= MAX_ROWS) break;
  }
  return orders;
}
