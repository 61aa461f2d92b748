/** Decides from the results of a mailing whether it is to be held. docs/canary.md says where the limits come from. */
import type { ResultHeldCode } from '../../database/schema/index.ts';

/** What came of the mails of a mailing so far. */
export interface Results {
  /** Accepted and not returned. */
  delivered: number;
  /** Refused because the address does not exist, or returned. */
  bounces: number;
  /** Refused for good for another reason, or given up. */
  failed: number;
  complaints: number;
}

/** A mailing is not held before it has so many results: fewer say little. */
export const MIN_RESULTS = 200;

/** Each limit: the share of the results that is too much, and how many there must be at least. */
export const LIMITS = [
  { code: 'too_many_bounces', measure: 'bounces', share: 0.05, least: 20 },
  { code: 'too_many_refusals', measure: 'failed', share: 0.05, least: 20 },
  { code: 'too_many_complaints', measure: 'complaints', share: 0.001, least: 5 },
] as const satisfies { code: ResultHeldCode; measure: keyof Results; share: number; least: number }[];

export type LimitCode = (typeof LIMITS)[number]['code'];

/**
 * Standard deviations that a share must be above its limit. It is large because a mailing is looked at after every few mails, and each look
 * is another chance to be wrong.
 */
const DEVIATIONS = 3;

/**
 * The first limit that the results are past beyond chance, leaving out those that `passed` names; null when there is none. A share is past its limit
 * when the lower end of its Wilson interval is (E. B. Wilson, Journal of the American Statistical Association 22, 1927).
 */
export function exceededLimit(results: Results, passed: readonly string[] = []): LimitCode | null {
  const count = countResults(results);
  if (count < MIN_RESULTS) return null;
  const found = LIMITS.find(
    ({ code, measure, share, least }) =>
      !passed.includes(code) && results[measure] >= least && lowerBound(results[measure], count) > share,
  );
  return found?.code ?? null;
}

/** How many mails have a result. */
export function countResults({ delivered, bounces, failed }: Results): number {
  return delivered + bounces + failed;
}

/** The lower end of the Wilson interval for the share of `hits` in `count`, which is above 0. */
function lowerBound(hits: number, count: number): number {
  const share = Math.min(1, hits / count);
  const square = DEVIATIONS ** 2 / count;
  const spread = DEVIATIONS * Math.sqrt((share * (1 - share) + square / 4) / count);
  return (share + square / 2 - spread) / (1 + square);
}
