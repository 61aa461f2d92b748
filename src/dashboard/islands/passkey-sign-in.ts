/** Signs in with a passkey: at the button, or when the browser offers one in the field of the address. */
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';

/** Before the server's challenge for the offer is too old. */
const OFFER_MS = 4 * 60_000;

const form = document.querySelector<HTMLFormElement>('[data-island="passkey-sign-in"] form');
if (form !== null && 'PublicKeyCredential' in globalThis) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void sign(form, false);
  });
  // On the page that says why a passkey was refused, the browser would offer the same one again.
  if (location.pathname !== new URL(form.action).pathname) void offer(form);
}

async function offer(form: HTMLFormElement): Promise<void> {
  const { browserSupportsWebAuthnAutofill } = await import('@simplewebauthn/browser');
  if (!(await browserSupportsWebAuthnAutofill())) return;
  setTimeout(() => void offer(form), OFFER_MS);
  await sign(form, true);
}

/** Asks for a passkey and sends the answer. A new call ends the one before. */
async function sign(form: HTMLFormElement, isOffer: boolean): Promise<void> {
  const problem = form.querySelector<HTMLElement>('.problem');
  const field = form.elements.namedItem('answer');
  if (problem === null || !(field instanceof HTMLInputElement)) return;
  if (!isOffer) problem.hidden = true;
  try {
    const { startAuthentication } = await import('@simplewebauthn/browser');
    const response = await fetch(`${form.action}/request`, { method: 'POST' });
    if (!response.ok) throw new Error('The server gave no challenge');
    const optionsJSON: PublicKeyCredentialRequestOptionsJSON = await response.json();
    field.value = JSON.stringify(await startAuthentication({ optionsJSON, useBrowserAutofill: isOffer }));
    form.submit();
  } catch {
    // The person closed the browser's dialog, or it knows no passkey. An offer that nobody took is no problem.
    if (!isOffer) problem.hidden = false;
  }
}
