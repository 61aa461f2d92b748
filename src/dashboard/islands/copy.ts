/** Puts a button beside a text that copies it. Browsers let pages copy over https and on the machine itself only. */

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
    // Where the browser refuses, the text can be selected: one click takes all of it.
    navigator.clipboard.writeText(text).then(
      () => {
        status.textContent = done;
      },
      () => undefined,
    );
  });
  island.append(button, status);
}
