/**
 * Actions on the selected part of the mail other than moving it: placing a picture, and saving the part as a block, with the
 * list of saved blocks.
 */
import type { Component, Editor } from 'grapesjs';
import { BLOCK_NAME, SHOW_TO } from '../../../../../delivery/content/block-attributes.ts';
import { insertAfterChosen, isSection, setSource, sourceOf, tagOf } from './insert.ts';
import { partName, type Tool } from './outline.ts';
import { ask, button, call, element, isLocked, say, showProgress } from './page.ts';
import { choosePicture } from './pictures.ts';

/** The attribute of a picture that is decoration only. */
export const DECORATION = 'data-decoration';
const WRITTEN = ['mj-text', 'mj-button', 'mj-navbar-link'];

/** Returns true if a part is a picture. */
export function isPicture(part: Component): boolean {
  return tagOf(part) === 'mj-image';
}

/** Asks for the picture of a part and sets it, with its alternative text and link. */
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

/** The actions that the list of parts shows before the moves. */
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
    { label: say('designer.part.show'), isFor: () => true, run: (part) => void chooseContacts(part) },
    { label: say('designer.part.name'), isFor: () => true, run: (part) => void namePart(part) },
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

/** Starts editing a text in the mail itself. Escape returns the focus to the list. */
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

/** Asks which contacts get a part. */
const chooseContacts = (part: Component) => askAttribute(part, SHOW_TO, { field: 'show-to', dialog: 'show-dialog' });

/** Asks for the name of a part. */
const namePart = (part: Component) => askAttribute(part, BLOCK_NAME, { field: 'block-name', dialog: 'name-dialog' });

async function askAttribute(part: Component, name: string, ids: { field: string; dialog: string }): Promise<void> {
  const field = element(ids.field, HTMLInputElement);
  field.value = text(part.getAttributes()[name]);
  if ((await ask(ids.dialog)) !== 'use') return;
  const value = field.value.trim();
  if (value === '') part.removeAttributes([name]);
  else part.addAttributes({ [name]: value });
}

/** A saved block. */
interface SavedBlock {
  id: string;
  name: string;
}

/** The action that saves the selected part as a block. */
export function keepTool(editor: Editor): Tool {
  return { label: say('designer.keep'), isFor: () => true, run: (part) => void keep(editor, part) };
}

/** Fills the list of saved blocks. The block that was just deleted can be restored there. */
export async function showKept(editor: Editor, deleted?: SavedBlock): Promise<void> {
  const { blocks = [] } = await call('/blocks').catch(() => ({ blocks: [] }));
  const items = blocks.map((block) => {
    const item = document.createElement('li');
    const add = button(block.name, () => void insert(editor, block));
    add.setAttribute('aria-label', say('designer.add', { block: block.name }));
    const rename = button('✎', () => void change(editor, block));
    rename.setAttribute('aria-label', say('designer.own.rename', { block: block.name }));
    const remove = button('×', () => void forget(editor, block));
    remove.setAttribute('aria-label', say('designer.own.delete', { block: block.name }));
    item.append(add, rename, remove);
    return item;
  });
  const none = document.createElement('li');
  none.textContent = say('designer.own.none');
  element('own-list', HTMLElement).replaceChildren(
    ...(items.length > 0 ? items : [none]),
    ...(deleted ? [undoItem(editor, deleted)] : []),
  );
}

/** The entry of the list that restores the block that was just deleted. */
function undoItem(editor: Editor, { id, name }: SavedBlock): HTMLElement {
  const item = document.createElement('li');
  const restore = async () => {
    await call(`/blocks/${id}/undelete`, {});
    await showKept(editor);
    return say('designer.own.undeleted', { block: name });
  };
  item.append(
    button(say('designer.own.undelete', { block: name }), () => void showProgress(say('designer.saving'), restore)),
  );
  return item;
}

async function askName(name: string): Promise<string | null> {
  const field = element('keep-name', HTMLInputElement);
  field.value = name;
  return (await ask('keep-dialog')) === 'keep' ? field.value : null;
}

async function keep(editor: Editor, part: Component): Promise<void> {
  const name = await askName(partName(part));
  if (name === null) return;
  await showProgress(say('designer.saving'), async () => {
    // The body of an MJML document may contain only sections.
    const mjml = isSection(part)
      ? part.toHTML()
      : `<mj-section css-class="kept-content"><mj-column>${contentOf(part)}</mj-column></mj-section>`;
    await call('/blocks', { name, mjml });
    await showKept(editor);
    return say('designer.kept', { block: name });
  });
}

/** Returns the content of a column; other parts are returned unchanged. */
function contentOf(part: Component): string {
  if (part.get('tagName') !== 'mj-column') return part.toHTML();
  return part
    .components()
    .models.map((child) => child.toHTML())
    .join('');
}

async function insert(editor: Editor, { id, name }: SavedBlock): Promise<void> {
  if (isLocked) return;
  await showProgress(say('designer.loading'), async () => {
    const { mjml = '' } = await call(`/blocks/${id}`);
    const content = /^<mj-section css-class="kept-content"><mj-column>([\s\S]*)<\/mj-column><\/mj-section>$/.exec(mjml);
    for (const part of insertAfterChosen(editor, content?.[1] ?? mjml, content === null))
      part.addAttributes({ [BLOCK_NAME]: name });
    return say('designer.added', { block: name });
  });
}

async function change(editor: Editor, { id, name }: SavedBlock): Promise<void> {
  const changed = await askName(name);
  if (changed === null) return;
  await showProgress(say('designer.saving'), async () => {
    await call(`/blocks/${id}`, { name: changed });
    await showKept(editor);
    return say('designer.own.renamed');
  });
}

async function forget(editor: Editor, { id, name }: SavedBlock): Promise<void> {
  element('delete-title', HTMLElement).textContent = say('designer.own.delete.title', { block: name });
  if ((await ask('delete-dialog')) !== 'delete') return;
  await showProgress(say('designer.saving'), async () => {
    await call(`/blocks/${id}/delete`, {});
    await showKept(editor, { id, name });
    return say('designer.own.deleted', { block: name });
  });
}
