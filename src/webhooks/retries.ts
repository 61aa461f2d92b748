/** When an event that an endpoint did not take is tried again. */

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The waits after each failed attempt, 72 hours together. After the attempt that follows the last one it is over. */
const DELAYS_MS = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  18 * HOUR_MS,
  22.4 * HOUR_MS,
];
/** Up to a tenth more, so that events which failed together do not come back together. */
const JITTER = 0.1;

/** Milliseconds until the next attempt after this many failed ones; null: none follows. `random` is from 0 to 1. */
export function retryDelay(attempts: number, random: number): number | null {
  const delay = DELAYS_MS[attempts - 1];
  return delay === undefined ? null : Math.round(delay * (1 + JITTER * random));
}
