/** The events of webhooks: what writes one, in which transaction, and that nobody pays for what nobody asks for. */
import t, { type Test } from 'tap';
import { recordBounce } from '../../src/delivery/feedback/bounces/record.ts';
import { WEBHOOK_EVENTS } from '../../src/webhooks/operations/event-types.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { DAY, HOUR, withPaths, withWelcomeSeries } from '../support/automations.ts';
import { mustSucceed, sendCampaign } from '../support/campaign.ts';
import { describedData } from '../support/webhooks/described.ts';
import { addWebhook, ON_THIS_MACHINE } from '../support/webhooks/dispatching.ts';

const NOWHERE = 'http://127.0.0.1:1/hook';

/** The types of the events that were read. */
const seen = new Set<string>();

/** The events that were written, without those that were read before. Each has the data that the OpenAPI document says. */
function reader(t: Test, app: TestApp) {
  let after = 0;
  return () => {
    const rows = app.db
      .prepare<[number], { id: number; user_id: number; type: string; lane: number; data: string }>(
        'SELECT id, user_id, type, lane, data FROM webhook_events WHERE id > ? ORDER BY id',
      )
      .all(after);
    after = rows.at(-1)?.id ?? after;
    for (const { type } of rows) seen.add(type);
    return rows.map(({ id: _id, data, ...row }) => ({ ...row, data: describedData(t, row.type, data) }));
  };
}

t.test('a contact that is added, changed, deleted or restored is an event with its values', async (t) => {
  const app = await startApp(t, ON_THIS_MACHINE);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/custom-fields/save', { field_name: 'shoe_size', field_type: 'number' });
  await addWebhook(app.one, NOWHERE, WEBHOOK_EVENTS);
  const events = reader(t, app);
  const contact = { contact_type_id: 1, email: 'Anna@example.org', first_name: 'Anna', country: 1 };
  await must('/contacts/add', { ...contact, 'custom_field[shoe_size]': '38' });
  t.match(events(), [
    {
      type: 'contact.created',
      data: { contact_id: 1, contact_type_id: 1, email: 'Anna@example.org', custom_field: { shoe_size: '38' } },
    },
  ]);
  await must('/contacts/update', { ...contact, contact_id: 1 });
  t.strictSame(events(), [], 'what changes nothing is no event');
  await must('/contacts/update', { ...contact, contact_id: 1, email: 'anne@example.org', first_name: 'Anne' });
  t.match(events(), [
    {
      type: 'contact.updated',
      lane: 1,
      data: { first_name: 'Anne', email: 'anne@example.org', previous_email: 'Anna@example.org' },
    },
  ]);
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 1 } });
  t.match(events(), [{ type: 'contact.deleted', data: { contact_id: 1, email: 'anne@example.org' } }]);
  await must('/contacts/add', { contact_type_id: 1, email: 'eve@example.org', country: 1 });
  events();
  await app.one.call('DELETE', '/contacts-type/delete', { query: { contact_type_id: 1 } });
  t.match(events(), [{ type: 'contact_type.deleted', data: { contact_type_id: 1, contacts_count: 1 } }]);
});

t.test('an import is one event for each contact that it added or changed', async (t) => {
  const app = await startApp(t, ON_THIS_MACHINE);
  await mustSucceed(t, app.one)('/contacts-type/add', { name: 'Readers' });
  await addWebhook(app.one, NOWHERE, ['contact.created', 'contact.updated']);
  const events = reader(t, app);
  const upload = (content: string) =>
    app.one.call('POST', '/contacts/upload-csv', {
      multipart: [
        ['contact_type_id', '1'],
        ['file', { filename: 'readers.csv', content }],
      ],
    });
  await upload('email,first_name\nanna@example.org,Anna\nbert@example.org,Bert\n');
  t.strictSame(
    events().map(({ type, data }) => `${type} ${data.email}`),
    ['contact.created anna@example.org', 'contact.created bert@example.org'],
  );
  await upload('email,first_name\nanna@example.org,Anna\nbert@example.org,Berta\ncora@example.org,Cora\n');
  t.strictSame(
    events()
      .map(({ type, data }) => `${type} ${data.email}`)
      .sort(),
    ['contact.created cora@example.org', 'contact.updated bert@example.org'],
  );
});

t.test('without an endpoint that asks for it nothing is written, and other accounts are told nothing', async (t) => {
  const app = await startApp(t, ON_THIS_MACHINE);
  await sendCampaign(t, app);
  const count = app.db.prepare('SELECT count(*) FROM webhook_events').pluck();
  t.equal(count.get(), 0);
  await addWebhook(app.two, NOWHERE, WEBHOOK_EVENTS);
  const { id } = await addWebhook(app.one, NOWHERE, ['contact.deleted']);
  await app.one.call('POST', '/contacts/add', { form: { contact_type_id: 1, email: 'bert@example.org', country: 1 } });
  t.equal(count.get(), 0);
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 2 } });
  t.equal(count.get(), 1);
  await app.one.call('POST', '/webhooks/switch', { form: { id, is_enabled: 0 } });
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 1 } });
  t.equal(count.get(), 1, 'a webhook that is off asks for nothing');
});

