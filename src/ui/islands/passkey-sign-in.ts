/** Signs in with a passkey, after a click on the button or when the user chooses a passkey that the browser offers in the e-mail field. */
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';

/** How long an offer lasts before a new one replaces it. It is shorter than the lifetime of the server's challenge. */
const OFFER_MS = 4 * 60_000;

const form = document.querySelector<HTMLFormElement>('[data-island="passkey-sign-in"] form');
if (form !== null && 'PublicKeyCredential' in globalThis) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void signIn(form, false);
  });
  // Nothing is offered on the page that says why a passkey was refused, because the browser would offer the same passkey again.
  if (location.pathname !== new URL(form.action).pathname) void offer(form);
}

/** Lets the browser offer passkeys in the e-mail field. Does nothing in a browser that does not support this. */
async function offer(form: HTMLFormElement): Promise<void> {
  const { browserSupportsWebAuthnAutofill } = await import('@simplewebauthn/browser');
  if (!(await browserSupportsWebAuthnAutofill())) return;
  setTimeout(() => void offer(form), OFFER_MS);
  await signIn(form, true);
}

/** How often a passkey was asked for. */
let calls = 0;

/**
 * Asks the browser for a passkey and submits its answer. A new call cancels the previous one; an offer that is late because of a slow
 * connection cancels no click.
 */
async function signIn(form: HTMLFormElement, isOffer: boolean): Promise<void> {
  const problem = form.querySelector<HTMLElement>('.problem');
  const field = form.elements.namedItem('answer');
  if (problem === null || !(field instanceof HTMLInputElement)) return;
  if (!isOffer) problem.hidden = true;
  const call = ++calls;
  try {
    const { startAuthentication } = await import('@simplewebauthn/browser');
    const response = await fetch(`${form.action}/request`, { method: 'POST' });
    if (!response.ok) throw new Error('The server gave no challenge');
    const optionsJSON: PublicKeyCredentialRequestOptionsJSON = await response.json();
    if (isOffer && call !== calls) return;
    field.value = JSON.stringify(await startAuthentication({ optionsJSON, useBrowserAutofill: isOffer }));
    form.submit();
  } catch {
    // The user closed the browser's dialog, or has no passkey. An offer that the user ignored is no problem.
    if (!isOffer) problem.hidden = false;
  }
}
