/** Telling webhooks: signed, in order, again after failures, without one endpoint delaying another. */
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import Schema from 'typebox/schema';
import { sentence } from '../../src/errors/sentences.ts';
import { stored } from '../../src/errors/stored.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { readDocument } from '../support/openapi-operations.ts';
import { addWebhook, ON_THIS_MACHINE, startDispatcher } from '../support/webhooks/dispatching.ts';
import { type ReceivedEvent, startReceiver } from '../support/webhooks/receiver.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;
const CONTACTS = ['contact.created', 'contact.updated', 'contact.deleted'];

/** An application with a webhook of all events of contacts, and the endpoint that it leads to. */
async function withWebhook(t: Test, asked = CONTACTS) {
  const app = await startApp(t, ON_THIS_MACHINE);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const receiver = await startReceiver(t);
  const { id, secret } = await addWebhook(app.one, receiver.url, asked);
  const dispatching = startDispatcher(t, app);
  const webhook = async (of = id) =>
    (await app.one.call('GET', '/webhooks')).body.message.webhooks.find((one: { id: number }) => one.id === of);
  const log = async () => (await app.one.call('GET', '/webhooks/log', { query: { id } })).body.message.log;
  return { app, receiver, id, secret, webhook, log, ...dispatching };
}

let contacts = 0;
const add = (app: TestApp, email = `reader${contacts++}@example.org`) =>
  app.one.call('POST', '/contacts/add', { form: { contact_type_id: 1, email, country: 1 } });
const rename = (app: TestApp, contact_id: number, email: string, first_name: string) =>
  app.one.call('POST', '/contacts/update', { form: { contact_type_id: 1, contact_id, email, first_name, country: 1 } });
const headersOf = ({ headers }: ReceivedEvent) => ({
  'webhook-id': String(headers['webhook-id']),
  'webhook-timestamp': String(headers['webhook-timestamp']),
  'webhook-signature': String(headers['webhook-signature']),
});

t.test('an event is signed as the reference implementation of Standard Webhooks verifies it', async (t) => {
  const { app, receiver, secret, untilIdle } = await withWebhook(t);
  // The reference implementation compares with the machine's clock.
  app.clock.jump(Date.now() - app.clock.now().getTime());
  await add(app, 'zoë@exämple.org');
  await add(app, 'anna@example.org');
  await untilIdle();
  const [event] = receiver.events;
  if (event === undefined) throw new Error('nothing was received');
  t.match(new Webhook(secret).verify(event.raw, headersOf(event)), {
    type: 'contact.created',
    timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    data: { email: 'anna@example.org' },
  });
  t.match(event.headers, { 'content-type': 'application/json', 'user-agent': 'Sendlark-Webhooks' });
  t.throws(() => new Webhook(secret).verify(event.raw.replace('anna', 'eve'), headersOf(event)));
  const other = `whsec_${Buffer.alloc(24).toString('base64')}`;
  t.throws(() => new Webhook(other).verify(event.raw, headersOf(event)));
});

t.test('what is posted, a test too, is the request that the webhooks of the OpenAPI document describe', async (t) => {
  const { app, receiver, id, untilIdle } = await withWebhook(t);
  await add(app);
  await app.one.call('POST', '/webhooks/test', { form: { id } });
  await untilIdle();
  const { webhooks } = await readDocument(app);
  t.strictSame(receiver.events.map(({ raw }) => JSON.parse(raw).type).sort(), ['contact.created', 'webhook.test']);
  for (const { raw, headers } of receiver.events) {
    const body = JSON.parse(raw);
    const { parameters, requestBody } = webhooks[body.type]?.post ?? {};
    t.ok(Schema.Check(requestBody?.content['application/json']?.schema ?? false, body), raw);
    t.strictSame(
      parameters?.map(({ name }) => name),
      Object.keys(headers).filter((name) => name.startsWith('webhook-')),
    );
  }
});

