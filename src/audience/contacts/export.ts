/** Exports the contacts of a type as a CSV file, which the import reads back without loss. */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../database/open.ts';
import { type CsvValue, csvWriter } from '../import/csv-write.ts';
import { listCustomFields, RESERVED_FIELDS } from './contact-fields.ts';

/** Cells read by one query, a few milliseconds of work. */
const PAGE_CELLS = 5500;

/**
 * A stream of the CSV: a column for each reserved field, then for each custom field of the account; a row for each contact. Cells
 * that a spreadsheet would run as formulas are escaped. Each page is one short query, made when the reader asks for more. `onRows` is
 * called after each page with the number of rows so far. The caller has checked that the type belongs to the account. A contact
 * whose e-mail address changes during the export may appear twice or not at all.
 */
export function contactsCsv(db: Db, accountId: number, typeId: number, onRows?: (rows: number) => void): Readable {
  const own = listCustomFields(db, accountId);
  const pageRows = Math.max(1, Math.floor(PAGE_CELLS / (RESERVED_FIELDS.length + own.length)));
  const csv = csvWriter([...RESERVED_FIELDS, ...own.map((field) => field.field_name)]);
  const columns = RESERVED_FIELDS.map((field) =>
    field === 'country' ? '(SELECT name FROM countries WHERE id = contacts.country_id)' : field,
  );
  // In the order of an index by type and address: each page reads only contacts of this type.
  const page = db.$client
    .prepare<[number, number], [addressId: number, customValues: string | null, ...CsvValue[]]>(`
      SELECT address_id, custom_values, ${columns.join(', ')} FROM contacts
      WHERE contact_type_id = ? AND address_id > ? AND deleted_at IS NULL ORDER BY address_id LIMIT ${pageRows}`)
    .raw();

  async function* rows(): AsyncGenerator<CsvValue[]> {
    let after = 0;
    let count = 0;
    for (;;) {
      const found = page.all(typeId, after);
      for (const [addressId, customValues, ...values] of found) {
        after = addressId;
        // Custom values are read as one JSON column, since SQLite allows only 2,000 columns.
        const custom: Record<string, CsvValue> = customValues ? JSON.parse(customValues) : {};
        yield [...values, ...own.map(({ id }) => custom[id] ?? null)];
      }
      count += found.length;
      onRows?.(count);
      if (found.length < pageRows) return;
      await setImmediate();
    }
  }

  const source = Readable.from(rows());
  source.on('error', (error) => csv.destroy(error));
  csv.on('close', () => source.destroy());
  return source.pipe(csv);
}
