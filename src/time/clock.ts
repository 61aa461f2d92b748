/** The clock, which tests replace by a controllable one, and the two formats of times in records. */

export interface Clock {
  /** The wall clock. */
  now(): Date;
  /** Milliseconds that never run backwards, for waits and backoff. */
  monotonic(): number;
}

/** Epoch milliseconds before which a clock is certainly wrong, because this release did not exist yet. */
export const RELEASED = Date.UTC(2026, 0);

export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
};

/**
 * Returns a steady clock: epoch milliseconds that start at the wall clock's time and advance with the monotonic clock. Setting the wall
 * clock does not shorten or lengthen a wait that is measured by it.
 */
export function steadyTime(clock: Clock): () => number {
  const ahead = clock.now().getTime() - clock.monotonic();
  return () => Math.floor(ahead + clock.monotonic());
}

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ`, the format of created_at, updated_at and deleted_at. */
export function isoTimestamp(moment: Date): string {
  return `${moment.toISOString().slice(0, -1)}000Z`;
}

/** `YYYY-MM-DD HH:MM:SS` in UTC, the format of sent_at, live_at and send_at. */
export function plainTimestamp(moment: Date): string {
  return moment.toISOString().slice(0, 19).replace('T', ' ');
}

/** The value for a time that does not exist yet, in record fields that are never null. */
export const NO_TIME = '0000-00-00 00:00:00';
