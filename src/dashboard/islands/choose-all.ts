/** Shows the box above a list that ticks those of all rows, and keeps it as they are. Without it each is ticked by itself. */

for (const island of document.querySelectorAll<HTMLElement>('[data-island="choose-all"]')) {
  // Read each time, because a search puts another list in the place of this one.
  const boxes = () => [...island.querySelectorAll<HTMLInputElement>('tbody .choose input')];
  const allBox = () => island.querySelector<HTMLInputElement>('[data-choose-all]');
  const show = () => {
    const all = allBox();
    if (all === null) return;
    const chosen = boxes().filter((box) => box.checked).length;
    all.hidden = false;
    all.checked = chosen > 0 && chosen === boxes().length;
    all.indeterminate = chosen > 0 && !all.checked;
  };
  island.addEventListener('change', ({ target }) => {
    const all = allBox();
    if (all !== null && target === all) for (const box of boxes()) box.checked = all.checked;
    show();
  });
  new MutationObserver(show).observe(island, { childList: true, subtree: true });
  // A page that the browser brings back has the boxes as they were left.
  show();
}
