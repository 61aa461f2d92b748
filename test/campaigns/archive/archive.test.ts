/** The public archive: what anybody can read of the mails that an owner puts there. */
import t, { type Test } from 'tap';
import { type Caller, startApp, type TestApp } from '../../support/app.ts';
import { mustSucceed, sendCampaign } from '../../support/campaign.ts';
import { addPerson, callerOf } from '../../support/people.ts';

const HTML = `<html><head><title></title></head><body class="a>b"><p>Hello ((first_name|reader)) at ((email)),
<a href="https://shop.example/new?for=((first_name))">news</a> <a href="((unsubscribe_preferences))">leave</a> <a href="((web_copy))">copy</a></p></body></html>`;
const SECRETS = /anna|Anna|\/[uoc]\/(?!shared)|<img/;

const archive = (t: Test, caller: Caller, utr: string, is_archived: 0 | 1 = 1) =>
  mustSucceed(t, caller)('/single/send/archive', { utr, is_archived });
const pathOf = (url: string) => new URL(url).pathname;

async function addressOf(caller: Caller, utr: string): Promise<string> {
  const { body } = await caller.call('GET', '/single-send/archive', { query: { utr } });
  return pathOf(body.message.archived.url);
}
const listOf = async (caller: Caller) => pathOf((await caller.call('GET', '/archive')).body.message.archive.url);

/** A mail that was sent and put into the archive; gives where anybody can read it. */
async function archived(t: Test) {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app, { html: HTML });
  await archive(t, app.one, utr);
  return { app, utr, mail: await addressOf(app.one, utr), list: await listOf(app.one) };
}

/** Another single send to the same people, sent to the end. */
async function another(t: Test, app: TestApp, subject: string): Promise<string> {
  const sent = await mustSucceed(t, app.one)('/single/send/create', {
    ...{ template_id: 1, template_html: HTML, sender_id: 1, unsubscribe_group_id: 1, single_send_name: subject },
    ...{ subject, preheader: 'x', recipient_id: ['contacts_1'], schedule_type: 0 },
  });
  return (sent as { utr: string }).utr;
}

async function send(app: TestApp): Promise<void> {
  app.clock.advance(11_000);
  await app.background();
}

t.test(
  'an archived mail is shown to anybody without the values of anybody, links that act for them, or a pixel',
  async (t) => {
    const { app, mail } = await archived(t);
    const { status, text, headers } = await app.page('GET', mail);
    t.equal(status, 200);
    t.notMatch(text, SECRETS);
    t.match(text, 'Hello reader at ,');
    t.match(text, 'href="https://shop.example/new?for="');
    t.match(text, `href="http://mail.example.com${mail}">copy`);
    t.match(text, 'href="http://mail.example.com/u/shared">leave');
    t.match(text, `<head><title>For</title><link rel="canonical" href="http://mail.example.com${mail}">`);
    t.match(text, '<body class="a>b"><nav');
    t.match(headers, {
      link: `<http://mail.example.com${mail}>; rel="canonical"`,
      'x-content-type-options': 'nosniff',
    });
    t.match(headers['content-security-policy'], /^sandbox .*default-src 'none'/);
    t.match(headers['cache-control'], 'public');
    t.notMatch(headers, { 'x-robots-tag': String });
    t.equal(app.db.prepare('SELECT count(*) FROM events').pluck().get(), 0, 'nothing is counted');
  },
);

t.test('the list and the feed have the mails that were sent, newest first', async (t) => {
  const { app, mail, list } = await archived(t);
  const second = await another(t, app, 'Second <mail>');
  await archive(t, app.one, second);
  t.notMatch((await app.page('GET', list)).text, 'Second', 'what was not sent is not shown');
  t.match((await app.one.call('GET', '/single-send/archive', { query: { utr: second } })).body.message.archived, {
    is_archived: 1,
    url: null,
  });
  await send(app);
  const { text, headers } = await app.page('GET', list);
  const newer = await addressOf(app.one, second);
  t.strictSame(
    [...text.matchAll(/<li><a href="http:\/\/mail.example.com([^"]+)">([^<]*)/g)].map(([, path, title]) => [
      path,
      title,
    ]),
    [
      [newer, 'Second &lt;mail>'],
      [mail, 'For'],
    ],
  );
  t.match(text, `<link rel="canonical" href="http://mail.example.com${list}"/>`);
  t.notMatch(text, 'noindex');
  t.match(headers, { 'cache-control': 'public, max-age=300', vary: 'Accept-Language' });
  const feed = await app.page('GET', `${list}/feed.xml`);
  t.match(feed.headers['content-type'], 'application/atom+xml');
  t.strictSame(
    [...feed.text.matchAll(/<title>([^<]*)/g)].map(([, title]) => title),
    ['Mail archive', 'Second &lt;mail&gt;', 'For'],
  );
  const german = await app.page('GET', list, { headers: { 'accept-language': 'de' } });
  t.match(german.text, /<html lang="de">.*Mail-Archiv.*Im Feedreader verfolgen/s);
});

t.test('a client that has a page is told that it has not changed', async (t) => {
  const { app, mail, list } = await archived(t);
  for (const path of [mail, list, `${list}/feed.xml`]) {
    const { etag } = (await app.page('GET', path)).headers;
    const again = await app.page('GET', path, { headers: { 'if-none-match': `W/${etag}` } });
    t.strictSame([again.status, again.text], [304, ''], path);
    t.equal((await app.page('HEAD', path)).status, 200, path);
  }
});

