/** The one change a cell suffers in a CSV of ours: text a spreadsheet would run as a formula gets an apostrophe in front. */

/**
 * Where a formula would begin: at the start of the cell, and after a semicolon, tab or line break within it, since a spreadsheet set
 * to a language that writes decimals with a comma opens a CSV as separated by semicolons, and quotes in the middle of what it takes
 * for a field protect nothing. Quotes in front do not help: the spreadsheet takes them off. Full-width signs count as their narrow ones.
 */
const FORMULA_START =
  /^(?=['"]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;\t\r\n])(?=['"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
/** The same with an apostrophe in front. */
const ESCAPED_FORMULA =
  /^'(?=['"]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;\t\r\n])'(?=['"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
/** Most cells hold none of these characters. */
const SUSPICIOUS = /[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * The cell as a CSV of ours holds it: one apostrophe wherever a formula would begin (OWASP "CSV Injection"). Where it already looks
 * neutralised it gets one more, so that `restored` undoes exactly this.
 */
export function escapeFormula(cell: string): string {
  return SUSPICIOUS.test(cell) ? cell.replace(FORMULA_START, "'") : cell;
}

/**
 * The inverse of `neutralised`, for every cell read: one apostrophe off wherever it keeps a formula from beginning. All other cells
 * stay as they are, `'tis` and a bare `+49 30` from somebody else's file included.
 */
export function unescapeFormula(cell: string): string {
  return cell.includes("'") ? cell.replace(ESCAPED_FORMULA, '') : cell;
}