t.test('an event tells a reason in English, whichever form the tables have it in', async (t) => {
  const { app, receiver, untilIdle } = await withWebhook(t, ['send.held']);
  const send = app.db.prepare(
    'INSERT INTO webhook_events (user_id, type, lane, data, created_at) VALUES (1, ?, 0, ?, ?)',
  );
  const problem = sentence('content_broken', { problem: ':no "mark"' });
  const reasons = [
    [
      'reason',
      stored(sentence('held_mail', { subject: 'News', problem })),
      'The e-mail "News" cannot be sent: The content has an error: :no "mark"',
    ],
    ['reply', stored(sentence('cause_full')), 'The mailbox is full.'],
    ['reply', stored(':left_target'), ':left_target'],
    ['reply', '552 5.2.2 over quota', '552 5.2.2 over quota'],
  ] as const;
  for (const [name, text] of reasons)
    send.run('send.held', JSON.stringify({ code: 'x', [name]: text, url: null }), app.clock.now().getTime());
  await untilIdle();
  t.strictSame(
    receiver.events
      .map(({ data }) => data)
      .sort((one, other) => String(Object.values(one)).localeCompare(String(Object.values(other)))),
    reasons
      .map(([name, , text]) => ({ code: 'x', [name]: text, url: null }))
      .sort((one, other) => String(Object.values(one)).localeCompare(String(Object.values(other)))),
  );
});

t.test('after a rotation both secrets sign for a day, then the new one alone', async (t) => {
  const { app, receiver, id, secret, untilIdle } = await withWebhook(t);
  const rotated = await app.one.call('POST', '/webhooks/rotate-secret', { form: { id } });
  const now = rotated.body.message.secret;
  const verifies = async (key: string) => {
    app.clock.jump(Date.now() - app.clock.now().getTime());
    const event = receiver.events.at(-1);
    if (event === undefined) return false;
    try {
      return Boolean(new Webhook(key).verify(event.raw, headersOf(event)));
    } catch {
      return false;
    }
  };
  app.clock.jump(Date.now() - app.clock.now().getTime());
  app.db.prepare('UPDATE webhook_endpoints SET previous_until = ?').run(app.clock.now().getTime() + DAY);
  await add(app);
  await untilIdle();
  t.strictSame([await verifies(secret), await verifies(now)], [true, true]);
  app.db.prepare('UPDATE webhook_endpoints SET previous_until = ?').run(app.clock.now().getTime() - 1);
  await add(app);
  await untilIdle();
  t.strictSame([await verifies(secret), await verifies(now)], [false, true]);
});

t.test('the events of a contact arrive in their order, also when one must be tried again', async (t) => {
  const { app, receiver, untilIdle } = await withWebhook(t);
  const failing = new Set([1]);
  receiver.answerWith(({ data }, reply) => reply.writeHead(failing.has(data.contact_id) ? 500 : 200).end('no'));
  await add(app, 'anna@example.org');
  await add(app, 'bert@example.org');
  await rename(app, 1, 'anna@example.org', 'Anna');
  await untilIdle();
  await rename(app, 1, 'anna@example.org', 'Anne');
  await rename(app, 2, 'bert@example.org', 'Bert');
  await untilIdle();
  const seen = () => receiver.events.map(({ data }) => `${data.contact_id} ${data.first_name}`);
  t.strictSame(seen().sort(), ['1 ', '2 ', '2 Bert'], 'the second contact does not wait for the first');
  failing.clear();
  receiver.events.length = 0;
  app.clock.advance(6 * SECOND);
  await untilIdle();
  t.strictSame(seen(), ['1 ', '1 Anna', '1 Anne']);
  await rename(app, 1, 'anna@example.org', 'Ann');
  await untilIdle();
  t.equal(seen().at(-1), '1 Ann', 'and it goes on as before');
});

