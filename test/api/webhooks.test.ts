/** The endpoints about webhooks. */
import t from 'tap';
import { startApp } from '../support/app.ts';

const GIVEN = { url: 'https://hooks.example.com/in?key=1', note: 'Shop', events: ['mail.bounced', 'contact.created'] };

t.test('it works', async (t) => {
  const { one } = await startApp(t);
  const saved = await one.call('POST', '/webhooks/save', { form: GIVEN });
  t.match(saved.body, { status: 'success', message: { id: 1, secret: /^whsec_[\w+/]{32}$/ } });
  const listed = await one.call('GET', '/webhooks');
  t.match(listed.body.message.webhooks, [
    { id: 1, ...GIVEN, events: ['contact.created', 'mail.bounced'], state: 'enabled', waiting: 0, failure: '' },
  ]);
  t.notMatch(listed.text, /secret/, 'a secret is given only once');
  const changed = await one.call('POST', '/webhooks/save', { form: { ...GIVEN, id: 1, events: ['send.held'] } });
  t.strictSame(changed.body.message, { id: 1, secret: null });
  await one.call('POST', '/webhooks/switch', { form: { id: 1, is_enabled: 0 } });
  t.match((await one.call('GET', '/webhooks')).body.message.webhooks, [
    {
      events: ['send.held'],
      state: 'disabled',
      disabled_code: 'by_owner',
      disabled_reason: 'The webhook was switched off.',
    },
  ]);
  await one.call('POST', '/webhooks/delete', { form: { id: 1 } });
  t.strictSame((await one.call('GET', '/webhooks')).body.message.webhooks, []);
});

t.test('of the events that wait a thousand are counted', async (t) => {
  const { one, db } = await startApp(t);
  await one.call('POST', '/webhooks/save', { form: GIVEN });
  const wait = db.prepare(`
    INSERT INTO webhook_waiting (endpoint_id, event_id, lane)
    WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT 1, i, i FROM n`);
  const waiting = async () => (await one.call('GET', '/webhooks')).body.message.webhooks[0].waiting;
  wait.run(1, 999);
  t.equal(await waiting(), 999);
  wait.run(1000, 1500);
  t.equal(await waiting(), 1000);
});

t.test('what is wrong with a webhook is a field error', async (t) => {
  const { one } = await startApp(t);
  const errors = async (form: Record<string, unknown>) =>
    (await one.call('POST', '/webhooks/save', { json: form })).body.errors;
  t.match(await errors({}), { url: /required/, events: /required/ });
  t.match(await errors({ ...GIVEN, url: 'https://127.0.0.1/' }), {
    url: /not public.*WEBHOOK_PRIVATE_ADDRESSES=allow/,
  });
  t.match(await errors({ ...GIVEN, url: 'http://hooks.example.com/' }), { url: /https/ });
  t.match(await errors({ ...GIVEN, events: ['contact.invented'] }), { events: /invalid/ });
  t.match(await errors({ ...GIVEN, url: `https://a.example/${'x'.repeat(2000)}` }), { url: /2000/ });
});

t.test('an account has at most ten webhooks', async (t) => {
  const { one, two } = await startApp(t);
  for (let count = 0; count < 10; count++)
    t.equal((await one.call('POST', '/webhooks/save', { form: GIVEN })).status, 200);
  t.match(await one.call('POST', '/webhooks/save', { form: GIVEN }), { status: 409, body: { errors: /10 webhooks/ } });
  t.equal((await two.call('POST', '/webhooks/save', { form: GIVEN })).status, 200);
});

t.test('the secret of a webhook is sealed in the file', async (t) => {
  const { one, db } = await startApp(t);
  const { secret } = (await one.call('POST', '/webhooks/save', { form: GIVEN })).body.message;
  t.notOk(db.serialize().includes(secret.slice('whsec_'.length)));
});

t.test('an event of another account cannot be sent', async (t) => {
  const { one, two } = await startApp(t);
  await one.call('POST', '/webhooks/save', { form: GIVEN });
  await two.call('POST', '/webhooks/save', { form: GIVEN });
  const { event_id } = (await one.call('POST', '/webhooks/test', { form: { id: 1 } })).body.message;
  t.equal((await two.call('POST', '/webhooks/test', { form: { id: 1 } })).status, 404);
  t.equal((await two.call('POST', '/webhooks/replay', { form: { id: 2, event_id } })).status, 404);
});
