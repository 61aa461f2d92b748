/** A single send from its creation to its last recipient, and what holds it before it starts. */
import PostalMime from 'postal-mime';
import t from 'tap';
import { releaseSendsOfSenders } from '../../src/campaigns/status.ts';
import { holdSending, releaseSending } from '../../src/delivery/queue/holds.ts';
import {
  addContact,
  createSend,
  outboxOf,
  RECALL,
  readyToSend,
  sendDetails,
  sendReport,
} from '../support/single-sends.ts';

t.test('an immediate send rests for the recall, then goes to everyone, merged', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, body);
  await app.background();
  t.match(await sendDetails(app, utr), {
    status: 1,
    sent_at: '0000-00-00 00:00:00',
    schedule_date: '0000-00-00',
    schedule_time: '00:00:00',
    template_json: null,
  });
  app.clock.advance(RECALL);
  await app.background();
  t.match(await sendDetails(app, utr), {
    status: 3,
    triggered: 3,
    delivered: 3,
    bounces: 0,
    sent_at: '2026-01-15 09:00:10',
    from_sender: 'lark@example.com',
    sender_name: 'Lark',
  });
  const mails = outboxOf(app);
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
  const { app, body } = await readyToSend(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Others' } });
  await app.one.call('POST', '/contacts/add', {
    form: { contact_type_id: 2, first_name: 'Other', email: 'ANN@EXAMPLE.ORG', country: 1 },
  });
  const utr = await createSend(app, { ...body, recipient_id: ['contacts_1', 'contacts_2'] });
  app.clock.advance(RECALL);
  await app.background();
  t.match(await sendDetails(app, utr), {
    delivered: 3,
    recipient_id: [
      { id: '1', table: 'contacts' },
      { id: '2', table: 'contacts' },
    ],
  });
});

t.test('people who unsubscribed, are suppressed or are excluded get nothing, and the report says why', async (t) => {
  const { app, body } = await readyToSend(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Staff' } });
  await addContact(app.one, 2, 'Bob');
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: ' ANN@example.ORG ' } });
  const utr = await createSend(app, { ...body, exclude_specific_recipient_id: ['contacts_2'] });
  app.clock.advance(RECALL);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 3, triggered: 1, delivered: 1 });
  const { states, reasons } = await sendReport(app, utr);
  t.match(states, { kept: 1, suppressed: 2 });
  t.match(reasons, [
    { state: 'suppressed', reason: 'excluded from this send', count: 1 },
    { state: 'suppressed', reason: 'unsubscribed from all mail', count: 1 },
  ]);
  const one = await app.one.call('GET', '/single-send/recipients', { query: { utr, email: 'ann@example.org' } });
  t.match(one.body.message.recipients, [{ state: 'suppressed', attempts: 0, reply: 'unsubscribed from all mail' }]);
});

t.test('an unsubscribe after the launch is honoured by the next claim', async (t) => {
  const { app, body } = await readyToSend(t, { SEND_RATE: '1' });
  const utr = await createSend(app, body);
  app.clock.advance(RECALL);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 2, delivered: 1 });
  await app.one.call('POST', '/unsubscribes-groups/manually-add', {
    form: { unsubscribe_groups_id: 1, email_address: 'bob@example.org' },
  });
  for (let second = 0; second < 5; second++) {
    app.clock.advance(1000);
    await app.background();
  }
  t.match(await sendDetails(app, utr), { status: 3, delivered: 2 });
  t.notOk(outboxOf(app).some((mail) => mail.envelope_to === 'Bob@example.org'));
});

t.test('a schedule holds until its time in the zone of the installation', async (t) => {
  const { app, body } = await readyToSend(t, { TIME_ZONE: 'Europe/Berlin' });
  const utr = await createSend(app, { ...body, schedule_type: 1, schedule_date: '26-1-15', schedule_time: '12:30' });
  t.match(await sendDetails(app, utr), { schedule_type: 1, schedule_date: '2026-01-15', schedule_time: '12:30:00' });
  app.clock.advance(2.4 * 3600_000);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 1 });
  app.clock.advance(0.2 * 3600_000);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 3, delivered: 3 });
});

