/**
 * Shows a checkbox above a list that selects all rows, and keeps it up to date. Without this script the user selects each row on its
 * own.
 */

for (const island of document.querySelectorAll<HTMLElement>('[data-island="choose-all"]')) {
  // The elements are looked up each time, because a search replaces the list.
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
  // Some rows may be selected already, because a browser that restores a page also restores its checkboxes.
  show();
}
