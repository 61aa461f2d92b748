/** Test mails of a single send, and how its report counts replies. */
import t from 'tap';
import { Relay } from '../support/launched-mailing.ts';
import { createSend, outboxOf, RECALL, readyToSend, sendDetails, sendReport } from '../support/single-sends.ts';

t.test('a test mail goes to the addresses given and counts nowhere', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, body);
  const answer = await app.one.call('POST', '/single/send/test', {
    form: { utr, email_address: 'zoe@example.org, boss@example.com' },
  });
  t.equal(answer.status, 200);
  t.equal(answer.body.message, 'Test Mail Kept in the Test Outbox');
  await app.background();
  t.strictSame(
    outboxOf(app)
      .map((mail) => mail.envelope_to)
      .sort(),
    ['boss@example.com', 'zoe@example.org'],
  );
  t.match(await sendDetails(app, utr), { status: 1, triggered: 0, delivered: 0 });
  const eleven = Array.from({ length: 11 }, (_, at) => `t${at}@example.com`).join(',');
  t.equal((await app.one.call('POST', '/single/send/test', { form: { utr, email_address: eleven } })).status, 422);
});

t.test('a test to an address that gets no mail is refused with the reason, and sends to nobody', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, body);
  const test = (email_address: string) => app.one.call('POST', '/single/send/test', { form: { utr, email_address } });
  t.equal((await test('boss@example.com')).status, 200);
  await app.background();
  const link = /^List-Unsubscribe: <http:\/\/mail\.example\.com(\S+)>/m.exec(String(outboxOf(app)[0]?.raw))?.[1] ?? '';
  const oneClick = { form: { 'List-Unsubscribe': 'One-Click' } };
  t.equal((await app.page('POST', link, oneClick)).status, 200);
  await app.one.call('POST', '/bounces', { form: { address: 'gone@example.com', kind: 'bounce' } });
  const { status, body: answer } = await test('ann@example.org, boss@example.com, gone@example.com');
  t.equal(status, 422);
  const [text] = answer.errors.email_address;
  t.match(
    text,
    ': boss@example.com (unsubscribed from this group), gone@example.com (suppressed after an earlier bounce). ',
  );
  t.notMatch(text, 'ann@example.org');
  await app.background();
  t.equal(outboxOf(app).length, 1);
  const { report: own } = (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message;
  // The page sends tests to the account's own people only.
  const boss = { contact_type_id: 1, email: 'boss@example.com', country: 1 };
  t.equal((await app.one.call('POST', '/contacts/add', { form: boss })).status, 200);
  const onPage = await app.page('POST', `${new URL(own.design_url).pathname}/test`, {
    json: { email: 'boss@example.com' },
  });
  t.equal(onPage.status, 422, 'the design page says so too');
  t.match(onPage.body.problem, 'unsubscribed from this topic');
  await app.one.call('DELETE', '/unsubscribes-groups/recipients-delete', { query: { id: 1 } });
  t.equal((await test('boss@example.com')).status, 200, 'off the list, the test goes out again');
  await app.background();
  t.equal(outboxOf(app).length, 2);
});

t.test('the report counts replies together that differ in addresses and ids only', async (t) => {
  let number = 0;
  const relay = new Relay((to) => {
    const id = (0x4abc1234de + number++ * 977).toString(16).toUpperCase();
    const reply = `554 5.7.1 <${to}>: ${id} blocked (S3150), see https://relay.example/why/${id} [192.0.2.${number}]`;
    return { kind: 'refused', stage: 'rcpt', code: 554, enhanced: '5.7.1', reply };
  });
  const { app, body } = await readyToSend(t, {}, () => relay);
  const utr = await createSend(app, body);
  app.clock.advance(RECALL);
  await app.background();
  t.strictSame((await sendReport(app, utr)).reasons, [
    {
      state: 'failed',
      reason: '554 5.7.1 <address>: … blocked (S3150), see https://relay.example/why/… […]',
      count: 3,
    },
  ]);
  const { body: list } = await app.one.call('GET', '/single-send/recipients', { query: { utr } });
  t.match(list.message.recipients[0].reply, /<Ann@example\.org>: 4ABC/, 'each recipient’s own reply stays whole');
});
