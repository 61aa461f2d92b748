/** Contacts of a type as a CSV file that the import takes back without loss (addition to the interface). */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../database/open.ts';
import { type CsvValue, csvWriter } from '../import/csv-write.ts';
import { listCustomFields, RESERVED_FIELDS } from './custom-fields.ts';

/** Cells read in one piece: a few milliseconds of work. */
const PAGE_CELLS = 5500;

/**
 * A stream of the CSV: reserved fields, then the account's custom ones, a row for each contact; cells are
 * neutralised (trust 36). It reads a page at a time, each one short query, as it is read itself. The type is the account's.
 * `onRows` hears after each page how many rows there were so far. A contact who gets another e-mail address meanwhile may be in it
 * twice or not at all.
 */
export function exportContacts(db: Db, userId: number, typeId: number, onRows?: (rows: number) => void): Readable {
  const own = listCustomFields(db, userId);
  const pageRows = Math.max(1, Math.floor(PAGE_CELLS / (RESERVED_FIELDS.length + own.length)));
  const csv = csvWriter([...RESERVED_FIELDS, ...own.map((field) => field.field_name)]);
  const columns = RESERVED_FIELDS.map((field) =>
    field === 'country' ? '(SELECT name FROM countries WHERE id = contacts.country_id)' : field,
  );
  // By person: a type's contacts are a range of that index, however many the account has of others.
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
        // Not one column for each field: SQLite allows 2 000.
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
