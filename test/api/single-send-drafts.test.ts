/** Composing a single send: drafts, partial changes and counts. */
import t from 'tap';
import { createSend, RECALL, readyToSend, sendDetails } from '../support/single-sends.ts';

t.test('a draft begins with a name, the first verified sender and a group, and is never sent by itself', async (t) => {
  const { app } = await readyToSend(t);
  const answer = await app.one.call('POST', '/single/send/draft', { form: { single_send_name: 'Autumn' } });
  t.equal(answer.status, 200);
  const { utr } = answer.body.message;
  t.match(await sendDetails(app, utr), {
    status: 0,
    single_send_name: 'Autumn',
    subject: '',
    recipient_id: [],
    sender_id: 1,
    from_sender: 'lark@example.com',
    unsubscribe_group_id: 1,
    sent_at: '0000-00-00 00:00:00',
  });
  app.clock.advance(10 * RECALL);
  await app.background();
  t.equal((await sendDetails(app, utr)).status, 0);
  t.equal((await app.one.call('POST', '/single/send/draft', { form: { single_send_name: ' ' } })).status, 422);
  const empty = await app.two.call('POST', '/single/send/draft', { form: { single_send_name: 'Other' } });
  const { draft } = (await app.two.call('GET', '/single-send/draft', { query: empty.body.message })).body.message;
  t.match(draft, { sender_id: 0, unsubscribe_group_id: 0, content: 'none', recall_seconds: 10, time_zone: 'UTC' });
});

t.test('save changes what is given, leaves the rest and the state, and update queues the draft', async (t) => {
  const { app, body } = await readyToSend(t);
  const { utr } = (await app.one.call('POST', '/single/send/draft', { form: { single_send_name: 'Autumn' } })).body
    .message;
  const save = (fields: Record<string, unknown>) =>
    app.one.call('POST', '/single/send/save', { json: { utr, ...fields } });
  app.clock.advance(1000);
  const saved = await save({ subject: 'Hello', recipient_id: ['contacts_1'], template_html: '<p>Hi</p>' });
  t.equal(saved.body.message.updated_at, (await sendDetails(app, utr)).updated_at);
  await save({ preheader: 'News' });
  t.match(await sendDetails(app, utr), { status: 0, subject: 'Hello', preheader: 'News', template_html: '<p>Hi</p>' });
  await save({
    template_json:
      '{"tagName":"mjml","attributes":{},"children":[{"tagName":"mj-body","attributes":{},"children":[]}]}',
  });
  t.match(await sendDetails(app, utr), { template_html: null });
  await save({ recipient_id: [], subject: '' });
  t.match(await sendDetails(app, utr), { recipient_id: [], subject: '' });
  t.match((await save({ sender_id: 99, recipient_id: ['contacts_99'] })).body.errors, {
    sender_id: ['The selected sender id is invalid.'],
    recipient_id: ['The selected recipient id is invalid.'],
  });
  t.equal((await app.one.call('POST', '/single/send/update', { form: { utr, ...body } })).status, 200);
  t.equal((await sendDetails(app, utr)).status, 1);
  t.strictSame((await save({ subject: '', recipient_id: [] })).body.errors, {
    subject: ['The subject field is required.'],
    recipient_id: ['The recipient id field is required.'],
  });
  t.equal((await save({ subject: 'Still queued' })).status, 200);
  t.match(await sendDetails(app, utr), { status: 1, subject: 'Still queued' });
  app.clock.advance(2 * RECALL);
  await app.background();
  t.equal((await save({ subject: 'Late' })).status, 409);
});

t.test('a change with unchanged_since is refused if another came before it', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, { ...body, schedule_type: 1, schedule_date: '2027-01-01', schedule_time: '09:00' });
  const { updated_at: seen } = await sendDetails(app, utr);
  app.clock.advance(1000);
  const save = (fields: Record<string, unknown>) =>
    app.one.call('POST', '/single/send/save', { form: { utr, ...fields } });
  t.equal((await save({ subject: 'First', unchanged_since: seen })).status, 200);
  t.equal((await save({ subject: 'Second', unchanged_since: seen })).status, 409);
  const update = (since?: string) =>
    app.one.call('POST', '/single/send/update', { form: { utr, ...body, ...(since && { unchanged_since: since }) } });
  const refused = await update(seen);
  t.strictSame([refused.status, refused.body.errors], [409, 'It was changed in the meantime']);
  t.equal((await sendDetails(app, utr)).subject, 'First');
  const done = await update();
  t.equal(done.text.trim(), JSON.stringify({ status: 'success', message: { utr } }));
});

t.test('the audience of a draft is counted exactly, and its mail shown as a person of it', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, { ...body, schedule_type: 1, schedule_date: '2027-01-01', schedule_time: '09:00' });
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'Bob@example.org' } });
  const { audience } = (await app.one.call('GET', '/single-send/audience', { query: { utr } })).body.message;
  const left_out = [{ reason: 'unsubscribed from all mail', count: 1 }];
  t.strictSame(audience, { recipients: 2, left_out, with_zone: 2 });
  const mail = (email: string) => app.one.call('GET', '/single-send/mail', { query: { utr, email } });
  t.match((await mail('zoe@example.org')).body.message.mail, { subject: 'For Zoë', html: /Hello Zoë/ });
  t.match((await mail('nobody@example.org')).body.errors, {
    email: ['None of the recipients of this e-mail has this address.'],
  });
  t.equal((await app.two.call('GET', '/single-send/audience', { query: { utr } })).status, 404);
});