t.test('a change that is rolled back leaves no event', async (t) => {
  const app = await startApp(t, ON_THIS_MACHINE);
  await sendCampaign(t, app);
  await addWebhook(app.one, NOWHERE, WEBHOOK_EVENTS);
  app.db.exec("BEGIN; UPDATE contacts SET first_name = 'Eve'; ROLLBACK");
  t.equal(app.db.prepare('SELECT count(*) FROM webhook_events').pluck().get(), 0);
});

t.test('a mail is an event when it is accepted, opened, clicked, returned or complained about', async (t) => {
  const app = await startApp(t, ON_THIS_MACHINE);
  await addWebhook(app.one, NOWHERE, WEBHOOK_EVENTS);
  const events = reader(t, app);
  const { utr, mails } = await sendCampaign(t, app);
  const mail = { email: 'anna@example.org', contact_id: 1, single_send_utr: utr };
  const sent = events();
  t.match(
    sent.map(({ type }) => type),
    ['contact.created', 'send.started', 'mail.accepted', 'send.completed'],
  );
  t.match(sent[2], { data: mail });
  t.match(sent[3], {
    data: { single_send_utr: utr, single_send_name: 'News', triggered: 1, delivered: 1, bounces: 0 },
  });
  app.clock.advance(60_000);
  const paths = mails[0]?.paths ?? {};
  await app.page('GET', paths.o ?? '', { headers: { 'user-agent': 'Mozilla/5.0 (X11) Firefox/140' } });
  await app.page('GET', paths.c ?? '', { headers: { 'user-agent': 'GoogleImageProxy' } });
  await app.fastify.close();
  t.match(events(), [
    { type: 'mail.opened', data: { ...mail, by: 'person', url: null } },
    { type: 'mail.clicked', data: { ...mail, by: 'machine', url: /^https:\/\/shop\.example\// } },
  ]);
  const deliveryId = Number(app.db.prepare('SELECT max(id) FROM deliveries').pluck().get());
  const report = { deliveryId, suppress: true, diagnostic: '550 no such user' };
  recordBounce(app.db, { ...report, kind: 'complaint' }, app.clock.now(), '');
  recordBounce(app.db, { ...report, kind: 'bounce' }, app.clock.now(), '');
  t.match(events(), [
    { type: 'mail.complained', data: mail },
    { type: 'mail.bounced', data: { ...mail, reply: '550 no such user' } },
  ]);
});

t.test('leaving and returning to a list is an event, however it is done', async (t) => {
  const app = await startApp(t, ON_THIS_MACHINE);
  const { mails } = await sendCampaign(t, app);
  await addWebhook(app.one, NOWHERE, ['contact.unsubscribed', 'contact.resubscribed']);
  const events = reader(t, app);
  await app.page('POST', mails[0]?.paths.u ?? '', { form: { 'List-Unsubscribe': 'One-Click' } });
  t.match(events(), [
    {
      type: 'contact.unsubscribed',
      data: { email: 'anna@example.org', unsubscribe_groups_id: 1, source: 'one-click' },
    },
  ]);
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'new@example.org' } });
  t.match(events(), [
    { type: 'contact.unsubscribed', data: { email: 'new@example.org', unsubscribe_groups_id: null, source: 'api' } },
  ]);
  await app.one.call('DELETE', '/global-unsubscribes/delete', { query: { id: 2 } });
  t.match(events(), [{ type: 'contact.resubscribed', data: { email: 'new@example.org' } }]);
});

t.test('entering and leaving an automation is an event', async (t) => {
  const { app, utr, join, pass, live } = await withWelcomeSeries(t, { settings: ON_THIS_MACHINE });
  await addWebhook(app.one, NOWHERE, ['automation.entered', 'automation.left']);
  const events = reader(t, app);
  await live();
  await join('anna');
  await join('bert');
  await pass(3_600_000);
  t.match(events(), [
    { type: 'automation.entered', data: { automation_utr: utr, email: 'anna@example.org', contact_id: 1 } },
    { type: 'automation.entered', data: { automation_utr: utr, email: 'bert@example.org', contact_id: 2 } },
  ]);
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'bert@example.org' } });
  await pass(4 * 24 * 3_600_000);
  t.match(
    events().map(({ data }) => [data.email, data.finished]),
    [
      ['bert@example.org', false],
      ['anna@example.org', true],
    ],
  );
});

