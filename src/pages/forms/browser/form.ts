/**
 * Proves that a form is filled in by a browser and no cheap robot: solves the form's challenge while people type, on our own page and on
 * websites that embed a form. If that fails, the form is sent as it is, and the page that answers asks once more.
 */
import { type Challenge, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2';

/** What is sent sooner is taken for a robot's. */
const SOONEST_MS = 2500;

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-sendlark]')) prove(form);

function prove(form: HTMLFormElement): void {
  const proof = form.querySelector<HTMLInputElement>('input[name="proof"]') ?? addHidden(form);
  const status = form.querySelector<HTMLElement>('[data-working]');
  let shownAt = performance.now();
  let solving: Promise<void> | null = null;
  let isSolved = false;

  const solve = async () => {
    const { challenge } = decode(proof.value || (await fetchProof(form)));
    const solution = await solveChallenge({ challenge, deriveKey });
    if (solution !== null) proof.value = btoa(JSON.stringify({ challenge, solution }));
    await wait(SOONEST_MS - (performance.now() - shownAt));
    isSolved = true;
  };
  const begin = () => {
    solving ??= solve().catch(() => undefined);
    return solving;
  };
  form.addEventListener('focusin', () => void begin(), { once: true });
  form.addEventListener('submit', (event) => {
    if (isSolved) return;
    event.preventDefault();
    if (status !== null) status.textContent = status.dataset.working ?? '';
    void begin().finally(() => form.submit());
  });
  // A page that comes back from the history has a proof that was used.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    proof.value = '';
    solving = null;
    isSolved = false;
    shownAt = performance.now();
    if (status !== null) status.textContent = '';
  });
}

function addHidden(form: HTMLFormElement): HTMLInputElement {
  const input = document.createElement('input');
  input.type = 'hidden';
  input.name = 'proof';
  form.append(input);
  return input;
}

async function fetchProof(form: HTMLFormElement): Promise<string> {
  const response = await fetch(`${form.action}/challenge`, { credentials: 'omit', referrerPolicy: 'no-referrer' });
  const { proof }: { proof: string } = await response.json();
  return proof;
}

function decode(text: string): { challenge: Challenge } {
  return JSON.parse(atob(text));
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
