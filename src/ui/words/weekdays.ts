/** The names of the weekdays. */

import { DAY_MS } from '../../units.ts';
import type { Language } from './index.ts';

/** A Monday. */
const MONDAY = Date.UTC(2024, 0, 1);

/** The numbers of the weekdays. 1 is Monday. */
export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7] as const;

/** Returns the name of the weekday with this number in the user's language. */
export function weekdayName({ locale }: Language, day: number): string {
  return new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' }).format(MONDAY + (day - 1) * DAY_MS);
}