t.test('a webhook step of an automation is an event with the step and the contact, once', async (t) => {
  const { app, utr, join, pass, live, post, step } = await withPaths(t, ON_THIS_MACHINE);
  await post('/custom-fields/save', { field_name: 'size', field_type: 'number' });
  const told = await step({ kind: 'webhook', value: 'after three mails' });
  const { id } = await addWebhook(app.one, NOWHERE, ['automation.step']);
  const events = reader(t, app);
  await live();
  await post('/contacts/add', {
    contact_type_id: 1,
    email: 'Anna@example.org',
    country: 1,
    'custom_field[size]': '38',
  });
  await join('bert');
  await pass(HOUR);
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 2 } });
  await pass(4 * DAY);
  t.match(events(), [
    {
      type: 'automation.step',
      data: {
        ...{ automation_utr: utr, step_utr: told, note: 'after three mails', run: 1 },
        ...{ contact_id: 1, contact_type_id: 1, email: 'Anna@example.org', custom_field: { size: '38' } },
      },
    },
  ]);
  t.equal(app.db.prepare("SELECT count(*) FROM steps WHERE outcome = 'done'").pluck().get(), 1);
  await app.one.call('POST', '/webhooks/delete', { form: { id } });
  await join('cy');
  await pass(4 * DAY);
  t.strictSame(events(), [], 'nobody asks for it');
});

t.test('a send that is held is an event with the reason', async (t) => {
  const app = await startApp(t, ON_THIS_MACHINE);
  const { utr } = await sendCampaign(t, app);
  await addWebhook(app.one, NOWHERE, ['send.held']);
  const events = reader(t, app);
  app.db.exec("UPDATE single_sends SET status = 0, held_code = 'no_audience', held_reason = 'Nobody'");
  t.match(events(), [{ type: 'send.held', data: { single_send_utr: utr, code: 'no_audience', reason: 'Nobody' } }]);
  app.db.exec(
    "UPDATE mailings SET state = 'held', held_code = 'relay_refused', held_reason = 'No' WHERE owner_kind = 'single'",
  );
  t.match(events(), [{ type: 'send.held', data: { single_send_utr: utr, code: 'relay_refused' } }]);
});

t.test('an erased person is in no event any more, and their contact is told as deleted by its id', async (t) => {
  const app = await startApp(t, ON_THIS_MACHINE);
  await addWebhook(app.one, NOWHERE, WEBHOOK_EVENTS);
  await sendCampaign(t, app);
  await mustSucceed(t, app.one)('/contacts/person/erase', { contact_id: 1 });
  const about = app.db.prepare<[], { type: string; data: string }>('SELECT type, data FROM webhook_events').all();
  t.strictSame(
    about.filter(({ data }) => data.includes('anna')),
    [],
  );
  t.match(about.find(({ type }) => type === 'contact.deleted')?.data, /"contact_id":1,.*"email":null,"erased":true/);
});

t.test('a person who is erased is not in the event of the change to their address either', async (t) => {
  const app = await startApp(t, ON_THIS_MACHINE);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/contacts-type/add', { name: 'Friends' });
  const { id } = await addWebhook(app.one, NOWHERE, WEBHOOK_EVENTS);
  const anna = { email: 'anna@example.org', country: 1 };
  await must('/contacts/add', { ...anna, contact_type_id: 1 });
  await must('/contacts/add', { ...anna, contact_type_id: 2 });
  const zoe = { contact_id: 1, contact_type_id: 1, email: 'Zoe@exämple.org', first_name: 'Zoe', country: 1 };
  await must('/contacts/update', zoe);
  await must('/contacts/update', { ...anna, contact_id: 2, contact_type_id: 2, first_name: 'Anna' });
  app.db
    .prepare(
      `INSERT INTO webhook_log (endpoint_id, event_id, type, attempt, is_success, status, reply, took_ms, at)
      SELECT ?, id, type, 1, 0, 500, 'Zoe?', 1, 1 FROM webhook_events WHERE data LIKE '%zoe%' AND lane = 1`,
    )
    .run(id);
  t.equal(app.db.prepare('SELECT count(*) FROM webhook_log').pluck().get(), 1);
  await must('/contacts/person/erase', { contact_id: 1 });
  const events = reader(t, app)();
  t.strictSame(
    events.filter((event) => /zoe/i.test(JSON.stringify(event))),
    [],
  );
  t.equal(app.db.prepare('SELECT count(*) FROM webhook_log').pluck().get(), 0, 'nor in what was answered to it');
  const changes = events.filter(({ type }) => type === 'contact.updated').map(({ data }) => data);
  // The event stays, because the others of its lane may wait behind it.
  t.strictSame(changes[0], { contact_id: 1, contact_type_id: 1, email: null, erased: true });
  t.match(changes.slice(1), [{ contact_id: 2, email: 'anna@example.org', first_name: 'Anna' }]);
});

/** Those whose data is checked in the tests of events, and of inactive contacts. */
const ELSEWHERE = ['contact.event', 'contact.inactive', 'contact.active'];

t.test('the data of every type of event is what the OpenAPI document says', (t) => {
  t.strictSame([...seen, ...ELSEWHERE].sort(), [...WEBHOOK_EVENTS].sort());
  t.end();
});
