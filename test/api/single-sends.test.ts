/** Single sends from create to report, as an owner goes through them. */
import { setImmediate } from 'node:timers/promises';
import PostalMime from 'postal-mime';
import t, { type Test } from 'tap';
import { holdSending, releaseSending } from '../../src/delivery/queue/hold.ts';
import { SmtpCourier } from '../../src/delivery/transport/smtp-courier.ts';
import { Relay } from '../delivery/rig.ts';
import { startSink } from '../delivery/sink.ts';
import { type Caller, startApp, type TestApp } from '../helper.ts';

const RECALL = 10_000;

/** An account with a list of three, a group and a sender; gives the body of a send to them. */
async function ready(t: Test, settings: Record<string, string> = {}, courierOf?: Parameters<typeof startApp>[2]) {
  const app = await startApp(t, settings, courierOf);
  const { one } = app;
  await one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  for (const name of ['Ann', 'Bob', 'Zoë']) await addContact(one, 1, name);
  await one.call('POST', '/unsubscribes-groups/save', {
    form: { group_name: 'News', description: 'n', is_display: 1 },
  });
  await one.call('POST', '/sender/save', {
    form: {
      from_name: 'Lark',
      from_email: 'lark@example.com',
      reply_to_email: 'desk@example.com',
      country_id: 1,
      company_address: '1 Harbour St',
      nickname: 'l',
    },
  });
  await app.background();
  app.db.exec('DELETE FROM outbox');
  const body: Record<string, unknown> = {
    template_id: 1,
    template_html: '<p>Hello ((first_name|there)), see <a href="https://example.com/a">this</a></p>',
    sender_id: 1,
    unsubscribe_group_id: 1,
    single_send_name: 'Autumn',
    subject: 'For ((first_name|you))',
    preheader: 'News',
    recipient_id: ['contacts_1'],
    schedule_type: 0,
  };
  return { app, body };
}

const addContact = (caller: Caller, typeId: number, name: string) =>
  caller.call('POST', '/contacts/add', {
    form: {
      contact_type_id: typeId,
      first_name: name,
      email: `${name === 'Zoë' ? 'zoe' : name}@example.org`,
      country: 1,
    },
  });

async function create(app: TestApp, body: Record<string, unknown>): Promise<string> {
  const answer = await app.one.call('POST', '/single/send/create', { form: body });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.message.utr;
}

const details = async (app: TestApp, utr: string) =>
  (await app.one.call('GET', '/single-send/details', { query: { utr } })).body.message.singleSend[0];
const report = async (app: TestApp, utr: string) =>
  (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message.report;
const outbox = (app: TestApp) =>
  app.db.prepare<[], { envelope_to: string; raw: Buffer }>('SELECT envelope_to, raw FROM outbox ORDER BY id').all();

t.test('an immediate send rests for the recall, then goes to everyone, merged', async (t) => {
  const { app, body } = await ready(t);
  const utr = await create(app, body);
  await app.background();
  t.match(await details(app, utr), {
    status: 1,
    sent_at: '0000-00-00 00:00:00',
    schedule_date: '0000-00-00',
    schedule_time: '00:00:00',
    template_json: null,
  });
  app.clock.advance(RECALL);
  await app.background();
  t.match(await details(app, utr), {
    status: 3,
    triggered: 3,
    delivered: 3,
    bounces: 0,
    sent_at: '2026-01-15 09:00:10',
    from_sender: 'lark@example.com',
    sender_name: 'Lark',
  });
  const mails = outbox(app);
  t.strictSame(
    mails.map((mail) => mail.envelope_to),
    ['Ann@example.org', 'Bob@example.org', 'zoe@example.org'],
  );
  const mail = await PostalMime.parse(mails[2]?.raw ?? '');
  t.equal(mail.subject, 'For Zoë');
  t.match(mail.html, /Hello Zoë, see/);
  t.match(mail.text, /1 Harbour St/, 'the footer brings the address the template forgot');
  t.match(mail.headers.find(({ key }) => key === 'list-unsubscribe-post')?.value, 'List-Unsubscribe=One-Click');
});

t.test('the same address through two targets or in other case gets one mail', async (t) => {
  const { app, body } = await ready(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Others' } });
  await app.one.call('POST', '/contacts/add', {
    form: { contact_type_id: 2, first_name: 'Other', email: 'ANN@EXAMPLE.ORG', country: 1 },
  });
  const utr = await create(app, { ...body, recipient_id: ['contacts_1', 'contacts_2'] });
  app.clock.advance(RECALL);
  await app.background();
  t.match(await details(app, utr), {
    delivered: 3,
    recipient_id: [
      { id: '1', table: 'contacts' },
      { id: '2', table: 'contacts' },
    ],
  });
});

t.test('the left, the suppressed and the excluded get nothing, and the report says why', async (t) => {
  const { app, body } = await ready(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Staff' } });
  await addContact(app.one, 2, 'Bob');
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: ' ANN@example.ORG ' } });
  const utr = await create(app, { ...body, exclude_specific_recipient_id: ['contacts_2'] });
  app.clock.advance(RECALL);
  await app.background();
  t.match(await details(app, utr), { status: 3, triggered: 1, delivered: 1 });
  const { states, reasons } = await report(app, utr);
  t.match(states, { accepted: 1, suppressed: 2 });
  t.match(reasons, [
    { state: 'suppressed', reason: 'excluded from this send', count: 1 },
    { state: 'suppressed', reason: 'unsubscribed from all mail', count: 1 },
  ]);
  const one = await app.one.call('GET', '/single-send/recipients', { query: { utr, email: 'ann@example.org' } });
  t.match(one.body.message.recipients, [{ state: 'suppressed', attempts: 0, reply: 'unsubscribed from all mail' }]);
});

