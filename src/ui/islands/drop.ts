/** Makes a form with a file field accept a file that is dropped anywhere on the form. */
for (const island of document.querySelectorAll<HTMLElement>('[data-island="drop"]')) {
  const input = island.querySelector<HTMLInputElement>('input[type="file"]');
  if (input !== null) acceptDrops(island, input);
}

function acceptDrops(island: HTMLElement, input: HTMLInputElement): void {
  const mark = (isOver: boolean) => island.toggleAttribute('data-over', isOver);
  // Drops beside the form are handled too. Otherwise the browser would leave the page and open the dropped file.
  addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = isWithin(event) ? 'copy' : 'none';
    mark(isWithin(event));
  });
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) mark(false);
  });
  addEventListener('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    mark(false);
    const [file] = event.dataTransfer?.files ?? [];
    if (!isWithin(event) || file === undefined) return;
    // A field for one file accepts only a list with one file.
    const transfer = new DataTransfer();
    transfer.items.add(file);
    input.files = transfer.files;
    input.dispatchEvent(new Event('change', { bubbles: true }));
    input.form?.querySelector<HTMLButtonElement>('button')?.focus();
  });

  function isWithin({ target }: Event): boolean {
    return target instanceof Node && island.contains(target);
  }
}

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') ?? false;
}
