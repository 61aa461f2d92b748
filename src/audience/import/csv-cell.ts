/** Escapes cells that a spreadsheet would run as a formula, with an apostrophe in front, and undoes that when we read the file. */

/**
 * Where a formula would begin: at the start of the cell, and after a semicolon, tab or line break in it. The latter because in
 * languages with decimal commas a spreadsheet splits a CSV at semicolons, and then our quotes are in the middle of a field and
 * protect nothing. Quotes in front do not help either, since the spreadsheet removes them. Full-width signs count like the ASCII ones.
 */
const FORMULA_START =
  /^(?=['"]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;\t\r\n])(?=['"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
/** The same places when they already have an apostrophe. */
const ESCAPED_FORMULA =
  /^'(?=['"]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;\t\r\n])'(?=['"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
/** A quick test first, since most cells have none of these characters. */
const SUSPICIOUS = /[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * The cell with an apostrophe wherever a formula would begin (OWASP "CSV Injection"). A cell that already looks escaped gets one
 * more, so that `unescapeFormula` gives back exactly what was there.
 */
export function escapeFormula(cell: string): string {
  return SUSPICIOUS.test(cell) ? cell.replace(FORMULA_START, "'") : cell;
}

/**
 * The inverse of `escapeFormula`: removes one apostrophe wherever it keeps a formula from beginning. All other cells stay as they
 * are, for example `'tis`, or an unescaped `+49 30` from a file that we did not write.
 */
export function unescapeFormula(cell: string): string {
  return cell.includes("'") ? cell.replace(ESCAPED_FORMULA, '') : cell;
}
