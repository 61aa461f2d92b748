/** Opens and clicks. */
import t from 'tap';
import { HitBuffer } from '../../src/delivery/feedback/opens-and-clicks.ts';
import type { RecipientIds } from '../../src/delivery/links/tokens.ts';
import { mustSucceed, readOutbox } from '../support/campaign.ts';
import { countersOf, fieldsOf, flushHits, sendAgain, sentCampaign } from '../support/recipient-links.ts';
import { until } from '../support/until.ts';

const PERSON = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

t.test('whatever the token, the pixel is the same picture', async (t) => {
  const { app, o, u } = await sentCampaign(t);
  app.clock.advance(60_000);
  const real = await app.page('GET', o);
  for (const path of [
    `${o.slice(0, -6)}xx.gif`,
    '/o/x',
    `/o/${u.slice(3)}.gif`,
    '/o/1-1-1-1-1.AAAAAAAAAAAAAAAAAAAAAA.gif',
  ]) {
    const other = await app.page('GET', path);
    const bare = ({ date: _, ...headers }: typeof real.headers) => headers;
    t.strictSame([other.status, other.text, bare(other.headers)], [real.status, real.text, bare(real.headers)]);
  }
  // The application writes what waits by itself.
  await until(() => Number(countersOf(app).total_opens) > 0);
  t.match(countersOf(app), { unique_opens: 1, total_opens: 1 });
});

