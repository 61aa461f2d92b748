/** Spells out the day that is chosen in a form, with its weekday. */
for (const island of document.querySelectorAll<HTMLElement>('[data-island="weekday"]')) {
  const { locale } = JSON.parse(island.dataset.props ?? '{}');
  const day = island.querySelector<HTMLInputElement>('input[type="date"]');
  const place = island.querySelector('[data-weekday]');
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeZone: 'UTC' });
  const show = () => {
    const chosen = day?.valueAsDate ?? null;
    if (place !== null) place.textContent = chosen === null ? '' : format.format(chosen);
  };
  day?.addEventListener('input', show);
  show();
}
