/** The script of the design page: it opens the content, saves it, shows the preview in a sandboxed frame, and sends test mails. */
import { saveBeforeLeaving } from '../../../../ui/islands/parts/save-first.ts';
import { openContent } from './parts/content.ts';
import {
  ask,
  call,
  element,
  inLanguage,
  isDraft,
  isLocked,
  NewerContent,
  problemOf,
  REQUEST_TIMEOUT_MS,
  say,
  showProgress,
  tell,
} from './parts/page.ts';
import { listenForPictures } from './parts/pictures.ts';

/** How long after the last change a draft is saved automatically. */
const TYPING_MS = 2000;

let isChanged = false;
let timer: ReturnType<typeof setTimeout> | undefined;
let saving: Promise<unknown> = Promise.resolve();
let previewing: Promise<void> = Promise.resolve();
/** Why the last automatic save failed; empty if it did not. */
let saveProblem = '';
/** The fields for the subject and the preview text. */
const lines = [...document.querySelectorAll<HTMLInputElement>('.what input')];
/** True if the last save was refused because the stored content is newer than `version`. Only the save button replaces that content. */
let isNewerStored = false;
const opened = await openContent(onChange).catch((error: unknown) => {
  // Nothing that is typed now could be saved.
  for (const line of lines) line.readOnly = true;
  tell(say('designer.unopened'));
  throw error;
});
const { content } = opened;
/** The version of the stored content that this page opened or saved last. */
let { version } = opened;
for (const line of lines) line.addEventListener('input', onChange);

function onChange(): void {
  isChanged = true;
  if (element('status', HTMLElement).textContent === say('designer.saved')) tell('');
  showState();
  if (!mustSave()) return;
  clearTimeout(timer);
  timer = setTimeout(saveAutomatically, TYPING_MS);
}

/** Returns those lines that were changed on this page. The others are not saved, because another page may have changed them. */
function changedLines(): Record<string, string> {
  return Object.fromEntries(
    lines.flatMap(({ name, value, defaultValue }) => (value === defaultValue ? [] : [[name, value]])),
  );
}

/** Returns true if there are changes that are saved automatically. */
function mustSave(): boolean {
  return isChanged && isDraft && !isLocked && !isNewerStored;
}

/** Shows beside the status line whether there are unsaved changes, or another text about that. */
function showState(text = isChanged && !isLocked ? say('designer.unsaved') : ''): void {
  element('state', HTMLElement).textContent = text;
}

/**
 * Saves the content. Waits for a save that is still running, so that the newest content is stored last. If the stored content is newer
 * than the content that this page knows, saves only if `mayReplace`; otherwise throws NewerContent.
 */
function save(mayReplace = false): Promise<string> {
  clearTimeout(timer);
  const saved = saving.then(() => saveOnce(mayReplace));
  saving = saved.catch(() => undefined);
  return saved;
}

async function saveOnce(mayReplace: boolean): Promise<string> {
  const body = content.current();
  const texts = changedLines();
  const answer = await call('', { ...body, ...texts, ...(!mayReplace && { version }) }).catch((error: unknown) => {
    isNewerStored ||= error instanceof NewerContent;
    throw error;
  });
  version = answer.version ?? version;
  isNewerStored = false;
  for (const line of lines) line.defaultValue = texts[line.name] ?? line.defaultValue;
  // Content that was changed during the save is still unsaved.
  isChanged = JSON.stringify(content.current()) !== JSON.stringify(body) || Object.keys(changedLines()).length > 0;
  showState();
  return isChanged ? '' : say('designer.saved');
}

/**
 * Saves without being asked. Shows this beside the status line, because the status line may have a text that the user has not read yet. Only
 * a problem replaces that text.
 */
async function saveAutomatically(): Promise<void> {
  if (!isChanged) return;
  showState(say('designer.saving'));
  try {
    const saved = await save();
    if (saved !== '') showState(saved);
    if (saveProblem !== '' && element('status', HTMLElement).textContent === saveProblem) tell('');
    saveProblem = '';
  } catch (error) {
    showState();
    saveProblem = problemOf(error);
    tell(saveProblem);
  }
}

/** Restores an earlier version. Saves unsaved changes first, so that they become a version too. */
async function restore(version: string): Promise<string> {
  if (isChanged) await save();
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const init: RequestInit = { method: 'POST', redirect: 'manual', headers: inLanguage, signal };
  const response = await fetch(`${location.pathname}/versions/${version}`, init).catch(() => {
    throw new Error(say('designer.unanswered'));
  });
  if (response.type !== 'opaqueredirect') throw new Error((await response.json()).problem);
  isChanged = false;
  location.reload();
  return say('designer.loading');
}

/** Shows the preview. Waits for a preview that is still rendered, because its late answer would replace this one. */
function showPreview(): void {
  previewing = previewing.then(preview);
}

/** Shows the e-mail in the dialog, or why it cannot be rendered. Says so in the dialog, because the page behind it is not announced. */
async function preview(): Promise<void> {
  const frame = element('mail', HTMLIFrameElement);
  const line = element('subject', HTMLElement);
  line.textContent = say('designer.rendering');
  try {
    const contact = element('contact', HTMLInputElement).value;
    const answer = await call('/preview', { ...content.current(), ...changedLines(), email: contact });
    const { html = '', subject = '', email = '' } = answer;
    frame.srcdoc = html;
    line.textContent = say(email ? 'designer.subject.for' : 'designer.subject.nobody', { subject, email });
  } catch (error) {
    frame.srcdoc = '';
    line.textContent = problemOf(error);
  }
}

const showSaving = (mayReplace = false) => showProgress(say('designer.saving'), () => save(mayReplace));
element('save', HTMLButtonElement).addEventListener('click', () => showSaving(isNewerStored));
element('preview', HTMLButtonElement).addEventListener('click', () => {
  void ask('preview-dialog');
  showPreview();
});
document.getElementById('earlier')?.addEventListener('click', async () => {
  const version = await ask('earlier-dialog');
  if (version !== '') void showProgress(say('designer.saving'), () => restore(version));
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
    const { isKept } = await call('/test', { email });
    return say(isKept ? 'designer.test.kept' : 'designer.test.sent', { email });
  });
});
addEventListener('beforeunload', (event) => {
  if (isChanged && !isLocked) event.preventDefault();
});
document.addEventListener('visibilitychange', () => {
  if (document.hidden && mustSave()) void saveAutomatically();
});
// The dashboard shows this page in a frame. The links around the frame lead away from it too, so they also save first.
for (const page of new Set([document, parent.document]))
  saveBeforeLeaving(page, { mustSave, save: () => showSaving() });
listenForPictures();
for (const id of ['preview', 'test', 'earlier', 'save'])
  document.getElementById(id)?.toggleAttribute('disabled', id === 'save' && isLocked);
if (!isLocked) tell('');
// The user may have changed the subject or the preview text before this script ran.
if (Object.keys(changedLines()).length > 0) onChange();
