/** Tells whether a dialog covers the page, so that shortcuts do nothing then. */

/** Returns true if a dialog is open: a question before an action, the command menu or the list of shortcuts. */
export function isDialogOpen(): boolean {
  return document.querySelector(':is(dialog, [role="dialog"]):popover-open') !== null;
}
