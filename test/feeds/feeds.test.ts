/** Feeds that are sent as mail: what is new, when it is sent, and what is held. */
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { startApp, type TestApp } from '../support/app.ts';
import { mustSucceed, readOutbox } from '../support/campaign.ts';
import { rss, type Site, startSite } from '../support/feed-site.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { SHOP_SENDER } from '../support/sender.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** An account with a reader and a feed that was read once; more is said in `more`. */
async function started(t: Test, more: object = {}, first: readonly number[] = [1]) {
  const site = await startSite(t);
  const app = await startApp(t, { WEBHOOK_PRIVATE_ADDRESSES: 'allow', TIME_ZONE: 'Europe/Berlin' });
  const must = mustSucceed(t, app.one);
  await must('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: 1 });
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/contacts/add', { contact_type_id: 1, email: 'anna@example.org', first_name: 'Anna', country: 1 });
  await must('/sender/save', SHOP_SENDER);
  site.answer = (reply) => reply.end(rss(first));
  const given = { ...feedForm(site.url), ...more };
  const { id } = (await must('/feeds/save', given)) as { id: number };
  await poll(app, site);
  return { app, site, id, given, must };
}

const feedForm = (url: string) => ({
  ...{ feed_name: 'Blog', url, sender_id: 1, unsubscribe_group_id: 1, recipient_id: ['contacts_1'] },
  ...{ subject: '((item_title)) for ((first_name))', rhythm: 'item' },
});

/** Runs the background until it has asked the site once more and recorded the answer, and sent what is due. */
async function poll(app: TestApp, site: Site, times = 1): Promise<void> {
  const before = site.asked.length;
  const state = () => app.db.prepare('SELECT group_concat(read_at || failures || state) FROM feeds').pluck().get();
  const stateBefore = state();
  await app.background();
  await until(() => site.asked.length >= before + times && state() !== stateBefore);
  await send(app);
}

/** Sends what was made. */
async function send(app: TestApp): Promise<void> {
  await app.background();
  app.clock.advance(11_000);
  await app.background();
}

async function again(app: TestApp, site: Site, ids: readonly (number | string)[], title?: string): Promise<void> {
  site.answer = (reply) => reply.end(rss(ids, title));
  app.clock.advance(15 * MINUTE);
  await poll(app, site);
}

const subjects = async (app: TestApp) => (await readOutbox(app)).map(({ subject }) => subject.replaceAll('\u2060', ''));
const feedOf = async (app: TestApp) => (await app.one.call('GET', '/feeds')).body.message.feeds[0];

t.test(
  'what is there at first is only remembered; what appears later is sent once, also when it is edited',
  async (t) => {
    const { app, site } = await started(t, {}, [1, 2]);
    t.strictSame(await subjects(app), []);
    await again(app, site, [3, 2, 1]);
    t.strictSame(await subjects(app), ['Item 3 for Anna']);
    await again(app, site, [3, 2, 1], 'Edited');
    await again(app, site, [2]);
    app.restartBackground();
    await again(app, site, [5, 4, 3, 2, 1]);
    t.strictSame(await subjects(app), ['Item 3 for Anna', 'Item 4 for Anna', 'Item 5 for Anna'], 'oldest first');
    t.match(await feedOf(app), { feed_title: 'Blog', failure: '', waiting: 0, state: 'active' });
    const { singleSends } = (await app.one.call('GET', '/single-send/list')).body.message;
    t.match(singleSends[0], { single_send_name: /^Blog: Item 3/, template_html: /Item 3/ });
  },
);

t.test('a feed is asked at most every 15 minutes, and only for what has changed', async (t) => {
  const { app, site } = await started(t);
  app.clock.advance(14 * MINUTE);
  await app.background();
  await setTimeout(50);
  t.equal(site.asked.length, 1);
  site.answer = (reply) => {
    reply.writeHead(200, {
      etag: '"v1"',
      'last-modified': 'Thu, 15 Jan 2026 09:00:00 GMT',
      'content-encoding': 'gzip',
    });
    reply.end(gzipSync(rss([2, 1])));
  };
  app.clock.advance(2 * MINUTE);
  await poll(app, site);
  t.strictSame(await subjects(app), ['Item 2 for Anna'], 'a packed answer is read');
  site.answer = (reply) => reply.writeHead(304).end();
  app.clock.advance(15 * MINUTE);
  await poll(app, site);
  t.match(site.asked.at(-1), { 'if-none-match': '"v1"', 'if-modified-since': 'Thu, 15 Jan 2026 09:00:00 GMT' });
  t.match(await feedOf(app), { failure: '' });
});

t.test('a feed that fails is asked more and more rarely, and no earlier than it says', async (t) => {
  const { app, site } = await started(t);
  site.answer = (reply) => reply.writeHead(429, { 'retry-after': '7200' }).end();
  app.clock.advance(15 * MINUTE);
  await poll(app, site);
  t.match(await feedOf(app), { failure: 'The address answered with the status 429.' });
  const pollAt = () => Number(app.db.prepare('SELECT poll_at FROM feeds').pluck().get()) - app.clock.now().getTime();
  t.ok(pollAt() > 119 * MINUTE, 'after two hours');
  site.answer = (reply) => reply.end('<html>Sorry</html>');
  const waits: number[] = [];
  for (let times = 0; times < 9; times++) {
    app.clock.advance(DAY);
    await poll(app, site);
    waits.push(Math.ceil(pollAt() / MINUTE / 15));
  }
  t.strictSame(waits, [2, 4, 8, 16, 32, 64, 96, 96, 96]);
  t.match(await feedOf(app), { failure: 'The address does not answer with an RSS, Atom or JSON feed.' });
  const list = await app.page('GET', '/feeds', { headers: { cookie: cookieOf(app, addPerson(app)) } });
  t.match(
    list.text,
    /Active<\/span>.*The feed could not be read: /,
    'so that nobody takes it for a feed without posts',
  );
});

t.test('redirects are followed to an end, and too much or too large is refused', async (t) => {
  const { app, site } = await started(t);
  site.answer = (reply, path) =>
    path === '/there' ? reply.end(rss([2, 1])) : reply.writeHead(302, { location: '/there' }).end();
  app.clock.advance(15 * MINUTE);
  await poll(app, site, 2);
  t.strictSame(await subjects(app), ['Item 2 for Anna']);
  site.answer = (reply) => reply.writeHead(302, { location: '/again' }).end();
  app.clock.advance(15 * MINUTE);
  await poll(app, site, 6);
  t.match(await feedOf(app), { failure: 'The address redirects too often.' });
  for (const body of [Buffer.alloc(3 * 1024 * 1024, 'a'), gzipSync(Buffer.alloc(30 * 1024 * 1024))]) {
    site.answer = (reply) =>
      reply.writeHead(200, body.length < 1024 * 1024 ? { 'content-encoding': 'gzip' } : {}).end(body);
    app.clock.advance(DAY);
    await poll(app, site);
    t.match(await feedOf(app), { failure: 'The feed is larger than 2 MB.' });
  }
});

t.test('50 new items at once are held until somebody sends or skips them', async (t) => {
  const { app, site, id, must } = await started(t);
  const many = Array.from({ length: 50 }, (_, at) => at + 100);
  await again(app, site, many);
  t.strictSame(await subjects(app), []);
  t.match(await feedOf(app), { state: 'held', waiting: 50, held_reason: /^The feed has 50 new posts at once/ });
  t.equal((await app.one.call('POST', '/feeds/switch', { form: { id, is_active: 1 } })).status, 409);
  await must('/feeds/decide', { id, what: 'skip' });
  await again(app, site, [200, ...many]);
  t.strictSame(await subjects(app), ['Item 200 for Anna'], 'what was skipped is not sent later');
  t.equal((await app.one.call('POST', '/feeds/decide', { form: { id, what: 'send' } })).status, 409);
  await again(
    app,
    site,
    many.map((one) => one + 1000),
  );
  await must('/feeds/decide', { id, what: 'send' });
  await send(app);
  t.equal((await subjects(app)).length, 51);
});

t.test('a feed that gives other ids to all it has is held, and one item after it is sent', async (t) => {
  const { app, site, id, must } = await started(t, {}, [5, 4, 3, 2, 1]);
  await again(app, site, ['e', 'd', 'c', 'b', 'a']);
  t.strictSame(await subjects(app), []);
  t.match(await feedOf(app), { state: 'held', waiting: 5, held_reason: /^All 5 posts of the feed are new/ });
  await must('/feeds/decide', { id, what: 'skip' });
  await again(app, site, ['f', 'e', 'd', 'c', 'b']);
  t.strictSame(await subjects(app), ['Item f for Anna']);
});

t.test(
  'a digest has all items since the last, the newest first, at its time; without items there is none',
  async (t) => {
    const daily = { rhythm: 'daily', time_of_day: '11:00', subject: '((items_count)) from ((feed_title))' };
    const { app, site } = await started(t, daily);
    t.match(await feedOf(app), { next_mail_at: '2026-01-15T10:00:00.000000Z', time_zone: 'Europe/Berlin' });
    await again(app, site, [2, 1]);
    await again(app, site, [3, 2, 1]);
    t.strictSame(await subjects(app), []);
    app.clock.advance(60 * MINUTE);
    await send(app);
    t.strictSame(await subjects(app), ['2 from Blog']);
    const [{ html = '' } = {}] = await readOutbox(app);
    t.match(html.replaceAll(/\s+/g, ' '), /Item 3<.*Item 2</);
    t.match(await feedOf(app), { next_mail_at: '2026-01-16T10:00:00.000000Z', waiting: 0 });
    app.clock.advance(DAY);
    await poll(app, site);
    t.equal((await subjects(app)).length, 1);
  },
);

t.test('a kill between the making of a mail and the rest neither loses nor doubles an item', async (t) => {
  const { app, site } = await started(t);
  // The last statement of the transaction fails, as if the process had ended there.
  app.db.exec(
    `CREATE TRIGGER kill BEFORE UPDATE OF item ON feed_items WHEN new.item IS NULL BEGIN SELECT raise(ABORT, 'killed'); END`,
  );
  await again(app, site, [2, 1]);
  t.equal(app.db.prepare('SELECT count(*) FROM single_sends').pluck().get(), 0, 'no mail without the memory of it');
  app.db.exec('DROP TRIGGER kill');
  app.restartBackground();
  await send(app);
  await send(app);
  t.strictSame(await subjects(app), ['Item 2 for Anna']);
});

t.test('a mail is made without the write lock, and not sent if its feed was changed meanwhile', async (t) => {
  const { app, site } = await started(t);
  const { DateTimeFormat } = Intl;
  const other = new Database(app.path);
  t.teardown(() => other.close());
  const feed = () => other.prepare('UPDATE feeds SET subject = ?');
  let made = 0;
  // The dates of items are written while the mail is made.
  t.intercept(Intl, 'DateTimeFormat', {
    value: class extends DateTimeFormat {
      constructor(...of: ConstructorParameters<typeof DateTimeFormat>) {
        super(...of);
        if (of[0] === 'en-CA' && ++made === 1) feed().run('Changed: ((item_title))');
      }
    },
  });
  await again(app, site, [2, 1]);
  t.strictSame(await subjects(app), ['Changed: Item 2']);
  t.equal(made, 2);
});

t.test('a feed whose mail cannot be made keeps no other waiting', async (t) => {
  const { app, site, id, given, must } = await started(t);
  await must('/feeds/save', { ...given, id, feed_name: 'Broken' });
  await must('/feeds/save', { ...given, url: `${site.url}?two` });
  await poll(app, site);
  app.db.exec(
    `CREATE TRIGGER broken BEFORE INSERT ON single_sends WHEN new.single_send_name LIKE 'Broken%' BEGIN SELECT raise(ABORT, 'broken'); END`,
  );
  site.answer = (reply) => reply.end(rss([2, 1]));
  app.clock.advance(15 * MINUTE);
  await app.background();
  const found = app.db.prepare("SELECT count(*) FROM feed_items WHERE item LIKE '%Item 2%'").pluck();
  await until(() => found.get() === 2);
  await send(app);
  t.strictSame(await subjects(app), ['Item 2 for Anna']);
  app.db.exec('DROP TRIGGER broken');
  await send(app);
  t.strictSame(await subjects(app), ['Item 2 for Anna'], 'the next steps spend nothing on it');
  app.clock.advance(MINUTE);
  await send(app);
  t.strictSame(await subjects(app), ['Item 2 for Anna', 'Item 2 for Anna'], 'it is tried again');
});

t.test('a paused feed is not asked; at another address a feed begins anew; a deleted one is gone', async (t) => {
  const { app, site, id, given, must } = await started(t);
  await must('/feeds/switch', { id, is_active: 0 });
  app.clock.advance(DAY);
  await app.background();
  await setTimeout(50);
  t.equal(site.asked.length, 1);
  await must('/feeds/switch', { id, is_active: 1 });
  await must('/feeds/save', { ...given, id, url: `${site.url}?two` });
  await again(app, site, [7, 8]);
  t.strictSame(await subjects(app), [], 'what is there is only remembered');
  await again(app, site, [9, 8, 7]);
  t.strictSame(await subjects(app), ['Item 9 for Anna']);
  await must('/feeds/delete', { id });
  t.equal(app.db.prepare('SELECT count(*) FROM feed_items').pluck().get(), 0);
});

t.test('a template of its own is used, and its absence holds the feed', async (t) => {
  const { app, site, id, given, must } = await started(t);
  const added = (await must('/templates/create', {
    template_name: 'Own',
    template_html: '<p>Read ((item_title)), ((first_name))</p>',
  })) as { id: number };
  await must('/feeds/save', { ...given, id, template_id: added.id });
  await again(app, site, [2, 1]);
  t.match((await readOutbox(app))[0]?.html, '<p>Read Item 2, Anna</p>');
  await must('/templates/delete', { id: added.id });
  await again(app, site, [3, 2, 1]);
  t.match(await feedOf(app), { state: 'held', held_reason: /template of the feed was deleted/, waiting: 1 });
});

t.test('a feed is held with its posts once its sender, topic, list, segment or exclusion is gone', async (t) => {
  const { app, site, id, given, must } = await started(t);
  const gone = {
    sender: { saved: { sender_id: 2 }, path: '/sender/delete?sender_id=2', why: /sender of the feed was deleted/ },
    topic: { saved: { unsubscribe_group_id: 2 }, path: '/unsubscribes-groups/delete?id=2', why: /topic of the feed/ },
    segment: { saved: { recipient_id: ['segments_1'] }, path: '/segment/delete?segment_id=1', why: /list or segment/ },
    exclusion: {
      saved: { exclude_specific_recipient_id: ['segments_2'] },
      path: '/segment/delete?segment_id=2',
      why: /list or segment/,
    },
    list: {
      saved: { recipient_id: ['contacts_1', 'contacts_2'] },
      path: '/contacts-type/delete?contact_type_id=2',
      why: /list or segment/,
    },
  };
  await must('/sender/save', SHOP_SENDER);
  await must('/unsubscribes-groups/save', { group_name: 'Old', description: 'Old', is_display: 1 });
  await must('/contacts-type/add', { name: 'Old' });
  const rule = { select_field: ['first_name'], select_operator: ['is'], value: ['Anna'] };
  for (const segment_name of ['To', 'Without'])
    await must('/segment/store', { segment_name, contact_type_id: 1, ...rule });
  const ids = [1];
  for (const [what, { saved, path, why }] of Object.entries(gone)) {
    await must('/feeds/save', { ...given, id, ...saved });
    t.equal((await app.one.call('DELETE', path)).status, 200, what);
    ids.unshift(ids.length + 1);
    await again(app, site, ids);
    t.match(await feedOf(app), { state: 'held', held_reason: why, waiting: 1 }, what);
    await must('/feeds/save', { ...given, id });
    await must('/feeds/decide', { id, what: 'send' });
    await send(app);
    t.match((await subjects(app)).at(-1), `Item ${ids[0]} for Anna`, `${what}: sent once another is chosen`);
  }
  t.equal(
    app.db.prepare('SELECT count(*) FROM single_sends').pluck().get(),
    5,
    'no campaign is made that cannot be sent',
  );
});

t.test('the preview shows what would be sent, and sends and remembers nothing', async (t) => {
  const { app, site, id } = await started(t, { rhythm: 'weekly' });
  const preview = async () => (await app.one.call('GET', '/feeds/preview', { query: { id } })).body.message.preview;
  t.match(await preview(), {
    is_sample: 1,
    items: 1,
    new_items: 0,
    subject: 'Item 1 for ((first_name))',
    problem: null,
  });
  site.answer = (reply) => reply.end(rss([3, 2, 1]));
  t.match(await preview(), { is_sample: 0, items: 2, new_items: 2, subject: 'Item 3 for ((first_name))' });
  t.match(await preview(), { new_items: 2 }, 'asked again, the same');
  site.answer = (reply) => reply.writeHead(500).end();
  t.match(await preview(), { problem: 'The address answered with the status 500.', html: '' });
  t.equal((await app.two.call('GET', '/feeds/preview', { query: { id } })).status, 404);
});

t.test('fields are checked, and there is a limit of feeds', async (t) => {
  const { app, given } = await started(t);
  const save = (form: object) => app.one.call('POST', '/feeds/save', { form: { ...given, ...form } });
  const wrong = {
    time_of_day: '8',
    time_zone: 'Mars',
    template_id: 99,
    recipient_id: ['contacts_9'],
    weekday: 8,
    rhythm: 'x',
  };
  const { body } = await save(wrong);
  t.strictSame(Object.keys(body.errors).sort(), [
    'recipient_id',
    'rhythm',
    'template_id',
    'time_of_day',
    'time_zone',
    'weekday',
  ]);
  for (let at = 0; at < 19; at++) t.equal((await save({})).status, 200);
  t.equal((await save({})).status, 409);
});

t.test(
  'mails of a feed have versions: each contact gets the subject, the preview text and the template of theirs',
  async (t) => {
    const { app, site, id, must } = await started(t);
    const contacts = [
      { email: 'bob@example.org', first_name: 'Bob', language: 'de' },
      { email: 'cy@example.org', first_name: 'Cy', language: 'fr' },
    ];
    await app.one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } });
    const { id: template } = (await must('/templates/create', {
      template_name: 'German',
      template_html: '<html><p>Neu bei uns:</p>((items))<p>((item_title))</p>((items_end))</html>',
    })) as { id: number };
    const german = { subject: 'Neu: ((item_title)) für ((first_name))', preheader: 'Aus ((feed_title))' };
    await must('/feeds/languages', { id, language: 'de', template_id: template, ...german });
    await must('/feeds/languages', { id, language: 'fr', subject: 'Nouveau : ((item_title))' });
    t.match(await feedOf(app), { languages: ['de', 'fr'] });
    await again(app, site, [2, 1]);
    const mails = await readOutbox(app);
    const of = (name: string) => mails.find(({ to }) => to.startsWith(name));
    t.equal(of('anna')?.subject, 'Item 2 for Anna');
    t.equal(of('bob')?.subject, 'Neu: Item 2 für Bob');
    t.match(of('bob')?.html, /<html lang="de">[\s\S]*Aus Blog[\s\S]*Neu bei uns:[\s\S]*Item 2[\s\S]*Abmelden oder/);
    t.equal(of('cy')?.subject, 'Nouveau : Item 2');
    t.match(of('cy')?.html, /Item 2[\s\S]*Se désabonner/, 'with the content of the feed itself');

    const other = await app.two.call('POST', '/feeds/languages', { form: { id, language: 'de', subject: 'a' } });
    t.equal(other.status, 404);
    await must('/feeds/languages/remove', { id, language: 'fr' });
    await must('/templates/delete', { id: template });
    await again(app, site, [3, 2, 1]);
    t.match(await feedOf(app), { state: 'held' }, 'a template that is gone holds the feed');
  },
);
