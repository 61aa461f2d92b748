/** Campaigns and mails of automations whose templates take long to compile: what waits for them, and what does not. */
import t, { type Test } from 'tap';
import { compileThread } from '../../src/delivery/compiling/compile.ts';
import { holdSending, releaseSending } from '../../src/delivery/queue/holds.ts';
import { mailsOf, withWelcomeSeries } from '../support/automations.ts';
import { createSend, outboxOf, RECALL, readyToSend, sendDetails } from '../support/single-sends.ts';

/** Lets each template of the first account wait until `release` is called. `asked`: how many were to be compiled since. */
function withSlowTemplates(t: Test) {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const slow = { asked: 0, release };
  const ask = compileThread.ask.bind(compileThread);
  const waiting: typeof ask = async (accountId, ...job) => {
    if (accountId === 1) {
      slow.asked++;
      await promise;
    }
    return ask(accountId, ...job);
  };
  t.intercept(compileThread, 'ask', { value: waiting });
  return slow;
}

async function withTwoAccounts(t: Test) {
  const { app, body } = await readyToSend(t);
  const post = async (path: string, form: Record<string, unknown>) => {
    const answer = await app.two.call('POST', path, { form });
    if (answer.status !== 200) throw new Error(answer.text);
  };
  await post('/contacts-type/add', { name: 'Others' });
  await post('/contacts/add', { contact_type_id: 2, first_name: 'Other', email: 'other@example.org', country: 1 });
  await post('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: 1 });
  const sender = { from_name: 'O', from_email: 'o@example.com', reply_to_email: 'o@example.com', nickname: 'o' };
  await post('/sender/save', { ...sender, country_id: 1, company_address: '2 Harbour St' });
  await app.background();
  app.db.exec('DELETE FROM outbox');
  const theirs = { ...body, sender_id: 2, unsubscribe_group_id: 2, recipient_id: ['contacts_2'] };
  return { app, body, sendOfOther: () => post('/single/send/create', theirs) };
}

t.test('a campaign whose template takes long to compile does not hold back another account', async (t) => {
  const { app, body, sendOfOther } = await withTwoAccounts(t);
  const utrs = [await createSend(app, body), await createSend(app, body)];
  await sendOfOther();
  const slow = withSlowTemplates(t);
  app.clock.advance(RECALL);
  while (outboxOf(app).length === 0) t.equal(await app.step(), true);
  t.strictSame(
    outboxOf(app).map(({ envelope_to }) => envelope_to),
    ['other@example.org'],
  );
  t.equal(slow.asked, 1, 'one campaign of an account at a time');
  for (const utr of utrs) t.match(await sendDetails(app, utr), { status: 1 });
  slow.release();
  await app.background();
  for (const utr of utrs) t.match(await sendDetails(app, utr), { status: 3, delivered: 3 });
});

t.test('a campaign that is changed or cancelled while it is prepared is sent as it is then, or not', async (t) => {
  for (const isCancelled of [false, true]) {
    const { app, body } = await readyToSend(t);
    const utr = await createSend(app, body);
    const slow = withSlowTemplates(t);
    app.clock.advance(RECALL);
    await app.step();
    t.equal(slow.asked, 1);
    if (isCancelled) t.equal((await app.one.call('POST', '/single/send/cancel', { query: { utr } })).status, 200);
    else app.db.exec("UPDATE single_sends SET subject = 'New', updated_at = '2026-01-15T09:00:09.000000Z'");
    slow.release();
    await app.background();
    const sent = app.db.prepare("SELECT content ->> '$.content.subject' FROM mailings WHERE owner_kind = 'single'");
    t.strictSame(sent.pluck().all(), isCancelled ? [] : ['New']);
    t.equal(outboxOf(app).length, isCancelled ? 0 : 3);
  }
});

t.test('a campaign that was being prepared when sending was held is prepared anew after the release', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, body);
  const slow = withSlowTemplates(t);
  app.clock.advance(RECALL);
  await app.step();
  holdSending(app.db, 'a test');
  slow.release();
  await app.step();
  releaseSending(app.db, app.clock.now().getTime());
  const before = slow.asked;
  await app.background();
  t.ok(slow.asked > before);
  t.match(await sendDetails(app, utr), { status: 3, delivered: 3 });
});

t.test('a campaign that a kill interrupts while it is prepared is sent once', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, body);
  const slow = withSlowTemplates(t);
  app.clock.advance(RECALL);
  await app.step();
  app.restartBackground();
  slow.release();
  await app.background();
  t.match(await sendDetails(app, utr), { status: 3, delivered: 3 });
  t.equal(outboxOf(app).length, 3);
});

t.test('a mail added to a live automation is prepared beside the steps of others', async (t) => {
  const { app, utr, get, join, live, addMail } = await withWelcomeSeries(t);
  const other = (await get('/automations/duplicate', { utr })).body.message.utr;
  await live();
  await join('ann');
  await app.background();
  await addMail('four', 'instantly', 1);
  // It is due for the first contact now.
  app.db.exec('UPDATE enrolments SET position = 3, due_at = 0; DELETE FROM outbox');
  await get('/automations/set-live', { utr: other });
  const slow = withSlowTemplates(t);
  await join('bo');
  while (mailsOf(app).length === 0) t.equal(await app.step(), true);
  t.strictSame(
    mailsOf(app).map(({ subject }) => subject),
    ['one'],
  );
  slow.release();
  await app.background();
  t.strictSame(
    mailsOf(app)
      .map(({ subject }) => subject)
      .sort(),
    ['four', 'one', 'one'],
  );
});
