/** Left and blocked in the dashboard. */
import t from 'tap';
import type { Role } from '../../src/database/schema/index.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

/** Opens pages, and sends their forms, as a user of this role. */
function visitor(app: TestApp, role: Role = 'owner', accountId = 1) {
  const cookie = cookieOf(app, addPerson(app, role, { accountId, name: `${role}${accountId}` }));
  return (method: 'GET' | 'POST', path: string, headers: Record<string, string> = FROM_PAGE) =>
    app.page(method, path, { headers: { ...headers, cookie } });
}

/** Two people who left all mail, one who left a group, one whose mail came back. */
async function fill(t: Parameters<typeof startApp>[0]) {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/global-unsubscribes/save', { email_address: 'gone@example.org,also.gone@example.org' });
  await must('/unsubscribes-groups/save', { group_name: 'News <b>', description: 'Monthly', is_display: 1 });
  await must('/unsubscribes-groups/manually-add', { unsubscribe_groups_id: 1, email_address: 'no.news@example.org' });
  await must('/bounces', { address: 'full@example.org', kind: 'bounce', diagnostic: '550 <i>no such user' });
  return app;
}

t.test('each list shows who is on it and why, and finds an address', async (t) => {
  const app = await fill(t);
  const open = visitor(app);
  const all = await open('GET', '/unsubscribes');
  t.match([all.status, all.text], [200, /also\.gone@example\.org.*gone@example\.org/s]);
  const found = (await open('GET', '/unsubscribes?email=GONE@example.org')).text;
  t.match(found, '<bdi>gone@example.org</bdi>');
  t.notMatch(found, 'also.gone');
  t.match((await open('GET', '/unsubscribes?email=who@example.org')).text, 'who@example.org is not on this list.');
  t.match((await open('GET', '/unsubscribes/topics')).text, /News &lt;b>.*<td[^>]*>1<\/td>/s);
  t.match((await open('GET', '/unsubscribes/topics/1')).text, 'no.news@example.org');
  t.match((await open('GET', '/unsubscribes/suppressions')).text, /full@example\.org.*Bounced.*550 ‹i›no such user/s);
  t.match((await visitor(app, 'owner', 2)('GET', '/unsubscribes')).text, 'Nobody has unsubscribed');
  t.equal((await visitor(app, 'viewer', 2)('GET', '/unsubscribes/topics/1')).status, 404);
});

t.test('an address is taken off a list only after a page has said what follows', async (t) => {
  const app = await fill(t);
  const open = visitor(app, 'editor');
  const session = cookieOf(app, addPerson(app, 'editor', { name: 'another' }));
  for (const [list, email, back, what, whatNot] of [
    [
      'all',
      'gone@example.org',
      '/unsubscribes',
      /can get mail again: campaigns/,
      /stays unsubscribed from single topics/,
    ],
    [
      'topic',
      'no.news@example.org&group=1',
      '/unsubscribes/topics/1',
      /campaigns of this topic again/,
      /stays unsubscribed from other topics/,
    ],
    [
      'suppressions',
      'full@example.org',
      '/unsubscribes/suppressions',
      /goes to this address again/,
      /resubscribes nobody/,
    ],
  ] as const) {
    const path = `/unsubscribes/lift?list=${list}&email=${email}`;
    const asked = (await open('GET', path)).text;
    t.match(asked, email?.split('&')[0]);
    t.match(asked, what, 'it says what follows');
    t.match(asked, whatNot, 'and what does not');
    t.match((await open('GET', back ?? '')).text, email?.split('&')[0], 'opening the page changes nothing');
    const { status, headers } = await open('POST', path);
    t.strictSame([status, headers.location], [303, back]);
    const cookie = `${session}; ${String(headers['set-cookie']).split(';')[0]}`;
    const next = await app.page('GET', back ?? '', { headers: { ...FROM_PAGE, cookie } });
    t.match(next.text, `${email?.split('&')[0]} can get mail again`);
    t.equal((await open('GET', path)).status, 404, 'the address is no longer on the list');
  }
});

t.test('the page says on which other list an address stays, because of which it gets no mail', async (t) => {
  const app = await fill(t);
  await mustSucceed(t, app.one)('/global-unsubscribes/save', { email_address: 'full@example.org' });
  const open = visitor(app);
  const page = async (list: string) =>
    (await open('GET', `/unsubscribes/lift?list=${list}&email=full@example.org`)).text;
  t.match(await page('suppressions'), 'also unsubscribed from all mail');
  t.match(await page('all'), 'This address is also suppressed');
  t.notMatch((await open('GET', '/unsubscribes/lift?list=all&email=gone@example.org')).text, 'is also');
});

t.test('no address of a page makes it say that something was done', async (t) => {
  const open = visitor(await startApp(t));
  // The region that tells what the search among the settings found is empty.
  for (const path of ['/unsubscribes?lifted=Anything', '/settings/users?done=changed'])
    t.notMatch((await open('GET', path)).text, /role="status"(?! data-none="[^"]+"><\/p>)|Anything|Saved/);
});

t.test('a viewer, another site and another account take nobody off a list', async (t) => {
  const app = await fill(t);
  const path = '/unsubscribes/lift?list=all&email=gone@example.org';
  const viewer = visitor(app, 'viewer');
  t.notMatch((await viewer('GET', '/unsubscribes')).text, 'Allow again');
  t.equal((await viewer('POST', path)).status, 403);
  const owner = visitor(app);
  t.equal((await owner('POST', path, { 'sec-fetch-site': 'cross-site' })).status, 403);
  t.equal((await visitor(app, 'owner', 2)('POST', path)).status, 404);
  t.equal((await viewer('GET', path)).status, 403, 'a viewer is not asked either');
  t.equal((await owner('GET', path)).status, 200, 'the address is still on the list');
});

t.test('what a mail server said can look like a day and be none, and the list still opens', async (t) => {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/bounces', { address: 'a@example.org', kind: 'bounce', diagnostic: '2026-99-99' });
  const { status, text } = await visitor(app)('GET', '/unsubscribes/suppressions');
  t.match([status, text], [200, '2026-99-99']);
});
