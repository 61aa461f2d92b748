/** The clock, which tests replace by a controllable one, and the formats of days and times in records. */

export interface Clock {
  /** The wall clock. */
  now(): Date;
  /** Milliseconds on a clock that never runs backwards, for waits and backoff. */
  monotonic(): number;
}

/** The date of this release in epoch milliseconds. A clock that shows an earlier time is certainly wrong. */
export const RELEASED = Date.UTC(2026, 0);

export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
};

/**
 * Returns a steady clock: its epoch milliseconds start at the wall clock's time and advance with the monotonic clock. A wait that is
 * measured by a steady clock does not change when the wall clock is set.
 */
export function steadyTime(clock: Clock): () => number {
  const offset = clock.now().getTime() - clock.monotonic();
  return () => Math.floor(offset + clock.monotonic());
}

/** Formats a moment as `YYYY-MM-DDTHH:MM:SS.ffffffZ`, the format of created_at, updated_at and deleted_at. */
export function isoTimestamp(moment: Date): string {
  return `${moment.toISOString().slice(0, -1)}000Z`;
}

/** Formats a moment as `YYYY-MM-DD HH:MM:SS` in UTC, the format of sent_at, live_at and send_at. */
export function plainTimestamp(moment: Date): string {
  return moment.toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length).replace('T', ' ');
}

/** Formats the day of a moment (a `Date` or epoch milliseconds) as `YYYY-MM-DD` in UTC. */
export function dayOf(moment: Date | number): string {
  return new Date(moment).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** Returns true if a text is a day that exists, as `YYYY-MM-DD`. `Date.parse` alone takes the 30th of February for the 2nd of March. */
export function isDay(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(at) && dayOf(at) === text;
}

/** The value of a time that does not exist yet, in fields of records that are never null. */
export const NO_TIME = '0000-00-00 00:00:00';