t.test('an unsubscribe after the launch is honoured by the next claim', async (t) => {
  const { app, body } = await ready(t, { SEND_RATE: '1' });
  const utr = await create(app, body);
  app.clock.advance(RECALL);
  await app.background();
  t.match(await details(app, utr), { status: 2, delivered: 1 });
  await app.one.call('POST', '/unsubscribes-groups/manually-add', {
    form: { unsubscribe_groups_id: 1, email_address: 'bob@example.org' },
  });
  for (let second = 0; second < 5; second++) {
    app.clock.advance(1000);
    await app.background();
  }
  t.match(await details(app, utr), { status: 3, delivered: 2 });
  t.notOk(outbox(app).some((mail) => mail.envelope_to === 'Bob@example.org'));
});

t.test('a schedule holds until its time in the zone of the installation', async (t) => {
  const { app, body } = await ready(t, { TIME_ZONE: 'Europe/Berlin' });
  const utr = await create(app, { ...body, schedule_type: 1, schedule_date: '26-1-15', schedule_time: '12:30' });
  t.match(await details(app, utr), { schedule_type: 1, schedule_date: '2026-01-15', schedule_time: '12:30:00' });
  app.clock.advance(2.4 * 3600_000);
  await app.background();
  t.match(await details(app, utr), { status: 1 });
  app.clock.advance(0.2 * 3600_000);
  await app.background();
  t.match(await details(app, utr), { status: 3, delivered: 3 });
});

t.test('a send missed by more than the grace is held instead of out late', async (t) => {
  const { app, body } = await ready(t);
  const utr = await create(app, { ...body, schedule_type: 1, schedule_date: '2026-01-15', schedule_time: '10:00' });
  app.clock.advance(2.5 * 3600_000);
  await app.background();
  t.match(await details(app, utr), { status: 0, delivered: 0 });
  t.match((await report(app, utr)).held_reason, /Missed its time by 90 minutes/);
});

t.test('a send that came due while sending was held names that as the cause', async (t) => {
  const { app, body } = await ready(t);
  const schedule = { ...body, schedule_type: 1, schedule_date: '2026-01-15' };
  const utr = await create(app, { ...schedule, schedule_time: '10:00' });
  const later = await create(app, { ...schedule, schedule_time: '12:00' });
  holdSending(app.db, 'Restored from a backup');
  app.clock.advance(2.5 * 3600_000);
  await app.background();
  t.match(await details(app, utr), { status: 1 });
  releaseSending(app.db, app.clock.now().getTime());
  await app.background();
  t.equal((await report(app, utr)).held_reason, 'Missed its time by 90 minutes: sending was held');
  app.clock.advance(3 * 3600_000);
  await app.background();
  t.match((await report(app, later)).held_reason, /the service was not running/);
});

t.test('a list of sends with large templates is whole, though its pages are small', async (t) => {
  const { app, body } = await ready(t);
  for (let at = 0; at < 6; at++) {
    await create(app, { ...body, single_send_name: `Send ${at}`, template_html: `<p>${'x'.repeat(400_000)}</p>` });
  }
  const names = async (query: string) => {
    const { body: list } = await app.one.call('GET', `/single-send/list${query}`);
    return list.message.singleSends.map((send: { single_send_name: string }) => send.single_send_name);
  };
  t.strictSame(await names(''), ['Send 0', 'Send 1', 'Send 2', 'Send 3', 'Send 4', 'Send 5']);
  t.strictSame(await names('?limit=4&after_id=1'), ['Send 1', 'Send 2', 'Send 3', 'Send 4']);
});

