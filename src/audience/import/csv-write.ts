/** Writes CSV files. */
import { type CsvFormatterStream, format } from 'fast-csv';
import { escapeFormula } from './csv-cell.ts';

export type CsvValue = string | number | null;

/**
 * A stream that takes rows and gives RFC 4180 text: first the header, even if no row follows. Formulas are escaped; null becomes an
 * empty cell. `readCsv` reads everything back, except a row of one empty cell, which is a blank line. The header is quoted, so that
 * no character in it is mistaken for the delimiter.
 */
export function csvWriter(header: readonly string[]): CsvFormatterStream<CsvValue[], string[]> {
  return format<CsvValue[], string[]>({
    headers: header.map(escapeFormula),
    alwaysWriteHeaders: true,
    quoteHeaders: true,
    rowDelimiter: '\r\n',
    includeEndRowDelimiter: true,
    transform: (row: CsvValue[]) => row.map((value) => escapeFormula(value === null ? '' : String(value))),
  });
}
