/** Handles single-key shortcuts. A user can switch them off; then the page has no dialog that explains them. */

/** How long after `g` the next key still selects a page, in milliseconds. */
const PATIENCE_MS = 1500;
const help = document.querySelector<HTMLDialogElement>('#shortcuts');
let goUntil = 0;

if (help !== null) addEventListener('keydown', answer);
// The button to close is the only control of the list, and the page behind it is covered.
help?.addEventListener('keydown', (event) => {
  if (event.key === 'Tab') event.preventDefault();
});

function answer(event: KeyboardEvent): void {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(target)) return;
  if (document.querySelector('dialog:popover-open') !== null) return;
  const isGoing = event.timeStamp < goUntil;
  goUntil = 0;
  if (isGoing) {
    const link = document.querySelector<HTMLAnchorElement>(`.sidebar a[data-key="${CSS.escape(key)}"]`);
    if (link === null) return;
    event.preventDefault();
    link.click();
  } else if (key === 'g') {
    goUntil = event.timeStamp + PATIENCE_MS;
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

function isTyping(target: EventTarget | null): boolean {
  const fields = 'input:not([type="checkbox"], [type="radio"]), textarea, select';
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(fields));
}
