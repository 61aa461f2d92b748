/**
 * Random steps with kills and erasures against a model in memory. `npm run test:random -- STEPS SEED` gives larger
 * numbers; a seed that failed draws from the same numbers again, while the moments of kills and mails differ.
 * RANDOM_KEEP names where the file of a failed run is copied to.
 */
import t from 'tap';
import { comparePurged } from './compare.ts';
import { Steps } from './steps.ts';
import { World } from './world.ts';

const STEPS = Number(process.env.RANDOM_STEPS ?? 80);
const SEED = Number(process.env.RANDOM_SEED ?? 20_261_123);
/** Everything is compared after so many steps, and at the end. */
const COMPARED = 250;
const HOUR = 3_600_000;

t.test('after random steps, kills and erasures everybody has what the model says, and nobody else', async (t) => {
  t.comment(`npm run test:random -- ${STEPS} ${SEED}`);
  const world = await World.open(t, SEED);
  const steps = new Steps(world);
  const done: string[] = [];
  for (let at = 1; at <= STEPS && world.model.problems.length === 0; at++) {
    done.push(`${at} ${await steps.step()}`);
    if (at % COMPARED === 0) await world.compare();
  }
  if (world.kills === 0) await world.kill();
  await world.compare();
  // The later mails of the automations.
  await world.sleep(8 * HOUR);
  await world.compare(/days/);
  await world.sleep(40 * HOUR);
  await world.compare(/^$/);
  const left = await comparePurged(world);
  const { problems, arrived, erased, duplicates } = world.model;
  t.comment(
    `${arrived.length} mails, ${world.kills} kills, ${erased.size} erased addresses, ${duplicates} duplicates, ${left} erased addresses in unused parts before the purge`,
  );
  if (problems.length > 0 && process.env.RANDOM_KEEP !== undefined) await world.keep(process.env.RANDOM_KEEP);
  if (problems.length > 0) t.comment([...world.model.histories(), ...done.slice(-15)].join('\n'));
  t.strictSame(problems.slice(0, 20), []);
});
