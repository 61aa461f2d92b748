/** The decision of A/B tests: false winners, the differences that are found, and known values of the formulas. */
import t from 'tap';
import { randomOf } from '../../../fixtures/random.ts';
import {
  findWinner,
  type Group,
  pValueOf,
  rateInterval,
  smallestDifference,
} from '../../../src/delivery/variants/statistics.ts';

const TESTS = 10_000;

/** Groups of so many people whose members each succeed with the probability of their group. */
function drawGroups(random: () => number, people: number, rates: readonly number[]): Group[] {
  return rates.map((rate) => {
    let successes = 0;
    for (let person = 0; person < people; person++) if (random() < rate) successes++;
    return { people, successes };
  });
}

/** In what share of tests a group other than those in `right` wins, and in what share one of those does. */
function shares(seed: number, tests: number, people: number, rates: readonly number[], right: readonly number[] = []) {
  const random = randomOf(seed);
  let wrong = 0;
  let found = 0;
  for (let test = 0; test < tests; test++) {
    const { verdict, variant } = findWinner(drawGroups(random, people, rates));
    if (verdict === 'winner' && right.includes(variant)) found++;
    else if (verdict === 'winner') wrong++;
  }
  return { wrong: wrong / tests, found: found / tests };
}

t.test('of 10 000 tests of the same mail against itself, at most 5 % have a winner', async (t) => {
  for (const [people, rate] of [
    [40, 0.3],
    [500, 0.2],
    [1000, 0.02],
  ] as const)
    for (const variants of [2, 4]) {
      const { wrong } = shares(19, TESTS, people, Array<number>(variants).fill(rate));
      t.ok(wrong <= 0.05, `${variants} variants, ${people} people each, rate ${rate}: ${wrong}`);
    }
});

t.test('a difference of the size that is stated is found in about four of five tests', async (t) => {
  for (const [people, base, variants] of [
    [500, 0.2, 2],
    [2000, 0.02, 2],
    [500, 0.2, 4],
  ] as const) {
    const difference = smallestDifference(people, variants, base) ?? 0;
    const rates = Array<number>(variants).fill(base);
    rates[1] = base + difference;
    const { found, wrong } = shares(7, 2000, people, rates, [1]);
    t.ok(found > 0.77 && found < 0.87, `${variants} variants: ${difference} is found in ${found}`);
    t.ok(wrong < 0.01, 'no other wins');
  }
});

t.test(
  'a mail as good as another, both better than A, wins over A without being called better than the other',
  async (t) => {
    const people = 1000;
    t.strictSame(
      findWinner([
        { people, successes: 100 },
        { people, successes: 202 },
        { people, successes: 200 },
      ]),
      { verdict: 'winner', variant: 1, better_than: [0], worse: [0] },
    );
  },
);

t.test('without a difference, without people and without successes there is no winner and A goes on', async (t) => {
  const none = { verdict: 'no_difference', variant: 0, better_than: [], worse: [] };
  for (const groups of [
    [
      { people: 100, successes: 20 },
      { people: 100, successes: 21 },
    ],
    [
      { people: 0, successes: 0 },
      { people: 0, successes: 0 },
    ],
    [
      { people: 5, successes: 0 },
      { people: 0, successes: 0 },
    ],
  ])
    t.strictSame(findWinner(groups), none);
});

t.test('without a winner, the variants that are clearly worse than the best are named', async (t) => {
  const of = (...successes: number[]) => findWinner(successes.map((some) => ({ people: 1000, successes: some })));
  const none = { verdict: 'no_difference', variant: 0, better_than: [] };
  t.strictSame(of(100, 112, 60), { ...none, worse: [2] });
  t.strictSame(of(150, 100, 160), { ...none, worse: [1] }, 'C is better than B, and no better than A');
  t.strictSame(of(100, 112, 60, 50), { ...none, worse: [2, 3] });
});

t.test('of tests of one mail against itself, in at most 5 % is any variant called worse', async (t) => {
  const random = randomOf(23);
  for (const variants of [3, 4]) {
    let wrong = 0;
    for (let test = 0; test < 4000; test++) {
      const { worse } = findWinner(drawGroups(random, 500, Array<number>(variants).fill(0.2)));
      if (worse.length > 0) wrong++;
    }
    t.ok(wrong / 4000 <= 0.05, `${variants} variants: ${wrong / 4000}`);
  }
});

t.test("Fisher's test and Wilson's interval give the values of the literature", async (t) => {
  // Fisher 1935, the lady tasting tea: three of four right, and all four.
  t.ok(Math.abs(pValueOf({ people: 4, successes: 3 }, { people: 4, successes: 1 }) - 17 / 70) < 1e-12);
  t.ok(Math.abs(pValueOf({ people: 4, successes: 4 }, { people: 4, successes: 0 }) - 1 / 70) < 1e-12);
  // Newcombe 1998, table I: 81 of 263 and 0 of 20.
  const { low, high } = rateInterval({ people: 263, successes: 81 });
  t.strictSame([low.toFixed(4), high.toFixed(4)], ['0.2553', '0.3662']);
  t.equal(rateInterval({ people: 20, successes: 0 }).high.toFixed(4), '0.1611');
  t.strictSame(rateInterval({ people: 0, successes: 0 }), { low: 0, high: 1 });
});

t.test('large groups are compared without loss, and few people can show no difference', async (t) => {
  const people = 1_000_000;
  t.equal(
    findWinner([
      { people, successes: 200_000 },
      { people, successes: 202_000 },
    ]).variant,
    1,
  );
  t.equal(
    findWinner([
      { people, successes: 200_000 },
      { people, successes: 200_300 },
    ]).verdict,
    'no_difference',
  );
  t.equal(smallestDifference(3, 2, 0.2), null);
  t.equal(smallestDifference(0, 2, 0.2), null);
  // Fleiss, Levin and Paik 2003, table A.4: 0.4 against 0.6 takes 107 people in each group.
  t.ok(Math.abs((smallestDifference(107, 2, 0.4) ?? 0) - 0.2) < 0.002);
});
