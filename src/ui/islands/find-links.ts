/**
 * Filters a list of links while the user types. A link stays if each word is in its text, its description or the heading of its section.
 * Enter opens the first link.
 */
for (const island of document.querySelectorAll<HTMLElement>('[data-island="find-links"]')) {
  const field = island.querySelector<HTMLInputElement>('input[type="search"]');
  const status = island.querySelector<HTMLElement>('[data-none]');
  const find = () => {
    const words = (field?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const section of island.querySelectorAll('section')) {
      const items = [...section.querySelectorAll('li')];
      for (const item of items) {
        const text =
          `${item.textContent} ${item.dataset.words} ${section.querySelector('h2')?.textContent}`.toLowerCase();
        item.hidden = !words.every((word) => text.includes(word));
      }
      section.hidden = items.every(({ hidden }) => hidden);
      count += items.filter(({ hidden }) => !hidden).length;
    }
    if (status !== null) status.textContent = count === 0 ? (status.dataset.none ?? '') : '';
  };
  field?.addEventListener('input', find);
  field?.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') island.querySelector<HTMLElement>('li:not([hidden]) a')?.click();
  });
  // When the browser restores a page, the field has the typed words already.
  if (field?.value) find();
}
