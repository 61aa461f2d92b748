/**
 * Runs on every page: tells the server the browser's time zone, and handles single-key shortcuts unless the user has switched them off.
 */

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
const cookie = `sendlark_zone=${encodeURIComponent(timeZone)}`;
if (!document.cookie.split('; ').includes(cookie)) {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser
  document.cookie = `${cookie}; Path=/; Max-Age=31536000; SameSite=Lax`;
}

// A menu closes like a dialog: with Escape, which returns the focus to its button, or when the focus leaves it.
const menu = document.querySelector<HTMLDetailsElement>('.more details');
addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape' || menu?.open !== true) return;
  menu.open = false;
  menu.querySelector('summary')?.focus();
});
for (const leaving of ['focusin', 'pointerdown']) {
  addEventListener(leaving, ({ target }) => {
    if (menu?.open === true && target instanceof Node && !menu.contains(target)) menu.open = false;
  });
}

/** Opens the command menu, whose script is loaded with its first use. Without scripts the links open the search page. */
function openFinder(event: Event): void {
  event.preventDefault();
  void import('./parts/finder.ts').then(({ open }) => open());
}
for (const link of document.querySelectorAll('[data-finder-opens]')) link.addEventListener('click', openFinder);
addEventListener('keydown', (event) => {
  const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
  // In a rich text editor, these keys insert a link.
  const isStyled = target instanceof HTMLElement && target.isContentEditable;
  if (key.toLowerCase() === 'k' && ctrlKey !== metaKey && !altKey && !shiftKey && !isStyled) openFinder(event);
});

/** How long after `g` the next key still selects a page, in milliseconds. */
const PATIENCE_MS = 1500;
const help = document.querySelector<HTMLDialogElement>('#shortcuts');
let goUntil = 0;

if (help !== null) addEventListener('keydown', answer);

function answer(event: KeyboardEvent): void {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(target)) return;
  if (document.querySelector('dialog[open]') !== null) return;
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
    help?.showModal();
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