t.test('schedules that are no time, or past, are field errors', async (t) => {
  const { app, body } = await ready(t);
  const cases = [
    [{ schedule_type: 1 }, ['schedule_date', 'schedule_time']],
    [{ schedule_type: 1, schedule_date: '2026-02-30', schedule_time: '10:00' }, ['schedule_date']],
    [{ schedule_type: 1, schedule_date: '2026-03-01', schedule_time: '25:00' }, ['schedule_time']],
    [{ schedule_type: 1, schedule_date: '2026-01-15', schedule_time: '08:59' }, ['schedule_date']],
    [{ schedule_type: 2 }, ['schedule_type']],
  ] as const;
  for (const [given, fields] of cases) {
    const { status, body: answer } = await app.one.call('POST', '/single/send/create', { form: { ...body, ...given } });
    t.equal(status, 422);
    t.strictSame(Object.keys(answer.errors), [...fields]);
  }
});

t.test('template code: MJML JSON or HTML, not both, nothing else', async (t) => {
  const { app, body } = await ready(t);
  const mjml = JSON.stringify({
    tagName: 'mjml',
    attributes: {},
    children: [{ tagName: 'mj-body', attributes: {}, children: [] }],
  });
  const { template_html: _none, ...bare } = body;
  const cases = [
    [{ ...body, template_json: mjml }, 422],
    [{ ...bare, template_json: '{"tagName":"html"}' }, 422],
    [{ ...bare, template_json: 'no json' }, 422],
    [{ ...bare, template_json: mjml }, 200],
  ] as const;
  for (const [given, status] of cases)
    t.equal((await app.one.call('POST', '/single/send/create', { form: given })).status, status);
});

t.test('what lacks something goes to status 0 with a reason, and update queues it again', async (t) => {
  const { app, body } = await ready(t);
  const { template_html: _none, ...bare } = body;
  const utr = await create(app, bare);
  app.clock.advance(RECALL);
  await app.background();
  t.match(await details(app, utr), { status: 0 });
  t.match((await report(app, utr)).held_reason, /no content/);
  await app.one.call('POST', '/single/send/update', { form: { ...body, utr } });
  t.match(await details(app, utr), { status: 1 });
  app.clock.advance(RECALL);
  await app.background();
  t.match(await details(app, utr), { status: 3, delivered: 3 });
  const late = await app.one.call('POST', '/single/send/update', { form: { ...body, utr } });
  t.equal(late.status, 409);
});

t.test('an empty audience is held with a reason', async (t) => {
  const { app, body } = await ready(t);
  await app.one.call('POST', '/contacts/bulk-delete', { form: { strIds: [1, 2, 3] } });
  const utr = await create(app, body);
  app.clock.advance(RECALL);
  await app.background();
  t.match(await details(app, utr), { status: 0 });
  t.match((await report(app, utr)).held_reason, /Nobody to send to/);
});

t.test('an unverified sender holds the send; verifying queues it', async (t) => {
  const { app, body } = await ready(t, { SENDER_VERIFICATION: 'required' });
  app.clock.advance(5 * 60_000);
  await app.one.call('GET', '/sender/resend-mail', { query: { sender_id: 1 } });
  await app.background();
  const link =
    /http:\/\/mail\.example\.com(\/verify\/\S+)/.exec(String(outbox(app)[0]?.raw).replaceAll('=\r\n', ''))?.[1] ?? '';
  const utr = await create(app, body);
  app.clock.advance(RECALL);
  await app.background();
  t.match(await report(app, utr), { status: 0, held_reason: 'The sender is not verified yet' });
  await app.page('GET', link);
  t.match(
    app.db.prepare('SELECT is_verified FROM senders').get(),
    { is_verified: 0 },
    'looking at the page changes nothing',
  );
  t.equal((await app.page('POST', link, { form: {} })).status, 200);
  await app.background();
  t.match(await details(app, utr), { status: 3, delivered: 3 });
  t.equal((await app.page('POST', `${link}x`, { form: {} })).status, 404, 'an altered link does nothing');
});

