/**
 * Makes automated submissions costly: solves the form's proof-of-work challenge while the visitor types, on our own page and on websites
 * that embed a form. If that fails, the form is submitted without a solution, and the next page may ask again.
 */
import { type Challenge, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2';

/** A submission sooner than this after the challenge was created counts as a bot's. */
const SOONEST_MS = 2500;

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-sendlark]')) prove(form);

function prove(form: HTMLFormElement): void {
  const proof = form.querySelector<HTMLInputElement>('input[name="proof"]') ?? addHidden(form);
  const status = form.querySelector<HTMLElement>('[data-working]');
  /** Our own page contains its challenge from the start. */
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
    // Without a solution only the challenge is sent, which is accepted for a few visitors per hour.
    await solve().catch(() => undefined);
    await wait(SOONEST_MS - (performance.now() - challengedAt));
    isProven = true;
  };
  const begin = () => {
    proving ??= proveAndWait();
    return proving;
  };
  // A form filled in by the browser gets no focus event.
  for (const sign of ['focusin', 'input']) form.addEventListener(sign, () => void begin());
  form.addEventListener('submit', (event) => {
    if (isProven) return;
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    form.ariaBusy = 'true';
    if (status !== null) status.textContent = status.dataset.working ?? '';
    void begin().then(() => form.submit());
  });
  // A page restored from the browser history has a proof that was already used.
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
