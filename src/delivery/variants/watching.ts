/**
 * Computes what a running A/B test shows to somebody who reads it as often as they like. The intervals hold at all readings together, so
 * that whoever stops at the first reading with a difference is wrong in at most 5 % of tests. docs/contributing/statistics.md has the
 * formulas.
 */
import { ERROR_RATE, type Group, highestOf, pairsOf } from './statistics.ts';

/** How much higher one rate or mean is than another, with an interval that holds at all readings together. */
export interface Difference {
  difference: number;
  low: number;
  high: number;
}

/** What is known about the groups of a running test. */
interface Standing {
  /** The index of the group with the highest rate. */
  leader: number;
  /** Indexes of the groups whose rate is lower than the leader's beyond chance. */
  worse: number[];
  /** For each group, how much lower its rate is than the leader's; null for the leader. */
  behind: (Difference | null)[];
}

/**
 * The parameter `ρ` of the normal mixture. The interval is narrowest at about nine times as much information (Howard et al. 2021, section
 * 3.5), which two equal groups have after 176 successes together.
 */
const MIXTURE = 5;

/**
 * Compares each group with the group that has the highest rate. Every pair of groups has an interval, with the error rate divided by the
 * number of pairs (Bonferroni), so the intervals hold whichever group is ahead.
 */
export function standingOf(groups: readonly Group[]): Standing {
  const leader = highestOf(groups);
  const ahead = groups[leader];
  const behind = groups.map((group, at) =>
    at === leader || ahead === undefined ? null : watchedDifference(ahead, group, pairsOf(groups.length)),
  );
  return { leader, behind, worse: behind.flatMap((difference, at) => (difference && difference.low > 0 ? [at] : [])) };
}

/**
 * Returns the rate of the first group minus the rate of the second, with a confidence sequence: an interval that holds at all readings
 * together with 95 %, or with more if it is one of several `pairs`. It is the normal mixture of Robbins ("Statistical methods related to
 * the law of the iterated logarithm", Ann. Math. Statist. 41, 1970; Howard, Ramdas, McAuliffe, Sekhon, "Time-uniform, nonparametric,
 * nonasymptotic confidence sequences", Ann. Statist. 49, 2021, equation 14), the interval of the mixture SPRT of Johari, Koomen, Pekelis
 * and Walsh ("Always valid inference", Operations Research 70, 2022). The rates and their variance are those of Agresti and Caffo (The
 * American Statistician 54, 2000), so that few successes have no variance of zero. The information grows with people and with the odds of
 * success, because the people of a mailing are known from the beginning, while the successes come later.
 */
export function watchedDifference(first: Group, second: Group, pairs: number): Difference {
  if (first.people === 0 || second.people === 0) return { difference: 0, low: -1, high: 1 };
  const difference = first.successes / first.people - second.successes / second.people;
  const [one, two] = [adjusted(first), adjusted(second)];
  const pooled = (one.successes + two.successes) / (one.people + two.people);
  const information = ((one.people * two.people) / (one.people + two.people)) * (pooled / (1 - pooled));
  const error = ERROR_RATE / pairs;
  const halfWidth = quantileOf(information, MIXTURE, error) * Math.sqrt(one.variance + two.variance);
  const middle = one.successes / one.people - two.successes / two.people;
  return { difference, low: Math.max(-1, middle - halfWidth), high: Math.min(1, middle + halfWidth) };
}

/** Returns a group with one success and one failure more, and the variance of its rate. */
function adjusted({ people, successes }: Group): Group & { variance: number } {
  const rate = (successes + 1) / (people + 2);
  return { people: people + 2, successes: successes + 1, variance: (rate * (1 - rate)) / (people + 2) };
}

interface Values {
  people: number;
  /** The sum of the values. */
  sum: number;
  /** The sum of the squares of the values. */
  squares: number;
}

/**
 * The parameter `ρ` for means, as `MIXTURE` is for rates. The interval is narrowest when the smaller of two unequal groups has about 450
 * people.
 */
const MEANS_MIXTURE = 50;

/**
 * Returns the mean of the first group minus the mean of the second, with an interval as that of `watchedDifference`; null if a group has
 * fewer than two people. The variance is that of both groups together, because a small group of whom few have a value knows little of its
 * own. For means, the confidence sequence is asymptotic (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, "Time-uniform central limit theory
 * and asymptotic confidence sequences", Ann. Statist. 52, 2024).
 */
export function watchedMeans(first: Values, second: Values): Difference | null {
  if (first.people < 2 || second.people < 2) return null;
  const spread = ({ people, sum, squares }: Values) => Math.max(0, squares - sum ** 2 / people);
  const information = (first.people * second.people) / (first.people + second.people);
  const variance = (spread(first) + spread(second)) / (first.people + second.people - 2);
  const difference = first.sum / first.people - second.sum / second.people;
  const halfWidth = quantileOf(information, MEANS_MIXTURE, ERROR_RATE) * Math.sqrt(variance / information);
  return { difference, low: difference - halfWidth, high: difference + halfWidth };
}

/** Returns how many standard errors the interval of the normal mixture is wide on each side. */
function quantileOf(information: number, mixture: number, error: number): number {
  return Math.sqrt((1 + mixture / information) * Math.log((information + mixture) / (mixture * error ** 2)));
}
