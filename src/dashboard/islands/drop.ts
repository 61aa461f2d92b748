/** Lets a file be dropped anywhere on a form with a file field, not on the field alone. */

for (const island of document.querySelectorAll<HTMLElement>('[data-island="drop"]')) {
  const input = island.querySelector<HTMLInputElement>('input[type="file"]');
  if (input !== null) takeDrops(island, input);
}

function takeDrops(island: HTMLElement, input: HTMLInputElement): void {
  const mark = (isOver: boolean) => island.toggleAttribute('data-over', isOver);
  // A browser opens a file that is dropped where no page takes it, and leaves the page for it.
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
    // A field for one file takes a list of one file only.
    const one = new DataTransfer();
    one.items.add(file);
    input.files = one.files;
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
