/**
 * The script of a segment's form. It updates the rules after a choice or a click, and the number of matching contacts after typing, without
 * loading the page again. If the service interrupts a count, the script continues it. Without this script the form's buttons do all this.
 */
import { announcer } from './parts/announcer.ts';
import { exchange, postForm } from './parts/post-form.ts';
import { showFailure } from './parts/read-page.ts';
import { isTouched } from './parts/touched.ts';

/** How long after a keystroke the number is updated. */
const TYPING_MS = 300;
/** How often saving looks whether the rules are up to date. */
const SAVE_CHECK_MS = 50;
/** How often screen readers announce the number. */
const NEWS_MS = 2000;
// The selectors of the parts that are updated.
const RULES = '#segment-rules';
const COUNT = '#segment-count';
const SAMPLE = '#segment-sample';
const WORDS = '#segment-words';

for (const island of document.querySelectorAll<HTMLElement>('[data-island="rules"]')) {
  const form = island.querySelector('form');
  if (form !== null) keepUpToDate(island, form);
}

function keepUpToDate(island: HTMLElement, form: HTMLFormElement): void {
  const announce = announcer(() => island.querySelector('[data-live="news"]'), NEWS_MS);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest = new AbortController();
  /** The button whose effect on the rules is not shown yet. What the user changes before the answer must not undo the click. */
  let unanswered: { name: string; value: string } | null = null;
  /** True if the last click had no effect, because the server did not answer. */
  let hasFailed = false;

  const disableRuleButtons = (isDisabled: boolean) => {
    for (const button of form.querySelectorAll<HTMLButtonElement>(`${RULES} button`)) button.disabled = isDisabled;
  };

  /** Submits the form as if the button `name` with this value had been clicked, and shows these parts of the answer. */
  const update = async (name: string, value: string, parts: readonly string[]) => {
    clearTimeout(timer);
    latest.abort();
    latest = new AbortController();
    const { signal } = latest;
    unanswered = parts.includes(RULES) ? { name, value } : null;
    // A click adds or removes a rule. Another one would abort it, and after a removal the buttons have other numbers.
    const isClick = value === 'add' || value.startsWith('remove');
    if (isClick) disableRuleButtons(true);
    const page = await postForm(form, name, value, signal);
    if (signal.aborted) return;
    unanswered = null;
    hasFailed = !(page instanceof Document);
    if (isClick) disableRuleButtons(false);
    showFailure(island, page instanceof Document ? null : page, () => void update(name, value, parts));
    if (!(page instanceof Document)) return;
    for (const part of parts) exchange(part, page);
    // A user who has gone on to type in another field stays there.
    const isTyping = document.activeElement instanceof HTMLInputElement;
    if (value === 'add' && !isTyping) form.querySelector<HTMLElement>(`${RULES} fieldset:last-of-type select`)?.focus();
    if (value.startsWith('remove') && !isTyping)
      form.querySelector<HTMLElement>(`${RULES} button[value="add"]`)?.focus();
    announce(form.querySelector<HTMLElement>(COUNT)?.dataset.news ?? '');
    await continueCount();
  };
  /** Continues an interrupted count. Only then is there a button that continues the count, next to the number. */
  const continueCount = async () => {
    const button = form.querySelector<HTMLButtonElement>(`${COUNT} button[name="after"]`);
    if (button !== null) await update('after', button.value, [COUNT]);
  };
  const allParts = [RULES, WORDS, COUNT, SAMPLE];
  /** Shows the form as it is now, after the unanswered click if there is one. */
  const show = (parts: readonly string[]) =>
    unanswered === null ? update('do', 'show', parts) : update(unanswered.name, unanswered.value, allParts);
  let isSaving = false;
  /** Saves the segment once the rules on the page are up to date. Does nothing if their last change failed. */
  const saveLater = async (button: HTMLButtonElement) => {
    if (isSaving) return;
    isSaving = true;
    while (unanswered !== null) await new Promise((resolve) => setTimeout(resolve, SAVE_CHECK_MS));
    isSaving = false;
    if (!hasFailed) form.requestSubmit(button);
  };
  // The button that updates the number is hidden, because the script updates the number.
  const showButton = form.querySelector<HTMLButtonElement>('button[value="show"]');
  if (showButton !== null) showButton.hidden = true;
  form.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLSelectElement) void show(allParts);
  });
  form.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.name === 'segment_name') return;
    latest.abort();
    clearTimeout(timer);
    timer = setTimeout(() => void show([WORDS, COUNT, SAMPLE]), TYPING_MS);
  });
  form.addEventListener('submit', (event) => {
    const button = event.submitter;
    if (!(button instanceof HTMLButtonElement)) return;
    const isSave = button.value === 'save';
    if (isSave && unanswered === null) return;
    event.preventDefault();
    if (isSave) void saveLater(button);
    // The answer to the click before this one brings a count of its own.
    else if (button.name !== 'after' || unanswered === null)
      void update(button.name, button.value, button.name === 'after' ? [COUNT] : allParts);
  });
  // The user may have changed the form before this script ran.
  void (isTouched(form) ? show(allParts) : continueCount());
}
