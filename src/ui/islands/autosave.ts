/**
 * Saves a form for composing a campaign a few seconds after the last change and before the user leaves, and then updates the parts of
 * the page that depend on the form. Without this script the user saves the form with its button.
 */
import { isInUse } from './parts/read-page.ts';
import { saveBeforeLeaving } from './parts/save-first.ts';
import { isTouched } from './parts/touched.ts';

/** The texts about the state of saving. */
interface Texts {
  unsaved: string;
  saving: string;
  failed: string;
  /** Contains `{problem}`, which is replaced by the problem. */
  refused: string;
  conflict: string;
  signedOut: string;
}

/** How long after a keystroke the form is saved. */
const TYPING_MS = 2000;
/** How long after a choice the form is saved. */
const CHOOSING_MS = 400;
/** How long after a failure the form is saved again. */
const RETRY_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const SIGN_IN_PATH = '/login';
/** The selector of the element that shows the state of saving. */
const STATE = '#save-state';

for (const island of document.querySelectorAll<HTMLElement>('[data-island="autosave"]')) {
  const form = island.querySelector<HTMLFormElement>('form[data-autosave]');
  if (form !== null) keepSaved(form, JSON.parse(island.dataset.props ?? '{}'));
}

function keepSaved(form: HTMLFormElement, texts: Texts): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isChanged = false;
  /** True after a conflict with a change by somebody else. */
  let isStopped = false;
  let saving: Promise<void> | null = null;

  const say = (text: string) => {
    const element = document.querySelector(STATE);
    if (element !== null && element.textContent !== text) element.textContent = text;
  };
  const saveLater = (wait: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => void save(), wait);
  };
  /** Saves unsaved changes, after a save that is still running. */
  const save = async () => {
    clearTimeout(timer);
    // Of several callers that wait here, the first starts the next save, for which the others wait again.
    while (saving !== null) await saving;
    if (!isChanged || isStopped) return;
    isChanged = false;
    saving = saveOnce().finally(() => {
      saving = null;
    });
    await saving;
  };
  const saveOnce = async () => {
    say(texts.saving);
    const answer = await post(form);
    if (answer === 'failed') {
      isChanged = true;
      say(texts.failed);
      saveLater(RETRY_MS);
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

  const change = (wait: number) => {
    isChanged = true;
    if (isStopped) return;
    say(texts.unsaved);
    saveLater(wait);
  };
  form.addEventListener('input', ({ target }) => {
    const isChoice =
      target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type === 'checkbox');
    change(isChoice ? CHOOSING_MS : TYPING_MS);
  });
  form.addEventListener('submit', () => {
    clearTimeout(timer);
    isChanged = false;
  });
  // A save that is still running counts too: if the user leaves, the browser may drop it, and a form that is submitted meanwhile would be in
  // conflict with it.
  saveBeforeLeaving(document, { mustSave: () => (isChanged || saving !== null) && !isStopped, save });
  addEventListener('beforeunload', (event) => {
    if (isChanged || saving !== null) event.preventDefault();
  });
  // The user may have changed the form before this script ran.
  if (isNewVisit() && isTouched(form)) change(TYPING_MS);
}

/** Returns false after a reload or on the way back, where the browser itself may have restored fields to values that are out of date. */
function isNewVisit(): boolean {
  const [visit] = performance.getEntriesByType('navigation');
  return visit instanceof PerformanceNavigationTiming && visit.type === 'navigate';
}

/** The result of a save: the saved page, the problem of a field, or why the form was not saved. */
type Answer = { page: Document } | { problem: string } | 'failed' | 'conflict' | 'signed-out';

async function post(form: HTMLFormElement): Promise<Answer> {
  const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { accept: 'text/html', 'x-autosave': '1' },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (response.redirected && new URL(response.url).pathname === SIGN_IN_PATH) return 'signed-out';
    if (response.status === 409) return 'conflict';
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    if (response.ok) return { page };
    if (response.status !== 422) return 'failed';
    return { problem: [...page.querySelectorAll('main .problem')].map(namedProblem).join(' ') };
  } catch {
    return 'failed';
  }
}

/** Returns the problem of a field with the label of the field before it. */
function namedProblem(problem: Element): string {
  const field = problem.id.replace(/-problem$/, '');
  const label = problem.ownerDocument.querySelector(`label[for="${field}"]`)?.textContent;
  return label ? `${label}: ${problem.textContent}` : problem.textContent;
}

/** Updates the page from the saved one: its dependent parts, and the hidden fields by which the server notices changes by others. */
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
