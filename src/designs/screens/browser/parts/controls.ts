/** Makes the controls of grapesjs usable by keyboard and screen reader: they are plain elements, so they get a role, a name, a place in the tab order and the keys of a button. */
import type { Editor } from 'grapesjs';
import { element, say } from './page.ts';

/** Names for controls of the editor that have only a picture. */
const NAMES: Record<string, string> = {
  'set-device-desktop': say('designer.view.desk'),
  'set-device-tablet': say('designer.view.tablet'),
  'set-device-mobile': say('designer.view.phone'),
};

const ownAttributes = (name: string) => ({ role: 'button', tabindex: '0', 'aria-label': name, title: name });

/** Names the buttons of the panels, and lets the keyboard press them. */
export function nameControls(editor: Editor): void {
  editor.Panels.getPanels().forEach((panel) => {
    panel.get('buttons')?.forEach((button) => {
      const { title } = button.get('attributes') ?? {};
      const name = NAMES[button.id] ?? button.get('label')?.match(/^\w+$/)?.[0] ?? title ?? String(button.id);
      button.set('attributes', { ...button.get('attributes'), ...ownAttributes(name) });
    });
  });
  element('editor', HTMLElement).addEventListener('keydown', (event) => {
    if (!(event.target instanceof HTMLElement) || event.target.getAttribute('role') !== 'button') return;
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    event.target.click();
  });
}

/** The attributes of the button that adds a block. */
export function blockAttributes(label: string): Record<string, string> {
  return ownAttributes(say('designer.add', { block: label }));
}

/** Labels the editor's fields now and whenever it shows others. */
export function keepFieldsNamed(): void {
  nameFields();
  new MutationObserver(nameFields).observe(element('editor', HTMLElement), { childList: true, subtree: true });
}

/** Labels the editor's fields, whose names are only written beside them. */
function nameFields(): void {
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
    const radio = field instanceof HTMLInputElement && field.type === 'radio' ? field.value : '';
    const part = field.classList.contains('gjs-input-unit') ? 'unit' : radio;
    field.setAttribute('aria-label', [label, part].filter(Boolean).join(', '));
  }
}
