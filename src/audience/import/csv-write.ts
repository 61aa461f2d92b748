/** Writes CSV files without cells that a spreadsheet would run as formulas. */
import { type CsvFormatterStream, format } from 'fast-csv';

export type CsvValue = string | number | null;

/**
 * Returns a stream that takes rows and produces RFC 4180 text: first the header, even if no row follows. Formulas are escaped;
 * null becomes an empty cell. `readCsv` reads everything back, except a row of one empty cell, which is a blank line. The
 * header is quoted, so that no character in it is mistaken for the delimiter.
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

/**
 * The places where a formula can begin: at the start of the cell, and after a semicolon, tab or line break in it, because in
 * languages with decimal commas a spreadsheet splits a CSV at semicolons, so that our quotes are in the middle of a field and protect
 * nothing. Quotes in front do not help either, because the spreadsheet removes them. Full-width signs count like the ASCII ones.
 */
const FORMULA_START =
  /^(?=['"]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;\t\r\n])(?=['"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
/** The same places with an apostrophe in front. */
const ESCAPED_FORMULA =
  /^'(?=['"]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;\t\r\n])'(?=['"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
/** A quick test before the others, because most cells have none of these characters. */
const SUSPICIOUS = /[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * Returns the cell with an apostrophe wherever a formula would begin (OWASP "CSV Injection"). A cell that already looks escaped
 * gets one more, so that `unescapeFormula` restores exactly the original.
 */
export function escapeFormula(cell: string): string {
  return SUSPICIOUS.test(cell) ? cell.replace(FORMULA_START, "'") : cell;
}

/**
 * The inverse of `escapeFormula`: removes one apostrophe wherever it prevents a formula. All other cells stay unchanged, for
 * example `'tis`, or an unescaped `+49 30` from a file that we did not write.
 */
export function unescapeFormula(cell: string): string {
  return cell.includes("'") ? cell.replace(ESCAPED_FORMULA, '') : cell;
}
