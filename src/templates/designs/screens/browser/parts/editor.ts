/** The editor of blocks: grapesjs with MJML, our blocks, the list of parts and the image library. */
import type { ComponentView, Editor, EditorConfig, Plugin } from 'grapesjs';
import { buttonAttributes, nameControls, nameFields } from './accessible-names.ts';
import { applyBrand } from './apply-brand.ts';
import { type Block, listBlocks } from './blocks.ts';
import { type Brand, type BrandChoice, completeBrand } from './brand.ts';
import { selectFound } from './find.ts';
import { keepForeignParts } from './foreign-parts.ts';
import { fillImagePanelWhenOpened } from './image-panel.ts';
import { insertAfterSelected } from './insert.ts';
import { openOutline } from './outline.ts';
import { element, isLocked, say, showProgress, tell } from './page.ts';
import { adaptPanels } from './panel-fields.ts';
import { cleanPastes } from './paste.ts';
import { choosePicture, uploadPicture } from './pictures.ts';
import { isPicture, partTools, placePicture, saveBlockTool, showSavedBlocks } from './tools.ts';
import { wordsOfPage } from './words.ts';

declare global {
  interface Window {
    grapesjs: { init(config: EditorConfig): Editor };
    'grapesjs-mjml': { default: Plugin };
    /** The editor of the page, for tests. */
    editor: Editor;
  }
}

/** The panels of the editor that the page shows, with the texts of their buttons. */
const VIEWS: [id: string, label: string][] = [
  ['open-blocks', say('designer.view.blocks')],
  ['open-sm', say('designer.view.style')],
  ['open-tm', say('designer.view.settings')],
];
/** The media query for a window that is too narrow for the list of parts beside the mail. */
const PHONE = '(max-width: 45rem)';

/** What the account offers for editing a mail. */
export interface Choices {
  /** The names of placeholders. */
  fields: string[];
  brand: BrandChoice | undefined;
}

/** Opens the editor with this markup. Calls `onChange` after each change. */
export async function openEditor(
  mjml: string,
  { fields, brand: choice }: Choices,
  onChange: () => void,
): Promise<Editor> {
  const brand = completeBrand(choice);
  const editor = await makeEditor(brand);
  editor.RichTextEditor.add('merge', {
    icon: fieldChoice(fields).outerHTML,
    event: 'change',
    attributes: { title: say('designer.field') },
    result: (rte, action) => {
      const select = action.btn?.querySelector('select');
      if (!select) return;
      rte.insertHTML(select.value);
      select.value = '';
    },
  });
  // These panels are removed because the page has its own preview and its own list of parts. The remaining buttons get texts, because
  // the editor's icons would load from another site.
  editor.Panels.removePanel('commands');
  for (const id of ['sw-visibility', 'preview', 'fullscreen', 'export-template'])
    editor.Panels.removeButton('options', id);
  editor.Panels.removeButton('views', 'open-layers');
  for (const [id, label] of VIEWS) editor.Panels.getButton('views', id)?.set({ className: '', label });
  for (const block of listBlocks(brand)) offerBlock(editor, block);
  nameControls(editor);
  editor.setComponents(mjml);
  element('parts', HTMLDetailsElement).open = !matchMedia(PHONE).matches;
  editor.onReady(() => {
    editor.UndoManager.clear();
    editor.Panels.getButton('views', 'open-blocks')?.set('active', true);
    editor.on('update', onChange);
    watchTyping(editor, onChange);
    cleanPastes(editor);
    editor.on('block:drag:stop', (added) => {
      for (const part of [added].flat()) if (part && isPicture(part)) void placePicture(part);
    });
    editor.Canvas.getFrameEl().title = say('designer.frame');
    openOutline(editor, partTools(editor), [saveBlockTool(editor)]);
    void showSavedBlocks(editor);
    fillImagePanelWhenOpened(editor);
    adaptPanels(editor, brand);
    offerBrand(editor, brand, choice);
    nameFields();
    followSelection(editor);
    disableDarkStyles(editor.Canvas.getDocument());
    colourSelection(editor.Canvas.getDocument());
    selectFound(editor);
    document.body.dataset.ready = 'yes';
  });
  window.editor = editor;
  return editor;
}

/**
 * Shows the style of a part that is clicked in the mail, in the panel that offers the blocks. The panel goes on to offer blocks when a
 * part is selected in another way, for example by adding it, so that several blocks can be added one after the other.
 */
function followSelection(editor: Editor): void {
  const showStyle = () => {
    const panels = editor.Panels;
    if (editor.getSelected() === undefined || !panels.getButton('views', 'open-blocks')?.get('active')) return;
    panels.getButton('views', 'open-sm')?.set('active', true);
  };
  // This listener runs before the editor's own, which selects the part and stops the event. So the style is shown a frame later.
  editor.Canvas.getDocument()?.addEventListener('click', () => requestAnimationFrame(showStyle), true);
}

/**
 * Turns off the style rules for dark screens in the editor; the mail keeps them. The author chooses the colours that most readers see,
 * even if the author's own screen is dark.
 */
function disableDarkStyles(mail: Document | null): void {
  if (mail === null) return;
  const turnOff = () => {
    for (const { cssRules } of mail.styleSheets)
      for (const rule of cssRules)
        if ('media' in rule && typeof rule.media === 'object' && rule.media !== null && 'mediaText' in rule.media)
          if (/prefers-color-scheme:\s*dark/.test(String(rule.media.mediaText))) rule.media.mediaText = 'not all';
  };
  turnOff();
  // Otherwise texts without a colour of their own would be white on a dark screen.
  mail.documentElement.style.setProperty('color-scheme', 'light', 'important');
  new MutationObserver((changes) => {
    if (changes.some(({ addedNodes }) => [...addedNodes].some(({ nodeName }) => nodeName === 'STYLE'))) turnOff();
  }).observe(mail, { childList: true, subtree: true });
}