t.test('pause keeps the rest waiting, resume goes on, cancel ends it', async (t) => {
  const { app, body } = await ready(t, { SEND_RATE: '1' });
  const utr = await create(app, body);
  t.equal((await app.one.call('POST', '/single/send/pause', { query: { utr } })).status, 409, 'nothing to pause yet');
  app.clock.advance(RECALL);
  await app.background();
  t.equal((await app.one.call('POST', '/single/send/pause', { query: { utr } })).status, 200);
  app.clock.advance(60_000);
  await app.background();
  t.match(await details(app, utr), { status: 2, delivered: 1 });
  t.equal((await app.one.call('POST', '/single/send/resume', { query: { utr } })).status, 200);
  app.clock.advance(1000);
  await app.background();
  t.match(await details(app, utr), { status: 2, delivered: 2 });
  t.equal((await app.one.call('POST', '/single/send/cancel', { query: { utr } })).status, 200);
  app.clock.advance(60_000);
  await app.background();
  t.match(await details(app, utr), { status: 3, delivered: 2 });
  t.match((await report(app, utr)).states, { accepted: 2, cancelled: 1 });
});

for (const offers of [['PIPELINING'], []]) {
  for (const stop of ['pause', 'cancel', 'delete']) {
    const relay = offers.length > 0 ? 'that pipelines' : 'without PIPELINING';
    t.test(`after the answer to ${stop}, a relay ${relay} sees no MAIL FROM`, async (t) => {
      const sink = await startSink(t, { offers });
      const { app, body } = await ready(
        t,
        {},
        () => new SmtpCourier(sink.url, { connections: 1, onRelayFailure: () => undefined }),
      );
      let answer: (said: string) => void = () => undefined;
      const answered = new Promise<string>((resolve) => {
        answer = resolve;
      });
      // The only connection waits for an answer; the next mail would follow on it.
      if (offers.length > 0) sink.script = { offers, dot: () => answered };
      else sink.script = { offers, rcpt: '550 5.7.1 not here\r\n', rset: () => answered };
      const mails = () => sink.commands.filter((line) => line.startsWith('MAIL')).length;
      const before = mails();
      const utr = await create(app, body);
      app.clock.advance(RECALL);
      const sending = app.background();
      while (mails() === before || (offers.length === 0 && !sink.commands.includes('RSET'))) await setImmediate();
      const { status } =
        stop === 'delete'
          ? await app.one.call('DELETE', '/single/send/delete', { query: { utr } })
          : await app.one.call('POST', `/single/send/${stop}`, { query: { utr } });
      t.equal(status, 200);
      answer('250 2.0.0 ok\r\n');
      await sending;
      t.equal(mails() - before, 1, 'the one that was under way');
    });
  }
}

t.test('a send whose launch fails is held with a reason, and the others go', async (t) => {
  const { app, body } = await ready(t);
  const broken = await create(app, body);
  const unreadable = await create(app, body);
  const sound = await create(app, body);
  app.db.exec(
    "CREATE TRIGGER broken BEFORE INSERT ON mailings WHEN NEW.owner_id = 1 BEGIN SELECT RAISE(ABORT, 'no such luck'); END",
  );
  app.db.exec("UPDATE single_sends SET recipient_id = '[' WHERE id = 2");
  app.clock.advance(RECALL);
  await app.background();
  t.match(await details(app, sound), { status: 3, delivered: 3 });
  t.match(await report(app, broken), { status: 0, held_reason: 'It could not be launched: no such luck' });
  const row = app.db.prepare('SELECT status, held_reason FROM single_sends WHERE utr = ?').get(unreadable);
  t.match(row, { status: 0, held_reason: /^It could not be launched: / });
});

t.test('segments are recomputed before a launch', async (t) => {
  const { app, body } = await ready(t);
  const segment = { segment_name: 'All', contact_type_id: 1 };
  const rule = { select_field: ['email'], select_operator: ['contains'], value: ['@'] };
  t.equal((await app.one.call('POST', '/segment/store', { form: { ...segment, ...rule } })).status, 200);
  app.db.exec('DELETE FROM segment_recipients');
  const utr = await create(app, { ...body, recipient_id: ['segments_1'] });
  app.clock.advance(RECALL);
  await app.background();
  t.match(await details(app, utr), { status: 3, delivered: 3 });
});

