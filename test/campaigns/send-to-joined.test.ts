/** A completed campaign is sent to those who joined its audience since. */
import t from 'tap';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import {
  addContact,
  createSend,
  outboxOf,
  RECALL,
  readyToSend,
  sendDetails,
  sendReport,
} from '../support/single-sends.ts';

t.test('who joined since gets the mail as it was sent, once, in the same report', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, body);
  const count = async () => {
    const counted = await app.one.call('GET', '/single-send/joined', { query: { utr } });
    return counted.body.message?.count ?? counted.status;
  };
  t.equal(await count(), 409, 'not before it is completed');
  app.clock.advance(RECALL);
  await app.background();
  t.equal(await count(), 0);
  for (const name of ['Cleo', 'Dora', 'Emil']) await addContact(app.one, 1, name);
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'Emil@example.org' } });
  t.equal(await count(), 2, 'who may not get mail does not count');
  const sent = app.one.call('POST', '/single/send/joined', { query: { utr } });
  await app.background();
  t.equal((await sent).status, 200);
  await app.background();
  t.strictSame(
    outboxOf(app).map(({ envelope_to: to }) => to),
    ['Ann@example.org', 'Bob@example.org', 'zoe@example.org', 'Cleo@example.org', 'Dora@example.org'],
  );
  t.match(await sendDetails(app, utr), { status: 3, delivered: 5 });
  t.match((await sendReport(app, utr)).funnel, { recipients: 6, suppressed: 1, delivered: 5 });
  t.equal(await count(), 0);
});

t.test('nobody gets it whom a deleted segment, or one that lost the field of its rule, would exclude', async (t) => {
  const { app, body } = await readyToSend(t);
  await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'plan', field_type: 'text' } });
  const rule = { select_operator: ['is'], value: ['Cleo'] };
  for (const select_field of [['first_name'], ['plan']])
    await app.one.call('POST', '/segment/store', {
      form: { segment_name: 'Without', contact_type_id: 1, select_field, ...rule },
    });
  const send = (segment: number) =>
    createSend(app, { ...body, exclude_specific_recipient_id: [`segments_${segment}`] });
  const utrs = [await send(1), await send(2)];
  app.clock.advance(RECALL);
  await app.background();
  const before = outboxOf(app).length;
  t.equal((await app.one.call('DELETE', '/segment/delete', { query: { segment_id: 1 } })).status, 200);
  t.equal((await app.one.call('DELETE', '/custom-fields/delete', { query: { id: 1 } })).status, 200);
  await addContact(app.one, 1, 'Cleo');
  const reasons = ['A segment it names was deleted', /names the custom field plan, which was deleted$/];
  for (const [at, utr] of utrs.entries()) {
    for (const [method, path] of [
      ['GET', '/single-send/joined'],
      ['POST', '/single/send/joined'],
    ] as const) {
      const answer = app.one.call(method, path, { query: { utr } });
      await app.background();
      t.match(await answer, { status: 409, body: { errors: reasons[at] } });
    }
  }
  t.equal(outboxOf(app).length, before);
});

t.test('the report leads to a page that counts them before it sends', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, body);
  app.clock.advance(RECALL);
  await app.background();
  const page = async (role: 'owner' | 'viewer', path: string) => {
    const headers = {
      ...FROM_PAGE,
      cookie: cookieOf(app, addPerson(app, role, { email: `${role}${path.length}@a.de` })),
    };
    return app.page('GET', `/campaigns/${utr}${path}`, { headers });
  };
  await addContact(app.one, 1, 'Cleo');
  t.match((await page('owner', '/joined')).text, '1 contact has joined the audience since');
  t.equal((await page('viewer', '/joined')).status, 403);
});

t.test('a campaign of another account is not found', async (t) => {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, body);
  const two = await app.two.call('POST', '/single/send/joined', { query: { utr } });
  t.equal(two.status, 404);
});
