/** The pages of the webhooks: adding one, seeing what it was sent, another secret, switching, deleting. */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { ON_THIS_MACHINE, startDispatcher } from '../support/webhooks/dispatching.ts';
import { addLoggedWebhooks } from '../support/webhooks/logged-webhooks.ts';
import { startReceiver } from '../support/webhooks/receiver.ts';

/** An application with the pages as its owner sees them. */
async function startPages(t: Parameters<typeof startApp>[0]) {
  const app = await startApp(t, ON_THIS_MACHINE);
  const headers = { cookie: cookieOf(app, addPerson(app)), 'sec-fetch-site': 'same-origin' };
  return {
    app,
    open: (path: string) => app.page('GET', path, { headers }),
    send: (path: string, form: Record<string, string> | [string, string][] = {}) =>
      app.page('POST', path, { headers, form }),
  };
}

t.test('an owner adds a webhook, sees its secret once, and what a test was answered', async (t) => {
  const { app, open, send } = await startPages(t);
  const receiver = await startReceiver(t);
  t.match((await open('/settings/webhooks')).text, /No webhooks yet/);
  const empty = await send('/settings/webhooks/new', { url: receiver.url, note: 'Shop' });
  t.equal(empty.status, 422);
  t.match(empty.text, /Choose at least one event/);
  t.match(empty.text, /value="Shop"/, 'what was typed stays');
  const added = await send('/settings/webhooks/new', [
    ['url', receiver.url],
    ['note', 'Shop'],
    ['events', 'contact.created'],
    ['events', 'mail.bounced'],
  ]);
  t.match(added.text, /whsec_[\w+/]{32}/);
  const shown = await open('/settings/webhooks/1');
  t.notMatch(shown.text, /whsec_/);
  t.match(shown.text, /value="mail.bounced" checked/);
  t.match((await open('/settings/webhooks')).text, /Shop/);

  const asked = await send('/settings/webhooks/1/test');
  t.equal(asked.status, 303);
  const page = String(asked.headers.location);
  t.match((await open(page)).text, /on its way/);
  const { untilIdle } = startDispatcher(t, app);
  await untilIdle();
  t.match((await open(page)).text, /The event was accepted: HTTP 204/);

  receiver.answerWith((_event, reply) => reply.writeHead(302).end());
  const replayed = await send('/settings/webhooks/1/replay', { event_id: '1' });
  const again = String(replayed.headers.location);
  t.match((await open(again)).text, /on its way/, 'the answer to the test is not that of the replay');
  await untilIdle();
  t.match((await open(again)).text, /The event was not accepted. HTTP 302: The address redirects to another address/);
  t.equal(receiver.events.length, 2);
});

t.test('a webhook that was switched off says why, in the list and among the findings of its health', async (t) => {
  const { app, open, send } = await startPages(t);
  await addLoggedWebhooks(app);
  const reason = /The webhook accepted no event for three days, so it was turned off\./;
  t.match((await open('/settings/webhooks')).text, reason);
  const health = (await open('/settings/health')).text;
  t.match(health, /events are no longer sent to: crm\.example\.net</);
  t.match(health, /href="\/settings\/webhooks"/);
  await send('/settings/webhooks/2/switch', { is_enabled: '1' });
  t.notMatch((await open('/settings/webhooks')).text, reason);
  t.match((await open('/settings/health')).text, /no webhook was turned off automatically/);
});

t.test('the log is read in pages, all attempts or the failed ones', async (t) => {
  const { app, open } = await startPages(t);
  await addLoggedWebhooks(app);
  const page = (await open('/settings/webhooks/2')).text;
  t.equal(page.match(/No longer stored/g)?.length, 25);
  const [, next = ''] = /href="([^"]*before=\d+[^"]*)"/.exec(page) ?? [];
  t.equal((await open(next.replace('#log', ''))).text.match(/No longer stored/g)?.length, 5);
  t.match((await open('/settings/webhooks/1?result=failed')).text, /No attempt has failed/);
});

t.test('an owner makes another secret, changes, switches off and deletes a webhook', async (t) => {
  const { app, open, send } = await startPages(t);
  const form = { url: 'https://hooks.example.com/in', note: '', events: 'send.held' };
  await send('/settings/webhooks/new', form);
  t.match((await send('/settings/webhooks/1/rotate')).text, /whsec_[\w+/]{32}/);
  t.match((await open('/settings/webhooks/1')).text, /events are signed with the previous secret, too/);
  const wrong = await send('/settings/webhooks/1', { ...form, url: 'nonsense' });
  t.match([wrong.status, wrong.text], [422, /Enter the address that receives the events/]);
  t.equal((await send('/settings/webhooks/1', { ...form, note: '<b>new</b>' })).status, 303);
  t.match((await open('/settings/webhooks')).text, /&lt;b>new/);
  t.equal((await send('/settings/webhooks/1/switch', { is_enabled: '0' })).status, 303);
  t.match((await open('/settings/webhooks/1')).text, /The webhook was turned off\./);
  app.db.exec('INSERT INTO webhook_waiting (endpoint_id, event_id, lane) VALUES (1, 1, 1), (1, 2, 2)');
  t.match((await open('/settings/webhooks/1')).text, /2 events are waiting/);
  t.equal((await send('/settings/webhooks/1/delete')).status, 303);
  t.match((await open('/settings/webhooks')).text, /No webhooks yet/);
  t.equal((await open('/settings/webhooks/1')).status, 404);
});

t.test('an editor and another account do not reach the pages of a webhook', async (t) => {
  const { app, send } = await startPages(t);
  await send('/settings/webhooks/new', { url: 'https://hooks.example.com/in', events: 'send.held' });
  const as = (person: ReturnType<typeof addPerson>) => ({
    headers: { cookie: cookieOf(app, person), 'sec-fetch-site': 'same-origin' },
  });
  const editor = as(addPerson(app, 'editor'));
  const stranger = as(addPerson(app, 'owner', { name: 'Grace', accountId: 2 }));
  for (const path of ['/settings/webhooks', '/settings/webhooks/new', '/settings/webhooks/1'])
    t.equal((await app.page('GET', path, editor)).status, 403, path);
  for (const action of ['', '/test', '/switch', '/rotate', '/delete', '/replay']) {
    const form = { url: 'https://x.example/', events: 'send.held', is_enabled: '0', event_id: '1' };
    t.equal((await app.page('POST', `/settings/webhooks/1${action}`, { ...editor, form })).status, 403, action);
    t.equal((await app.page('POST', `/settings/webhooks/1${action}`, { ...stranger, form })).status, 404, action);
  }
  t.equal((await app.page('GET', '/settings/webhooks/1', stranger)).status, 404);
});
