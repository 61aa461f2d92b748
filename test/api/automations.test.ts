/** Automations through the API: what going live needs, their records, and previews. */
import t from 'tap';
import { DAY, HOUR, mailsInBrief, mailsOf, withWelcomeSeries } from '../support/automations.ts';

t.test('going live needs a group, a target and a mail that compiles, each told by 409', async (t) => {
  const { app, post, get } = await withWelcomeSeries(t);
  const create = async (form: Record<string, unknown>) =>
    (await post('/automations/create', { type: 'custom', automation_name: 'A', unsubscribe_group_id: 1, ...form })).utr;
  const bare = await create({ unsubscribe_group_id: 0, automation_for: 'contacts_1' });
  const noGroup = await get('/automations/set-live', { utr: bare });
  t.equal(noGroup.status, 409);
  t.equal(noGroup.body.errors, 'Unsubscribe group require to live automation');
  const noTarget = await create({});
  t.match(await get('/automations/set-live', { utr: noTarget }), { status: 409, body: { errors: /target/ } });
  const noMail = await create({ automation_for: 'contacts_1' });
  t.match(await get('/automations/set-live', { utr: noMail }), { status: 409, body: { errors: /mail/ } });
  await post('/automations/schedule/create', {
    utr: noMail,
    sender_id: 1,
    subject: 's',
    waiting_period: 1,
    waiting_type: 'instantly',
    template_id: 1,
    preview_img: 'x',
  });
  t.match(await get('/automations/set-live', { utr: noMail }), { status: 409, body: { errors: /no content/ } });
  t.match(await get('/automations/pause', { utr: noMail }), { status: 404, body: { errors: 'Record not found' } });
  t.equal(mailsOf(app).length, 0);
});

t.test('the record carries its state and its counters', async (t) => {
  const { app, utr, get, join, pass, live } = await withWelcomeSeries(t);
  await live();
  await live();
  t.match((await get('/automations/details', { utr })).body.message.automation, {
    status: 1,
    live_at: '2026-01-15 09:00:00',
    automation_for: 1,
    automation_for_table: 'contacts',
    unsubscribe_group_id: '1',
    automation_type: 1,
    total_delivered: 0,
  });
  await join('ann');
  await join('bob');
  await pass(HOUR);
  t.match((await get('/automations')).body.message.automations[0], {
    total_triggered: 2,
    total_delivered: 2,
    automation_schedule_count: 3,
  });
  t.equal(mailsOf(app).length, 2);
});

t.test(
  'deleting the sender takes a live automation to draft with a reason; a copy is a draft with its mails',
  async (t) => {
    const { app, utr, get, join, pass, live } = await withWelcomeSeries(t);
    const copy = (await get('/automations/duplicate', { utr })).body.message.utr;
    t.equal((await get('/automations/schedule', { utr: copy })).body.message.automation_schedules.length, 3);
    t.match((await get('/automations/details', { utr: copy })).body.message.automation, {
      automation_name: 'Copy of Welcome',
      status: 0,
    });
    await live();
    await app.one.call('DELETE', '/sender/delete', { query: { sender_id: 1 } });
    t.match((await get('/automations/details', { utr })).body.message.automation, { status: 0 });
    await join('ann');
    await pass(HOUR);
    t.equal(mailsOf(app).length, 0);
  },
);

t.test('the preview tells what a person receives and when, and why they would leave', async (t) => {
  const { app, utr, post, get, join, pass, live } = await withWelcomeSeries(t, { exit: 1 });
  const preview = async (email: string) => (await get('/automations/preview', { utr, email })).body.message.preview;
  const times = (outlook: { mails: { sent_at: string | null; due_at: string | null }[] }) =>
    outlook.mails.map(({ sent_at, due_at }) => (sent_at ?? due_at)?.slice(5, 16) ?? null);
  await join('old');
  await live();
  await join('ann');
  await app.background();
  t.match(await preview('old@example.org'), { state: 'outside', reason: /joined before the automation went live/ });
  t.match(await preview('nobody@example.org'), { state: 'outside', reason: 'not in the target', entered_at: null });
  const before = await preview('ANN@example.org');
  t.match(before, { state: 'waiting', reason: null, mails: [{ due_at: null }, { sent_at: null }, { sent_at: null }] });
  t.strictSame(times(before), ['01-15T09:00', '01-17T09:00', '01-17T21:00']);
  await pass(2 * DAY);
  t.strictSame(mailsInBrief(app), ['01-15T09:00 ann one', '01-17T09:00 ann two'], 'and so it comes');
  await post('/unsubscribes-groups/manually-add', { unsubscribe_groups_id: 1, email_address: 'ann@example.org' });
  const after = await preview('ann@example.org');
  t.match(after, { state: 'waiting', reason: 'unsubscribed from this group' });
  t.strictSame(times(after), ['01-15T09:00', '01-17T09:00', null]);
  await pass(DAY);
  t.match(await preview('ann@example.org'), { state: 'left', reason: 'unsubscribed from this group' });
  const { report } = (await get('/automations/report', { utr })).body.message;
  t.match(report, {
    status: 1,
    held_reason: null,
    people: [{ state: 'left', reason: 'unsubscribed from this group', count: 1 }],
    mails: [{ subject: 'one', delivered: 1 }, { delivered: 1 }, { delivered: 0 }],
  });
  t.equal(
    (await app.two.call('GET', '/automations/report', { query: { utr } })).status,
    404,
    'of its own account only',
  );
  t.equal((await get('/automations/preview', { utr, email: 'no address' })).status, 422);
});
