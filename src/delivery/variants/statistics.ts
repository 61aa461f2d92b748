/**
 * The statistics of A/B tests, on plain numbers: which variant won, how precise a rate is, and how small a difference can be detected.
 * docs/contributing/statistics.md has the formulas with their sources.
 */

/** The number of recipients in a group who got the mail, and the number of these who did what is measured. */
export interface Group {
  people: number;
  successes: number;
}

/** The result of a test. `variant` is the index of the group whose mail the rest of the audience gets. */
export interface Decision {
  verdict: 'winner' | 'no_difference';
  variant: number;
  /** Indexes of the groups that are significantly worse than the winner; empty without a winner. */
  better_than: number[];
  /** Indexes of the groups that are significantly worse than the group with the highest rate, even if there is no winner. */
  worse: number[];
}

/** The share of tests without a real difference in which a difference may be claimed by mistake. */
export const ERROR_RATE = 0.05;
/** The quantile of the standard normal distribution for finding a real difference in 80 % of tests. */
const Z_POWER = 0.841621;
/** The quantile of the standard normal distribution for a 95 % confidence interval. */
const Z_INTERVAL = 1.959964;

/**
 * Returns the winner: the group with the highest rate, if it is significantly better than group 0; or group 0, if it has the highest rate
 * and is significantly better than another group. Without a winner the rest of the audience gets the mail of group 0. Each pair of groups
 * is compared by Fisher's exact test. The error rate is divided by the number of pairs (Bonferroni; Dunn, "Multiple comparisons among
 * means", JASA 56, 1961), so that any difference, of the winner or of a worse group, is wrongly claimed in at most 5 % of tests.
 */
export function findWinner(groups: readonly Group[]): Decision {
  const best = highestOf(groups);
  const winner = groups[best];
  const threshold = ERROR_RATE / 2 / pairsOf(groups.length);
  const worse = groups.flatMap((group, at) =>
    at !== best && winner !== undefined && pValueOf(winner, group) <= threshold ? [at] : [],
  );
  const isFound = best === 0 ? worse.length > 0 : worse.includes(0);
  return isFound
    ? { verdict: 'winner', variant: best, better_than: worse, worse }
    : { verdict: 'no_difference', variant: 0, better_than: [], worse };
}

/** Returns the index of the group with the highest rate; the first of them if several have it. */
export function highestOf(groups: readonly Group[]): number {
  const rates = groups.map(({ people, successes }) => (people === 0 ? 0 : successes / people));
  return rates.indexOf(Math.max(...rates));
}

/** Returns the number of pairs among this number of groups. */
export function pairsOf(groups: number): number {
  return (groups * (groups - 1)) / 2;
}

/**
 * Returns the p-value: the probability that chance alone gives the first group at least this number of successes, if both groups have the same rate, by
 * the one-sided form of Fisher's exact test.
 */
export function pValueOf(better: Group, worse: Group): number {
  const successes = better.successes + worse.successes;
  const people = better.people + worse.people;
  const most = Math.min(successes, better.people);
  let term = Math.exp(
    logChoose(better.people, better.successes) +
      logChoose(worse.people, worse.successes) -
      logChoose(people, successes),
  );
  let sum = 0;
  // The probability of one more success in the first group follows from the probability before.
  for (let first = better.successes; first <= most; first++) {
    sum += term;
    if (term < sum * 1e-12) break;
    term *= ((better.people - first) * (successes - first)) / ((first + 1) * (worse.people - successes + first + 1));
  }
  return Math.min(1, sum);
}

/** A 95 % confidence interval. */
export interface Interval {
  low: number;
  high: number;
}

/**
 * Returns the 95 % confidence interval of the rate of the first group minus the rate of the second, from the intervals of both (Newcombe
 * 1998, "Interval estimation for the difference between independent proportions", method 10); -1 to 1 if a group is empty.
 */
export function differenceInterval(first: Group, second: Group): Interval {
  if (first.people === 0 || second.people === 0) return { low: -1, high: 1 };
  const [p, q] = [first.successes / first.people, second.successes / second.people];
  const [ofFirst, ofSecond] = [rateInterval(first), rateInterval(second)];
  return {
    low: p - q - Math.hypot(p - ofFirst.low, ofSecond.high - q),
    high: p - q + Math.hypot(ofFirst.high - p, q - ofSecond.low),
  };
}

/** Returns the 95 % confidence interval of a rate, by Wilson's formula; 0 to 1 for an empty group. */
export function rateInterval({ people, successes }: Group): Interval {
  if (people === 0) return { low: 0, high: 1 };
  const rate = successes / people;
  const square = Z_INTERVAL ** 2;
  const middle = rate + square / (2 * people);
  const halfWidth = Z_INTERVAL * Math.sqrt((rate * (1 - rate)) / people + square / (4 * people ** 2));
  const scale = 1 + square / people;
  return { low: Math.max(0, (middle - halfWidth) / scale), high: Math.min(1, (middle + halfWidth) / scale) };
}

/**
 * Returns how much higher than `base` a rate must be to be detected in four of five tests, for groups of this size and number; null if no
 * rate is detected that often. Uses the formula for two proportions, with the correction for the exact test.
 */
export function smallestDifference(people: number, groups: number, base: number): number | null {
  if (people < 1) return null;
  const quantile = normalQuantile(1 - ERROR_RATE / 2 / pairsOf(groups));
  const isFound = (difference: number) => {
    const corrected = 1 - 1 / (people * difference);
    if (corrected <= 0) return false;
    const higher = base + difference;
    const mean = (base + higher) / 2;
    const needed =
      (quantile * Math.sqrt(2 * mean * (1 - mean)) + Z_POWER * Math.sqrt(base * (1 - base) + higher * (1 - higher))) **
        2 /
      difference ** 2;
    return people * corrected ** 2 >= needed;
  };
  let high = 1 - base;
  if (!isFound(high)) return null;
  let low = 0;
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    if (isFound(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Returns a quantile of the standard normal distribution, found by bisection. `probability` is at least one half. */
function normalQuantile(probability: number): number {
  let low = 0;
  let high = 10;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (normalBelow(middle) < probability) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the probability that a standard normal variable is below `value`, which is from 0 to 10, by its series (Marsaglia 2004). */
function normalBelow(value: number): number {
  let term = value;
  let sum = value;
  for (let odd = 3; term > sum * 1e-16; odd += 2) {
    term *= value ** 2 / odd;
    sum += term;
  }
  return 0.5 + (sum * Math.exp(-(value ** 2) / 2)) / Math.sqrt(2 * Math.PI);
}

/** Returns the logarithm of the number of ways to choose `some` of `all`. */
function logChoose(all: number, some: number): number {
  return logFactorial(all) - logFactorial(some) - logFactorial(all - some);
}

/** Returns the logarithm of a factorial: by Stirling's series, or for numbers below 16 as the product itself. */
function logFactorial(number: number): number {
  if (number < 16) {
    let product = 1;
    for (let factor = 2; factor <= number; factor++) product *= factor;
    return Math.log(product);
  }
  const after = number + 1;
  const inverse = 1 / after;
  return (
    (after - 0.5) * Math.log(after) -
    after +
    0.5 * Math.log(2 * Math.PI) +
    inverse / 12 -
    inverse ** 3 / 360 +
    inverse ** 5 / 1260
  );
}
