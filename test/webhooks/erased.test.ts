/** What is left of webhooks when people are erased or endpoints deleted, and the shares of accounts in the requests. */
import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { addWebhook, ON_THIS_MACHINE, startDispatcher } from '../support/webhooks/dispatching.ts';
import { startReceiver } from '../support/webhooks/receiver.ts';

/** An application with one person, Anna, and a webhook that is told when contacts are added or changed. */
async function withAnna(t: Test) {
  const app = await startApp(t, ON_THIS_MACHINE);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const receiver = await startReceiver(t);
  const { id } = await addWebhook(app.one, receiver.url, ['contact.created', 'contact.updated']);
  const dispatching = startDispatcher(t, app);
  const addAnna = () =>
    app.one.call('POST', '/contacts/add', { form: { contact_type_id: 1, email: 'anna@example.org', country: 1 } });
  const erase = () => app.one.call('POST', '/contacts/person/erase', { form: { contact_id: 1 } });
  const webhook = async () => (await app.one.call('GET', '/webhooks')).body.message.webhooks[0];
  const count = (table: string) => app.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  return { app, receiver, id, addAnna, erase, webhook, count, ...dispatching };
}

t.test('an erased person is not in why a webhook failed either', async (t) => {
  const { receiver, addAnna, erase, webhook, untilIdle } = await withAnna(t);
  receiver.answerWith(({ data }, reply) => reply.writeHead(500).end(`I do not know ${data.email}`));
  await addAnna();
  await untilIdle();
  t.match(await webhook(), { failures: 1, failure: 'HTTP 500: I do not know anna@example.org' });
  t.equal((await erase()).status, 200);
  t.match(await webhook(), { failures: 1, failure: '' });
});

t.test('what is answered to an event after its person was erased is not kept, and nothing waits for it', async (t) => {
  const { app, id, receiver, addAnna, erase, webhook, count, until, untilIdle } = await withAnna(t);
  const replies: ServerResponse[] = [];
  receiver.answerWith((_, reply) => {
    replies.push(reply);
  });
  await addAnna();
  await until(() => replies.length === 1);
  await erase();
  replies[0]?.writeHead(500).end('I do not know anna@example.org');
  await untilIdle();
  t.match(await webhook(), { failures: 1, failure: 'HTTP 500', waiting: 0 });
  t.equal(count('webhook_waiting'), 0);
  t.match((await app.one.call('GET', '/webhooks/log', { query: { id } })).body.message.log, [
    { status: 500, reply: '' },
  ]);
});

t.test('events go on behind one that waited and was removed with its person', async (t) => {
  const { app, receiver, addAnna, erase, webhook, untilIdle } = await withAnna(t);
  receiver.answerWith((_, reply) => reply.writeHead(500).end());
  await addAnna();
  await untilIdle();
  const lane = app.db.prepare('SELECT lane FROM webhook_events').pluck().get();
  await erase();
  receiver.answerWith((_, reply) => reply.writeHead(204).end());
  const write = app.db.prepare(
    "INSERT INTO webhook_events (user_id, type, lane, data) SELECT user_id, 'contact.updated', ?, ? FROM webhook_endpoints",
  );
  receiver.events.length = 0;
  write.run(lane, '{"nth":1}');
  write.run(lane, '{"nth":2}');
  await untilIdle();
  t.match(
    receiver.events.map(({ data }) => data.nth),
    [1, 2],
  );
  t.match(await webhook(), { waiting: 0, failures: 0 });
});

t.test('the events of an account go when its last webhook is deleted', async (t) => {
  const { app, id, addAnna, count, untilIdle } = await withAnna(t);
  await addAnna();
  await untilIdle();
  const other = await addWebhook(app.one, 'https://hooks.example.com/', ['send.held']);
  await app.one.call('POST', '/webhooks/delete', { form: { id } });
  app.clock.advance(11_000);
  await untilIdle();
  t.equal(count('webhook_events'), 1, 'while there is another one they are kept');
  await app.one.call('POST', '/webhooks/delete', { form: { id: other.id } });
  app.clock.advance(11_000);
  await untilIdle();
  t.equal(count('webhook_events'), 0);
});

t.test('an account that adds and deletes slow webhooks leaves requests for others', async (t) => {
  const app = await startApp(t, ON_THIS_MACHINE);
  const [slow, quick] = [await startReceiver(t), await startReceiver(t)];
  let [open, mostOpen] = [0, 0];
  slow.answerWith((_event, reply) => {
    mostOpen = Math.max(mostOpen, ++open);
    reply.on('close', () => open--);
  });
  const { dispatcher, until } = startDispatcher(t, app);
  const write = app.db.prepare(`
    INSERT INTO webhook_events (user_id, type, lane, data)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25)
    SELECT (SELECT user_id FROM webhook_endpoints WHERE id = ?), 'contact.created', i, '{}' FROM n`);
  for (let round = 0; round < 30; round++) {
    const { id } = await addWebhook(app.one, slow.url, ['contact.created']);
    write.run(id);
    let steps = 0;
    await until(() => ++steps >= 10 && slow.events.length >= Math.min(20 * (round + 1), 500));
    await app.one.call('POST', '/webhooks/delete', { form: { id } });
  }
  // Half of 1000. On a slow machine a request times out meanwhile, and its end may come a moment after the one that takes its place.
  t.ok(mostOpen <= 520, `${mostOpen} at a time`);
  const { id } = await addWebhook(app.two, quick.url, ['contact.created']);
  write.run(id);
  await until(() => quick.events.length === 25);
  await slow.close();
  await dispatcher.close();
});
