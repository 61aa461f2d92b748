/** The light list of automations: states, people and results, found by name and state, in pages. */
import t from 'tap';
import { holdSending } from '../../src/delivery/queue/holds.ts';
import { DAY, HOUR, withWelcomeSeries } from '../support/automations.ts';

type Series = Awaited<ReturnType<typeof withWelcomeSeries>>;
type Summary = Record<string, unknown> & { id: number; automation_name: string; state: string };

async function list({ get }: Series, query: Record<string, unknown> = {}) {
  const { status, text, body } = await get('/automations/summaries', query);
  if (status !== 200) throw new Error(text);
  return body.message as { summaries: Summary[]; next_before_id: number | null };
}

const stateOf = async (series: Series) => (await list(series, { utr: series.utr })).summaries[0]?.state;

t.test('each state has its word, and a held automation says why', async (t) => {
  const series = await withWelcomeSeries(t);
  const { app, utr, get, live, post } = series;
  t.equal(await stateOf(series), 'draft');
  await live();
  t.equal(await stateOf(series), 'live');
  await get('/automations/pause', { utr });
  t.equal(await stateOf(series), 'paused', 'its owner stopped it');
  await live();
  holdSending(app.db, 'Restored from a backup');
  t.match((await list(series)).summaries[0], {
    state: 'held',
    held_code: 'sending_held',
    held_reason: 'Restored from a backup',
  });
  app.db.exec("DELETE FROM installation WHERE name = 'sending_held'");
  app.db.exec(
    "UPDATE mailings SET state = 'held', held_code = 'relay_refused', held_reason = 'no' WHERE automation_id = 1",
  );
  t.match((await list(series)).summaries[0], { state: 'held', held_code: 'relay_refused', held_reason: 'no' });
  app.db.exec("UPDATE mailings SET state = 'sending', held_code = NULL, held_reason = NULL WHERE automation_id = 1");
  await app.one.call('DELETE', '/sender/delete', { query: { sender_id: 1 } });
  t.match((await list(series)).summaries[0], { state: 'held', held_code: 'sender_deleted', held_reason: /sender/ });
  const report = (await get('/automations/report', { utr })).body.message.report;
  t.equal(report.held_reason, (await list(series)).summaries[0]?.held_reason, 'the same as in its report');
  await post('/automations/create', { type: 'custom', automation_name: 'New', unsubscribe_group_id: 0 });
  t.match((await list(series)).summaries[0], { automation_name: 'New', state: 'draft', held_reason: null, mails: 0 });
});

t.test('people are counted by state, and opens and clicks are those of people', async (t) => {
  const series = await withWelcomeSeries(t);
  const { app, utr, join, live, pass } = series;
  await live();
  for (const name of ['ann', 'bob', 'eve']) await join(name);
  await app.background();
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'eve@example.org' } });
  await pass(2 * DAY + HOUR);
  const sameCounts = (when: string) => {
    const counted = app.db
      .prepare(`
        SELECT automation_id, state, ifnull(reason, '') AS reason, iif(state = 'active', position, 0) AS position,
          state = 'active' AND delivery_id IS NOT NULL AS is_queued, count(*) AS people
        FROM enrolments GROUP BY 1, 2, 3, 4, 5 ORDER BY state`)
      .all();
    const kept = app.db.prepare('SELECT * FROM enrolment_counts WHERE people > 0 ORDER BY state').all();
    t.strictSame(kept, counted, `the kept counts are those of the rows ${when}`);
  };
  const found = () => list(series, { utr }).then(({ summaries }) => summaries[0]);
  t.match(await found(), { waiting: 2, finished: 0, left: 1, mails: 3, triggered: 5, delivered: 5 });
  app.db.exec(`UPDATE mailings SET unique_opens = 2, people_opens = 1, unique_clicks = 2, people_clicks = 1
    WHERE id = (SELECT min(id) FROM mailings WHERE automation_id = 1)`);
  t.match(await found(), { people_opens: 1, people_clicks: 1 });
  sameCounts('while they wait');
  await pass(DAY);
  t.match(await found(), { waiting: 0, finished: 2, left: 1, ended: 7 });
  sameCounts('after the last mail');
  app.db.exec('UPDATE enrolments SET delivery_id = NULL; DELETE FROM steps; DELETE FROM enrolments');
  t.match(await found(), { waiting: 0, finished: 0, left: 0 });
});

t.test('automations are found by name and state, newest first, in pages, by their own account', async (t) => {
  const series = await withWelcomeSeries(t);
  const { app, utr, live, get } = series;
  for (let copies = 0; copies < 3; copies++) await get('/automations/duplicate', { utr });
  await live();
  const ids = async (query: Record<string, unknown>) => (await list(series, query)).summaries.map(({ id }) => id);
  t.strictSame(await ids({}), [4, 3, 2, 1]);
  t.strictSame(await ids({ state: 'live' }), [1]);
  t.strictSame(await ids({ search: 'COPY of' }), [4, 3, 2]);
  t.strictSame(await ids({ search: 'welcome', state: 'live' }), [1]);
  const first = await list(series, { limit: 2 });
  t.equal(first.next_before_id, 3);
  t.match(await list(series, { limit: 2, before_id: 3 }), { summaries: [{ id: 2 }, { id: 1 }], next_before_id: null });
  const found = await list(series, { limit: 2, search: 'copy' });
  t.strictSame(await ids({ limit: 2, search: 'copy', before_id: found.next_before_id }), [2]);
  t.strictSame((await app.two.call('GET', '/automations/summaries')).body.message.summaries, []);
  t.equal((await app.two.call('GET', '/automations/summaries', { query: { utr } })).status, 404);
  t.equal((await get('/automations/summaries', { state: 'lost' })).status, 422);
  await app.one.call('DELETE', '/automations/delete', { query: { utr } });
  t.strictSame(await ids({}), [4, 3, 2], 'a deleted one is gone');
});
