/** The interface under fire from its own document: a short run here, a long one with `npm run test:fuzz -- CASES SEED`. */
import t from 'tap';
import { operationsOf, readDocument } from './fuzz/operations.ts';
import { fuzz } from './fuzz/run.ts';
import { SETTINGS } from './fuzz/world.ts';
import { startApp } from './helper.ts';

const cases = Number(process.env.FUZZ_CASES ?? 500);
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);

t.test('whatever is sent is answered in the envelope, and every operation also succeeds (trust 38)', async (t) => {
  const app = await startApp(t, SETTINGS);
  t.comment(`fuzzing with ${cases} cases, seed ${seed}`);
  const { requests, statuses, successes } = await fuzz(app, { cases, seed });
  const answers = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`);
  t.comment(`${requests} requests: ${answers.join(', ')}; the rarest success ${Math.min(...successes.values())} times`);
  for (const { operationId } of operationsOf(await readDocument(app))) t.ok(successes.has(operationId), operationId);
});
