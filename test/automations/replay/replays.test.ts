/** The replays of a service beside each other: none takes the place of another one, and none is kept for longer than it should be. */
import { mock } from 'node:test';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { failureOf, type ReplayThreadData, replaysOf } from '../../../src/automations/replay/replays.ts';
import { readConfig } from '../../../src/config.ts';
import { DAY, withPaths } from '../../support/automations.ts';

const QUERY = { email: null, after: 0, limit: 10 };

const refusal = (asked: Promise<unknown>) => asked.catch((error: unknown) => error);

/** A replay of the welcome series, with its data for the threads of an account. */
async function withReplays(t: Parameters<typeof withPaths>[0]) {
  const { app, join, pass } = await withPaths(t);
  app.clock.advance(60_000);
  await join('ann');
  await pass(DAY);
  const now = app.clock.now().getTime();
  const automationId = 1;
  const data = (account: number): ReplayThreadData => ({
    ...{ path: app.path, config: readConfig({ DATABASE_PATH: app.path }), account },
    plan: { automationId, from: now - 3 * DAY, now, opens: 30, clicks: 3 },
  });
  return { data, replays: replaysOf(app.drizzle) };
}

t.test('a request for another replay of the account waits, and those of other accounts do not', async (t) => {
  const { replays, data } = await withReplays(t);
  const states = async (account: number, key: string, ms: number) =>
    (await replays.ask(key, data(account), QUERY, ms)).state;
  t.strictSame(
    await Promise.all([states(1, 'a', 0), states(1, 'b', 0), states(2, 'c', 0), states(3, 'd', 0)]),
    ['running', 'waiting', 'running', 'waiting'],
    'one of each account, and two at once',
  );
  t.equal(await states(1, 'a', 20_000), 'done', 'nothing has ended it');
  t.equal(await states(1, 'b', 20_000), 'done');
});

t.test('who reads a result that makes way for another replay is told so', async (t) => {
  const { replays, data } = await withReplays(t);
  t.equal((await replays.ask('a', data(1), QUERY, 20_000)).state, 'done');
  const read = refusal(replays.ask('a', data(1), QUERY, 0));
  const other = replays.ask('b', data(1), QUERY, 0);
  t.match(await read, { status: 409, errors: { code: 'replay_replaced' } });
  t.match(await other, { state: 'running' });
});

t.test('a thread that fails is answered for some time and not started again by each request', async (t) => {
  const { replays, data } = await withReplays(t);
  const broken = { ...data(1), path: '/nowhere' };
  t.match(await refusal(replays.ask('a', broken, QUERY, 20_000)), { status: 503, cause: Error });
  t.match(await refusal(replays.ask('a', data(1), QUERY, 20_000)), { status: 503 }, 'the same answer');
  t.match(await replays.ask('b', data(1), QUERY, 20_000), { state: 'done' }, 'another one begins');
});

t.test('too little memory is a reason to choose fewer days', async (t) => {
  const fill = 'const all = []; for (;;) all.push(new Array(10_000).fill(all.length));';
  const thread = new Worker(fill, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8 } });
  const error = await new Promise<Error>((failed) => thread.once('error', failed));
  t.match(failureOf(error), { status: 422, errors: { days: [{ code: 'replay_too_large' }] } });
  t.match(failureOf(new Error('x')), { status: 503 });
});

t.test('a result is kept for five minutes, however often it is asked for', async (t) => {
  const { replays, data } = await withReplays(t);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const ask = async (now: number) => {
    const answer = await replays.ask('a', { ...data(1), plan: { ...data(1).plan, now } }, QUERY, 20_000);
    return answer.state === 'done' ? answer.figures.to : answer.state;
  };
  const { now } = data(1).plan;
  t.equal(await ask(now), now);
  for (const minute of [1, 2, 3, 4]) {
    mock.timers.tick(60_000);
    t.equal(await ask(now + minute), now, `after ${minute} min`);
  }
  mock.timers.tick(61_000);
  t.equal(await ask(now + 5), now + 5);
});

t.test('a replay is not left alone while a request waits for it', async (t) => {
  const { replays, data } = await withReplays(t);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const waiting = replays.ask('a', data(1), QUERY, 60_000);
  mock.timers.tick(30_000);
  t.match(await waiting, { state: 'done' });
});