t.test('a relay that says a byte a second holds up neither the API nor an unsubscribe', async (t) => {
  const sink = await startSink(t);
  const { app, body } = await ready(
    t,
    {},
    () => new SmtpCourier(sink.url, { connections: 2, onRelayFailure: () => undefined }),
  );
  const [link = ''] = /\/u\/[^>]+/.exec(await firstMail(app, sink, body)) ?? [];
  const before = sink.received.length;
  sink.script = { drip: 1000 };
  const utr = await create(app, body);
  app.clock.advance(RECALL);
  const commands = sink.commands.length;
  void app.background().catch(() => undefined);
  while (sink.commands.length === commands) await setImmediate();
  const form = { 'List-Unsubscribe': 'One-Click' };
  t.equal((await app.page('POST', link, { form })).status, 200);
  for (let calls = 0; calls < 50; calls++) t.match(await details(app, utr), { status: 2 });
  t.equal((await app.one.call('POST', '/single/send/pause', { query: { utr } })).status, 200);
  t.equal(sink.received.length, before, 'all of it before the relay had said a line');
  t.ok(sink.peak <= 2, 'on no more sockets than it may have');
});

/** Sends one campaign through and gives the last mail that came. */
async function firstMail(app: TestApp, sink: Awaited<ReturnType<typeof startSink>>, body: Record<string, unknown>) {
  await create(app, body);
  app.clock.advance(RECALL);
  await app.background();
  return String(sink.received.at(-1)?.message);
}

t.test('cancelled in its rest it goes back to 0; deleted while running it is gone and starts nothing', async (t) => {
  const { app, body } = await ready(t, { SEND_RATE: '1' });
  const first = await create(app, body);
  await app.one.call('POST', '/single/send/cancel', { query: { utr: first } });
  app.clock.advance(RECALL);
  await app.background();
  t.match(await report(app, first), { status: 0, held_reason: 'Cancelled before it ran' });
  const second = await create(app, body);
  app.clock.advance(RECALL);
  await app.background();
  t.equal(
    (await app.one.call('DELETE', '/single/send/delete', { query: { utr: second } })).body.message,
    'Deleted Successfully',
  );
  const sent = outbox(app).length;
  app.clock.advance(60_000);
  await app.background();
  t.equal(outbox(app).length, sent);
  t.equal((await app.one.call('GET', '/single-send/details', { query: { utr: second } })).status, 404);
});

t.test('a duplicate is a copy at rest', async (t) => {
  const { app, body } = await ready(t);
  const utr = await create(app, body);
  for (const method of ['GET', 'POST']) {
    t.equal(
      (await app.one.call(method, '/single/send/duplicate', { query: { utr } })).body.message,
      'Duplicated Successfully',
    );
  }
  const { body: list } = await app.one.call('GET', '/single-send/list');
  t.match(list.message.singleSends.slice(1), [
    { single_send_name: 'Copy of Autumn', status: 0, triggered: 0 },
    { single_send_name: 'Copy of Autumn', status: 0 },
  ]);
});

t.test('a test mail goes to the addresses given and counts nowhere', async (t) => {
  const { app, body } = await ready(t);
  const utr = await create(app, body);
  const answer = await app.one.call('POST', '/single/send/test', {
    form: { utr, email_address: 'zoe@example.org, boss@example.com' },
  });
  t.equal(answer.status, 200);
  await app.background();
  t.strictSame(
    outbox(app)
      .map((mail) => mail.envelope_to)
      .sort(),
    ['boss@example.com', 'zoe@example.org'],
  );
  t.match(await details(app, utr), { status: 1, triggered: 0, delivered: 0 });
  const eleven = Array.from({ length: 11 }, (_, at) => `t${at}@example.com`).join(',');
  t.equal((await app.one.call('POST', '/single/send/test', { form: { utr, email_address: eleven } })).status, 422);
});

