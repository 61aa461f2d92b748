/** Shows the box above a list that ticks those of all rows, and keeps it as they are. Without it each is ticked by itself. */

for (const island of document.querySelectorAll<HTMLElement>('[data-island="choose-all"]')) {
  const all = island.querySelector<HTMLInputElement>('[data-choose-all]');
  const boxes = [...island.querySelectorAll<HTMLInputElement>('tbody .choose input')];
  if (all === null) continue;
  const show = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    all.checked = chosen === boxes.length;
    all.indeterminate = chosen > 0 && chosen < boxes.length;
  };
  all.hidden = false;
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = all.checked;
  });
  for (const box of boxes) box.addEventListener('change', show);
  // A page that the browser brings back has the boxes as they were left.
  show();
}
