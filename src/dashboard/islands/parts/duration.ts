/** Lengths of time in words. */

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A length of time in its two largest units, such as “1 hr 20 min”. */
export function duration(locale: string, seconds: number): string {
  const shown: string[] = [];
  let rest = Math.max(1, Math.round(seconds));
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' });
    if (count > 0) shown.push(format.format(count));
  }
  return shown.slice(0, 2).join(' ');
}
