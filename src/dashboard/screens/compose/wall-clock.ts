/** What a clock on the wall shows. */

/** The day (YYYY-MM-DD) and time (HH:MM:SS) of a moment in a time zone. */
export function wallClock(moment: Date, timeZone: string): { date: string; time: string } {
  const options = { timeZone, dateStyle: 'short', timeStyle: 'medium', hourCycle: 'h23' } as const;
  // Swedish writes 2026-11-22 09:00:00.
  const [date = '', time = ''] = new Intl.DateTimeFormat('sv-SE', options).format(moment).split(' ');
  return { date, time };
}