t.test('a test to an address that gets no mail is refused with the reason, and sends to nobody', async (t) => {
  const { app, body } = await ready(t);
  const utr = await create(app, body);
  const test = (email_address: string) => app.one.call('POST', '/single/send/test', { form: { utr, email_address } });
  t.equal((await test('boss@example.com')).status, 200);
  await app.background();
  const link = /^List-Unsubscribe: <http:\/\/mail\.example\.com(\S+)>/m.exec(String(outbox(app)[0]?.raw))?.[1] ?? '';
  const oneClick = { form: { 'List-Unsubscribe': 'One-Click' } };
  t.equal((await app.page('POST', link, oneClick)).status, 200);
  await app.one.call('POST', '/bounces', { form: { address: 'gone@example.com', kind: 'bounce' } });
  const { status, body: answer } = await test('ann@example.org, boss@example.com, gone@example.com');
  t.equal(status, 422);
  const [text] = answer.errors.email_address;
  t.match(text, 'boss@example.com (unsubscribed from this group)');
  t.match(text, 'gone@example.com (suppressed after an earlier bounce)');
  t.notMatch(text, 'ann@example.org');
  await app.background();
  t.equal(outbox(app).length, 1);
  const { report: own } = (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message;
  // The page sends tests to the account's own people only.
  const boss = { contact_type_id: 1, email: 'boss@example.com', country: 1 };
  t.equal((await app.one.call('POST', '/contacts/add', { form: boss })).status, 200);
  const onPage = await app.page('POST', `${new URL(own.design_url).pathname}/test`, {
    json: { email: 'boss@example.com' },
  });
  t.equal(onPage.status, 422, 'the design page says so too');
  t.match(onPage.body.problem, 'unsubscribed from this group');
  await app.one.call('DELETE', '/unsubscribes-groups/recipients-delete', { query: { id: 1 } });
  t.equal((await test('boss@example.com')).status, 200, 'off the list, the test goes out again');
  await app.background();
  t.equal(outbox(app).length, 2);
});

t.test('the report counts replies together that differ in addresses and ids only', async (t) => {
  let number = 0;
  const relay = new Relay((to) => {
    const id = (0x4abc1234de + number++ * 977).toString(16).toUpperCase();
    const reply = `554 5.7.1 <${to}>: ${id} blocked (S3150), see https://relay.example/why/${id} [192.0.2.${number}]`;
    return { kind: 'refused', stage: 'rcpt', code: 554, enhanced: '5.7.1', reply };
  });
  const { app, body } = await ready(t, {}, () => relay);
  const utr = await create(app, body);
  app.clock.advance(RECALL);
  await app.background();
  t.strictSame((await report(app, utr)).reasons, [
    {
      state: 'failed',
      reason: '554 5.7.1 <address>: … blocked (S3150), see https://relay.example/why/… […]',
      count: 3,
    },
  ]);
  const { body: list } = await app.one.call('GET', '/single-send/recipients', { query: { utr } });
  t.match(list.message.recipients[0].reply, /<Ann@example\.org>: 4ABC/, 'each recipient’s own reply stays whole');
});

t.test('a preview counts exactly who gets it, who does not and why, and shows one mail', async (t) => {
  const { app, body } = await ready(t);
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'ann@example.org' } });
  const { status, body: answer } = await app.one.call('POST', '/single/send/preview', {
    form: { ...body, template_html: '<p>((first_name)) ((city)) <a href="https://example.com/a">x</a></p>' },
  });
  t.equal(status, 200);
  const { audience, mail, placeholders_without_value } = answer.message.preview;
  t.strictSame(audience, { recipients: 2, left_out: [{ reason: 'unsubscribed from all mail', count: 1 }] });
  t.match(mail, { contact_id: 2, subject: 'For Bob', html: /<p>Bob {2}<a href="https:\/\/example\.com\/a"/ });
  t.strictSame(placeholders_without_value, ['city']);
  t.equal((await app.one.call('GET', '/single-send/list')).body.message.singleSends.length, 0, 'nothing is stored');
});

t.test('one year ahead on the clock: nothing goes before a release', async (t) => {
  const { app, body } = await ready(t);
  const utr = await create(app, { ...body, schedule_type: 1, schedule_date: '2026-06-01', schedule_time: '10:00' });
  app.clock.jump(365 * 24 * 3600_000);
  await app.background();
  t.equal(outbox(app).length, 0);
  t.match(await details(app, utr), { delivered: 0 });
});

t.test(
  'a contact whose address is corrected while the send runs to one that has left gets no mail there, nor at the old one',
  async (t) => {
    const { app, body } = await ready(t, { SEND_RATE: '1' });
    await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'gone@example.org' } });
    const utr = await create(app, body);
    app.clock.advance(RECALL);
    await app.background();
    const moved = { contact_id: 3, contact_type_id: 1, email: 'gone@example.org', country: 1 };
    t.equal((await app.one.call('POST', '/contacts/update', { form: moved })).status, 200);
    for (let second = 0; second < 3; second++) {
      app.clock.advance(1000);
      await app.background();
    }
    t.match(await details(app, utr), { status: 3, delivered: 2 });
    t.strictSame(
      outbox(app).map((mail) => mail.envelope_to.toLowerCase()),
      ['ann@example.org', 'bob@example.org'],
    );
  },
);
