/** Writes every CSV we hand out. */
import { type CsvFormatterStream, format } from 'fast-csv';
import { escapeFormula } from './csv-cell.ts';

export type CsvValue = string | number | null;

/**
 * A stream that takes rows and gives RFC 4180 text: the header first, even with no row after it; every cell `neutralised`
 * (trust 36); null as an empty cell. `readCsv` reads it back without loss, but for a row of one empty cell, which is a blank line.
 * The header is quoted, so that no character in it can pass for the delimiter.
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
