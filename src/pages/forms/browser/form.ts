/**
 * Makes automated submissions costly: solves the form's proof-of-work challenge while the visitor types, on our own page and on
 * websites that embed a form. If the script finds no solution, it submits the form unsolved, and the next page may ask again.
 */
import { type Challenge, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2';

/** The minimum time from the creation of the challenge to the submission. The server takes an earlier submission for a bot's. */
const MIN_WAIT_MS = 2500;

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-sendlark]')) addProof(form);

function addProof(form: HTMLFormElement): void {
  const proof = form.querySelector<HTMLInputElement>('input[name="proof"]') ?? addHiddenField(form);
  const status = form.querySelector<HTMLElement>('[data-working]');
  /** When the challenge was created. Our own page contains a challenge from the start. */
  let challengedAt = performance.now();
  let proving: Promise<void> | null = null;
  let isProven = false;
  let isSending = false;

  const solve = async () => {
    if (proof.value === '') {
      proof.value = await fetchProof(form);
      challengedAt = performance.now();
    }
    const { challenge } = decode(proof.value);
    const solution = await solveChallenge({ challenge, deriveKey });
    if (solution !== null) proof.value = btoa(JSON.stringify({ challenge, solution }));
  };
  const proveAndWait = async () => {
    // If solving fails, only the challenge is submitted. The service accepts this from a few visitors per hour.
    await solve().catch(() => undefined);
    await wait(MIN_WAIT_MS - (performance.now() - challengedAt));
    isProven = true;
  };
  const begin = () => {
    proving ??= proveAndWait();
    return proving;
  };
  // If the browser fills in the form, `input` is the first event, because no field gets the focus.
  for (const event of ['focusin', 'input']) form.addEventListener(event, () => void begin());
  form.addEventListener('submit', (event) => {
    if (isProven) return;
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    form.ariaBusy = 'true';
    if (status !== null) status.textContent = status.dataset.working ?? '';
    void begin().then(() => form.submit());
  });
  // The proof of a page that is restored from the browser's history was used already.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    proof.value = '';
    proving = null;
    isProven = false;
    isSending = false;
    form.ariaBusy = null;
    if (status !== null) status.textContent = '';
  });
}

function addHiddenField(form: HTMLFormElement): HTMLInputElement {
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
