/**
 * The tools for the selected part of a mail, other than those that move it: editing, naming, choosing who sees it, and saving it as a
 * block. The list of saved blocks is here too.
 */
import type { Component, Editor } from 'grapesjs';
import { BLOCK_NAME, SHOW_TO } from '../../../../../delivery/content/block-attributes.ts';
import { setSource, sourceOf } from './foreign-parts.ts';
import { insertAfterSelected, isSection, tagOf } from './insert.ts';
import { partName, type Tool } from './outline.ts';
import { ask, button, call, element, isLocked, problemOf, say, showProgress } from './page.ts';
import { choosePicture } from './pictures.ts';

/** The attribute of a picture that is only decoration. */
export const DECORATION = 'data-decoration';
/** The elements whose text the user types in the mail itself. */
const TEXT_ELEMENTS = ['mj-text', 'mj-button', 'mj-navbar-link'];

/** Returns true if a part is a picture. */
export function isPicture(part: Component): boolean {
  return tagOf(part) === 'mj-image';
}

/** Asks for the picture of a part and sets it, with its alternative text and link. */
export async function placePicture(part: Component): Promise<void> {
  const { src, alt, href, [DECORATION]: decoration } = part.getAttributes();
  const chosen = await choosePicture({
    src: asText(src),
    alt: asText(alt),
    href: asText(href),
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

const asText = (value: unknown) => (typeof value === 'string' ? value : '');

/** Returns the tools that the list of parts shows before those for moving a part. */
export function partTools(editor: Editor): Tool[] {
  return [
    {
      label: say('designer.part.edit'),
      isFor: (part) => TEXT_ELEMENTS.includes(tagOf(part)) || isPicture(part) || sourceOf(part) !== null,
      run: (part) => {
        if (isPicture(part)) void placePicture(part);
        else if (sourceOf(part) !== null) void editSource(part);
        else editText(editor, part);
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

/** Starts editing a text in the mail itself. The Escape key ends this and returns the focus to the list. */
function editText(editor: Editor, part: Component): void {
  const focusedBefore = document.activeElement;
  const canvas = editor.Canvas.getDocument();
  const view = part.getView();
  part.trigger('focus');
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    canvas?.removeEventListener('keydown', onKey, true);
    if (view !== undefined && 'disableEditing' in view && typeof view.disableEditing === 'function')
      void view.disableEditing();
    if (focusedBefore instanceof HTMLElement) focusedBefore.focus();
  };
  canvas?.addEventListener('keydown', onKey, true);
}

/** Asks for the source of a foreign part. */
async function editSource(part: Component): Promise<void> {
  const source = element('source', HTMLTextAreaElement);
  source.value = sourceOf(part) ?? '';
  if ((await ask('source-dialog')) === 'use') setSource(part, source.value);
}

/** Asks which contacts get a part. */
const chooseContacts = (part: Component) => askAttribute(part, SHOW_TO, { field: 'show-to', dialog: 'show-dialog' });

/** Asks for the name of a part. */
const namePart = (part: Component) => askAttribute(part, BLOCK_NAME, { field: 'block-name', dialog: 'name-dialog' });

/** Asks in a dialog for the value of a part's attribute. An empty value removes the attribute. */
async function askAttribute(part: Component, name: string, ids: { field: string; dialog: string }): Promise<void> {
  const field = element(ids.field, HTMLInputElement);
  field.value = asText(part.getAttributes()[name]);
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

/** Returns the tool that saves the selected part as a block. */
export function saveBlockTool(editor: Editor): Tool {
  return { label: say('designer.keep'), isFor: () => true, run: (part) => void saveBlock(editor, part) };
}

/** How often the list of saved blocks was requested. */
let requests = 0;

/** Fills the list of saved blocks, or says why they are not known. If a block was just `deleted`, the list has a button that restores it. */
export async function showSavedBlocks(editor: Editor, deleted?: SavedBlock): Promise<void> {
  const request = ++requests;
  const { blocks, problem } = await call('/blocks').then(
    (answer) => ({ blocks: answer.blocks ?? [], problem: null }),
    (error: unknown) => ({ blocks: [], problem: problemOf(error) }),
  );
  // A later request knows what was saved or deleted meanwhile, and this answer may be late.
  if (request !== requests) return;
  const items = blocks.map((block) => {
    const item = document.createElement('li');
    const add = button(block.name, () => void insertBlock(editor, block));
    add.setAttribute('aria-label', say('designer.add', { block: block.name }));
    const rename = button('✎', () => void renameBlock(editor, block));
    rename.setAttribute('aria-label', say('designer.own.rename', { block: block.name }));
    const remove = button('×', () => void deleteBlock(editor, block));
    remove.setAttribute('aria-label', say('designer.own.delete', { block: block.name }));
    item.append(add, rename, remove);
    return item;
  });
  const none = document.createElement('li');
  none.textContent = problem ?? say('designer.own.none');
  element('own-list', HTMLElement).replaceChildren(
    ...(items.length > 0 ? items : [none]),
    ...(deleted ? [undoItem(editor, deleted)] : []),
  );
}

/** Returns the item of the list with the button that restores a deleted block. */
function undoItem(editor: Editor, { id, name }: SavedBlock): HTMLElement {
  const item = document.createElement('li');
  const restore = async () => {
    await call(`/blocks/${id}/undelete`, {});
    await showSavedBlocks(editor);
    return say('designer.own.undeleted', { block: name });
  };
  item.append(
    button(say('designer.own.undelete', { block: name }), () => void showProgress(say('designer.saving'), restore)),
  );
  return item;
}

/** Asks for the name of a block. Returns null if the user cancels the dialog. */
async function askName(name: string): Promise<string | null> {
  const field = element('keep-name', HTMLInputElement);
  field.value = name;
  return (await ask('keep-dialog')) === 'keep' ? field.value : null;
}

async function saveBlock(editor: Editor, part: Component): Promise<void> {
  const name = await askName(partName(part));
  if (name === null) return;
  await showProgress(say('designer.saving'), async () => {
    // The body of an MJML document may contain only sections.
    const mjml = isSection(part)
      ? part.toHTML()
      : `<mj-section css-class="kept-content"><mj-column>${contentOf(part)}</mj-column></mj-section>`;
    await call('/blocks', { name, mjml });
    await showSavedBlocks(editor);
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

async function insertBlock(editor: Editor, { id, name }: SavedBlock): Promise<void> {
  if (isLocked) return;
  await showProgress(say('designer.loading'), async () => {
    const { mjml = '' } = await call(`/blocks/${id}`);
    const content = /^<mj-section css-class="kept-content"><mj-column>([\s\S]*)<\/mj-column><\/mj-section>$/.exec(mjml);
    for (const part of insertAfterSelected(editor, content?.[1] ?? mjml, content === null))
      part.addAttributes({ [BLOCK_NAME]: name });
    return say('designer.added', { block: name });
  });
}

async function renameBlock(editor: Editor, { id, name }: SavedBlock): Promise<void> {
  const newName = await askName(name);
  if (newName === null) return;
  await showProgress(say('designer.saving'), async () => {
    await call(`/blocks/${id}`, { name: newName });
    await showSavedBlocks(editor);
    return say('designer.own.renamed');
  });
}

async function deleteBlock(editor: Editor, { id, name }: SavedBlock): Promise<void> {
  element('delete-title', HTMLElement).textContent = say('designer.own.delete.title', { block: name });
  if ((await ask('delete-dialog')) !== 'delete') return;
  await showProgress(say('designer.saving'), async () => {
    await call(`/blocks/${id}/delete`, {});
    await showSavedBlocks(editor, { id, name });
    return say('designer.own.deleted', { block: name });
  });
}
