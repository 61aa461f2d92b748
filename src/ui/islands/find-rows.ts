/** Shows a field above a long list that hides all rows but those with the typed text. Without this script the user scrolls the list. */
for (const island of document.querySelectorAll<HTMLElement>('[data-island="find-rows"]')) {
  const finder = island.querySelector<HTMLElement>('[data-finder]');
  const field = finder?.querySelector('input');
  const status = finder?.querySelector<HTMLElement>('[role="status"]');
  if (!finder || !field || !status) continue;
  const { text = '' }: { text?: string } = JSON.parse(island.dataset.props ?? '{}');
  const rows = [...island.querySelectorAll<HTMLTableRowElement>('tbody tr')];
  finder.hidden = false;
  field.addEventListener('input', (event) => {
    // The form around the list must not notice the event, because it would save itself.
    event.stopPropagation();
    const wanted = field.value.trim().toLocaleLowerCase();
    for (const row of rows) row.hidden = !(row.cells[0]?.textContent ?? '').toLocaleLowerCase().includes(wanted);
    const count = rows.filter((row) => !row.hidden).length;
    status.textContent = text.replace('{count}', String(count)).replace('{all}', String(rows.length));
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') event.preventDefault();
  });
}
