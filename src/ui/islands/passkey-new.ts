/** Creates the passkey that the server requests, and submits it with the form. */
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/browser';

const island = document.querySelector<HTMLElement>('[data-island="passkey-new"]');
const form = island?.querySelector('form') ?? null;
if (island !== null && form !== null) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void createPasskey(form, JSON.parse(island.dataset.props ?? '{}'));
  });
  for (const button of form.querySelectorAll('button')) button.disabled = false;
}

async function createPasskey(
  form: HTMLFormElement,
  optionsJSON: PublicKeyCredentialCreationOptionsJSON,
): Promise<void> {
  const problem = form.querySelector<HTMLElement>('.problem');
  const field = form.elements.namedItem('answer');
  if (problem === null || !(field instanceof HTMLInputElement)) return;
  problem.hidden = true;
  try {
    const { startRegistration } = await import('@simplewebauthn/browser');
    field.value = JSON.stringify(await startRegistration({ optionsJSON }));
    form.submit();
  } catch {
    // The user closed the browser's dialog, or the device already has a passkey for this site.
    problem.hidden = false;
  }
}
