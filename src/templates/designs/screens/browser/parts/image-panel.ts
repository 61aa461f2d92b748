/** The image library beside the mail: a click on an image adds it, or replaces the selected one. */
import type { Editor } from 'grapesjs';
import { insertAfterSelected } from './insert.ts';
import { button, element, escaped, type Picture, say, tell } from './page.ts';
import { listPictures, thumbnail } from './pictures.ts';
import { DECORATION, isPicture, placePicture } from './tools.ts';

/** Fills the panel whenever it is opened, because images may have been added since the last time. */
export function fillImagePanelWhenOpened(editor: Editor): void {
  const panel = element('images', HTMLDetailsElement);
  panel.addEventListener('toggle', () => {
    if (panel.open) void fillPanel(editor);
  });
}

async function fillPanel(editor: Editor): Promise<void> {
  const items = (await listPictures()).map((picture) => {
    const add = button('', () => addOrReplace(editor, picture));
    add.setAttribute('aria-label', say('designer.add', { block: picture.name }));
    add.title = picture.name;
    add.append(thumbnail(picture));
    const item = document.createElement('li');
    item.append(add);
    return item;
  });
  const none = document.createElement('li');
  none.textContent = say('designer.picture.none');
  element('image-list', HTMLElement).replaceChildren(...(items.length > 0 ? items : [none]));
}

/** Replaces the selected image, or adds an image after the selected part. Asks for an alternative text if the library has none. */
function addOrReplace(editor: Editor, { src, alt, name }: Picture): void {
  const selected = editor.getSelected();
  if (selected !== undefined && isPicture(selected)) {
    selected.set('src', src);
    selected.addAttributes({ src, alt });
    selected.removeAttributes(DECORATION);
    // The dialog asks for the alternative text.
    if (alt === '') void placePicture(selected);
    return;
  }
  const [added] = insertAfterSelected(
    editor,
    `<mj-image src="${escaped(src)}" alt="${escaped(alt)}"></mj-image>`,
    false,
  );
  tell(say('designer.added', { block: name }));
  if (added !== undefined && alt === '') void placePicture(added);
}
