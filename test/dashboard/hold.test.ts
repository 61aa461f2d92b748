/** The hold of all sending in the dashboard: said on every page, released by operators alone. */
import t from 'tap';
import { holdForSettings, holdSending, sendingHeldReason } from '../../src/delivery/queue/holds.ts';
import { sentence } from '../../src/errors/sentences.ts';
import { startApp } from '../support/app.ts';
import { addPerson, cookieOf } from '../support/people.ts';

const PAGES = [
  '/',
  '/campaigns',
  '/automations',
  '/contacts',
  '/images',
  '/unsubscribes',
  '/outbox',
  '/settings/account',
];

t.test(
  'while all sending is held every page says so, and operators can release it after a question in numbers',
  async (t) => {
    const app = await startApp(t);
    const cookie = cookieOf(app, addPerson(app));
    const get = async (path: string) => (await app.page('GET', path, { headers: { cookie } })).text;
    t.notMatch(await get('/'), 'All sending is paused');
    holdSending(app.db, sentence('held_restored'));
    for (const path of PAGES) {
      const text = await get(path);
      t.equal(text.split('All sending is paused: Restored from a backup').length, 2, `${path} says it once`);
      t.match(text, 'action="/sending/release"', path);
      t.match(text, '0 waiting e-mails are sent at once.', path);
    }
    const { status, headers } = await app.page('POST', '/sending/release', {
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
    t.match([status, headers.location], [303, '/']);
    t.equal(sendingHeldReason(app.db), null);
    t.match(app.db.prepare('SELECT actor, action FROM audit_log ORDER BY id DESC LIMIT 1').get(), {
      actor: 'owner@example.org',
      action: 'sending_released',
    });
    t.notMatch(await get('/campaigns'), 'All sending is paused');
  },
);

t.test('others see whom to ask, and a hold by settings has no button', async (t) => {
  const app = await startApp(t);
  holdSending(app.db, sentence('held_restored'));
  const editor = cookieOf(app, addPerson(app, 'editor'));
  const other = cookieOf(app, addPerson(app, 'owner', { name: 'Other', accountId: 2 }));
  for (const cookie of [editor, other]) {
    const { text } = await app.page('GET', '/campaigns', { headers: { cookie } });
    t.match(text, 'Whoever runs Sendlark here (an owner of its first account) can resume sending.');
    t.notMatch(text, '/sending/release');
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    t.equal((await app.page('POST', '/sending/release', { headers })).status, 403);
  }
  app.db.prepare("DELETE FROM installation WHERE name = 'sending_held'").run();
  holdForSettings(app.db, 'PUBLIC_URL is missing', 0);
  const operator = cookieOf(app, addPerson(app));
  const { text } = await app.page('GET', '/campaigns', { headers: { cookie: operator } });
  t.match(text, /All sending is paused: PUBLIC_URL is missing.*<a href="\/settings\/sending">Set tracking domain/s);
  t.notMatch(text, '/sending/release');
});
