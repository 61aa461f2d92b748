/** Counts down the seconds in elements with `data-countdown`, also in those that come later. */

interface Counting {
  /** How many were left when the element came into the page. */
  seconds: number;
  locale: string;
  /** With how long as `{when}`. */
  text: string;
}

const SECOND_MS = 1000;
const MINUTE = 60;
/** When each element was first seen. */
const since = new WeakMap<Element, number>();

export function countDown(): void {
  setInterval(showAll, SECOND_MS);
  showAll();
}

function showAll(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-countdown]')) {
    const { seconds, locale, text }: Counting = JSON.parse(element.dataset.countdown ?? '{}');
    const from = since.get(element) ?? performance.now();
    since.set(element, from);
    const left = Math.max(0, Math.round(seconds - (performance.now() - from) / SECOND_MS));
    const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
    const when = left < 2 * MINUTE ? format.format(left, 'second') : format.format(Math.ceil(left / MINUTE), 'minute');
    element.textContent = text.replace('{when}', when);
  }
}
