/**
 * Kills in the middle of a send, at random moments and at each step. `npm run test:crash` gives larger numbers: CRASH_KILLS kills at
 * random moments, in sends of 10 000 mails, and CRASH_EACH at each step.
 */
import t from 'tap';
import { Send, STEPS } from './rig.ts';

const kills = Number(process.env.CRASH_KILLS ?? 4);
const each = Number(process.env.CRASH_EACH ?? 1);
const isLong = process.env.CRASH_KILLS !== undefined;

t.test('killed at random moments of a send, nobody is missing and the duplicates stay within the bound', async (t) => {
  for (let landed = 0; landed < kills; ) {
    const send = isLong ? await Send.prepare(t, 10_000, 2000) : await Send.prepare(t, 2000, 400);
    const before = landed;
    while (landed < kills && (await send.killAfter(Math.random() * 500))) {
      landed++;
      t.pass('the kill landed inside the send');
    }
    t.ok(landed > before, `${landed - before} kills landed inside the send`);
    const { problems, duplicates, bound } = await send.finish();
    t.same(problems, [], `${duplicates} duplicates, at most ${bound}`);
    if (isLong) t.comment(`${landed} kills so far; ${duplicates} duplicates, at most ${bound}`);
    if (landed === before) break;
  }
});

t.test('killed at every named step, the end state is the same', async (t) => {
  const send = await Send.prepare(t, isLong ? 3000 * STEPS.length : 1000, 2000);
  for (const step of STEPS)
    for (let kill = 0; kill < each; kill++) await send.killAt(step, isLong ? 1 + Math.floor(Math.random() * 4) : 2);
  t.same((await send.finish()).problems, []);
});

t.test('without recovery the same check finds the people who got nothing', async (t) => {
  const send = await Send.prepare(t, 300, 2000);
  await send.killAt('after the claim', 1);
  const { problems } = await send.finishWithoutRecovery();
  t.ok(
    problems.some((problem) => problem.endsWith('recipients got nothing')),
    problems.join('; '),
  );
});