t.test('a send missed by more than the grace is held instead of out late', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, { ...body, schedule_type: 1, schedule_date: '2026-01-15', schedule_time: '10:00' });
  app.clock.advance(2.5 * 3600_000);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 0, delivered: 0 });
  t.match((await sendReport(app, utr)).held_reason, /The scheduled time was missed by 90 minutes/);
});

t.test('a send that came due while sending was held names that as the cause', async (t) => {
  const { app, body } = await readyToSend(t);
  const schedule = { ...body, schedule_type: 1, schedule_date: '2026-01-15' };
  const utr = await createSend(app, { ...schedule, schedule_time: '10:00' });
  const later = await createSend(app, { ...schedule, schedule_time: '12:00' });
  holdSending(app.db, 'Restored from a backup');
  app.clock.advance(2.5 * 3600_000);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 1 });
  releaseSending(app.db, app.clock.now().getTime());
  await app.background();
  t.equal((await sendReport(app, utr)).held_reason, 'The scheduled time was missed by 90 minutes: sending was held');
  app.clock.advance(3 * 3600_000);
  await app.background();
  t.match((await sendReport(app, later)).held_reason, /the service was not running/);
});

t.test('a send that lacks something goes to status 0 with a reason, and an update queues it again', async (t) => {
  const { app, body } = await readyToSend(t);
  const { template_html: _none, ...bare } = body;
  const utr = await createSend(app, bare);
  app.clock.advance(RECALL);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 0 });
  t.match((await sendReport(app, utr)).held_reason, /no content/);
  await app.one.call('POST', '/single/send/update', { form: { ...body, utr } });
  t.match(await sendDetails(app, utr), { status: 1 });
  app.clock.advance(RECALL);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 3, delivered: 3 });
  const late = await app.one.call('POST', '/single/send/update', { form: { ...body, utr } });
  t.equal(late.status, 409);
});

t.test('an empty audience is held with a reason', async (t) => {
  const { app, body } = await readyToSend(t);
  await app.one.call('POST', '/contacts/bulk-delete', { form: { strIds: [1, 2, 3] } });
  const utr = await createSend(app, body);
  app.clock.advance(RECALL);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 0 });
  t.match((await sendReport(app, utr)).held_reason, /Nobody to send to/);
});

t.test('an unverified sender holds the send; verifying queues it', async (t) => {
  const { app, body } = await readyToSend(t, { SENDER_VERIFICATION: 'required' });
  app.clock.advance(5 * 60_000);
  await app.one.call('GET', '/sender/resend-mail', { query: { sender_id: 1 } });
  await app.background();
  const link =
    /http:\/\/mail\.example\.com(\/verify\/\S+)/.exec(String(outboxOf(app)[0]?.raw).replaceAll('=\r\n', ''))?.[1] ?? '';
  const utr = await createSend(app, body);
  app.clock.advance(RECALL);
  await app.background();
  t.match(await sendReport(app, utr), { status: 0, held_reason: 'The sender is not verified yet' });
  await app.page('GET', link);
  t.match(
    app.db.prepare('SELECT is_verified FROM senders').get(),
    { is_verified: 0 },
    'looking at the page changes nothing',
  );
  t.equal((await app.page('POST', link, { form: {} })).status, 200);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 3, delivered: 3 });
  t.equal((await app.page('POST', `${link}x`, { form: {} })).status, 404, 'an altered link does nothing');
});

