/** Automations: entry by joining, waits, order, leaving, pause, changes while live. */
import t, { type Test } from 'tap';
import { startApp, type TestApp } from '../helper.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Mail {
  to: string;
  subject: string;
  at: string;
}

/** An account with a list, a group, a sender and a welcome series of three mails: at once, after 2 days, 12 hours later. */
async function ready(t: Test, { exit = 0, settings = {} }: { exit?: number; settings?: Record<string, string> } = {}) {
  const app = await startApp(t, settings);
  const post = async (path: string, form: Record<string, unknown>) => {
    const answer = await app.one.call('POST', path, { form });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer.body.message;
  };
  const get = async (path: string, query: Record<string, unknown> = {}) => app.one.call('GET', path, { query });
  await post('/contacts-type/add', { name: 'Readers' });
  await post('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: 1 });
  await post('/sender/save', {
    from_name: 'Lark',
    from_email: 'lark@example.com',
    reply_to_email: 'lark@example.com',
    country_id: 1,
    company_address: '1 Harbour St',
    nickname: 'l',
  });
  await app.background();
  app.db.exec('DELETE FROM outbox');
  const { utr } = await post('/automations/create', {
    type: 'welcome',
    automation_for: 'contacts_1',
    automation_name: 'Welcome',
    unsubscribe_group_id: 1,
    exit_criteria: exit,
  });
  const addMail = (subject: string, waiting_type: string, waiting_period: number) =>
    post('/automations/schedule/create', {
      utr,
      sender_id: 1,
      subject,
      waiting_period,
      waiting_type,
      template_id: 1,
      preview_img: 'blank.png',
      template_html: '<p>Hello ((first_name))</p>',
    });
  await addMail('one', 'instantly', 1);
  await addMail('two', 'days', 2);
  await addMail('three', 'hours', 12);
  const join = (name: string) =>
    post('/contacts/add', { contact_type_id: 1, email: `${name}@example.org`, first_name: name, country: 1 });
  /** Lets time pass in steps of an hour, the background at each. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += HOUR) {
      app.clock.advance(Math.min(HOUR, ms - passed));
      await app.background();
    }
  };
  const live = async () => {
    const answer = await get('/automations/set-live', { utr });
    if (answer.status !== 200) throw new Error(answer.text);
  };
  return { app, utr, post, get, join, pass, live, addMail };
}

const mails = (app: TestApp): Mail[] =>
  app.db.prepare<[], Mail>('SELECT envelope_to AS "to", subject, created_at AS at FROM outbox ORDER BY id').all();
const brief = (app: TestApp) =>
  mails(app).map(({ to, subject, at }) => `${at.slice(5, 16)} ${to.split('@')[0]} ${subject}`);

t.test('who joins while it is live gets each mail in its time, who was there before none', async (t) => {
  const { app, join, pass, live } = await ready(t);
  await join('old');
  await live();
  await join('ann');
  await app.background();
  await pass(3 * DAY);
  t.strictSame(brief(app), ['01-15T09:00 ann one', '01-17T09:00 ann two', '01-17T21:00 ann three']);
});

t.test('going live needs a group, a target and a mail that compiles, each told by 409', async (t) => {
  const { app, post, get } = await ready(t);
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
  t.equal(mails(app).length, 0);
});

t.test('the record carries its state and its counters', async (t) => {
  const { app, utr, get, join, pass, live } = await ready(t);
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
  t.equal(mails(app).length, 2);
});

t.test('paused, people keep their place; live again, each mail waits from the one before it', async (t) => {
  const { app, utr, get, join, pass, live } = await ready(t);
  await live();
  await join('ann');
  await pass(DAY);
  t.equal((await get('/automations/pause', { utr })).body.message, 'Automation Paused Successfully');
  t.match((await get('/automations/details', { utr })).body.message.automation, { status: 0, live_at: null });
  await join('late');
  await pass(5 * DAY);
  t.strictSame(brief(app), ['01-15T10:00 ann one']);
  await live();
  await pass(2 * DAY);
  t.strictSame(
    brief(app),
    ['01-15T10:00 ann one', '01-21T10:00 ann two', '01-21T22:00 ann three'],
    'and who joined meanwhile is not in it',
  );
});

t.test('unsubscribed people leave at the next mail', async (t) => {
  const { app, post, join, pass, live } = await ready(t);
  await live();
  await join('ann');
  await join('bob');
  await pass(HOUR);
  await post('/unsubscribes-groups/manually-add', { unsubscribe_groups_id: 1, email_address: 'ANN@example.org' });
  await pass(3 * DAY);
  t.strictSame(
    brief(app).filter((mail) => mail.includes('ann')),
    ['01-15T10:00 ann one'].map((mail) => mail.replace('10:00', '10:00')),
  );
  t.equal(brief(app).filter((mail) => mail.includes('bob')).length, 3);
});

for (const exit of [0, 1]) {
  t.test(
    `exit_criteria ${exit}: leaving the target ${exit === 1 ? 'ends it' : 'ends nothing but for deleted contacts'}`,
    async (t) => {
      const { app, post, join, pass, live } = await ready(t, { exit });
      await live();
      await join('ann');
      await pass(HOUR);
      await post('/contacts-type/add', { name: 'Others' });
      await post('/contacts/update', { contact_id: 1, contact_type_id: 2, email: 'ann@example.org', country: 1 });
      await pass(3 * DAY);
      t.equal(mails(app).length, exit === 1 ? 1 : 3);
    },
  );
}

t.test('nobody enters twice, not by leaving and coming back either', async (t) => {
  const { app, join, post, pass, live } = await ready(t);
  await live();
  await join('ann');
  await pass(3 * DAY);
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 1 } });
  await join('ann');
  await pass(3 * DAY);
  t.equal(mails(app).length, 3);
  await post('/contacts-type/add', { name: 'Others' });
});

t.test('a mail added while live reaches those who have not finished; one deleted is skipped', async (t) => {
  const { app, utr, get, join, pass, live, addMail } = await ready(t);
  await live();
  await join('ann');
  await pass(DAY);
  await addMail('four', 'hours', 1);
  const { automation_schedules } = (await get('/automations/schedule', { utr })).body.message;
  await app.one.call('DELETE', '/automations/schedule/delete', { query: { utr: automation_schedules[1].utr } });
  await pass(3 * DAY);
  t.strictSame(
    brief(app).map((mail) => mail.split(' ').at(-1)),
    ['one', 'three', 'four'],
  );
});

t.test('an import enrols as one', async (t) => {
  const { app, pass, live } = await ready(t);
  await live();
  const rows = Array.from({ length: 1200 }, (_, at) => `r${at}@example.org,R${at}`).join('\n');
  await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', { filename: 'a.csv', content: `email,first_name\n${rows}` }],
    ],
  });
  await app.background();
  await pass(3 * DAY);
  const sent = app.db.prepare('SELECT sum(delivered) AS delivered FROM mailings WHERE automation_id IS NOT NULL').get();
  t.match(sent, { delivered: 3600 });
});

t.test('the clock an hour back fires nothing twice', async (t) => {
  const { app, join, pass, live } = await ready(t);
  await live();
  await join('ann');
  await pass(2 * DAY + HOUR);
  app.clock.jump(-HOUR);
  await pass(2 * DAY);
  t.equal(mails(app).length, 3);
});

t.test(
  'deleting the sender takes a live automation to draft with a reason; a copy is a draft with its mails',
  async (t) => {
    const { app, utr, get, join, pass, live } = await ready(t);
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
    t.equal(mails(app).length, 0);
  },
);

t.test('the preview tells what a person receives and when, and why they would leave', async (t) => {
  const { app, utr, post, get, join, pass, live } = await ready(t, { exit: 1 });
  const preview = async (email: string) => (await get('/automations/preview', { utr, email })).body.message.preview;
  const times = (outlook: { mails: { sent_at: string | null; due_at: string | null }[] }) =>
    outlook.mails.map(({ sent_at, due_at }) => (sent_at ?? due_at)?.slice(5, 16) ?? null);
  await join('old');
  await live();
  await join('ann');
  await app.background();
  t.match(await preview('old@example.org'), { state: 'outside', reason: /joined before it went live/ });
  t.match(await preview('nobody@example.org'), { state: 'outside', reason: 'not in the target', entered_at: null });
  const before = await preview('ANN@example.org');
  t.match(before, { state: 'waiting', reason: null, mails: [{ due_at: null }, { sent_at: null }, { sent_at: null }] });
  t.strictSame(times(before), ['01-15T09:00', '01-17T09:00', '01-17T21:00']);
  await pass(2 * DAY);
  t.strictSame(brief(app), ['01-15T09:00 ann one', '01-17T09:00 ann two'], 'and so it comes');
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

t.test('who joins and leaves while it is live is judged in the order it happened', async (t) => {
  const { app, utr, get, join, pass, live } = await ready(t, { exit: 1 });
  await live();
  await join('ann');
  await get('/automations/pause', { utr });
  await live();
  await pass(HOUR);
  t.equal(mails(app).length, 1, 'joined while live, paused before anyone looked: in it all the same');
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 1 } });
  await join('ann');
  await pass(3 * DAY);
  t.equal(mails(app).length, 1, 'left and back at once has left');
});
