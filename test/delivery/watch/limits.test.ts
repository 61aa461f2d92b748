/** The limits at which a send is held, on simulated sends with a fixed seed: false holds, and mails that leave before a right one. */
import t from 'tap';
import { type Rates, simulate } from '../../../fixtures/canary-runs.ts';
import { randomOf } from '../../../fixtures/random.ts';
import { DomainSpread } from '../../../src/delivery/watch/domain-spread.ts';
import { exceededLimit } from '../../../src/delivery/watch/limits.ts';

const RUNS = 100;

t.test('at 4 % bounces, or half of the limit of complaints, at most 1 in 100 sends to 50 000 is held', async (t) => {
  for (const rates of [{ bounces: 0.04 }, { failed: 0.04 }, { complaints: 0.0005 }] satisfies Rates[]) {
    const { held } = simulate({ people: 50_000, ratesAt: () => rates }, RUNS, randomOf(7));
    t.ok(held <= 1, `${held}: ${JSON.stringify(rates)}`);
  }
});

t.test('every send with twice a limit is held, in 95 of 100 cases after fewer mails than said', async (t) => {
  for (const [rates, mails] of [
    [{ bounces: 0.1 }, 700],
    [{ failed: 0.1 }, 700],
    [{ bounces: 0.2 }, 240],
    [{ complaints: 0.005 }, 4000],
    [{ complaints: 0.01 }, 1500],
  ] satisfies [Rates, number][]) {
    const { held, most } = simulate({ people: 50_000, ratesAt: () => rates }, RUNS, randomOf(11));
    t.equal(held, RUNS, JSON.stringify(rates));
    t.ok(most !== null && most <= mails, `${most}: ${JSON.stringify(rates)}`);
  }
});

t.test('a canary finds what is at the end of the list; without one most of it has left by then', async (t) => {
  const ratesAt = (place: number) => ({ bounces: place >= 45_000 ? 0.9 : 0.01 });
  const without = simulate({ people: 50_000, ratesAt }, 20, randomOf(3));
  t.ok(without.half !== null && without.half > 45_000, `${without.half}`);
  const withCanary = simulate({ people: 50_000, ratesAt, canaryPercent: 2 }, 20, randomOf(3));
  t.equal(withCanary.held, 20);
  t.ok(withCanary.most !== null && withCanary.most <= 1000, `${withCanary.most}`);
});

t.test('few results hold nothing, and neither does what the owner has let pass', async (t) => {
  const results = { delivered: 0, bounces: 199, failed: 0, complaints: 0 };
  t.equal(exceededLimit(results), null);
  t.equal(exceededLimit({ ...results, bounces: 200 }), 'too_many_bounces');
  t.equal(exceededLimit({ ...results, bounces: 200 }, ['too_many_bounces']), null);
  t.equal(exceededLimit({ delivered: 1000, bounces: 0, failed: 0, complaints: 4 }), null);
  t.equal(exceededLimit({ delivered: 1000, bounces: 0, failed: 0, complaints: 5 }), 'too_many_complaints');
  t.equal(exceededLimit({ delivered: 0, bounces: 100, failed: 100, complaints: 300 }), 'too_many_bounces');
});

t.test('one in so many is chosen of each domain, and of the domains with one person each', async (t) => {
  const spread = new DomainSpread(50);
  const chosen = (domain: string, people: number) =>
    Array.from({ length: people }, () => spread.takes(domain)).filter(Boolean).length;
  for (const domain of ['gmail.com', 'outlook.com', 'xn--bcher-kva.example'])
    t.ok(Math.abs(chosen(domain, 5000) - 100) <= 1, domain);
  const alone = Array.from({ length: 50_000 }, (_, at) => chosen(`company${at}.example`, 1)).reduce((a, b) => a + b);
  t.ok(alone > 900 && alone < 1100, `${alone} of 1000`);
});
