/** Moves the secret of a login link from the address into the form, and sends it. */

const form = document.querySelector<HTMLFormElement>('[data-island="welcome"] form');
const secret = location.hash.slice(1);
const input = form?.elements.namedItem('secret');
if (form && secret !== '' && input instanceof HTMLInputElement) {
  // So that the secret stays neither in the address bar nor in the history.
  history.replaceState(null, '', location.pathname);
  input.value = secret;
  form.submit();
}
