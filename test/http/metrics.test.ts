/** The metrics by the rules of Prometheus. */
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { startApp } from '../support/app.ts';
import { skipWithout, toolPath } from '../support/tools.ts';
import { until } from '../support/until.ts';

t.test(
  'promtool finds no fault with the metrics, with sender nodes neither',
  { skip: skipWithout('promtool') },
  async (t) => {
    for (const NATS_URL of ['', 'nats://127.0.0.1:1']) {
      const { page, db, clock } = await startApp(t, { NATS_URL, PUBLIC_URL: 'https://m.example' });
      db.prepare(
        `INSERT INTO sender_nodes (run, name, version, state, refusal, rate, capacity, load, heard_at, lease_until)
       VALUES ('north.1', 'north', '1', 'sending', '', 4, 10, 2, ?, ?)`,
      ).run(clock.now().getTime(), clock.now().getTime() + 7000);
      const { text: input } = await page('GET', '/metrics');
      const { status, stdout, stderr } = spawnSync(toolPath('promtool'), ['check', 'metrics'], {
        input,
        encoding: 'utf8',
      });
      t.strictSame({ status, said: stdout + stderr }, { status: 0, said: '' }, NATS_URL);
    }
  },
);

t.test('the delay of the HTTP thread is a histogram, whose buckets only grow', async (t) => {
  const { page } = await startApp(t);
  const read = async () => {
    const { text } = await page('GET', '/metrics');
    t.match(text, /^# TYPE sendlark_event_loop_delay_seconds histogram$/m);
    t.notMatch(text, /quantile=/);
    const count = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
    return {
      all: count('sendlark_event_loop_delay_seconds_count'),
      short: count('sendlark_event_loop_delay_seconds_bucket{le="0.1"}'),
    };
  };
  const before = await read();
  const until150 = performance.now() + 150;
  while (performance.now() < until150);
  let after = before;
  await until(
    () => after.all - after.short > before.all - before.short,
    async () => {
      after = await read();
    },
  );
  t.ok(after.short >= before.short, 'a stretch of 150 ms is above the bound of 100');
});
