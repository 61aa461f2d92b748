/** What can be done with a chosen part beside moving it: editing its text, choosing its picture, changing its source and its settings. */
import type { Component, Editor } from 'grapesjs';
import { setSource, sourceOf } from './foreign.ts';
import { tagOf } from './insert.ts';
import type { Tool } from './outline.ts';
import { ask, element, say } from './page.ts';
import { choosePicture } from './pictures.ts';

const DECORATION = 'data-decoration';
const WRITTEN = ['mj-text', 'mj-button', 'mj-navbar-link'];

/** Whether a part is a picture. */
export function isPicture(part: Component): boolean {
  return tagOf(part) === 'mj-image';
}

/** Asks for the picture of a part and puts it there, with its alternative text and its link. */
export async function placePicture(part: Component): Promise<void> {
  const { src, alt, href, [DECORATION]: decoration } = part.getAttributes();
  const chosen = await choosePicture({
    src: text(src),
    alt: text(alt),
    href: text(href),
    isDecoration: decoration !== undefined,
  });
  if (chosen === null) return;
  const { href: link, isDecoration } = chosen;
  part.set('src', chosen.src);
  part.addAttributes({ src: chosen.src, alt: chosen.alt, href: link, [DECORATION]: isDecoration ? 'yes' : '' });
  part.removeAttributes([
    ...(chosen.alt === '' ? ['alt'] : []),
    ...(link === '' ? ['href'] : []),
    ...(isDecoration ? [] : [DECORATION]),
  ]);
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');

/** The tools of the list of parts that stand before the moves. */
export function partTools(editor: Editor): Tool[] {
  return [
    {
      label: say('designer.part.edit'),
      isFor: (part) => WRITTEN.includes(tagOf(part)) || isPicture(part) || sourceOf(part) !== null,
      run: (part) => {
        if (isPicture(part)) void placePicture(part);
        else if (sourceOf(part) !== null) void editSource(part);
        else write(editor, part);
      },
    },
    {
      label: say('designer.part.settings'),
      isFor: () => true,
      run: () => {
        editor.Panels.getButton('views', 'open-tm')?.set('active', true);
        element('editor', HTMLElement)
          .querySelector<HTMLElement>('.gjs-traits-cs :is(input, select, textarea)')
          ?.focus();
      },
    },
  ];
}

/** Lets the person write in the mail itself; Escape leads back to where they were. */
function write(editor: Editor, part: Component): void {
  const from = document.activeElement;
  const canvas = editor.Canvas.getDocument();
  const view = part.getView();
  part.trigger('focus');
  const leave = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    canvas?.removeEventListener('keydown', leave, true);
    if (view !== undefined && 'disableEditing' in view && typeof view.disableEditing === 'function')
      void view.disableEditing();
    if (from instanceof HTMLElement) from.focus();
  };
  canvas?.addEventListener('keydown', leave, true);
}

async function editSource(part: Component): Promise<void> {
  const source = element('source', HTMLTextAreaElement);
  source.value = sourceOf(part) ?? '';
  if ((await ask('source-dialog')) === 'use') setSource(part, source.value);
}
