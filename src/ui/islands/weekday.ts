/** Writes out the chosen date and time of a form, with the weekday and the time zone, and the same time in the user's own time zone. */
for (const island of document.querySelectorAll<HTMLElement>('[data-island="weekday"]')) {
  const { locale, zone: ownZone }: { locale: string; zone: string } = JSON.parse(island.dataset.props ?? '{}');
  const day = island.querySelector<HTMLInputElement>('input[type="date"]');
  const time = island.querySelector<HTMLInputElement>('input[type="time"]');
  const zone = island.querySelector<HTMLSelectElement>('select[name="zone"]');
  const output = island.querySelector('[data-weekday]');
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeZone: 'UTC' });
  const show = () => {
    if (output === null || day === null) return;
    const chosenDay = day.valueAsDate;
    const chosenTime = time?.value ?? '';
    const chosenZone = zone?.value ?? '';
    // The choice of each contact's own time zone or best hour names no zone.
    const isZone = /^(?:UTC|.*\/.*)$/.test(chosenZone);
    const parts = [
      chosenDay && format.format(chosenDay),
      chosenTime && `${chosenTime} ${zone?.selectedOptions[0]?.text ?? ''}`,
      chosenTime &&
        chosenDay &&
        isZone &&
        chosenZone !== ownZone &&
        `= ${inOwnZone(`${day.value}T${chosenTime}Z`, chosenZone)}`,
    ];
    output.textContent = chosenDay === null ? '' : parts.filter(Boolean).join(', ');
  };
  for (const field of [day, time, zone]) field?.addEventListener('input', show);
  show();

  /** Converts the local time of a zone, written as if it were UTC, to the user's own zone. */
  function inOwnZone(localAsUtc: string, fromZone: string): string {
    const guess = new Date(localAsUtc);
    // At the moment `guess`, the clocks of the zone show `clock`. The difference is the offset of the zone.
    const clock = new Date(`${guess.toLocaleString('sv', { timeZone: fromZone }).replace(' ', 'T')}Z`);
    const moment = new Date(2 * guess.getTime() - clock.getTime());
    const ownFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: ownZone });
    return `${ownFormat.format(moment)} ${ownZone.replaceAll('_', ' ')}`;
  }
}
