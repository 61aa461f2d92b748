/** Filters the links of a list while the user types: a link stays if its text or description contains each typed word. */
for (const island of document.querySelectorAll<HTMLElement>('[data-island="find-links"]')) {
  const box = island.querySelector<HTMLInputElement>('input[type="search"]');
  const status = island.querySelector<HTMLElement>('[data-none]');
  const find = () => {
    const words = (box?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
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
  box?.addEventListener('input', find);
  box?.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') island.querySelector<HTMLElement>('li:not([hidden]) a')?.click();
  });
  // A page that the browser brings back has what was typed.
  if (box?.value) find();
}
