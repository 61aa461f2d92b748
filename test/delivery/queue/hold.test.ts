/** What holds sending as a whole, what lifts it, and how every hold is told in the log and in /metrics. */

import t, { type Test } from 'tap';
import { holdSending, releaseSending, sendingHeldReason } from '../../../src/delivery/queue/holds.ts';
import { keptLog, startApp, type TestApp } from '../../support/app.ts';
import { mustSucceed } from '../../support/campaign.ts';
import { SENDER } from '../../support/sender.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** An application whose log is kept, with one reader, a group and a sender. */
async function ready(t: Test, settings: Record<string, string> = {}) {
  const { lines, logTo } = keptLog();
  const app = await startApp(t, { LOG_LEVEL: 'error', ...settings }, undefined, logTo);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/contacts/add', { contact_type_id: 1, email: 'anna@example.org', first_name: 'Anna', country: 1 });
  await must('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: 1 });
  await must('/sender/save', SENDER);
  const send = async (given: Record<string, unknown> = {}) => {
    const body = {
      template_id: 1,
      template_html: '<p>Hello</p>',
      sender_id: 1,
      unsubscribe_group_id: 1,
      single_send_name: 'News',
      subject: 'News',
      preheader: 'News',
      recipient_id: ['contacts_1'],
      schedule_type: 0,
      ...given,
    };
    return ((await must('/single/send/create', body)) as { utr: string }).utr;
  };
  const report = async (utr: string) =>
    (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message.report;
  const holds = () => lines.filter(({ text }) => String(text).endsWith(' held'));
  return { app, send, report, holds };
}

const left = ({ db }: TestApp) => Number(db.prepare('SELECT count(*) FROM outbox').pluck().get());

t.test(
  'with a relay or sender nodes and no PUBLIC_URL nothing leaves, and the reason is told wherever one looks',
  async (t) => {
    for (const way of [{ SMTP_URL: 'smtp://127.0.0.1:9' }, { NATS_URL: 'nats://127.0.0.1:9' }]) {
      const { app, send, report, holds } = await ready(t, { ...way, PUBLIC_URL: '' });
      const utr = await send();
      app.clock.advance(HOUR);
      await app.background();
      t.equal(left(app), 0, 'not even the verification mail, whose link would lead nowhere');
      const reason = /^The public address is not set, so unsubscribe links/;
      t.match(await report(utr), { status: 1, held_code: 'sending_held', held_reason: reason });
      t.match((await app.page('GET', '/readyz')).body, { ready: true, sending: 'held', held_reason: reason });
      t.match((await app.page('GET', '/metrics')).text, /^sendlark_sending_held 1$/m);
      releaseSending(app.db, app.clock.now().getTime());
      t.match(sendingHeldReason(app.db), reason, 'a release does not lift it: the setting does');
      t.match(holds(), [{ reason, text: 'sending held' }]);
    }
  },
);

t.test(
  'a clock that a machine boots with long before the last run holds nothing, then or once it is right',
  async (t) => {
    const { app, send, report } = await ready(t);
    await app.background();
    app.clock.jump(-12 * DAY);
    app.restartBackground();
    await app.background();
    app.clock.advance(10 * 60_000);
    await app.background();
    app.clock.jump(12 * DAY);
    await app.background();
    t.equal(sendingHeldReason(app.db), null);
    const utr = await send();
    app.clock.advance(HOUR);
    await app.background();
    t.match(await report(utr), { status: 3 });
  },
);

t.test('after a first start with a clock that is behind, setting the right time does not hold sending', async (t) => {
  const { app } = await ready(t);
  app.clock.jump(-30 * YEAR);
  await app.background();
  app.clock.advance(10 * 60_000);
  await app.background();
  app.clock.jump(30 * YEAR);
  await app.background();
  t.equal(sendingHeldReason(app.db), null);
});

t.test('a clock that leaps a year ahead holds sending, and only the right time or a release lifts it', async (t) => {
  const { app, send, report } = await ready(t);
  await app.background();
  app.db.exec('DELETE FROM outbox');
  const utr = await send();
  app.clock.jump(YEAR);
  for (let hour = 0; hour < 3; hour++) {
    await app.background();
    app.clock.advance(HOUR);
  }
  t.match(sendingHeldReason(app.db), /^The clock of this machine is 365 days ahead of when the service last ran/);
  app.restartBackground();
  await app.background();
  t.ok(sendingHeldReason(app.db), 'a restart under the wrong clock lifts nothing');
  app.clock.jump(-3 * YEAR);
  await app.background();
  t.ok(sendingHeldReason(app.db), 'nor does another wrong time');
  t.equal(left(app), 0);
  app.clock.jump(2 * YEAR);
  await app.background();
  t.equal(sendingHeldReason(app.db), null, 'the right time does');
  t.match(await report(utr), { status: 3 });

  app.clock.jump(YEAR);
  await app.background();
  t.ok(sendingHeldReason(app.db), 'the next leap holds again');
  t.ok(releaseSending(app.db, app.clock.now().getTime()));
  app.clock.advance(HOUR);
  await app.background();
  t.equal(sendingHeldReason(app.db), null, 'after a release this time is the right one');
  app.clock.jump(YEAR);
  await app.background();
  t.ok(sendingHeldReason(app.db), 'and a leap from there holds too');
});

t.test("the right time does not lift a restore's hold", async (t) => {
  const { app } = await ready(t);
  await app.background();
  app.clock.jump(YEAR);
  await app.background();
  holdSending(app.db, 'Restored from a backup');
  app.clock.jump(-YEAR);
  await app.background();
  t.equal(sendingHeldReason(app.db), 'Restored from a backup');
});

t.test('a scheduled send that waited for its sender past its time and the grace stays held and says so', async (t) => {
  const { app, send, report, holds } = await ready(t, { SENDER_VERIFICATION: 'required' });
  await app.background();
  const raw = String(app.db.prepare('SELECT raw FROM outbox').pluck().get()).replaceAll('=\r\n', '');
  const link = /http:\/\/mail\.example\.com(\/verify\/\S+)/.exec(raw)?.[1] ?? '';
  const schedule = { schedule_type: 1, schedule_date: '2026-01-15' };
  const missed = await send({ ...schedule, schedule_time: '10:00' });
  const inGrace = await send({ ...schedule, schedule_time: '11:30' });
  const atOnce = await send();
  for (const minutes of [61, 91]) {
    app.clock.advance(minutes * 60_000);
    await app.background();
  }
  for (const utr of [missed, inGrace, atOnce]) {
    t.match(await report(utr), {
      status: 0,
      held_code: 'sender_unverified',
      held_reason: 'The sender is not verified yet',
    });
  }
  t.equal((await app.page('POST', link, { form: {} })).status, 200);
  await app.background();
  const reason = 'The scheduled time was missed by 92 minutes: the sender was not verified';
  t.match(await report(missed), { status: 0, held_code: 'missed_time', held_reason: reason });
  t.match(await report(inGrace), { status: 3 });
  t.match(await report(atOnce), { status: 3 });
  t.ok(
    holds().some((line) => line.single_send === 1 && line.reason === reason),
    'and so does the log',
  );
});

t.test('every hold is logged once with its reason and counted by kind of reason', async (t) => {
  const { app, send, holds } = await ready(t);
  await app.background();
  await send({ template_html: '' });
  await send({ recipient_id: ['contacts_1'], template_html: '' });
  const deleted = await send({ schedule_type: 1, schedule_date: '2026-03-01', schedule_time: '10:00' });
  const cancelled = await send();
  await app.one.call('POST', '/single/send/cancel', { query: { utr: cancelled } });
  app.clock.advance(HOUR);
  for (let turn = 0; turn < 3; turn++) await app.background();
  const reason = 'The e-mail has no content: the blank template needs template code';
  t.match(holds(), [
    { single_send: 1, reason, level: 'error', text: 'campaign held' },
    { single_send: 2, reason, level: 'error', text: 'campaign held' },
  ]);
  t.equal(holds().length, 2, 'once each, and what its owner cancelled is no hold');
  t.match(
    (await app.page('GET', '/metrics')).text,
    /^sendlark_holds\{what="single_send",reason="content_invalid"\} 2$/m,
  );

  await app.one.call('DELETE', '/sender/delete', { query: { sender_id: 1 } });
  await app.background();
  t.match(holds().at(-1), { single_send: 3, reason: 'The sender was deleted' }, `whoever holds it: ${deleted}`);
  holdSending(app.db, 'Restored from a backup');
  await app.background();
  t.match(holds().at(-1), { reason: 'Restored from a backup', text: 'sending held' });
  const before = holds().length;
  app.restartBackground();
  await app.background();
  t.equal(holds().length, before, 'a restart does not tell them again');
  app.clock.advance(2000);
  const { text } = await app.page('GET', '/metrics');
  t.match(text, /^sendlark_holds\{what="single_send",reason="sender_deleted"\} 1$/m);
  t.match(text, /^sendlark_holds\{what="sending",reason="sending_held"\} 1$/m);
});

t.test('the kinds of reasons hold no names and numbers of records', async (t) => {
  const { app } = await ready(t);
  const hold = app.db.prepare(`
    INSERT INTO automations (user_id, automation_name, unsubscribe_group_id, automation_type, utr, status, held_code, held_reason, created_at, updated_at)
      VALUES (1, 'A', '1', 1, ?, 0, ?, ?, '', '')`);
  hold.run('a', 'sender_deleted', 'The mail "Offer for "Ada" at 3" cannot go: its sender was deleted');
  hold.run('b', 'missed_time', 'Missed 17 times');
  const { text } = await app.page('GET', '/metrics');
  t.match(text, /^sendlark_holds\{what="automation",reason="missed_time"\} 1$/m);
  t.notMatch(text, /Offer|offer/);
});