t.test('the pixel arrives over a connection as the bytes of a picture, and a HEAD as its headers alone', async (t) => {
  const { app, o } = await sentCampaign(t);
  const url = (await app.fastify.listen({ port: 0, host: '127.0.0.1' })) + o;
  const answer = await fetch(url, { headers: { connection: 'close' } });
  const picture = Buffer.from(await answer.arrayBuffer());
  t.equal(picture.toString('base64'), 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7');
  const head = await fetch(url, { method: 'HEAD', headers: { connection: 'close' } });
  t.equal(await head.text(), '');
  for (const { headers, status } of [answer, head]) {
    t.match(Object.fromEntries(headers), {
      'content-type': 'image/gif',
      'content-length': String(picture.length),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    t.equal(status, 200);
  }
});

t.test('opens are counted exactly after the flush, once per person and in all', async (t) => {
  const people = Array.from({ length: 3 }, (_, at) => ({ email: `p${at}@example.org` }));
  const { app, mails } = await sentCampaign(t, {}, { people });
  app.clock.advance(60_000);
  for (let visit = 0; visit < 50; visit++) {
    for (const mail of mails.slice(0, 2))
      await app.page('GET', mail.paths.o ?? '', { headers: { 'user-agent': PERSON } });
  }
  await app.page('HEAD', mails[2]?.paths.o ?? '');
  flushHits(app);
  t.match(countersOf(app), { delivered: 3, unique_opens: 2, total_opens: 100 });
  t.equal(app.db.prepare("SELECT count(*) FROM events WHERE kind = 'open' AND made_by = 0").pluck().get(), 100);
});

t.test('100 000 pixel hits write nothing one by one, and are told apart exactly after the flush', async (t) => {
  const people = Array.from({ length: 40 }, (_, at) => ({ email: `p${at}@example.org` }));
  const { app } = await sentCampaign(t, {}, { people });
  const rows = app.db
    .prepare<[], RecipientIds>(
      `SELECT d.id AS delivery, mailing_id AS mailing, address_id AS address, 1 AS "group", m.user_id AS user, a.normalized_email AS email
       FROM deliveries d JOIN mailings m ON m.id = mailing_id JOIN addresses a ON a.id = address_id WHERE owner_kind = 'single'`,
    )
    .all();
  const hits = new HitBuffer(app.db);
  const at = app.clock.now().getTime() + 60_000;
  const changes = app.db.prepare<[], number>('SELECT total_changes()').pluck();
  const before = changes.get();
  for (let hit = 0; hit < 100_000; hit++) {
    const ids = rows[hit % 37];
    if (ids !== undefined) hits.add({ ids, link: null, at, reader: 'person' });
  }
  t.equal(changes.get(), before, 'a hit is no write');
  app.db.pragma('synchronous = OFF');
  while (hits.flush(at));
  t.match(countersOf(app), { unique_opens: 37, total_opens: 3700 }, 'a hundred of each person count');
  t.equal(app.db.prepare("SELECT count(*) FROM events WHERE kind = 'open'").pluck().get(), 3700);
});

t.test('a hundred opens and a hundred clicks of one recipient count, and leave no more rows', async (t) => {
  const people = Array.from({ length: 2 }, (_, at) => ({ email: `p${at}@example.org` }));
  const { app, mails, utr } = await sentCampaign(t, {}, { people });
  const [first, second] = mails;
  app.clock.advance(60_000);
  for (let visit = 0; visit < 300; visit++) {
    await app.page('GET', first?.paths.o ?? '');
    await app.page('GET', first?.paths.c ?? '');
  }
  await app.page('GET', second?.paths.o ?? '');
  await app.page('GET', second?.paths.c ?? '');
  flushHits(app);
  t.match(countersOf(app), { unique_opens: 2, total_opens: 101 });
  const kinds = app.db.prepare('SELECT kind, count(*) FROM events GROUP BY 1 ORDER BY 1').raw().all();
  t.strictSame(kinds, [
    ['click', 101],
    ['open', 101],
  ]);
  const { report } = (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message;
  t.strictSame([report.opens_by_hour[0].count, report.top_links[0].clicks], [101, 101], 'the report says the same');
});

t.test('an open waits until its mail is accepted, so opens never pass deliveries', async (t) => {
  const { app, o } = await sentCampaign(t);
  app.clock.advance(60_000);
  app.db.exec("UPDATE deliveries SET state = 1; UPDATE mailings SET delivered = 0 WHERE owner_kind = 'single'");
  await app.page('GET', o);
  flushHits(app);
  t.match(countersOf(app), { delivered: 0, unique_opens: 0 });
  app.db.exec("UPDATE deliveries SET state = 2; UPDATE mailings SET delivered = 1 WHERE owner_kind = 'single'");
  flushHits(app);
  t.match(countersOf(app), { delivered: 1, unique_opens: 1 });
  app.db.exec('UPDATE deliveries SET state = 3');
  await app.page('GET', o);
  flushHits(app);
  t.match(countersOf(app), { unique_opens: 1, total_opens: 1 }, 'a mail that came back was not opened');
});

t.test('hits of machines and proxies are told apart from those of people', async (t) => {
  const { app, o, c } = await sentCampaign(t);
  const machines = () => app.db.prepare('SELECT made_by FROM events ORDER BY id').pluck().all();
  const visit = async (path: string, agent: string) => {
    await app.page('GET', path, { headers: { 'user-agent': agent } });
    flushHits(app);
  };
  await visit(o, PERSON);
  t.strictSame(machines(), [1], 'in the moment of hand-off');
  app.clock.advance(60_000);
  await visit(o, PERSON);
  await visit(o, 'Mozilla/5.0');
  await visit(o, 'Mozilla/5.0 (Windows NT 5.1) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)');
  await visit(c, PERSON);
  await visit(c, 'AcmeScanner/1.0 scanner');
  t.strictSame(machines(), [1, 0, 2, 0, 0, 1]);
});

t.test('TRACKING=off: no pixel, no rewritten link', async (t) => {
  const { mail } = await sentCampaign(t, { TRACKING: 'off' });
  t.notOk(mail.paths.o ?? mail.paths.c);
  t.match(mail.html, 'https://shop.example/new?for=Anna');
});

t.test('tracking off for one mail: no pixel, no rewritten link, in its test and its copy neither', async (t) => {
  const { app, utr } = await sentCampaign(t);
  const must = mustSucceed(t, app.one);
  const report = async (of: string) =>
    (await app.one.call('GET', '/single-send/report', { query: { utr: of } })).body.message.report;
  t.equal((await report(utr)).tracking, 1);
  const plain = await sendAgain(t, app, utr, { tracking: 0 });
  t.equal((await report(plain)).tracking, 0);
  await must('/single/send/test', { utr: plain, email_address: 'tester@example.net' });
  app.clock.advance(11_000);
  await app.background();
  const untracked = (await readOutbox(app)).slice(1);
  t.equal(untracked.length, 2);
  for (const { paths, html } of untracked) {
    t.notOk(paths.o ?? paths.c);
    t.match(html, /https:\/\/shop\.example\/new\?for=/);
  }
  t.equal(app.db.prepare('SELECT count(*) FROM links').pluck().get(), 1, 'just the first send’s');

  await app.one.call('GET', '/single/send/duplicate', { query: { utr: plain } });
  const { body } = await app.one.call('GET', '/single-send/list');
  const copy = body.message.singleSends.at(-1);
  t.notOk('tracking' in copy, 'the record of the interface stays as it is');
  t.equal((await report(copy.utr)).tracking, 0, 'a copy keeps it');
  const change = (more: object) => must('/single/send/update', { utr: copy.utr, ...fieldsOf(copy), ...more });
  await change({});
  t.equal((await report(copy.utr)).tracking, 0, 'an update without it keeps it');
  await change({ tracking: '' });
  t.equal((await report(copy.utr)).tracking, 1, 'an empty one clears it');
  const wrong = await app.one.call('POST', '/single/send/update', {
    form: { utr: copy.utr, ...fieldsOf(copy), tracking: 'some' },
  });
  t.match([wrong.status, wrong.body.errors], [422, { tracking: [/invalid/] }]);
});

t.test('tracking off for one mail of an automation, and only for that', async (t) => {
  const { app } = await sentCampaign(t);
  const must = mustSucceed(t, app.one);
  const { utr } = (await must('/automations/create', {
    type: 'welcome',
    automation_for: 'contacts_1',
    automation_name: 'Welcome',
    unsubscribe_group_id: 1,
  })) as { utr: string };
  const schedule = {
    utr,
    sender_id: 1,
    waiting_period: 1,
    waiting_type: 'instantly',
    template_id: 1,
    preview_img: 'b.png',
  };
  const template_html = '<a href="https://shop.example/">news</a>';
  await must('/automations/schedule/create', { ...schedule, subject: 'Quiet', template_html, tracking: 'off' });
  await must('/automations/schedule/create', { ...schedule, subject: 'Counted', template_html });
  t.equal((await app.one.call('GET', '/automations/set-live', { query: { utr } })).status, 200);
  await must('/contacts/add', { contact_type_id: 1, first_name: 'Bo', country: 1, email: 'bo@example.org' });
  await app.background();
  const mails = (await readOutbox(app)).slice(1);
  t.strictSame(
    mails.map(({ subject, paths }) => [subject, paths.o !== undefined, paths.c !== undefined]),
    [
      ['Quiet', false, false],
      ['Counted', true, true],
    ],
  );
  const { body } = await app.one.call('GET', '/automations/report', { query: { utr } });
  t.match(body.message.report.mails, [{ tracking: 0 }, { tracking: 1 }]);
});

t.test('a click leads where the mailing says, merged with today’s values, and is counted', async (t) => {
  const { app, utr, c } = await sentCampaign(t);
  app.clock.advance(60_000);
  const click = async (path: string) => {
    const { status, headers } = await app.page('GET', path);
    return [status, headers.location, headers['cache-control']];
  };
  t.strictSame(await click(c), [302, 'https://shop.example/new?for=Anna', 'no-store']);
  app.db.exec("UPDATE contacts SET first_name = 'Ann & Bo'");
  t.strictSame(await click(c), [302, 'https://shop.example/new?for=Ann%20%26%20Bo', 'no-store']);
  const token = c.split('/')[2];
  for (const path of [`/c/${token}/1`, `/c/${token}/-1`, `/c/${token}/0x0`, `/c/x${token}/0`, `/c/${token}`]) {
    t.strictSame((await click(path)).slice(0, 2), [404, undefined], path);
  }
  t.strictSame((await click(`${c}?url=https://evil.example`))[1], 'https://shop.example/new?for=Ann%20%26%20Bo');
  flushHits(app);
  const { body } = await app.one.call('GET', '/single-send/report', { query: { utr } });
  t.match(body.message.report.top_links, [{ clicks: 3 }]);
});
