/** The design page in the browser: blocks or HTML, saving, the preview in a sandboxed frame, the test mail. */
import { openContent } from './parts/content.ts';
import { ask, call, element, isLocked, say, showProgress, tell } from './parts/page.ts';
import { listenForPictures } from './parts/pictures.ts';

let isChanged = false;
const content = await openContent(() => {
  isChanged = true;
  showState();
});

function showState(): void {
  element('state', HTMLElement).textContent = isChanged && !isLocked ? say('designer.unsaved') : '';
}

async function save(): Promise<string> {
  const body = content.current();
  await call('', body);
  // What was changed meanwhile is not saved.
  isChanged = JSON.stringify(content.current()) !== JSON.stringify(body);
  showState();
  return isChanged ? '' : say('designer.saved');
}

async function preview(): Promise<string> {
  const contact = element('contact', HTMLInputElement).value;
  const { html = '', subject = '', email = '' } = await call('/preview', { ...content.current(), email: contact });
  element('mail', HTMLIFrameElement).srcdoc = html;
  element('subject', HTMLElement).textContent = say(email ? 'designer.subject.for' : 'designer.subject.nobody', {
    subject,
    email,
  });
  return '';
}

const showPreview = () => void showProgress(say('designer.rendering'), preview);
element('save', HTMLButtonElement).addEventListener('click', () => showProgress(say('designer.saving'), save));
element('preview', HTMLButtonElement).addEventListener('click', () => {
  void ask('preview-dialog');
  showPreview();
});
element('refresh', HTMLButtonElement).addEventListener('click', showPreview);
element('contact', HTMLInputElement).addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  showPreview();
});
for (const radio of document.querySelectorAll<HTMLInputElement>('[name=width]')) {
  radio.addEventListener('change', () => {
    element('mail', HTMLIFrameElement).className = radio.value;
  });
}
for (const close of document.querySelectorAll('[data-close]'))
  close.addEventListener('click', () => close.closest('dialog')?.close());
element('test', HTMLButtonElement).addEventListener('click', () => void ask('test-dialog'));
element('test-form', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  element('test-dialog', HTMLDialogElement).close();
  void showProgress(say('designer.test.sending'), async () => {
    if (isChanged && !isLocked) await save();
    const email = element('address', HTMLInputElement).value;
    await call('/test', { email });
    return say('designer.test.sent', { email });
  });
});
addEventListener('beforeunload', (event) => {
  if (isChanged && !isLocked) event.preventDefault();
});
listenForPictures();
element('save', HTMLButtonElement).disabled = isLocked;
if (!isLocked) tell('');
