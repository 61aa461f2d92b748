/** Exports the contacts of a type as CSV. */
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../database/open.ts';
import { type CsvForm, type CsvValue, csvStream } from '../csv-write.ts';
import { listCustomFields } from '../fields/custom-fields.ts';
import { RESERVED_FIELDS } from './contact-fields.ts';

/** The number of cells that one query reads, which takes a few milliseconds. */
const PAGE_CELLS = 6000;

/**
 * Returns a stream of the CSV: a column for each reserved field and each custom field of the account, and a row for each
 * contact. Cells that a spreadsheet would run as formulas are escaped. Each page is one short query, made when the reader asks
 * for more. Calls `onRows` after each page with the number of rows so far. `form` is that for programs unless given. The caller has checked that the type belongs to the
 * account. A contact whose e-mail address changes during the export may appear twice or not at all.
 */
export function contactsCsv(
  db: Db,
  accountId: number,
  typeId: number,
  { onRows, form }: { onRows?: (rows: number) => void; form?: CsvForm } = {},
): Readable {
  const own = listCustomFields(db, accountId);
  // A custom field may have the name of a field that a later release added. The file has only one column of each name.
  const reserved = RESERVED_FIELDS.filter((name) => !own.some((field) => field.field_name.toLowerCase() === name));
  const pageRows = Math.max(1, Math.floor(PAGE_CELLS / (reserved.length + own.length)));
  const columns = reserved.map((field) =>
    field === 'country' ? '(SELECT name FROM countries WHERE id = contacts.country_id)' : field,
  );
  // The rows are in the order of an index by type and address, so that each page reads only contacts of this type.
  const page = db.$client
    .prepare<[number, number], [addressId: number, customValues: string | null, ...CsvValue[]]>(`
      SELECT address_id, custom_values, ${columns.join(', ')} FROM contacts
      WHERE contact_type_id = ? AND address_id > ? AND deleted_at IS NULL ORDER BY address_id LIMIT ${pageRows}`)
    .raw();

  async function* pages(): AsyncGenerator<CsvValue[][]> {
    let after = 0;
    let count = 0;
    for (;;) {
      const rows = page.all(typeId, after);
      after = rows.at(-1)?.[0] ?? after;
      yield rows.map(([, customValues, ...values]) => {
        // Custom values are read as one JSON column, because SQLite allows only 2,000 columns.
        const custom: Record<string, CsvValue> = customValues ? JSON.parse(customValues) : {};
        return [...values, ...own.map(({ id }) => custom[id] ?? null)];
      });
      count += rows.length;
      onRows?.(count);
      if (rows.length < pageRows) return;
      await setImmediate();
    }
  }

  return csvStream([...reserved, ...own.map((field) => field.field_name)], pages(), form);
}