t.test(
  'an event is tried eleven times in three days with the same id; then the webhook is off with a note',
  async (t) => {
    const { app, receiver, id, webhook, log, untilIdle } = await withWebhook(t);
    receiver.answerWith((_, reply) => reply.writeHead(503).end('<b>busy</b>\u0000'));
    await add(app);
    const begun = app.clock.now().getTime();
    await untilIdle();
    t.match(await webhook(), { state: 'enabled', waiting: 1, failures: 1, failure: 'HTTP 503: ‹b›busy‹/b›' });
    const times = [0];
    while ((await webhook()).state === 'enabled') {
      app.clock.advance(20 * 60 * SECOND);
      const before = receiver.events.length;
      await untilIdle();
      if (receiver.events.length > before) times.push((app.clock.now().getTime() - begun) / HOUR);
      if (times.length > 20) break;
    }
    t.equal(receiver.events.length, 11);
    t.equal(new Set(receiver.events.map((event) => event.id)).size, 1);
    t.ok((times.at(-1) ?? 0) >= 72 && (times.at(-1) ?? 0) < 84, `the last after ${times.at(-1)} hours`);
    t.match(await webhook(), {
      state: 'disabled',
      disabled_code: 'failing',
      disabled_reason: /three days/,
      waiting: 1,
    });
    t.match((await log())[0], { attempt: 11, is_success: 0, status: 503, reply: '‹b›busy‹/b›' });

    await add(app);
    app.clock.advance(DAY);
    await untilIdle();
    t.equal(receiver.events.length, 11, 'one that is off is told nothing');
    receiver.answerWith((_, reply) => reply.writeHead(200).end());
    await app.one.call('POST', '/webhooks/switch', { form: { id, is_enabled: 1 } });
    await untilIdle();
    t.equal(receiver.events.length, 12, 'on again, it is told what waited');
    t.equal(receiver.events[11]?.id, receiver.events[0]?.id);
    t.match(await webhook(), { state: 'enabled', waiting: 0, failures: 0, disabled_code: null });
  },
);

t.test('an endpoint that is away is asked with one event at a time, and told everything once it is back', async (t) => {
  const { app, receiver, webhook, untilIdle } = await withWebhook(t);
  receiver.answerWith((_, reply) => reply.writeHead(500).end());
  for (let count = 0; count < 200; count++) await add(app);
  await untilIdle();
  const asked = receiver.events.length;
  t.ok(asked < 50, `${asked} of 200 events were tried`);
  app.clock.advance(HOUR);
  await untilIdle();
  t.ok((await webhook()).waiting >= 200);
  receiver.answerWith((_, reply) => reply.writeHead(204).end());
  receiver.events.length = 0;
  app.clock.advance(HOUR);
  await untilIdle();
  t.equal(new Set(receiver.events.map(({ id }) => id)).size, 200);
  t.equal(receiver.events.length, 200);
  t.match(await webhook(), { waiting: 0, failures: 0 });
});

t.test('waiting events are told at once when the address is corrected, or when a test arrives', async (t) => {
  const { app, receiver, id, webhook, untilIdle } = await withWebhook(t);
  const waitAgain = async () => {
    receiver.answerWith((_, reply) => reply.writeHead(404).end());
    for (let count = 0; count < 10; count++) await add(app);
    await untilIdle();
    app.clock.advance(HOUR);
    await untilIdle();
    t.match(await webhook(), { waiting: 10 });
    receiver.answerWith((_, reply) => reply.writeHead(204).end());
  };
  await waitAgain();
  await app.one.call('POST', '/webhooks/save', { form: { id, url: `${receiver.url}/new`, events: CONTACTS } });
  await untilIdle();
  t.match(await webhook(), { waiting: 0, failures: 0 });

  await waitAgain();
  await app.one.call('POST', '/webhooks/test', { form: { id } });
  await untilIdle();
  t.match(await webhook(), { waiting: 0, failures: 0 });
});

t.test(
  'an event that one endpoint never takes is given up after three days, while it is told the others',
  async (t) => {
    const { app, receiver, webhook, untilIdle } = await withWebhook(t);
    receiver.answerWith(({ data }, reply) => reply.writeHead(data.contact_id === 1 ? 500 : 200).end());
    await add(app);
    await untilIdle();
    for (let hours = 0; hours < 96; hours += 2) {
      await add(app);
      app.clock.advance(2 * HOUR);
      await untilIdle();
    }
    t.match(await webhook(), { state: 'enabled', waiting: 0 });
    t.equal(receiver.events.filter(({ data }) => data.contact_id === 1).length, 11);
  },
);

t.test('an endpoint that answers 410 is off at once', async (t) => {
  const { app, receiver, webhook, untilIdle } = await withWebhook(t);
  receiver.answerWith((_, reply) => reply.writeHead(410).end());
  await add(app);
  await untilIdle();
  t.match(await webhook(), { state: 'disabled', disabled_code: 'gone' });
});

t.test('an endpoint that does not answer delays no other one', async (t) => {
  const { app, receiver, until, webhook } = await withWebhook(t);
  receiver.answerWith(() => undefined);
  const quick = await startReceiver(t);
  const { id } = await addWebhook(app.one, quick.url, CONTACTS);
  for (let count = 0; count < 100; count++) await add(app);
  await until(() => quick.events.length === 100);
  t.ok(receiver.events.length <= 20, 'and gets a bounded number of requests');
  t.equal((await webhook(id)).failures, 0);
  await receiver.close();
});

