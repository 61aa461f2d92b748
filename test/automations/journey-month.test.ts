/**
 * Random journeys with every trigger, step, wait and way to enter again: the log of each contact must be the one of an
 * independent model of the rules, to the second. With SEED, as `npm run test:month` gives it, a month of one seed, or
 * of SEEDS of them from that one; otherwise four days of two.
 */
import t from 'tap';
import { startJourneys } from './journey-month.ts';

const { SEED, SEEDS = '1' } = process.env;
const FIRST = Number(SEED ?? 1);
const COUNT = SEED === undefined ? 2 : Number(SEEDS);
const DAYS = SEED === undefined ? 4 : 30;
/** So many seeds have everything that can happen. */
const ALL_SEEDS = 20;
const SHOWN = 3;

/** What the months together must have had: of entries by the trigger, of steps by their kind, of ends by their reason. */
const WANTED = [
  ...['join', 'event', 'date', 'field', 'form', 'hand'].map((kind) => `${kind} entered`),
  ...['if', 'split', 'wait_event', 'wait_date'].flatMap((kind) => [`${kind} yes`, `${kind} no`]),
  ...['wait_hour yes', 'wait_weekday yes', 'mail mail', 'webhook done', 'exit exit'],
  ...['set_field', 'segment_add', 'segment_remove'].map((kind) => `${kind} done`),
  ...['never', 'days', 'key'].map((kind) => `re-entry ${kind}`),
  ...['again days', 'again key', 'finished'],
  ...['goal_reached', 'exit_rule', 'left_target', 'exit_step', 'held_out', 'unsubscribed_group', 'contact_deleted'],
];
const happened = new Set<string>();

for (let seed = FIRST; seed < FIRST + COUNT; seed++) {
  t.test(`random journeys of seed ${seed} do with each contact what the rules say`, async (t) => {
    const world = await startJourneys(t, seed);
    await world.begin();
    for (let hour = 0; hour < DAYS * 24; hour++) await world.hour();

    const actual = world.log();
    const expected = world.model.log;
    const keys = [...new Set([...actual.keys(), ...expected.keys()])];
    const differing = keys.filter((key) => String(actual.get(key)) !== String(expected.get(key)));
    for (const key of differing.slice(0, SHOWN))
      t.comment(`SEED=${seed} ${key}`, { model: expected.get(key), product: actual.get(key) });
    const lines = [...expected.values()].reduce((sum, theirs) => sum + theirs.length, 0);
    t.equal(differing.length, 0, `${lines} lines of ${keys.length} contacts in journeys`);
    t.strictSame(world.disagreements, []);
    t.strictSame(world.goals().sort(), world.model.goals().sort());
    const mails = [...actual].flatMap(([key, theirs]) => {
      const [automation, email] = key.split(' ');
      return theirs.flatMap((line) => {
        const [, run, step] = /run (\d+) mail step (\d+)$/.exec(line) ?? [];
        return step === undefined ? [] : [`${automation} ${step} ${email} ${run}`];
      });
    });
    t.strictSame(world.mails().sort(), mails.sort(), 'each mail of the log was accepted once');
    for (const one of world.happened()) happened.add(one);
  });
}

t.test(
  'together they have every trigger, step, answer, way to enter again and end',
  {
    skip: COUNT < ALL_SEEDS && `fewer than ${ALL_SEEDS} seeds`,
  },
  async (t) => {
    t.strictSame(
      WANTED.filter((one) => !happened.has(one)),
      [],
    );
  },
);