t.test('a mail that was withdrawn or deleted is not found, and without a mail there is no page', async (t) => {
  const { app, utr, mail, list } = await archived(t);
  await archive(t, app.one, utr, 0);
  for (const path of [mail, list, `${list}/feed.xml`]) t.equal((await app.page('GET', path)).status, 404, path);
  await archive(t, app.one, utr);
  const again = await addressOf(app.one, utr);
  t.not(again, mail, 'it has another address');
  t.equal((await app.page('GET', again)).status, 200);
  t.equal((await app.one.call('DELETE', '/single/send/delete', { query: { utr } })).status, 200);
  for (const path of [again, list]) t.equal((await app.page('GET', path)).status, 404, path);
});

t.test('a mail that was cancelled stays hidden', async (t) => {
  const { app } = await archived(t);
  const utr = await another(t, app, 'Oops');
  await archive(t, app.one, utr);
  app.clock.advance(11_000);
  const cancel = app.db.prepare("UPDATE mailings SET state = 'cancelled' WHERE finished_at IS NULL");
  while (cancel.run().changes === 0) await app.step();
  await app.background();
  t.match((await app.one.call('GET', '/single-send/archive', { query: { utr } })).body.message.archived, { url: null });
});

t.test('of an A/B test the archive has the variant that won', async (t) => {
  const { app, utr } = await archived(t);
  await archive(t, app.one, utr, 0);
  const mailing = app.db
    .prepare<[], { id: number; content: string }>('SELECT id, content FROM mailings ORDER BY id DESC')
    .get();
  const frozen = JSON.parse(mailing?.content ?? '');
  const content = { ...frozen.content, subject: 'Two', html: ['<p>Variant B</p>'], links: [] };
  const variants = [{ content, sender_name: 'Else' }];
  app.db
    .prepare('UPDATE mailings SET content = ? WHERE id = ?')
    .run(JSON.stringify({ ...frozen, variants }), mailing?.id);
  app.db
    .prepare(
      "INSERT INTO ab_tests (mailing_id, share, winner_by, hours, variants, winner) VALUES (?, 50, 'clicks', 4, '[]', 0)",
    )
    .run(mailing?.id);
  await archive(t, app.one, utr);
  t.match((await app.page('GET', await addressOf(app.one, utr))).text, /<title>For<.*Hello reader/s, 'A won');
  await archive(t, app.one, utr, 0);
  app.db.prepare('UPDATE ab_tests SET winner = 1').run();
  await archive(t, app.one, utr);
  t.match((await app.page('GET', await addressOf(app.one, utr))).text, /<title>Two<.*Variant B/s);
  t.match((await app.page('GET', await listOf(app.one))).text, '>Two</a>');
});

t.test('a long archive is shown in pages', async (t) => {
  const { app, list } = await archived(t);
  app.db.exec(`
    WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
    INSERT INTO single_sends SELECT i, ${columnsOf(app)} FROM single_sends, n WHERE id = 1;
    INSERT INTO archived_mails (user_id, single_send_id, token, title, published_at, created_at)
    SELECT 1, id, 'token' || id, 'Mail ' || id, '2025-01-01T00:00:00.' || printf('%06d', id) || 'Z', '' FROM single_sends WHERE id > 1`);
  const pages = await Promise.all([1, 2, 3, 4].map((page) => app.page('GET', `${list}?page=${page}`)));
  t.strictSame(
    pages.map(({ status }) => status),
    [200, 200, 200, 404],
  );
  t.strictSame(
    pages.map(({ text }) => text.match(/<li>/g)?.length),
    [50, 50, 20, undefined],
  );
  t.match(pages[1]?.text, `rel="prev" href="http://mail.example.com${list}">`);
  t.match(pages[1]?.text, `rel="next" href="http://mail.example.com${list}?page=3">`);
  t.equal((await app.page('GET', `${list}?page=-1`)).status, 200, 'what is no page is the first');
});

const columnsOf = ({ db }: TestApp) =>
  db
    .prepare<[], string>("SELECT name FROM pragma_table_info('single_sends') WHERE name <> 'id'")
    .pluck()
    .all()
    .map((name) => (name === 'utr' ? "'utr-' || i" : name))
    .join(', ');

t.test('an owner chooses the address and the title; nobody else can have the same, and no id is in it', async (t) => {
  const { app, mail, list } = await archived(t);
  t.match(list, /^\/archive\/[0-9a-f]{20}$/);
  const save = (caller: Caller, form: object) => caller.call('POST', '/archive/save', { form: { ...form } });
  t.equal((await save(app.one, { slug: 'lark-books', title: 'Lark <Books>' })).status, 200);
  t.match((await app.page('GET', '/archive/lark-books')).text, '<h1>Lark &lt;Books></h1>');
  t.equal((await app.page('GET', mail)).status, 404, 'the address before is not known any more');
  t.match((await save(app.two, { slug: 'lark-books' })).body.errors, { slug: ['The slug has already been taken.'] });
  for (const slug of ['x', '-lark', 'lark--books', 'Lark', 'a/b', 'ä-b-c', 'feed.xml', 'a'.repeat(61)])
    t.equal((await save(app.one, { slug })).status, 422, slug);
  const editor = callerOf(app, addPerson(app, 'editor'));
  t.equal((await save(editor, { slug: 'editors' })).status, 403);
});

t.test('nobody reaches a mail through the archive of another account', async (t) => {
  const { app, utr, mail } = await archived(t);
  t.equal((await app.two.call('POST', '/single/send/archive', { form: { utr, is_archived: 1 } })).status, 404);
  await app.two.call('POST', '/archive/save', { form: { slug: 'other' } });
  t.equal((await app.page('GET', `/archive/other/${mail.split('/').at(-1)}`)).status, 404);
  t.equal((await app.page('GET', '/archive/other')).status, 404);
});
