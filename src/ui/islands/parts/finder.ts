/**
 * The command menu: shows what matches the typed text, and lets the arrow keys choose of it while the focus stays in the field (the
 * combobox pattern of the ARIA Authoring Practices Guide). The browser gives
 * the focus back at the end.
 */
import { readPage } from './read-page.ts';

/** How long after a keystroke the server is asked. */
const TYPING_MS = 120;

/** Opens the menu; does nothing if it or another dialog is open, which it would close. */
export function open(): void {
  const dialog = document.querySelector<HTMLDialogElement>('#finder');
  if (dialog === null || document.querySelector('dialog:popover-open') !== null) return;
  menuOf ??= makeMenu(dialog);
  dialog.showPopover();
  menuOf?.start();
}

/** The menu once it was opened. */
let menuOf: ReturnType<typeof makeMenu> = null;

function makeMenu(dialog: HTMLDialogElement): { start: () => void } | null {
  const field = dialog.querySelector('input');
  const list = dialog.querySelector<HTMLElement>('[role="listbox"]');
  const status = dialog.querySelector<HTMLElement>('[data-failed]');
  if (field === null || list === null || status === null) return null;
  status.setAttribute('role', 'status');
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = new AbortController();
  /** The text whose options are shown. */
  let shown: string | null = null;

  const options = () => [...list.querySelectorAll<HTMLAnchorElement>('[role="option"]')];
  const active = () => options().find((option) => option.getAttribute('aria-selected') === 'true');
  const choose = (option: HTMLElement | undefined) => {
    for (const other of options()) other.setAttribute('aria-selected', String(other === option));
    if (option === undefined) field.removeAttribute('aria-activedescendant');
    else field.setAttribute('aria-activedescendant', option.id);
  };
  const look = async () => {
    clearTimeout(timer);
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    const text = field.value;
    const page = await readPage(`/find/options?${new URLSearchParams({ text })}`, signal);
    // What was typed since shows its own options.
    if (signal.aborted) return;
    const found = page instanceof Document ? page.querySelector<HTMLElement>('#finder-options') : null;
    shown = found === null ? null : text;
    list.replaceChildren(...(found === null ? [] : [document.adoptNode(found)]));
    list.scrollTop = 0;
    list.hidden = options().length === 0;
    field.setAttribute('aria-expanded', String(!list.hidden));
    status.textContent = (found === null ? status.dataset.failed : found.dataset.news) ?? '';
    choose(options()[0]);
  };
  const move = (step: 1 | -1) => {
    const all = options();
    const at = all.findIndex((option) => option.getAttribute('aria-selected') === 'true');
    const next = all.at((at + step + all.length) % Math.max(all.length, 1));
    choose(next);
    next?.scrollIntoView({ block: 'nearest' });
  };

  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(look, TYPING_MS);
  });
  field.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      move(event.key === 'ArrowDown' ? 1 : -1);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const isShown = shown === field.value;
      // A user who types quickly and presses Enter means the options of the typed text, not those shown before.
      void (isShown ? Promise.resolve() : look()).then(() => active()?.click());
    }
  });
  list.addEventListener('pointermove', ({ target }) => {
    const option = target instanceof Element ? target.closest<HTMLElement>('[role="option"]') : null;
    if (option !== null && option !== active()) choose(option);
  });
  // The focus stays in the field.
  list.addEventListener('pointerdown', (event) => event.preventDefault());
  const closing = dialog.querySelector<HTMLElement>('[data-close]');
  closing?.addEventListener('click', () => dialog.hidePopover());
  dialog.addEventListener('keydown', (event) => {
    if (event.key !== 'Tab') return;
    // The browser would let the focus leave for its own controls.
    event.preventDefault();
    (document.activeElement === field ? closing : field)?.focus();
  });
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.hidePopover();
  });
  dialog.addEventListener('beforetoggle', () => {
    clearTimeout(timer);
    latest.abort();
  });
  return {
    start() {
      field.select();
      void look();
    },
  };
}
