/** DKIM keys by clicking: made, seen in the DNS by a page that looks by itself, changed and deleted. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { MINUTE_MS } from '../../src/units.ts';
import { startApp } from '../support/app.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { verifySenders } from '../support/sender.ts';
import { startDns } from '../support/smtp/dns-server.ts';

const SENDER = {
  from_name: 'Lark Books',
  from_email: 'news@example.com',
  reply_to_email: 'hello@example.com',
  nickname: 'News',
  company_address: '1 Harbour St',
  country_id: '84',
};

async function signedIn(t: Test) {
  const app = await startApp(t);
  const browser = (accountId: number) => {
    const cookie = cookieOf(app, addPerson(app, 'owner', { accountId, name: `owner${accountId}` }));
    return {
      get: (path: string, headers = {}) => app.page('GET', path, { headers: { cookie, ...headers } }),
      post: (path: string, form: Record<string, string> = {}) =>
        app.page('POST', path, { form, headers: { cookie, 'sec-fetch-site': 'same-origin' } }),
    };
  };
  const addSender = async (caller = app.one) => {
    await caller.call('POST', '/sender/save', { form: SENDER });
    verifySenders(app);
  };
  return { app, addSender, operator: browser(1), guest: browser(2) };
}

const recordOf = (text: string) =>
  [...text.matchAll(/<code class="once">([^<]*)<\/code>/g)].map(([, part = '']) => part);
const isWatching = (text: string) => /id="dns-0-asked"[^>]*data-active="yes"/.test(text);

t.test('a key is made by a button; the page looks by itself until its record is seen', async (t) => {
  const { app, addSender, operator } = await signedIn(t);
  await addSender();
  const made = await operator.post('/settings/senders/dkim/create', { domain: 'example.com' });
  t.equal(made.status, 303);
  const page = String(made.headers.location);
  t.match(page, /^\/settings\/senders\?watch=example\.com&until=\d+$/);
  app.askDns(await startDns(t, { 'example.com': ['v=spf1 mx ~all'], '_dmarc.example.com': ['v=DMARC1; p=none'] }));
  const { text } = await operator.get(page);
  t.ok(isWatching(text), 'one look was not enough');
  t.match(text, 'no record at s2026');
  t.match(text, /data-island="live" data-props="[^"]*#dns-0 \.dns-live/);
  t.match(text, /<a href="\/settings\/senders\?watch=example.com[^"]*">Check again/);
  const [name = '', value = ''] = recordOf(text);
  app.askDns(
    await startDns(t, {
      'example.com': ['v=spf1 mx ~all'],
      '_dmarc.example.com': ['v=DMARC1; p=none'],
      [name]: [value],
    }),
  );
  t.match((await operator.get(page)).text, 'no record at s2026', 'what was just asked is not asked again');
  app.clock.advance(5000);
  t.match((await operator.get(page, { 'sec-purpose': 'prefetch' })).text, 'no record at s2026', 'nor for a prefetch');
  const green = (await operator.get(page)).text;
  t.match(green, /id="dns-0-DKIM".*?<span class="badge good">Fine/s);
  t.notOk(isWatching(green), 'it is over');
  t.match(green, 'All checks of the domain are fine.');
  t.match((await operator.get(page, { 'accept-language': 'de' })).text, 'Alle Prüfungen der Domain sind in Ordnung.');
});

t.test('a DNS that is slow, silent or hostile keeps nobody waiting and is shown as text', async (t) => {
  const { app, addSender, operator } = await signedIn(t);
  await addSender();
  const silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  app.askDns(`127.0.0.1:${silent.address().port}`);
  const page = String((await operator.post('/settings/senders/check', { domain: 'example.com' })).headers.location);
  t.ok(isWatching((await operator.get(page)).text));
  const value = `v=spf1 mx ~all <script>alert(1)</script>${'x'.repeat(9000)}`;
  app.askDns(await startDns(t, { 'example.com': [value], '_dmarc.example.com': ['v=DMARC1; p=</p><img>'] }));
  app.clock.advance(9000);
  const { text } = await operator.get(page);
  t.notMatch(text, '<script>alert');
  t.notMatch(text, '<img>');
  t.notMatch(text, 'x'.repeat(1000), 'nor more of it than anybody reads');
  app.clock.advance(31 * MINUTE_MS);
  t.notOk(isWatching((await operator.get(page)).text), 'it does not go on for ever');
  const far = page.replace(/until=\d+/, `until=${app.clock.now().getTime() * 2}`);
  t.notOk(isWatching((await operator.get(far)).text));
  t.equal((await operator.get('/settings/senders?watch=%3Cscript%3E&until=x')).status, 200);
});

t.test(
  'an operator changes and deletes a key, with what happens said before; owners of other accounts see whom to ask',
  async (t) => {
    const { app, addSender, operator, guest } = await signedIn(t);
    await addSender();
    await addSender(app.two);
    t.equal((await guest.post('/settings/senders/dkim/create', { domain: 'example.com' })).status, 303);
    const theirs = (await guest.get('/settings/senders')).text;
    t.match(theirs, 'only whoever runs Sendlark here (an owner of its first account) can replace or delete it');
    t.notMatch(theirs, '/dkim/rotate');
    t.notMatch(theirs, /dkim\/\d+\/delete/);
    t.equal((await guest.post('/settings/senders/dkim/rotate', { domain: 'example.com' })).status, 403);
    t.equal((await guest.post('/settings/senders/dkim/1/delete')).status, 403);
    t.match((await operator.get('/settings/senders')).text, 'Mail from example.com is then unsigned, in all accounts.');
    t.equal((await operator.post('/settings/senders/dkim/rotate', { domain: 'example.com' })).status, 303);
    const { text } = await operator.get('/settings/senders');
    t.match(text, 'This key signs as soon as its record is visible.');
    t.match(text, 'is then signed with the other key at once');
    t.notMatch(text, '/dkim/rotate', 'one next key at a time');
    const again = await operator.post('/settings/senders/dkim/rotate', { domain: 'example.com' });
    t.strictSame([again.status, again.text.includes('is already waiting for its record')], [409, true]);
    t.equal((await operator.post('/settings/senders/dkim/1/delete')).headers.location, '/settings/senders');
    t.equal((await operator.post('/settings/senders/dkim/1/delete')).status, 404);
    t.equal(app.db.prepare('SELECT count(*) FROM dkim_keys').pluck().get(), 1);
  },
);
