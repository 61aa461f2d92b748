/** Signs in with a passkey, after a click on the button or when the user chooses a passkey that the browser offers in the e-mail field. */
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { MINUTE_MS } from '../../units.ts';

/** How long an offer lasts before a new one replaces it. It is shorter than the lifetime of the server's challenge. */
const OFFER_MS = 4 * MINUTE_MS;
/** How long the server may take to give a challenge. */
const REQUEST_TIMEOUT_MS = 20_000;

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

/** The number of clicks after which the browser is asking for a passkey. */
let clicks = 0;
/** Ends an offer's request for a challenge. Its late answer would replace the cookie that a new browser got with the answer to a click. */
let offering = new AbortController();

/** Asks the browser for a passkey and submits its answer. A click cancels an offer; an offer cancels no click. */
async function signIn(form: HTMLFormElement, isOffer: boolean): Promise<void> {
  const problem = form.querySelector<HTMLElement>('.problem');
  const field = form.elements.namedItem('answer');
  if (problem === null || !(field instanceof HTMLInputElement)) return;
  if (isOffer && clicks > 0) return;
  if (isOffer) offering = new AbortController();
  else {
    offering.abort();
    clicks++;
    problem.hidden = true;
  }
  try {
    const { startAuthentication } = await import('@simplewebauthn/browser');
    const optionsJSON = await requestChallenge(form, (isOffer ? offering : new AbortController()).signal);
    if (isOffer && clicks > 0) return;
    field.value = JSON.stringify(await startAuthentication({ optionsJSON, useBrowserAutofill: isOffer }));
    form.submit();
  } catch {
    // The user closed the browser's dialog, or has no passkey. An offer that the user ignored is no problem.
    if (!isOffer) problem.hidden = false;
  } finally {
    if (!isOffer) clicks--;
  }
}

/** Asks the server for a challenge. Throws an Error if it gives none in time, or if `ended` aborts the request. */
async function requestChallenge(
  form: HTMLFormElement,
  ended: AbortSignal,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const signal = AbortSignal.any([ended, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
  const response = await fetch(`${form.action}/request`, { method: 'POST', signal });
  if (!response.ok) throw new Error('The server gave no challenge');
  return response.json();
}
