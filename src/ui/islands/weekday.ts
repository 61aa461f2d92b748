/** Spells out the chosen date and time of a form: with the weekday and the time zone, and the same time in the user's own zone. */
for (const island of document.querySelectorAll<HTMLElement>('[data-island="weekday"]')) {
  const { locale, zone: own } = JSON.parse(island.dataset.props ?? '{}');
  const day = island.querySelector<HTMLInputElement>('input[type="date"]');
  const time = island.querySelector<HTMLInputElement>('input[type="time"]');
  const zone = island.querySelector<HTMLSelectElement>('select[name="zone"]');
  const place = island.querySelector('[data-weekday]');
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeZone: 'UTC' });
  const show = () => {
    if (place === null || day === null) return;
    const chosen = day.valueAsDate;
    const clock = time?.value ?? '';
    const asked = zone?.value ?? '';
    const parts = [
      chosen && format.format(chosen),
      clock && `${clock} ${zone?.selectedOptions[0]?.text ?? ''}`,
      clock &&
        chosen &&
        asked.match(/^(?:UTC|.*\/.*)$/) &&
        asked !== own &&
        `= ${inOwnZone(`${day.value}T${clock}Z`, asked)}`,
    ];
    place.textContent = chosen === null ? '' : parts.filter(Boolean).join(', ');
  };
  for (const field of [day, time, zone]) field?.addEventListener('input', show);
  show();

  /** Converts a local time in another zone to the user's own zone. */
  function inOwnZone(wall: string, asked: string): string {
    const at = new Date(wall);
    const there = new Date(`${at.toLocaleString('sv', { timeZone: asked }).replace(' ', 'T')}Z`);
    const moment = new Date(2 * at.getTime() - there.getTime());
    const shown = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: own });
    return `${shown.format(moment)} ${own.replaceAll('_', ' ')}`;
  }
}
