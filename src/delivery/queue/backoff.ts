/** The retry schedule after temporary refusals: after about 15 s, 1, 5 and 30 minutes, then hourly, for 4 days. */

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../units.ts';

const WAITS_MS = [15_000, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS] as const;
/** How long a mail that cannot be sent is retried or waits, in milliseconds. */
export const GIVE_UP_AFTER_MS = 4 * DAY_MS;
/** The longest wait between two attempts, including the random part, in milliseconds. */
export const MAX_WAIT_MS = 1.2 * HOUR_MS;

/**
 * Returns when to try again after `attempt` attempts, in epoch milliseconds; null if 4 days have passed since the first attempt. The wait
 * varies randomly by a fifth, so that retries spread out. `now` should come from a clock that cannot be set, such as `steadyTime`.
 */
export function retryAt(
  attempt: number,
  firstTriedAt: number,
  now: number,
  random: () => number = Math.random,
): number | null {
  if (now - firstTriedAt >= GIVE_UP_AFTER_MS) return null;
  const wait = WAITS_MS[attempt - 1] ?? HOUR_MS;
  return Math.round(now + wait * (0.8 + 0.4 * random()));
}