t.test(
  'a send whose list or segment was deleted while it was a draft is held, also if an exclusion is gone',
  async (t) => {
    const { app, body } = await readyToSend(t, { SENDER_VERIFICATION: 'required' });
    const rule = { select_field: ['email'], select_operator: ['contains'], value: ['ann'] };
    for (const segment_name of ['Ann', 'Ann again'])
      await app.one.call('POST', '/segment/store', { form: { segment_name, contact_type_id: 1, ...rule } });
    await app.one.call('POST', '/contacts-type/add', { form: { name: 'Never' } });
    await addContact(app.one, 2, 'Bob');
    const excluded = ['segments_2', 'contacts_2'];
    const toSegment = await createSend(app, { ...body, recipient_id: ['segments_1'] });
    const withoutSegment = await createSend(app, { ...body, exclude_specific_recipient_id: excluded.slice(0, 1) });
    const withoutList = await createSend(app, { ...body, exclude_specific_recipient_id: excluded.slice(1) });
    app.clock.advance(RECALL);
    await app.background();
    t.match(await sendReport(app, toSegment), { status: 0, held_code: 'sender_unverified' });
    for (const segment_id of [1, 2])
      t.equal((await app.one.call('DELETE', '/segment/delete', { query: { segment_id } })).status, 200);
    t.equal((await app.one.call('DELETE', '/contacts-type/delete', { query: { contact_type_id: 2 } })).status, 200);
    app.db.exec('UPDATE senders SET is_verified = 1');
    // An update without exclusions keeps those that the send has, deleted or not.
    t.equal(
      (await app.one.call('POST', '/single/send/update', { form: { ...body, utr: withoutSegment } })).status,
      200,
    );
    releaseSendsOfSenders(app.drizzle, [1], app.clock.now(), 60);
    app.clock.advance(RECALL);
    await app.background();
    const held = { status: 0, held_code: 'target_missing' };
    t.match(await sendReport(app, toSegment), { ...held, held_reason: 'A segment it names was deleted' });
    t.match(await sendReport(app, withoutSegment), { ...held, held_reason: 'A segment it names was deleted' });
    t.match(await sendReport(app, withoutList), { ...held, held_reason: 'A contact type it names was deleted' });
    t.strictSame(outboxOf(app), []);
  },
);

t.test('a send whose launch fails is held with a reason, and the others go', async (t) => {
  const { app, body } = await readyToSend(t);
  const broken = await createSend(app, body);
  const unreadable = await createSend(app, body);
  const sound = await createSend(app, body);
  app.db.exec(
    "CREATE TRIGGER broken BEFORE INSERT ON mailings WHEN NEW.owner_id = 1 BEGIN SELECT RAISE(ABORT, 'no such luck'); END",
  );
  app.db.exec("UPDATE single_sends SET recipient_id = '[' WHERE id = 2");
  app.clock.advance(RECALL);
  await app.background();
  t.match(await sendDetails(app, sound), { status: 3, delivered: 3 });
  t.match(await sendReport(app, broken), { status: 0, held_reason: 'The campaign could not be started: no such luck' });
  const row = app.db
    .prepare('SELECT status, english(held_reason) AS held_reason FROM single_sends WHERE utr = ?')
    .get(unreadable);
  t.match(row, { status: 0, held_reason: /^The campaign could not be started: / });
});

t.test('segments are recomputed before a launch', async (t) => {
  const { app, body } = await readyToSend(t);
  const segment = { segment_name: 'All', contact_type_id: 1 };
  const rule = { select_field: ['email'], select_operator: ['contains'], value: ['@'] };
  t.equal((await app.one.call('POST', '/segment/store', { form: { ...segment, ...rule } })).status, 200);
  app.db.exec('DELETE FROM segment_recipients');
  const utr = await createSend(app, { ...body, recipient_id: ['segments_1'] });
  app.clock.advance(RECALL);
  await app.background();
  t.match(await sendDetails(app, utr), { status: 3, delivered: 3 });
});

t.test('with the clock a year ahead nothing is sent before a release', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, { ...body, schedule_type: 1, schedule_date: '2026-06-01', schedule_time: '10:00' });
  app.clock.jump(365 * 24 * 3600_000);
  await app.background();
  t.equal(outboxOf(app).length, 0);
  t.match(await sendDetails(app, utr), { delivered: 0 });
});

t.test(
  'a contact whose address is corrected while the send runs to one that has left gets no mail there, nor at the old one',
  async (t) => {
    const { app, body } = await readyToSend(t, { SEND_RATE: '1' });
    await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'gone@example.org' } });
    const utr = await createSend(app, body);
    app.clock.advance(RECALL);
    await app.background();
    const moved = { contact_id: 3, contact_type_id: 1, email: 'gone@example.org', country: 1 };
    t.equal((await app.one.call('POST', '/contacts/update', { form: moved })).status, 200);
    for (let second = 0; second < 3; second++) {
      app.clock.advance(1000);
      await app.background();
    }
    t.match(await sendDetails(app, utr), { status: 3, delivered: 2 });
    t.strictSame(
      outboxOf(app).map((mail) => mail.envelope_to.toLowerCase()),
      ['ann@example.org', 'bob@example.org'],
    );
  },
);
