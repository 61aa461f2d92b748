/** Writes CSV files without cells that a spreadsheet would run as formulas. */
import { Readable } from 'node:stream';

export type CsvValue = string | number | null;

/** The rows of a file, some at a time. */
type Pages = AsyncIterable<CsvValue[][]> | Iterable<CsvValue[][]>;

/** The form of a file: its delimiter, and whether it begins with a byte order mark. */
export interface CsvForm {
  delimiter: ',' | ';';
  hasMark: boolean;
}

/** The form for programs (RFC 4180). */
export const PLAIN_CSV: CsvForm = { delimiter: ',', hasMark: false };

/**
 * Returns the form that Excel opens in a language. Excel takes a CSV file without a byte order mark for Windows-1252, and its cells are
 * divided at semicolons where decimals have a comma.
 */
export function spreadsheetCsv(language: string): CsvForm {
  const hasDecimalComma = new Intl.NumberFormat(language).format(0.5).includes(',');
  return { delimiter: hasDecimalComma ? ';' : ',', hasMark: true };
}

/**
 * Returns a stream of RFC 4180 text: first the header, even if no row follows, then the rows page by page; a page is read when
 * the consumer asks for more. Formulas are escaped; null becomes an empty cell. `readCsv` reads everything back, except a row with one
 * empty cell, which comes out as a blank line. The header is quoted, so that no character in it is mistaken for the delimiter.
 */
export function csvStream(header: readonly string[], pages: Pages, form: CsvForm = PLAIN_CSV): Readable {
  const { delimiter, hasMark } = form;
  const lineOf = (row: readonly CsvValue[]) => `${row.map((cell) => cellOf(cell, delimiter)).join(delimiter)}\r\n`;
  async function* text(): AsyncGenerator<string> {
    yield `${hasMark ? '\ufeff' : ''}${header.map((name) => quoted(textOf(name))).join(delimiter)}\r\n`;
    for await (const rows of pages) if (rows.length > 0) yield rows.map(lineOf).join('');
  }
  // The stream buffers one page only: a page is the most work that may be done before other requests have a turn.
  return Readable.from(text(), { objectMode: false, highWaterMark: 1 });
}

/** A cell with one of these characters is quoted; with `|` only because earlier releases did so. */
const TO_QUOTE = /[",\r\n|]/;

function cellOf(value: CsvValue, delimiter: string): string {
  const text = value === null ? '' : textOf(String(value));
  return TO_QUOTE.test(text) || text.includes(delimiter) ? quoted(text) : text;
}

/**
 * Returns the text of a cell without NUL characters, which spreadsheets do not read, and with its formulas escaped. A formula can begin
 * where a NUL character was removed.
 */
function textOf(value: string): string {
  return escapeFormula(value.includes('\0') ? value.replaceAll('\0', '') : value);
}

function quoted(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`;
}

/**
 * The places where a formula can begin: at the start of the cell, and after a semicolon, tab or line break in it. In languages with decimal
 * commas, a spreadsheet splits a CSV file at semicolons, so the text after a semicolon starts a new cell. Quotes before the formula do not
 * help, because the spreadsheet removes them. Full-width signs count like the ASCII ones.
 */
const FORMULA_START =
  /^(?=['"]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;\t\r\n])(?=['"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
/** The same places, each with an apostrophe in front of it. */
const ESCAPED_FORMULA =
  /^'(?=['"]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;\t\r\n])'(?=['"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
/** A quick test before the two patterns above, because most cells have none of these characters. */
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
