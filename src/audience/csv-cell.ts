/** The one change a cell suffers in a CSV of ours: text a spreadsheet would run as a formula gets an apostrophe in front. */

const APOSTROPHE = 0x27;
const WOULD_RUN = /^'*[=+\-@\t\r]/;
const NEUTRALISED = /^'+[=+\-@\t\r]/;

/**
 * The cell as a CSV of ours carries it: with one apostrophe in front where it begins with `=`, `+`, `-`, `@`, TAB or CR
 * (OWASP "CSV Injection"). A cell that already looks neutralised gets one more, so that `restored` undoes exactly this.
 */
export function neutralised(cell: string): string {
  return WOULD_RUN.test(cell) ? `'${cell}` : cell;
}

/**
 * The inverse of `neutralised`, for every cell read: one apostrophe off where apostrophes stand before one of those characters.
 * All other cells stay as they are, `'tis` and a bare `+49 30` from somebody else's file included.
 */
export function restored(cell: string): string {
  return cell.charCodeAt(0) === APOSTROPHE && NEUTRALISED.test(cell) ? cell.slice(1) : cell;
}
