/** What the log says of campaigns, of mail that waits, and of steps that fail. */
import t, { type Test } from 'tap';
import { RelayUse } from '../../../src/delivery/queue/relay-use.ts';
import { keptLog, startApp } from '../../support/app.ts';
import { sendCampaign } from '../../support/campaign.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

async function logged(t: Test, settings: Record<string, string> = {}) {
  const { lines, logTo } = keptLog();
  const app = await startApp(t, { LOG_LEVEL: 'error', ...settings }, undefined, logTo);
  return { app, taken: () => lines.splice(0) };
}

t.test('the log says when a campaign started, and when it finished with its figures', async (t) => {
  const { app, taken } = await logged(t);
  await sendCampaign(t, app);
  t.match(taken(), [
    { level: 'info', text: 'campaign started', single_send: 1, mailing: Number },
    {
      level: 'info',
      text: 'campaign finished',
      single_send: 1,
      recipients: 1,
      accepted: 1,
      bounced: 0,
      failed: 0,
      skipped: 0,
      cancelled: 0,
      seconds: 0,
    },
  ]);
});

t.test('mail that waits for a failing SMTP server is a warning after a minute, repeated while it stays', async (t) => {
  const settings = { SMTP_URL: 'smtp://127.0.0.1:1', PUBLIC_URL: 'https://m.example' };
  const { app, taken } = await logged(t, settings);
  const { db, clock } = app;
  await app.background();
  // In a mailing that no step claims, so that nothing connects to a server.
  db.exec(`
    INSERT INTO addresses (id, user_id, normalized_email) VALUES (1, 1, 'a@example.org');
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, created_at)
      VALUES (1, 1, 'single', 1, '{}', 'enqueueing', '${clock.now().toISOString()}');
    INSERT INTO deliveries (mailing_id, address_id, state) VALUES (1, 1, 0)`);
  const use = new RelayUse(db);
  const relay = '127.0.0.1:1';
  use.failed({ relay, reply: 'connect ECONNREFUSED', at: clock.now().getTime() });
  const after = async (ms: number) => {
    clock.advance(ms);
    await app.background();
    return taken().filter(({ text }) => String(text).startsWith('mail '));
  };
  t.strictSame(await after(30 * SECOND), [], 'a short wait is no news');
  t.match(await after(40 * SECOND), [
    { level: 'warn', text: 'mail waits', relay, reason: 'connect ECONNREFUSED', oldest_due_seconds: 70 },
  ]);
  t.strictSame(await after(5 * MINUTE), []);
  t.match(await after(6 * MINUTE), [{ level: 'warn', text: 'mail waits', oldest_due_seconds: 730 }]);
  use.accepted({ relay, at: clock.now().getTime() });
  t.strictSame(await after(10 * SECOND), [{ text: 'mail leaves again', level: 'info' }]);
});

t.test('a hand-off that the SMTP server does not answer for two minutes is a warning', async (t) => {
  const { app, taken } = await logged(t);
  const { db, clock } = app;
  await app.background();
  db.exec(`
    INSERT INTO addresses (id, user_id, normalized_email) VALUES (1, 1, 'a@example.org');
    INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, created_at)
      VALUES (1, 1, 'single', 1, '{}', 'sending', '${clock.now().toISOString()}');
    INSERT INTO deliveries (mailing_id, address_id, state, updated_at) VALUES (1, 1, 1, ${clock.now().getTime()})`);
  clock.advance(121 * SECOND);
  await app.background();
  t.match(taken(), [{ level: 'warn', text: 'mail waits', oldest_sending_seconds: 121 }]);
});

t.test('a step that keeps failing is an error, once, and said to work again', async (t) => {
  const { app, taken } = await logged(t);
  app.db.pragma('legacy_alter_table = ON');
  app.db.exec('ALTER TABLE ab_tests RENAME TO missing_tests');
  for (let turn = 0; turn < 4; turn++) {
    await app.background();
    app.clock.advance(6 * SECOND);
  }
  const said = () => taken().filter(({ step }) => step !== undefined);
  t.strictSame(said(), [{ step: 'A/B tests', text: 'a step keeps failing', level: 'error' }]);
  app.db.exec('ALTER TABLE missing_tests RENAME TO ab_tests');
  await app.background();
  t.strictSame(said(), [{ step: 'A/B tests', text: 'a step no longer keeps failing', level: 'info' }]);
});
