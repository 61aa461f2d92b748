/** Schedules as they are given: a date and a time in the installation's zone. */

/** `YYYY-MM-DD` of `2026-03-01` or `26-3-1`, when it is a real date. */
export function parseScheduleDate(text: string): string | null {
  const m = /^(\d{4}|\d{2})-(\d{1,2})-(\d{1,2})$/.exec(text);
  if (m === null) return null;
  const [, y = '', mo = '', d = ''] = m;
  const out = `${y.length === 2 ? `20${y}` : y}-${mo.padStart(2, '0')}-${d.padStart(2, '0')}`;
  const date = new Date(`${out}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(out) ? out : null;
}

/** `HH:MM:SS` of `HH:MM[:SS]`. */
export function parseScheduleTime(text: string): string | null {
  const m = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/.exec(text);
  return m === null ? null : `${m[1]?.padStart(2, '0')}:${m[2]}:${m[3] ?? '00'}`;
}

/** The moment of a wall time in a zone. */
export function toUtc(date: string, time: string, timeZone: string): Date {
  const wanted = Date.parse(`${date}T${time}Z`);
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const offset = (at: number) => Date.parse(`${format.format(at).replace(' ', 'T')}Z`) - at;
  const early = wanted - offset(wanted - 86_400_000);
  return new Date(early + offset(early) === wanted ? early : Math.max(early, wanted - offset(wanted)));
}
