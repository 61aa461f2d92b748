/**
 * The command menu. It shows the options that match the typed text. The arrow keys choose an option while the focus stays in the field
 * (the combobox pattern of the ARIA Authoring Practices Guide). When the menu closes, the browser returns the focus.
 */
import { readPage } from './read-page.ts';

/** How long after a keystroke the server is asked for options. */
const TYPING_MS = 120;

/** Updates the options of the menu; null until the menu is first opened. */
let updateMenu: ReturnType<typeof followText> = null;

/** Shows the options for the text in the open menu, and keeps them up to date. */
export function showOptions(dialog: HTMLElement): void {
  updateMenu ??= followText(dialog);
  void updateMenu?.();
}

/**
 * Makes the menu follow its text and its keys. Returns the function that updates the options, which resolves to false if a later update or the
 * end of the menu replaced it. Returns null if the page has no complete menu.
 */
function followText(dialog: HTMLElement): (() => Promise<boolean>) | null {
  const field = dialog.querySelector('input');
  const list = dialog.querySelector<HTMLElement>('[role="listbox"]');
  const status = dialog.querySelector<HTMLElement>('[data-failed]');
  if (field === null || list === null || status === null) return null;
  status.setAttribute('role', 'status');
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = new AbortController();
  /** The text whose options are shown; null if no options are shown. */
  let shownText: string | null = null;

  const options = () => [...list.querySelectorAll<HTMLAnchorElement>('[role="option"]')];
  const chosen = () => options().find((option) => option.getAttribute('aria-selected') === 'true');
  const choose = (option: HTMLElement | undefined) => {
    for (const other of options()) other.setAttribute('aria-selected', String(other === option));
    if (option === undefined) field.removeAttribute('aria-activedescendant');
    else field.setAttribute('aria-activedescendant', option.id);
  };
  const update = async () => {
    clearTimeout(timer);
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    const text = field.value;
    const page = await readPage(`/find/options?${new URLSearchParams({ text })}`, signal);
    // If the user has typed more, a later request shows its own options.
    if (signal.aborted) return false;
    const found = page instanceof Document ? page.querySelector<HTMLElement>('#finder-options') : null;
    shownText = found === null ? null : text;
    list.replaceChildren(...(found === null ? [] : [document.adoptNode(found)]));
    list.scrollTop = 0;
    list.hidden = options().length === 0;
    field.setAttribute('aria-expanded', String(!list.hidden));
    status.textContent = (found === null ? status.dataset.failed : found.dataset.news) ?? '';
    choose(options()[0]);
    return true;
  };
  const move = (step: 1 | -1) => {
    const all = options();
    const index = all.findIndex((option) => option.getAttribute('aria-selected') === 'true');
    const next = all.at((index + step + all.length) % Math.max(all.length, 1));
    choose(next);
    next?.scrollIntoView({ block: 'nearest' });
  };

  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(update, TYPING_MS);
  });
  field.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      move(event.key === 'ArrowDown' ? 1 : -1);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      // A user who types quickly and presses Enter means an option of the typed text, not one of those shown before.
      const isUpToDate = shownText === field.value;
      void (isUpToDate ? Promise.resolve(true) : update()).then((isShown) => {
        if (isShown) chosen()?.click();
      });
    }
  });
  list.addEventListener('pointermove', ({ target }) => {
    const option = target instanceof Element ? target.closest<HTMLElement>('[role="option"]') : null;
    if (option !== null && option !== chosen()) choose(option);
  });
  // A press on an option must not take the focus from the field.
  list.addEventListener('pointerdown', (event) => event.preventDefault());
  const closeButton = dialog.querySelector<HTMLElement>('[popovertargetaction="hide"]');
  dialog.addEventListener('keydown', (event) => {
    if (event.key !== 'Tab') return;
    // The focus moves only between the field and the button. Otherwise it could leave the page for the browser's own controls.
    event.preventDefault();
    (document.activeElement === field ? closeButton : field)?.focus();
  });
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.hidePopover();
  });
  dialog.addEventListener('beforetoggle', () => {
    clearTimeout(timer);
    latest.abort();
  });
  return update;
}
