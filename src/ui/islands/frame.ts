/** The script of every page. It tells the server the browser's time zone, keeps forms from being sent twice, closes the menu “More”, opens the command menu, and adds shortcuts. */
import { isDialogOpen } from './parts/shortcuts.ts';

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
const cookie = `sendlark_zone=${encodeURIComponent(timeZone)}`;
if (!document.cookie.split('; ').includes(cookie)) {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser
  document.cookie = `${cookie}; Path=/; Max-Age=31536000; SameSite=Lax`;
}

// The page answers a form, which loading the page again would send a second time.
const reloads = document.querySelector<HTMLElement>('[data-reloads]')?.dataset.reloads;
if (reloads !== undefined) history.replaceState(history.state, '', reloads);

// The menu closes like a dialog: with the Escape key, which returns the focus to its button, or when the focus leaves the menu.
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

/**
 * Opens the command menu, unless a dialog is open, which the menu would close. Its script is loaded when it is first used; the menu takes
 * what is typed meanwhile. Without scripts the links open the search page.
 */
function openFinder(event: Event): void {
  event.preventDefault();
  const menu = document.querySelector<HTMLElement>('#finder');
  if (menu === null || isDialogOpen()) return;
  menu.showPopover();
  menu.querySelector('input')?.select();
  import('./parts/finder.ts').then(
    ({ showOptions }) => showOptions(menu),
    // Enter still opens the search page.
    () => {
      const status = menu.querySelector<HTMLElement>('[data-failed]');
      if (status !== null) status.textContent = status.dataset.failed ?? '';
    },
  );
}
for (const link of document.querySelectorAll('[data-finder-opens]')) link.addEventListener('click', openFinder);
addEventListener('keydown', (event) => {
  const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
  // In a rich text editor, these keys insert a link.
  const isRichText = target instanceof HTMLElement && target.isContentEditable;
  if (key.toLowerCase() === 'k' && ctrlKey !== metaKey && !altKey && !shiftKey && !isRichText) openFinder(event);
});
