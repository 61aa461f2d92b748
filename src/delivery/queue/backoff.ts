/** When a temporary refusal is tried again (decisions §4): about 15 s, 1, 5, 30 minutes, then hourly, for 4 days. */

const MINUTE_MS = 60_000;
const WAITS_MS = [15_000, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS] as const;
const HOUR_MS = 60 * MINUTE_MS;
const GIVE_UP_AFTER_MS = 4 * 24 * HOUR_MS;
/** The longest wait with what chance adds, milliseconds. */
export const MAX_WAIT_MS = 1.2 * HOUR_MS;

/** The moment (in the epoch milliseconds of `now`, which should keep an even pace) of the next try after `attempt` tries, a fifth more or less; null once 4 days have passed. */
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