/** Gives the outline of a selected part the accent colour of the page, which the document of the mail does not have. */
function colourSelection(mail: Document | null): void {
  const accent = getComputedStyle(document.documentElement).getPropertyValue('--accent');
  mail?.documentElement.style.setProperty('--accent', accent);
}

/** Calls `onChange` while the user types, because the editor itself notices a change only when the cursor leaves the text. */
function watchTyping(editor: Editor, onChange: () => void): void {
  const observer = new MutationObserver(onChange);
  editor.on('rte:enable', (view: ComponentView) => {
    observer.observe(view.getChildrenContainer(), { subtree: true, childList: true, characterData: true });
  });
  editor.on('rte:disable', () => observer.disconnect());
}

/**
 * Returns the mail as MJML, including the text that is being typed. The editor updates its model only when the cursor leaves the text,
 * because the update loses the cursor. So a copy of the edited part gets the typed text and stands in for the part.
 */
export function markup(editor: Editor): string {
  const edited = editor.getEditing();
  const view = edited?.getView();
  if (edited === undefined || view === undefined) return editor.getHtml();
  const copy = edited.clone();
  const content = document.importNode(view.getChildrenContainer(), true);
  const keepIds: string[] = [];
  for (const child of content.querySelectorAll('[id]')) {
    // The editor makes every element draggable, gives it an id, and marks selected elements and those under the pointer with classes.
    // Only an id that is an attribute of the part belongs to the mail.
    child.removeAttribute('draggable');
    for (const name of [...child.classList]) if (name.startsWith('gjs-')) child.classList.remove(name);
    if (child.classList.length === 0) child.removeAttribute('class');
    const isOfMail = editor.Components.getById(child.id)?.get('attributes')?.id === child.id;
    if (isOfMail) keepIds.push(child.id);
    else child.removeAttribute('id');
  }
  // The option `temporary` keeps the editor from counting this as a change of the mail.
  copy.components(editor.Parser.parseHtml(content.innerHTML).html, { temporary: true, keepIds });
  const { toHTML } = edited;
  edited.toHTML = () => copy.toHTML();
  const mjml = editor.getHtml();
  edited.toHTML = toHTML;
  return mjml;
}

/** Shows the button that applies the brand to the mail, if the account has chosen colours. */
function offerBrand(editor: Editor, brand: Brand, choice: BrandChoice | undefined): void {
  const button = element('brand', HTMLButtonElement);
  button.hidden = isLocked || (choice?.colours ?? []).length === 0;
  button.addEventListener('click', () => {
    applyBrand(editor, brand);
    tell(say('designer.brand.applied'));
  });
}

async function makeEditor(brand: Brand): Promise<Editor> {
  const plugin = window['grapesjs-mjml'];
  const words = await wordsOfPage();
  const editor = window.grapesjs.init({
    container: '#editor',
    height: '100%',
    storageManager: false,
    telemetry: false,
    cssIcons: '',
    canvasCss: '.gjs-selected { outline-color: var(--accent) !important; }',
    ...(words && {
      i18n: { locale: words.lang, detectLocale: false, messagesAdd: { [words.lang]: words.editorWords } },
    }),
    ...(brand.colours.length > 0 && { colorPicker: { showPalette: true, palette: [brand.colours] } }),
    assetManager: {
      custom: {
        open: ({ options: { target }, select, close }) => {
          if (target === undefined) void chooseBackground(select);
          else void placePicture(target);
          close();
        },
      },
      uploadFile: async (event, use) => {
        await showProgress(say('designer.picture.adding'), async () => {
          for (const file of event.dataTransfer?.files ?? [])
            use?.({ data: (await uploadPicture(file)).map(({ src }) => src) });
          return '';
        });
      },
    },
    plugins: [
      (newEditor) =>
        plugin.default(newEditor, {
          blocks: [],
          fonts: {},
          useCustomTheme: false,
          ...(words && { i18n: { [words.lang]: words.mjmlWords } }),
        }),
      keepForeignParts,
    ],
  });
  /** Asks for the picture of a background, which has no alternative text. */
  async function chooseBackground(use: (asset: ReturnType<Editor['AssetManager']['add']>) => void) {
    const chosen = await choosePicture({ src: '', alt: '', isDecoration: true, href: '' }, true);
    if (chosen !== null) use(editor.AssetManager.add({ src: chosen.src }));
  }
  return editor;
}

/** Offers a block. The user can drag it into the mail, or press it to add it after the selected part. */
function offerBlock(editor: Editor, { name, isSection, mjml, icon }: Block): void {
  const label = say(`designer.block.${name}`);
  editor.Blocks.add(name, {
    label,
    media: `<svg viewBox="0 0 24 24" aria-hidden="true"><path fill="none" stroke="currentColor" stroke-width="1.5" d="${icon}"/></svg>`,
    content: mjml,
    category: say(isSection ? 'designer.group.sections' : 'designer.group.content'),
    attributes: buttonAttributes(say('designer.add', { block: label })),
    onClick: () => {
      if (isLocked) return;
      const parts = insertAfterSelected(editor, mjml, isSection);
      tell(say('designer.added', { block: label }));
      const picture = parts.find(isPicture);
      if (picture !== undefined) void placePicture(picture);
    },
  });
}

/** Creates a choice of placeholders. The caller empties the choice after each selection. */
export function fieldChoice(fields: string[]): HTMLSelectElement {
  const choice = document.createElement('select');
  choice.setAttribute('aria-label', say('designer.field'));
  choice.append(new Option(say('designer.field.choose'), ''), ...fields.map((name) => new Option(name, `((${name}))`)));
  return choice;
}
