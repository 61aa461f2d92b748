/**
 * Saves a form of composing a few seconds after the last change and before the user leaves, and updates the parts of the page
 * that depend on it. Without this script the form is saved on submit.
 */
import { isInUse } from './parts/read-page.ts';
import { saveBeforeLeaving } from './parts/save-first.ts';

interface Texts {
  unsaved: string;
  saving: string;
  failed: string;
  /** Contains `{problem}`, for the problem. */
  refused: string;
  conflict: string;
  signedOut: string;
}

const TYPING_MS = 2000;
const CHOOSING_MS = 400;
const RETRY_MS = 10_000;
const PATIENCE_MS = 30_000;
const CONFLICT = 409;
const UNPROCESSABLE = 422;
const SIGN_IN_PATH = '/login';
const STATE = '#save-state';

for (const island of document.querySelectorAll<HTMLElement>('[data-island="autosave"]')) {
  const form = island.querySelector<HTMLFormElement>('form[data-autosave]');
  if (form !== null) keepSaved(form, JSON.parse(island.dataset.props ?? '{}'));
}

function keepSaved(form: HTMLFormElement, texts: Texts): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isChanged = false;
  let isStopped = false;
  let saving: Promise<void> | null = null;

  const say = (text: string) => {
    const place = document.querySelector(STATE);
    if (place !== null && place.textContent !== text) place.textContent = text;
  };
  const later = (wait: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => void save(), wait);
  };
  /** Saves until nothing is unsaved or saving fails. */
  const save = async () => {
    clearTimeout(timer);
    await saving;
    if (!isChanged || isStopped) return;
    isChanged = false;
    saving = saveOnce();
    await saving;
    saving = null;
  };
  const saveOnce = async () => {
    say(texts.saving);
    const answer = await post(form);
    if (answer === 'failed') {
      isChanged = true;
      say(texts.failed);
      later(RETRY_MS);
    } else if (answer === 'signed-out') {
      isChanged = true;
      say(texts.signedOut);
    } else if (answer === 'conflict') {
      isStopped = true;
      say(texts.conflict);
    } else if ('problem' in answer) {
      isChanged = true;
      say(texts.refused.replace('{problem}', answer.problem));
    } else {
      refresh(form, answer.page);
      if (isChanged) say(texts.unsaved);
    }
  };

  form.addEventListener('input', ({ target }) => {
    isChanged = true;
    if (isStopped) return;
    say(texts.unsaved);
    const isChoice =
      target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type === 'checkbox');
    later(isChoice ? CHOOSING_MS : TYPING_MS);
  });
  form.addEventListener('submit', () => {
    clearTimeout(timer);
    isChanged = false;
  });
  saveBeforeLeaving(document, { mustSave: () => isChanged && !isStopped, save });
  addEventListener('beforeunload', (event) => {
    if (isChanged) event.preventDefault();
  });
}

type Answer = { page: Document } | { problem: string } | 'failed' | 'conflict' | 'signed-out';

async function post(form: HTMLFormElement): Promise<Answer> {
  const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { accept: 'text/html', 'x-autosave': '1' },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (response.redirected && new URL(response.url).pathname === SIGN_IN_PATH) return 'signed-out';
    if (response.status === CONFLICT) return 'conflict';
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    if (response.ok) return { page };
    if (response.status !== UNPROCESSABLE) return 'failed';
    return { problem: [...page.querySelectorAll('main .problem')].map(namedProblem).join(' ') };
  } catch {
    return 'failed';
  }
}

/** Returns what is wrong with a field, after the label of the field. */
function namedProblem(place: Element): string {
  const field = place.id.replace(/-problem$/, '');
  const label = place.ownerDocument.querySelector(`label[for="${field}"]`)?.textContent;
  return label ? `${label}: ${place.textContent}` : place.textContent;
}

/** Updates the parts of the page from the answer, and the digest that tells whether somebody else changed the fields. */
function refresh(form: HTMLFormElement, page: Document): void {
  for (const fresh of page.querySelectorAll('[data-fresh]')) {
    const current = document.getElementById(fresh.id);
    if (current !== null && !current.isEqualNode(fresh) && !isInUse(current)) {
      current.replaceChildren(...document.adoptNode(fresh).childNodes);
    }
  }
  for (const name of ['unchanged_since', 'seen']) {
    const fresh = page.querySelector<HTMLInputElement>(`form[data-autosave] input[name="${name}"]`);
    const input = form.querySelector<HTMLInputElement>(`input[name="${name}"]`);
    if (fresh !== null && input !== null) input.value = fresh.value;
  }
}
