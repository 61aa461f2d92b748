/** Looking at the variants of an A/B test, and test mails of them. */
import t from 'tap';
import { createSend, outboxOf, RECALL, readyToSend } from '../support/single-sends.ts';

t.test('each variant is shown and sent as a test before the launch, and shown after it', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, { ...body, subject: 'one' });
  const post = (path: string, form: Record<string, unknown>) => app.one.call('POST', path, { form: { utr, ...form } });
  const look = (variant: number) => app.one.call('GET', '/single-send/mail', { query: { utr, variant } });
  const shown = async (variant: number) => (await look(variant)).body.message.mail.subject;
  t.match(await post('/single/send/variants', { subjects: ['two', ''], sender_names: ['', 'Ann of the shop'] }), {
    status: 200,
  });
  t.strictSame([await shown(0), await shown(1), await shown(2)], ['one', 'two', 'one']);
  const to = { email_address: 'me@shop.example' };
  for (const variant of [undefined, 1, 2])
    t.equal((await post('/single/send/test', { ...to, ...(variant && { variant }) })).status, 200);
  await app.background();
  const tests = outboxOf(app).map(({ raw }) => raw.toString());
  const subjectOf = (mail: string) => /^Subject: (.*?)\r$/m.exec(mail)?.[1];
  t.strictSame(
    tests.map((mail) => `${subjectOf(mail)}, ${/^From: .*Ann of the shop/m.test(mail) ? 'Ann' : 'Lark'}`).sort(),
    ['one, Ann', 'one, Lark', 'two, Lark'],
  );
  const refused = { status: 422, body: { errors: { variant: [/./] } } };
  t.match(await look(3), refused);
  t.match(await post('/single/send/test', { ...to, variant: 3 }), refused);
  app.clock.advance(RECALL + 1000);
  await app.background();
  t.strictSame([await shown(0), await shown(1)], ['one', 'two'], 'of the mailing that was launched');
});
