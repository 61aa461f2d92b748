/** Names the buttons and fields of the editor for screen readers, and makes its buttons work with the keyboard. */
import type { Editor } from 'grapesjs';
import { element, say } from './page.ts';

/** The names of the editor's buttons that have only an icon, by the id of the button. */
const ICON_NAMES: Record<string, string> = {
  'set-device-desktop': say('designer.view.desk'),
  'set-device-tablet': say('designer.view.tablet'),
  'set-device-mobile': say('designer.view.phone'),
};

/** Returns the attributes that make an element a button for the keyboard and for screen readers. */
export const buttonAttributes = (name: string) => ({ role: 'button', tabindex: '0', 'aria-label': name, title: name });

/** Names the buttons of the panels, and makes them work with the keyboard. */
export function nameControls(editor: Editor): void {
  editor.Panels.getPanels().forEach((panel) => {
    panel.get('buttons')?.forEach((button) => {
      const { title } = button.get('attributes') ?? {};
      const name = ICON_NAMES[button.id] ?? button.get('label')?.match(/^\w+$/)?.[0] ?? title ?? String(button.id);
      button.set('attributes', { ...button.get('attributes'), ...buttonAttributes(name) });
    });
  });
  element('editor', HTMLElement).addEventListener('keydown', (event) => {
    if (!(event.target instanceof HTMLElement) || event.target.getAttribute('role') !== 'button') return;
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    event.target.click();
  });
}

/** Labels the editor's fields, now and whenever the editor shows other fields. */
export function nameFields(): void {
  nameShownFields();
  new MutationObserver(nameShownFields).observe(element('editor', HTMLElement), { childList: true, subtree: true });
}

/**
 * Labels the editor's fields for screen readers, because the editor only writes the name of a field next to it. Makes the titles of groups,
 * which open and close on a click, buttons.
 */
function nameShownFields(): void {
  const editor = element('editor', HTMLElement);
  for (const title of editor.querySelectorAll<HTMLElement>(
    ':is(.gjs-sm-sector-title, .gjs-block-category .gjs-title, .gjs-rte-action:not(:has(select))):not([role])',
  )) {
    title.setAttribute('role', 'button');
    title.tabIndex = 0;
  }
  for (const field of editor.querySelectorAll('input, select, textarea')) {
    if (field.hasAttribute('aria-label')) continue;
    const property = field.closest('.gjs-sm-property, .gjs-trt-trait');
    const label = property?.querySelector('.gjs-sm-label, .gjs-label')?.textContent?.trim() ?? '';
    const radio = field.closest('.gjs-radio-item')?.textContent?.trim() ?? '';
    const part = field.classList.contains('gjs-input-unit') ? say('designer.unit') : radio;
    field.setAttribute('aria-label', [label, part].filter(Boolean).join(', '));
  }
}
