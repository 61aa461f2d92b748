/** Offers the cities of the chosen country with a name that begins with the typed text. Without this script the whole name is typed. */

/** How long no key must be pressed before the cities are requested. */
const PAUSE_MS = 200;

for (const island of document.querySelectorAll<HTMLElement>('[data-island="cities"]')) {
  const field = island.querySelector('input');
  const list = island.querySelector('datalist');
  const country = field?.form?.querySelector<HTMLSelectElement>('select[name="country_id"]');
  if (field && list && country) offer(field, list, country);
}

function offer(field: HTMLInputElement, list: HTMLDataListElement, country: HTMLSelectElement): void {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let lastRequest = new AbortController();
  const update = async () => {
    lastRequest.abort();
    lastRequest = new AbortController();
    const { signal } = lastRequest;
    try {
      const query = new URLSearchParams({ country_id: country.value, city: field.value });
      const response = await fetch(`/settings/senders/cities?${query}`, { signal });
      const names: unknown = response.ok ? await response.json() : [];
      if (!Array.isArray(names)) return;
      list.replaceChildren(...names.map((name) => new Option('', String(name))));
    } catch {
      // Without offers the whole name is typed.
    }
  };
  field.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(update, PAUSE_MS);
  });
}
