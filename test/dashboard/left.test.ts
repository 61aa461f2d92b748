/** Left and blocked in the dashboard. */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { visitor } from '../support/visitor.ts';

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
  const { open } = visitor(app);
  const all = await open('/unsubscribes');
  t.match([all.status, all.text], [200, /also\.gone@example\.org.*gone@example\.org/s]);
  const found = (await open('/unsubscribes?email=GONE@example.org')).text;
  t.match(found, '<bdi>gone@example.org</bdi>');
  t.notMatch(found, 'also.gone');
  t.match((await open('/unsubscribes?email=who@example.org')).text, 'who@example.org is not here.');
  t.match((await open('/unsubscribes/topics')).text, /News &lt;b>.*<td[^>]*>1<\/td>/s);
  t.match((await open('/unsubscribes/topics/1')).text, 'no.news@example.org');
  t.match((await open('/unsubscribes/suppressions')).text, /full@example\.org.*Bounce.*550 ‹i›no such user/s);
  t.match((await visitor(app, 'owner', { accountId: 2 }).open('/unsubscribes')).text, 'Nobody has unsubscribed');
  t.equal((await visitor(app, 'viewer', { accountId: 2 }).open('/unsubscribes/topics/1')).status, 404);
});

t.test('an address is taken off a list only after a page has said what follows', async (t) => {
  const app = await fill(t);
  const { open, send } = visitor(app, 'editor');
  const session = cookieOf(app, addPerson(app, 'editor', { name: 'another' }));
  for (const [list, email, back, what, whatNot] of [
    [
      'all',
      'gone@example.org',
      '/unsubscribes',
      /can get mail again: from campaigns/,
      /stays unsubscribed from individual topics/,
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
      /can get mail again, beginning with the next campaign/,
      /stay unsubscribed/,
    ],
  ] as const) {
    const path = `/unsubscribes/lift?list=${list}&email=${email}`;
    const asked = (await open(path)).text;
    t.match(asked, email?.split('&')[0]);
    t.match(asked, what, 'it says what follows');
    t.match(asked, whatNot, 'and what does not');
    t.match((await open(back ?? '')).text, email?.split('&')[0], 'opening the page changes nothing');
    const { status, headers } = await send(path);
    t.strictSame([status, headers.location], [303, back]);
    const cookie = `${session}; ${String(headers['set-cookie']).split(';')[0]}`;
    const next = await app.page('GET', back ?? '', { headers: { ...FROM_PAGE, cookie } });
    t.match(next.text, `${email?.split('&')[0]} can get mail again, unless the address is unsubscribed`);
    t.equal((await open(path)).status, 404, 'the address is no longer on the list');
  }
});

t.test('the page says on which other list an address stays, because of which it gets no mail', async (t) => {
  const app = await fill(t);
  await mustSucceed(t, app.one)('/global-unsubscribes/save', { email_address: 'full@example.org' });
  const { open } = visitor(app);
  const page = async (list: string) => (await open(`/unsubscribes/lift?list=${list}&email=full@example.org`)).text;
  t.match(await page('suppressions'), 'also unsubscribed from all mail');
  t.match(await page('all'), 'This address is also suppressed');
  t.notMatch((await open('/unsubscribes/lift?list=all&email=gone@example.org')).text, 'is also');
});

t.test('no address of a page makes it say that something was done', async (t) => {
  const { open } = visitor(await startApp(t));
  // The region that tells what the search among the settings found is empty.
  for (const path of ['/unsubscribes?lifted=Anything', '/settings/users?done=changed'])
    t.notMatch((await open(path)).text, /role="status"(?! data-none="[^"]+"><\/p>)|Anything|Saved/);
});

t.test('a viewer, another site and another account take nobody off a list', async (t) => {
  const app = await fill(t);
  const path = '/unsubscribes/lift?list=all&email=gone@example.org';
  const viewer = visitor(app, 'viewer');
  t.notMatch((await viewer.open('/unsubscribes')).text, 'Allow again');
  t.equal((await viewer.send(path)).status, 403);
  const owner = visitor(app);
  const crossSite = { 'sec-fetch-site': 'cross-site', cookie: cookieOf(app, addPerson(app)) };
  t.equal((await app.page('POST', path, { headers: crossSite })).status, 403);
  t.equal((await visitor(app, 'owner', { accountId: 2 }).send(path)).status, 404);
  t.equal((await viewer.open(path)).status, 403, 'a viewer is not asked either');
  t.equal((await owner.open(path)).status, 200, 'the address is still on the list');
});

t.test('what a mail server said can look like a day and be none, and the list still opens', async (t) => {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/bounces', { address: 'a@example.org', kind: 'bounce', diagnostic: '2026-99-99' });
  const { status, text } = await visitor(app).open('/unsubscribes/suppressions');
  t.match([status, text], [200, '2026-99-99']);
});
