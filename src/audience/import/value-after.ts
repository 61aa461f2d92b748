/** The value that an import gives a contact that exists already. */
import type { ImportOptions } from './import-job.ts';

/** The columns whose empty value is null. In other columns it is an empty text. */
const NULL_WHEN_EMPTY: ReadonlySet<string> = new Set(['country_id', 'alt_email']);

/**
 * Returns SQL for the value that an import gives a column of an existing contact. `row` and `present` are the aliases of the
 * file's row and the contact. The preview and the import both use it, so that the preview is exact.
 */
export function valueAfter(column: string, { emptyCells }: ImportOptions, row: string, present: string): string {
  const value = `${row}.${column}`;
  // If empty cells keep values, the row reader omits them from the JSON.
  if (column === 'custom_values') return `json_patch(ifnull(${present}.custom_values, '{}'), ${value})`;
  if (column === 'email' || emptyCells === 'clear') return value;
  return NULL_WHEN_EMPTY.has(column)
    ? `ifnull(${value}, ${present}.${column})`
    : `ifnull(nullif(${value}, ''), ${present}.${column})`;
}
