/** Kills in the middle of a send, at random moments and at each step: the short form of `npm run test:crash`. */
import t from 'tap';
import { Send, STEPS } from './rig.ts';

t.test('killed at random moments of a send, nobody is missing and the duplicates stay within the bound', async (t) => {
  const send = await Send.prepare(t, 2000, 400);
  for (let kill = 0; kill < 4; kill++)
    t.ok(await send.killAfter(Math.random() * 500), 'the kill landed inside the send');
  const { problems, duplicates, bound } = await send.finish();
  t.same(problems, [], `${duplicates} duplicates, at most ${bound}`);
});

t.test('killed at every named step, the end state is the same', async (t) => {
  const send = await Send.prepare(t, 1000, 2000);
  for (const step of STEPS) await send.killAt(step, 2);
  t.same((await send.finish()).problems, []);
});

t.test('without recovery the same reckoning finds who got nothing', async (t) => {
  const send = await Send.prepare(t, 300, 2000);
  await send.killAt('after the claim', 1);
  const { problems } = await send.finishWithoutRecovery();
  t.ok(
    problems.some((problem) => problem.endsWith('recipients got nothing')),
    problems.join('; '),
  );
});
