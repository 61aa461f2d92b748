/** The design page in the browser: the editor, saving, the preview in a sandboxed frame, the test mail. */
import type { Editor, EditorConfig, Plugin } from 'grapesjs';
import { listPictures, type Picture, pictureLibrary } from './parts/pictures.ts';

declare global {
  interface Window {
    grapesjs: { init(config: EditorConfig): Editor };
    'grapesjs-mjml': { default: Plugin };
    /** For tests. */
    editor: Editor;
  }
}

/** An answer of the page's own requests; each has some of these. */
interface Answer {
  problem?: string;
  message?: string;
  html?: string;
  mjml?: string;
  isDrawable?: boolean;
  fields?: string[];
  subject?: string;
  email?: string;
}

const pagePath = location.pathname;
const status = element('status', HTMLElement);
const isLocked = document.body.dataset.locked !== '';
/** Gives the editor's current content as the body of a request. */
let current: () => Record<string, string> = () => ({});
let isChanged = false;

/** The element with this id. Throws an Error when the page has none of this type. */
function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no ${id}`);
  return found;
}

async function call(path: string, body?: Record<string, string>): Promise<Answer> {
  const init = body && {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  const response = await fetch(pagePath + path, init);
  const answer: Answer = await response.json();
  if (!response.ok) throw new Error(answer.problem);
  return answer;
}

/** Runs the action of a button and shows its progress, result or error in the status line. */
async function showProgress(text: string, work: () => Promise<string | undefined>): Promise<void> {
  status.textContent = text;
  try {
    status.textContent = (await work()) ?? '';
  } catch (error) {
    status.textContent = error instanceof Error ? error.message : String(error);
  }
}

function markChanged(): void {
  isChanged = true;
  if (!isLocked) status.textContent = 'Not saved yet';
}

async function save(): Promise<string | undefined> {
  const { message } = await call('', current());
  isChanged = false;
  return message;
}

async function preview(): Promise<string> {
  const {
    html = '',
    subject,
    email,
  } = await call('/preview', { ...current(), email: element('contact', HTMLInputElement).value });
  element('mail', HTMLIFrameElement).srcdoc = html;
  element('subject', HTMLElement).textContent =
    `Subject: ${subject}${email ? ` (for ${email})` : ' (without a contact)'}`;
  return '';
}

function fieldChoice(fields: string[]): HTMLSelectElement {
  const choice = document.createElement('select');
  choice.setAttribute('aria-label', 'Insert a merge field');
  choice.append(new Option('Merge field …', ''), ...fields.map((name) => new Option(name, `((${name}))`)));
  return choice;
}

/** Opens a text area for plain HTML, and for MJML that the editor cannot show correctly. */
function openSource(name: 'html' | 'mjml', text: string, fields: string[]): void {
  const source = document.createElement('textarea');
  source.value = text;
  source.spellcheck = false;
  source.setAttribute('aria-label', `The ${name.toUpperCase()} of the mail`);
  const choice = fieldChoice(fields);
  choice.addEventListener('change', () => {
    source.setRangeText(choice.value, source.selectionStart, source.selectionEnd, 'end');
    choice.value = '';
    source.focus();
    markChanged();
  });
  source.addEventListener('input', markChanged);
  const label = document.createElement('label');
  label.append(choice);
  const box = document.createElement('div');
  box.className = 'source';
  box.append(label, source);
  element('editor', HTMLElement).append(box);
  current = () => ({ [name]: source.value });
}

const EMPTY_PICTURE =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" width="350" height="180"%3E%3Crect width="100%25" height="100%25" fill="%23cfd6dd"/%3E%3C/svg%3E';
/** The blocks offered. Hero, wrapper, carousel and social are not, because their samples load from other sites. */
const BLOCKS = [
  'mj-1-column',
  'mj-2-columns',
  'mj-3-columns',
  'mj-text',
  'mj-button',
  'mj-image',
  'mj-divider',
  'mj-spacer',
  'mj-raw',
];

/** Names for controls of the editor that have only a picture. */
const NAMES: Record<string, string> = {
  'set-device-desktop': 'Show at desk width',
  'set-device-tablet': 'Show at tablet width',
  'set-device-mobile': 'Show at phone width',
};

const VIEWS: [id: string, label: string][] = [
  ['open-blocks', 'Blocks'],
  ['open-sm', 'Style'],
  ['open-tm', 'Settings'],
  ['open-layers', 'Layers'],
];

/** Makes the editor's buttons and blocks usable by keyboard and screen reader: they are plain elements, so they get a role, a name, a place in the tab order and the keys of a button. */
function nameControls(editor: Editor): void {
  const ownAttributes = (name: string) => ({ role: 'button', tabindex: '0', 'aria-label': name, title: name });
  editor.Panels.getPanels().forEach((panel) => {
    panel.get('buttons')?.forEach((button) => {
      const { title } = button.get('attributes') ?? {};
      const name = NAMES[button.id] ?? button.get('label')?.match(/^\w+$/)?.[0] ?? title ?? String(button.id);
      button.set('attributes', { ...button.get('attributes'), ...ownAttributes(name) });
    });
  });
  editor.Blocks.getAll().forEach((block) => {
    block.set('attributes', { ...block.get('attributes'), ...ownAttributes(`Add: ${block.getLabel()}`) });
  });
  element('editor', HTMLElement).addEventListener('keydown', (event) => {
    if (!(event.target instanceof HTMLElement) || event.target.getAttribute('role') !== 'button') return;
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    event.target.click();
  });
}

/** Labels the editor's fields, whose names are only written beside them. */
function nameFields(): void {
  for (const title of element('editor', HTMLElement).querySelectorAll<HTMLElement>(
    '.gjs-sm-sector-title:not([role])',
  )) {
    title.setAttribute('role', 'button');
    title.tabIndex = 0;
  }
  for (const field of element('editor', HTMLElement).querySelectorAll('input, select, textarea')) {
    if (field.hasAttribute('aria-label')) continue;
    const property = field.closest('.gjs-sm-property, .gjs-trt-trait');
    const label = property?.querySelector('.gjs-sm-label, .gjs-label')?.textContent?.trim() ?? '';
    const radio = field instanceof HTMLInputElement && field.type === 'radio' ? field.value : '';
    const part = field.classList.contains('gjs-input-unit') ? 'unit' : radio;
    field.setAttribute('aria-label', [label, part].filter(Boolean).join(', '));
  }
}

function openEditor(mjml: string, fields: string[], pictures: Picture[]): void {
  const plugin = window['grapesjs-mjml'];
  const editor = window.grapesjs.init({
    container: '#editor',
    height: '100%',
    storageManager: false,
    telemetry: false,
    cssIcons: '',
    assetManager: pictureLibrary(
      pictures,
      () => editor,
      (work) => void showProgress('Adding pictures …', work),
    ),
    blockManager: { appendOnClick: true },
    plugins: [
      (made) =>
        plugin.default(made, {
          blocks: BLOCKS,
          imagePlaceholderSrc: EMPTY_PICTURE,
          fonts: {},
          useCustomTheme: false,
        }),
    ],
  });
  editor.RichTextEditor.add('merge', {
    icon: fieldChoice(fields).outerHTML,
    event: 'change',
    attributes: { title: 'Insert a merge field' },
    result: (rte, action) => {
      const choice = action.btn?.querySelector('select');
      if (!choice) return;
      rte.insertHTML(choice.value);
      choice.value = '';
    },
  });
  // The page has its own preview, and the editor's icons would load from another site.
  editor.Panels.removePanel('commands');
  for (const id of ['sw-visibility', 'preview', 'fullscreen', 'export-template'])
    editor.Panels.removeButton('options', id);
  for (const [id, label] of VIEWS) editor.Panels.getButton('views', id)?.set({ className: '', label });
  nameControls(editor);
  editor.setComponents(mjml);
  editor.onReady(() => {
    editor.UndoManager.clear();
    editor.Panels.getButton('views', 'open-blocks')?.set('active', true);
    editor.on('update', markChanged);
    editor.Canvas.getFrameEl().title = 'The mail in the editor';
    nameFields();
    new MutationObserver(nameFields).observe(element('editor', HTMLElement), { childList: true, subtree: true });
    document.body.dataset.ready = 'yes';
  });
  current = () => ({ mjml: editor.getHtml() });
  window.editor = editor;
}

element('save', HTMLButtonElement).addEventListener('click', () => showProgress('Saving …', save));
element('preview', HTMLButtonElement).addEventListener('click', () => {
  element('preview-dialog', HTMLDialogElement).showModal();
  showProgress('Rendering …', preview);
});
element('refresh', HTMLButtonElement).addEventListener('click', () => showProgress('Rendering …', preview));
element('contact', HTMLInputElement).addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  showProgress('Rendering …', preview);
});
for (const radio of document.querySelectorAll<HTMLInputElement>('[name=width]')) {
  radio.addEventListener('change', () => {
    element('mail', HTMLIFrameElement).className = radio.value;
  });
}
element('test', HTMLButtonElement).addEventListener('click', () =>
  element('test-dialog', HTMLDialogElement).showModal(),
);
element('test-cancel', HTMLButtonElement).addEventListener('click', () =>
  element('test-dialog', HTMLDialogElement).close(),
);
element('test-form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  element('test-dialog', HTMLDialogElement).close();
  showProgress('Sending …', async () => {
    if (isChanged && !isLocked) await save();
    return (await call('/test', { email: element('address', HTMLInputElement).value })).message;
  });
});
addEventListener('beforeunload', (event) => {
  if (isChanged && !isLocked) event.preventDefault();
});
element('save', HTMLButtonElement).disabled = isLocked;

const { mjml = '', html, isDrawable, fields = [] } = await call('/content');
if (html !== undefined) openSource('html', html, fields);
else if (isDrawable) openEditor(mjml, fields, await listPictures());
else openSource('mjml', mjml, fields);
if (!isLocked) status.textContent = '';
