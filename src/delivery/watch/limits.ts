/** Decides from the results of a mailing whether to hold it. docs/canary.md explains where the limits come from. */
import type { ResultHeldCode } from '../../database/schema/index.ts';

/** The results of a mailing so far. */
export interface Results {
  /** The number of mails that were accepted and did not bounce. */
  delivered: number;
  /** The number of mails that bounced, or were refused because the address does not exist. */
  bounces: number;
  /** The number of mails that were given up, or permanently refused for another reason. */
  failed: number;
  complaints: number;
}

/** The number of results from which a mailing may be held. Fewer results are not reliable. */
export const MIN_RESULTS = 200;

/**
 * The limits. `share` is the maximum share of the results, and `least` is the number of results of that kind from which the limit applies.
 */
export const LIMITS = [
  { code: 'too_many_bounces', measure: 'bounces', share: 0.05, least: 20 },
  { code: 'too_many_refusals', measure: 'failed', share: 0.05, least: 20 },
  { code: 'too_many_complaints', measure: 'complaints', share: 0.001, least: 5 },
] as const satisfies { code: ResultHeldCode; measure: keyof Results; share: number; least: number }[];

export type LimitCode = (typeof LIMITS)[number]['code'];

/**
 * The number of standard deviations by which a share must be above its limit. The number is large because a mailing is checked after every
 * few mails, and each check is another chance of a false alarm.
 */
const DEVIATIONS = 3;

/**
 * Returns the first limit that the results exceed with statistical significance, ignoring the limits in `passed`; null if there is none. A
 * share exceeds its limit if the lower end of its Wilson interval does (E. B. Wilson, Journal of the American Statistical Association 22,
 * 1927).
 */
export function exceededLimit(results: Results, passed: readonly string[] = []): LimitCode | null {
  const count = countResults(results);
  if (count < MIN_RESULTS) return null;
  const exceeded = LIMITS.find(
    ({ code, measure, share, least }) =>
      !passed.includes(code) && results[measure] >= least && lowerBound(results[measure], count) > share,
  );
  return exceeded?.code ?? null;
}

/** Returns the number of mails that have a result. */
export function countResults({ delivered, bounces, failed }: Results): number {
  return delivered + bounces + failed;
}

/** Returns the lower end of the Wilson interval for the share of `hits` in `count`, which must be above 0. */
function lowerBound(hits: number, count: number): number {
  const share = Math.min(1, hits / count);
  const square = DEVIATIONS ** 2 / count;
  const spread = DEVIATIONS * Math.sqrt((share * (1 - share) + square / 4) / count);
  return (share + square / 2 - spread) / (1 + square);
}
