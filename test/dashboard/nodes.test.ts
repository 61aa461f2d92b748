/** The sender nodes in the dashboard: their page, and the notice on every page that mail waits. */
import t from 'tap';
import { noteMailWaits } from '../../src/delivery/queue/holds.ts';
import { sentence } from '../../src/errors/sentences.ts';
import { startApp } from '../support/app.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { addNode } from '../support/sender-nodes.ts';

const SETTINGS = { NATS_URL: 'nats://127.0.0.1:4222' };
const PAGES = ['/', '/campaigns', '/automations', '/contacts', '/outbox', '/settings/account'];

t.test('operators see each node with its state, what its relay says, and its warm-up', async (t) => {
  const app = await startApp(t, SETTINGS);
  const cookie = cookieOf(app, addPerson(app));
  const get = async () => (await app.page('GET', '/settings/nodes', { headers: { cookie } })).text;
  t.match(await get(), 'No sender node yet');
  addNode(app, { name: 'north', version: '0.0.9' }, { ceiling: 1000, given: 900, accepted: 890 });
  addNode(app, { name: '<b>east</b>', state: 'refused', refusal: '550 <listed>' });
  const text = await get();
  for (const part of [
    'Sending',
    '900 of 1,000',
    'Sendlark has',
    'Refused by its SMTP server',
    '550 &lt;listed>',
    '&lt;b>east',
  ])
    t.ok(text.includes(part), part);
  t.match(text, 'href="/settings/nodes" aria-current="page"');
});

t.test('without NATS_URL there is no tab, and others than operators do not see the page', async (t) => {
  const app = await startApp(t);
  const cookie = cookieOf(app, addPerson(app));
  t.notMatch((await app.page('GET', '/settings/sending', { headers: { cookie } })).text, '/settings/nodes');
  t.match((await app.page('GET', '/settings/nodes', { headers: { cookie } })).text, 'Sendlark sends by itself');
  const other = cookieOf(app, addPerson(app, 'owner', { name: 'Other', accountId: 2 }));
  t.equal((await app.page('GET', '/settings/nodes', { headers: { cookie: other } })).status, 403);
});

t.test('while no node takes mail every page says so, what to do, and no more once one does', async (t) => {
  const app = await startApp(t, SETTINGS);
  const cookie = cookieOf(app, addPerson(app));
  const viewer = cookieOf(app, addPerson(app, 'viewer'));
  const get = async (path: string, as = cookie) => (await app.page('GET', path, { headers: { cookie: as } })).text;
  noteMailWaits(app.db, sentence('waits_no_node'));
  for (const path of PAGES) {
    t.equal((await get(path)).split('There is no sender node, so mail waits.').length, 2, `${path} says it once`);
    t.match(await get(path), 'href="/settings/nodes"');
    t.match(await get(path, viewer), 'tell whoever runs Sendlark here (an owner of its first account)', path);
  }
  noteMailWaits(app.db, null);
  for (const path of PAGES) t.notMatch(await get(path), 'mail waits.');
});
