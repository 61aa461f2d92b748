/** Adds a button next to a text that copies the text. Browsers allow this only over https and on localhost. */
const islands = document.querySelectorAll<HTMLElement>('[data-island="copy"]');
if (navigator.clipboard) for (const island of islands) addButton(island);

function addButton(island: HTMLElement): void {
  const text = island.querySelector('code')?.textContent;
  if (!text) return;
  const { label, done }: { label: string; done: string } = JSON.parse(island.dataset.props ?? '{}');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain';
  button.textContent = label;
  const status = document.createElement('span');
  status.setAttribute('role', 'status');
  status.className = 'quiet-text';
  button.addEventListener('click', () => {
    // If the browser refuses, the user can copy the text by hand: one click selects the whole text.
    navigator.clipboard.writeText(text).then(
      () => {
        status.textContent = done;
      },
      () => undefined,
    );
  });
  island.append(button, status);
}
