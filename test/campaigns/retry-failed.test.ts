/** Sending a completed single send again to those for whom it failed: what a kill leaves, and who is erased meanwhile. */
import t, { type Test } from 'tap';
import { recountReasons } from '../../fixtures/mailing-counters.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { readOutbox, sendCampaign } from '../support/campaign.ts';

/** A single send that failed for all of its people, as the ledger would have it, and what left before. */
async function failed(t: Test, count: number) {
  const app = await startApp(t);
  const people = Array.from({ length: count }, (_, at) => ({ email: `p${at}@example.org` }));
  const { utr } = await sendCampaign(t, app, { people });
  app.db.exec(`UPDATE deliveries SET state = 4, reply = '451 4.2.1 Try later' WHERE mailing_id = (SELECT id FROM mailings WHERE owner_kind = 'single');
    UPDATE mailings SET delivered = 0, failed = recipients WHERE owner_kind = 'single';
    DELETE FROM outbox`);
  recountReasons(app.db);
  return { app, utr, retry: () => app.one.call('POST', '/single/send/retry-failed', { query: { utr } }) };
}

const statesOf = async (app: TestApp, utr: string) =>
  (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message.report.states;

t.test('after a kill in the middle of a retry everybody gets it once', async (t) => {
  const people = 300;
  const { app, utr, retry } = await failed(t, people);
  // The first transaction takes 250 of them. The second is undone as a kill undoes it.
  app.db.exec(`CREATE TRIGGER kill BEFORE UPDATE OF state ON deliveries
    WHEN NEW.state = 0 AND (SELECT count(*) FROM deliveries WHERE state = 0) >= 250 BEGIN SELECT RAISE(ABORT, 'killed'); END`);
  t.equal((await retry()).status, 500);
  app.db.exec('DROP TRIGGER kill');
  t.match(await statesOf(app, utr), { queued: 250, failed: 50 }, 'what was queued and what was not are known');
  app.restartBackground();
  await app.background();
  t.match(await statesOf(app, utr), { kept: 250, failed: 50 });
  t.match((await retry()).body.message, { queued: 50 });
  await app.background();
  t.match(await statesOf(app, utr), { kept: people, failed: 0, queued: 0 });
  const left = (await readOutbox(app)).map(({ to }) => to);
  t.equal(left.length, people);
  t.equal(new Set(left).size, people, 'nobody twice');
});

for (const when of ['before', 'after'] as const) {
  t.test(`who is erased ${when} a retry gets nothing, and the counts stay right`, async (t) => {
    const { app, utr, retry } = await failed(t, 2);
    const erase = async () => {
      const { contact_id } = app.db
        .prepare("SELECT id AS contact_id FROM contacts WHERE email = 'p0@example.org'")
        .get() as { contact_id: number };
      t.equal((await app.one.call('POST', '/contacts/person/erase', { form: { contact_id } })).status, 200);
    };
    if (when === 'before') await erase();
    t.equal((await retry()).status, 200);
    if (when === 'after') await erase();
    await app.background();
    t.strictSame(
      (await readOutbox(app)).map(({ to }) => to),
      ['p1@example.org'],
    );
    const states = await statesOf(app, utr);
    t.match(states, { kept: 1, queued: 0, sending: 0 });
    t.equal(states.failed + states.suppressed + states.cancelled, 1, JSON.stringify(states));
    t.match((await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message.report.status, 3);
  });
}
