/** Time as the program sees it, so that tests can walk it, and its two wire forms. */

export interface Clock {
  /** The wall clock. */
  now(): Date;
  /** Milliseconds that never run backwards, for waits and backoff. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
};

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ`, the form of created_at, updated_at and deleted_at (interface "Resources and their fields"). */
export function wireTime(moment: Date): string {
  return `${moment.toISOString().slice(0, -1)}000Z`;
}

/** `YYYY-MM-DD HH:MM:SS` in UTC, the form of sent_at, live_at and send_at (interface "Resources and their fields"). */
export function plainTime(moment: Date): string {
  return moment.toISOString().slice(0, 19).replace('T', ' ');
}

/** The value of a plain time that does not exist yet but may not be null (decisions §2). */
export const NO_TIME = '0000-00-00 00:00:00';
