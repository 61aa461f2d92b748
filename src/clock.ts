/** Time as the program sees it, so that tests can walk it, and its two wire forms. */

export interface Clock {
  /** The wall clock. */
  now(): Date;
  /** Milliseconds that never run backwards, for waits and backoff. */
  monotonic(): number;
}

/** No moment before this release was made is true, epoch milliseconds. */
export const RELEASED = Date.UTC(2026, 0);

export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
};

/**
 * Gives epoch milliseconds that begin at the wall clock's and go on at the monotonic clock's pace: a wait measured by them does
 * not notice when the wall clock is set (trust 11).
 */
export function steadyTime(clock: Clock): () => number {
  const ahead = clock.now().getTime() - clock.monotonic();
  return () => Math.floor(ahead + clock.monotonic());
}

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ`, the form of created_at, updated_at and deleted_at (interface "Resources and their fields"). */
export function isoTimestamp(moment: Date): string {
  return `${moment.toISOString().slice(0, -1)}000Z`;
}

/** `YYYY-MM-DD HH:MM:SS` in UTC, the form of sent_at, live_at and send_at (interface "Resources and their fields"). */
export function plainTimestamp(moment: Date): string {
  return moment.toISOString().slice(0, 19).replace('T', ' ');
}

/** The value of a plain time that does not exist yet but may not be null (decisions §2). */
export const NO_TIME = '0000-00-00 00:00:00';
