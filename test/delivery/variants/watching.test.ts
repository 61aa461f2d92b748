/** The intervals of a running A/B test, which somebody may read as often as they like. */
import t from 'tap';
import { watch } from '../../../fixtures/watched-tests.ts';
import { standingOf, watchedDifference } from '../../../src/delivery/variants/watching.ts';

const SAME = [
  [100, [0.2, 0.2]],
  [1000, [0.02, 0.02]],
  [1000, [0.1, 0.1]],
  [500, [0.1, 0.1, 0.1]],
] as const;
const DIFFERENT = [
  [1000, [0.02, 0.05]],
  [500, [0.3, 0.5]],
  [500, [0.1, 0.112, 0.06]],
] as const;

t.test('whoever stops at the first of 24 looks that shows a difference is wrong in at most 5 % of tests', async (t) => {
  let worst = 0;
  for (const arrival of ['at_once', 'one_by_one'] as const)
    for (const [people, rates] of SAME) {
      const { wrong, wrongByOneLook } = watch(31, { tests: 1000, people, rates, arrival });
      t.ok(wrong <= 0.05, `${arrival}, ${people} people, rates ${rates}: ${wrong}`);
      worst = Math.max(worst, wrongByOneLook);
    }
  t.ok(worst > 0.1, `the test for one look would be wrong in up to ${worst}`);
});

t.test('the true difference is in the interval at all of 24 looks in at least 94 % of tests', async (t) => {
  for (const arrival of ['at_once', 'one_by_one'] as const)
    for (const [people, rates] of [...SAME, ...DIFFERENT]) {
      const { covered } = watch(37, { tests: 500, people, rates, arrival });
      t.ok(covered >= 0.94, `${arrival}, ${people} people, rates ${rates}: ${covered}`);
    }
});

t.test('a clear difference is found, and groups without people or successes show none', async (t) => {
  const of = (...successes: number[]) => standingOf(successes.map((some) => ({ people: 1000, successes: some })));
  const { leader, worse, behind } = of(100, 112, 60);
  t.strictSame({ leader, worse }, { leader: 1, worse: [2] });
  t.strictSame(
    behind.map((difference) => difference?.difference.toFixed(3)),
    ['0.012', undefined, '0.052'],
  );
  t.strictSame(of(20, 60).worse, [0]);
  t.strictSame(of(0, 0, 0).worse, []);
  const nobody = { people: 0, successes: 0 };
  t.strictSame(watchedDifference(nobody, { people: 10, successes: 10 }, 1), { difference: 0, low: -1, high: 1 });
  t.strictSame(standingOf([nobody, nobody]).worse, []);
  const all = watchedDifference({ people: 10, successes: 10 }, { people: 10, successes: 10 }, 1);
  t.ok(all.low < 0 && all.high > 0, 'with successes only, too');
});
