/** The image library beside the mail: a click on an image adds it, or replaces the selected one. */
import type { Editor } from 'grapesjs';
import { insertAfterChosen } from './insert.ts';
import { button, element, escaped, say, tell } from './page.ts';
import { listPictures, type Picture, thumbnail } from './pictures.ts';
import { DECORATION, isPicture, placePicture } from './tools.ts';

/** Fills the panel when it is opened, again each time, because pictures may have been added. */
export function openImagePanel(editor: Editor): void {
  const panel = element('images', HTMLDetailsElement);
  panel.addEventListener('toggle', () => {
    if (panel.open) void fill(editor);
  });
}

async function fill(editor: Editor): Promise<void> {
  const items = (await listPictures()).map((picture) => {
    const add = button('', () => place(editor, picture));
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

/** Adds a picture after the selected part, or gives it to the selected picture. Asks for its alternative text if the library has none. */
function place(editor: Editor, { src, alt, name }: Picture): void {
  const chosen = editor.getSelected();
  if (chosen !== undefined && isPicture(chosen)) {
    chosen.set('src', src);
    chosen.addAttributes({ src, alt });
    chosen.removeAttributes(DECORATION);
    if (alt === '') void placePicture(chosen);
    return;
  }
  const [added] = insertAfterChosen(editor, `<mj-image src="${escaped(src)}" alt="${escaped(alt)}"></mj-image>`, false);
  tell(say('designer.added', { block: name }));
  if (added !== undefined && alt === '') void placePicture(added);
}
