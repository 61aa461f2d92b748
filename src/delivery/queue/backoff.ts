/** When a temporary refusal is tried again (decisions §4): about 15 s, 1, 5, 30 minutes, then hourly, for 4 days. */

const MINUTE = 60_000;
const WAITS = [15_000, MINUTE, 5 * MINUTE, 30 * MINUTE] as const;
const HOURLY = 60 * MINUTE;
const GIVE_UP = 4 * 24 * HOURLY;
/** The longest wait with what chance adds, milliseconds. */
export const MAX_WAIT_MS = 1.2 * HOURLY;

/** The moment (in the epoch milliseconds of `now`, which should keep an even pace) of the next try after `attempt` tries, a fifth more or less; null once 4 days have passed. */
export function retryAt(
  attempt: number,
  firstTriedAt: number,
  now: number,
  random: () => number = Math.random,
): number | null {
  if (now - firstTriedAt >= GIVE_UP) return null;
  const wait = WAITS[attempt - 1] ?? HOURLY;
  return Math.round(now + wait * (0.8 + 0.4 * random()));
}
