/** How much may wait for an endpoint, and that what waits does not keep a test from it. */
import t, { type Test } from 'tap';
import { holdSending } from '../../src/delivery/queue/holds.ts';
import { startApp } from '../support/app.ts';
import { addWebhook, ON_THIS_MACHINE, startDispatcher } from '../support/webhooks/dispatching.ts';
import { startReceiver } from '../support/webhooks/receiver.ts';

/** An application with a webhook, and a way to have events wait for it, each in a lane of its own. */
async function withWaiting(t: Test) {
  const app = await startApp(t, ON_THIS_MACHINE);
  const receiver = await startReceiver(t);
  const { id } = await addWebhook(app.one, receiver.url, ['contact.created']);
  const { untilIdle } = startDispatcher(t, app);
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)';
  const write = app.db.prepare(
    `INSERT INTO webhook_events (user_id, type, lane, data)
    ${numbers} SELECT (SELECT user_id FROM webhook_endpoints), 'contact.created', i, '{}' FROM n`,
  );
  const wait = (count: number) => {
    write.run(count);
    app.db.exec(`
      UPDATE webhook_endpoints SET position = (SELECT max(id) FROM webhook_events);
      INSERT OR IGNORE INTO webhook_waiting (endpoint_id, event_id, lane, attempts, due_at)
      SELECT ${id}, id, lane, 1, 0 FROM webhook_events`);
  };
  const webhook = async () => (await app.one.call('GET', '/webhooks')).body.message.webhooks[0];
  return { app, receiver, id, untilIdle, wait, webhook };
}

t.test('an endpoint for which more than 20 000 failed events wait is off, and can be switched on again', async (t) => {
  const { app, id, untilIdle, wait, webhook } = await withWaiting(t);
  holdSending(app.db, 'Held, so that nothing is tried');
  wait(20_000);
  await untilIdle();
  t.match(await webhook(), { state: 'enabled' });
  wait(1);
  app.clock.advance(11_000);
  await untilIdle();
  t.match(await webhook(), { state: 'disabled', disabled_code: 'too_many', disabled_reason: /Too many events/ });
  await app.one.call('POST', '/webhooks/switch', { form: { id, is_enabled: 1 } });
  app.clock.advance(11_000);
  await untilIdle();
  t.match(await webhook(), { state: 'enabled' });
});

t.test('a test reaches an endpoint that is off, however many events wait for it', async (t) => {
  const { app, receiver, id, untilIdle, wait } = await withWaiting(t);
  await app.one.call('POST', '/webhooks/switch', { form: { id, is_enabled: 0 } });
  wait(100);
  await app.one.call('POST', '/webhooks/test', { form: { id } });
  await untilIdle();
  t.match(
    receiver.events.map(({ type }) => type),
    ['webhook.test'],
  );
});
