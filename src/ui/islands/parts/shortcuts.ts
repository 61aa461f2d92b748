/** Handles single-key shortcuts. If a user has switched them off, the page has no dialog that explains them. */

/** How long after `g` the next key still selects a page, in milliseconds. */
const GO_MS = 1500;
const help = document.querySelector<HTMLDialogElement>('#shortcuts');
/** The time stamp of events up to which the next key selects a page; 0 if `g` was not pressed. */
let goUntil = 0;

if (help !== null) addEventListener('keydown', onKey);
// The focus stays on the button that closes the dialog, because the dialog has no other control and covers the page.
help?.addEventListener('keydown', (event) => {
  if (event.key === 'Tab') event.preventDefault();
});

function onKey(event: KeyboardEvent): void {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(target)) return;
  if (isDialogOpen()) return;
  const isGoing = event.timeStamp < goUntil;
  goUntil = 0;
  if (isGoing) {
    const link = document.querySelector<HTMLAnchorElement>(`.sidebar a[data-key="${CSS.escape(key)}"]`);
    if (link === null) return;
    event.preventDefault();
    link.click();
  } else if (key === 'g') {
    goUntil = event.timeStamp + GO_MS;
  } else if (key === '?') {
    event.preventDefault();
    help?.showPopover();
  } else if (key === '/') {
    event.preventDefault();
    const field = document.querySelector<HTMLInputElement>('main input[type="search"]');
    if (field === null) location.assign('/contacts#search');
    else field.select();
  }
}

/** Returns true if a dialog covers the page: a question before an action, the command menu or the list of shortcuts. */
export function isDialogOpen(): boolean {
  return document.querySelector(':is(dialog, [role="dialog"]):popover-open') !== null;
}

function isTyping(target: EventTarget | null): boolean {
  const fields = 'input:not([type="checkbox"], [type="radio"]), textarea, select';
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(fields));
}