t.test('events that were chosen arrive at each endpoint, others do not', async (t) => {
  const { app, receiver, untilIdle } = await withWebhook(t);
  const deletions = await startReceiver(t);
  await addWebhook(app.one, deletions.url, ['contact.deleted']);
  await add(app);
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: 1 } });
  await untilIdle();
  const typesOf = ({ events }: typeof receiver) => events.map(({ type }) => type);
  t.strictSame(typesOf(receiver), ['contact.created', 'contact.deleted']);
  t.strictSame(typesOf(deletions), ['contact.deleted']);
});

t.test(
  'a test and a replay are sent once, with the log saying what came of it, also when the webhook is off',
  async (t) => {
    const { app, receiver, id, log, untilIdle } = await withWebhook(t);
    await add(app);
    await untilIdle();
    await app.one.call('POST', '/webhooks/switch', { form: { id, is_enabled: 0 } });
    const [{ event_id }] = await log();
    t.equal((await app.one.call('POST', '/webhooks/replay', { form: { id, event_id } })).status, 200);
    await untilIdle();
    t.equal(receiver.events.length, 2);
    t.strictSame(receiver.events[1]?.raw, receiver.events[0]?.raw);
    t.equal(receiver.events[1]?.id, receiver.events[0]?.id);
    receiver.answerWith((_, reply) => reply.writeHead(404).end('nothing here'));
    t.equal((await app.one.call('POST', '/webhooks/test', { form: { id } })).status, 200);
    await untilIdle();
    app.clock.advance(DAY);
    await untilIdle();
    t.match(await log(), [
      { type: 'webhook.test', attempt: 1, is_success: 0, status: 404, reply: 'nothing here' },
      { type: 'contact.created', is_success: 1, status: 204, event_id },
      { type: 'contact.created', is_success: 1, status: 204, event_id },
    ]);
  },
);

t.test('a redirect is not followed, and a large or endless answer is not read to its end', async (t) => {
  const { app, receiver, log, untilIdle } = await withWebhook(t);
  const target = await startReceiver(t);
  receiver.answerWith((_, reply) => reply.writeHead(307, { location: target.url }).end());
  await add(app);
  await untilIdle();
  t.equal(target.events.length, 0);
  t.match((await log())[0], { status: 307, is_success: 0, reply: /redirect/ });
  let written = 0;
  receiver.answerWith((_, reply) => {
    reply.writeHead(200);
    const write = (error?: Error | null) => {
      if (error) return;
      written += 65_536;
      if (!reply.destroyed && written < 2 ** 30) reply.write(Buffer.alloc(65_536), write);
    };
    write();
  });
  await add(app);
  await untilIdle();
  t.match((await log())[0], { status: 200, is_success: 1 });
  t.ok(written < 64 * 2 ** 20, `${written} bytes were written`);
});

t.test('while all sending is held, as after a restore, webhooks wait too', async (t) => {
  const { app, receiver, untilIdle } = await withWebhook(t);
  const { holdSending, releaseSending } = await import('../../src/delivery/queue/holds.ts');
  holdSending(app.db, 'Held');
  await add(app);
  await untilIdle();
  t.equal(receiver.events.length, 0);
  releaseSending(app.db, app.clock.now().getTime());
  await untilIdle();
  t.equal(receiver.events.length, 1);
});

t.test('another dispatcher goes on where one was stopped, and a deleted webhook is told nothing more', async (t) => {
  const { app, receiver, id, dispatcher, untilIdle } = await withWebhook(t);
  await add(app);
  await untilIdle();
  await dispatcher.close();
  await add(app);
  const next = startDispatcher(t, app);
  await next.untilIdle();
  t.equal(receiver.events.length, 2);
  await add(app);
  await app.one.call('POST', '/webhooks/delete', { form: { id } });
  await next.untilIdle();
  t.equal(receiver.events.length, 2);
  t.equal(
    app.db.prepare('SELECT (SELECT count(*) FROM webhook_waiting) + (SELECT count(*) FROM webhook_log)').pluck().get(),
    0,
  );
});
