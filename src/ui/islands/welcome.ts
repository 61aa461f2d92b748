/** Moves the secret of a login link from the URL into the form, and submits the form. */

const form = document.querySelector<HTMLFormElement>('[data-island="welcome"] form');
const secret = location.hash.slice(1);
const input = form?.elements.namedItem('secret');
if (form && secret !== '' && input instanceof HTMLInputElement) {
  // Remove the secret from the address bar and from the browser's history.
  history.replaceState(null, '', location.pathname);
  input.value = secret;
  form.submit();
}
