/** The removal of opens and clicks that are older than EVENTS_DAYS: what goes, what stays, and what is said about it. */
import { statSync } from 'node:fs';
import t, { type Test } from 'tap';
import { connect } from '../../../src/database/open.ts';
import { recordBounce } from '../../../src/delivery/feedback/bounces/record.ts';
import { eventsRemovedTime, OldEvents } from '../../../src/delivery/feedback/old-events.ts';
import { countUnsubscribe, HitBuffer } from '../../../src/delivery/feedback/opens-and-clicks.ts';
import type { RecipientIds } from '../../../src/delivery/links/tokens.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { operationsOf, readDocument } from '../../support/openapi-operations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../../support/people.ts';
import { ACCEPTED, DAY, HOUR, REFUSED, type Shop, startSend, startSeries, startShop } from '../../support/shop.ts';

const HTML =
  '<p>Hello ((first_name)) <a href="https://shop.example/a">a</a> <a href="https://shop.example/b">b</a></p>';

function recipients({ app }: Shop): RecipientIds[] {
  return app.db
    .prepare<[], RecipientIds>(`
      SELECT d.id AS delivery, mailing_id AS mailing, address_id AS address, 1 AS "group", m.user_id AS user, normalized_email AS email
      FROM deliveries d JOIN mailings m ON m.id = mailing_id JOIN addresses a ON a.id = address_id
      WHERE owner_kind <> 'system' AND d.state = 2 ORDER BY d.id`)
    .all();
}

/** How many events there are of each kind. */
function kinds({ db }: TestApp): Record<string, number> {
  const rows = db.prepare<[], [string, number]>('SELECT kind, count(*) FROM events GROUP BY kind ORDER BY kind').raw();
  return Object.fromEntries(rows.all());
}

/** A single send and an automation to thirty people, who opened and clicked; some came back, complained or left. */
async function startOpened(t: Test, settings: Record<string, string> = {}) {
  const shop = await startShop(t, settings);
  const { app, relay } = shop;
  await shop.import(Array.from({ length: 30 }, (_, at) => `r${at}`));
  relay.answer = (to) => (to.startsWith('r29') ? REFUSED : ACCEPTED);
  const utr = await startSend(shop, { template_html: HTML });
  const series = await startSeries(shop, { one: 0 });
  await shop.add('late');
  await app.background();
  const hits = new HitBuffer(app.db);
  const now = app.clock.now().getTime() + HOUR;
  const all = recipients(shop);
  for (const [at, ids] of all.entries()) {
    hits.add({ ids, link: null, at: now + at * 600_000, reader: at % 3 === 0 ? 'machine' : 'person' });
    hits.add({ ids, link: at % 2, at: now + at * 600_000, reader: at % 4 === 0 ? 'machine' : 'person' });
  }
  while (hits.flush(now));
  const [first, second, third] = all;
  if (first === undefined || second === undefined || third === undefined) throw new Error('nobody got it');
  countUnsubscribe(app.db, first, now);
  const returned = { suppress: false, diagnostic: 'returned' };
  recordBounce(app.db, { ...returned, deliveryId: second.delivery, kind: 'bounce' }, new Date(now), '');
  recordBounce(app.db, { ...returned, deliveryId: third.delivery, kind: 'complaint' }, new Date(now), '');
  return { shop, utr, series: series.utr, second };
}

/** Lets days pass, with the service running at least once a week, so that the clock does not seem wrong. */
async function passDays(app: TestApp, days: number): Promise<void> {
  for (let passed = 0; passed < days; passed += 6) {
    app.clock.advance(Math.min(6, days - passed) * DAY);
    await app.background();
  }
}

/** What is about single events, about this moment or about what is to come, and the contract's GETs that change something. */
const NOT_REPORTS = /timeline|person\/export|\/health|design|jobs|automations\/log|best-hours|duplicate|set-live|pause/;

/** What every GET of the API answers about the campaigns. */
async function reports({ app }: Shop, utrs: readonly string[]): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  for (const { method, path } of operationsOf(await readDocument(app))) {
    if (method !== 'GET' || NOT_REPORTS.test(path)) continue;
    for (const utr of utrs) {
      const query = { utr, contact_id: 1, contact_type_id: 1, id: 1, groupId: 1, limit: 100 };
      const { status, text } = await app.one.call('GET', path.replace(/^\/api/, ''), { query });
      // Each answer has a link of its own to the design page, and other programs use the disk.
      if (status === 200) answers.set(`${path} ${utr}`, text.replace(/"(design_url|free_bytes)":("[^"]*"|\d+)/g, ''));
    }
  }
  return answers;
}

t.test('every report is as it was after old opens and clicks were removed', async (t) => {
  const { shop, utr, series } = await startOpened(t);
  const { app } = shop;
  await passDays(app, 22);
  t.match(kinds(app), { open: 30, click: 30, bounce: 1, complaint: 1, unsubscribe: 1 });
  // The clock stands still from now on, since some figures are of the last days.
  const told = await reports(shop, [utr, series]);
  for (const [path, needed] of [
    ['/api/single-send/report', utr],
    ['/api/single-send/recipients', utr],
    ['/api/single-send/summaries', utr],
    ['/api/automations/report', series],
    ['/api/automations/summaries', series],
    ['/api/overview', utr],
  ])
    t.ok(told.has(`${path} ${needed}`), `${path} was asked`);
  t.match(told.get(`/api/single-send/report ${utr}`), /"unique_clicks":2\d/);
  const oldEvents = new OldEvents(app.db, 20);
  while (await oldEvents.continueRemoval(app.clock.now().getTime(), 0));
  t.strictSame(kinds(app), { bounce: 1, complaint: 1, unsubscribe: 1 }, 'returned mails and unsubscribes stay');
  const after = await reports(shop, [utr, series]);
  for (const [path, text] of told)
    t.equal(after.get(path)?.replace(/"events_removed_before":"[^"]*"/, '"events_removed_before":null'), text, path);
});

t.test('opens and clicks are kept for so many whole days, and for good where nothing is set', async (t) => {
  const { shop } = await startOpened(t, { EVENTS_DAYS: '20' });
  await passDays(shop.app, 20);
  t.match(kinds(shop.app), { open: 30, click: 30 });
  const other = await startOpened(t);
  await passDays(other.shop.app, 60);
  t.match(kinds(other.shop.app), { open: 30, click: 30 });
  t.equal(eventsRemovedTime(other.shop.app.db), null);
});

t.test('nothing is removed while the clock may be wrong', async (t) => {
  const { shop } = await startOpened(t, { EVENTS_DAYS: '20' });
  shop.app.clock.jump(400 * DAY);
  await shop.app.background();
  t.match(kinds(shop.app), { open: 30, click: 30 });
  shop.app.clock.jump(-400 * DAY);
  await passDays(shop.app, 22);
  t.notMatch(kinds(shop.app), { open: 30 });
});

t.test('after a kill in the middle the removal goes on where it was', async (t) => {
  const { shop } = await startOpened(t, { EVENTS_DAYS: '20' });
  const { app } = shop;
  app.db.exec(`
    WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 2000)
      INSERT INTO events (mailing_id, delivery_id, kind, happened_at) SELECT mailing_id, delivery_id, kind, happened_at FROM events JOIN n WHERE id = 1;
    CREATE TRIGGER killed BEFORE DELETE ON events WHEN old.id = 1500 BEGIN SELECT raise(ABORT, 'killed'); END;`);
  await passDays(app, 22);
  const { open = 0 } = kinds(app);
  t.ok(open > 500 && open < 2000, `${open} opens are left, what was removed before the kill is`);
  app.db.exec('DROP TRIGGER killed');
  app.restartBackground();
  app.clock.advance(HOUR);
  await app.background();
  t.strictSame(kinds(app), { bounce: 1, complaint: 1, unsubscribe: 1 });
});

t.test(
  'events that were stored late, or with a time to come, keep nothing from being removed in its time',
  async (t) => {
    const { shop } = await startOpened(t, { EVENTS_DAYS: '20' });
    const { app } = shop;
    const add = app.db.prepare(
      "INSERT INTO events (mailing_id, delivery_id, kind, happened_at) SELECT mailing_id, delivery_id, 'open', happened_at + ? FROM events WHERE id = 1",
    );
    for (const days of [100, 0, 3, 0]) add.run(days * DAY);
    await passDays(app, 22);
    t.match(kinds(app), { open: 2 }, 'the two that are not old stay');
    t.notHas(kinds(app), 'click');
    await passDays(app, 3);
    t.match(kinds(app), { open: 1 });
    await passDays(app, 100);
    t.notHas(kinds(app), 'open');
  },
);

t.test('the timeline of a person, the export and the list of who clicked say what is no longer there', async (t) => {
  const { shop, utr, second } = await startOpened(t, { EVENTS_DAYS: '20' });
  const { app } = shop;
  const contact_id = app.db.prepare('SELECT id FROM contacts WHERE address_id = ?').pluck().get(second.address);
  const timeline = () => shop.get('/contacts/timeline', { contact_id });
  const clicked = () => shop.get('/single-send/recipients/find', { utr, link: 0 });
  const kept = await timeline();
  t.equal(kept.events_removed_before, null);
  t.match(
    kept.moments.filter(({ kind }: { kind: string }) => kind === 'opened' || kind === 'clicked'),
    [{ kind: 'clicked' }, { kind: 'opened' }],
  );
  t.ok((await clicked()).recipients.length > 0);
  await passDays(app, 22);
  const { moments, events_removed_before } = await timeline();
  t.match(events_removed_before, /^2026-01-1\dT00:00:00\.000000Z$/);
  t.notOk(moments.some(({ kind }: { kind: string }) => kind === 'opened' || kind === 'clicked'));
  t.match(
    moments.filter(({ kind }: { kind: string }) => kind === 'mail'),
    [{ opens: 1, clicks: 1 }],
  );
  t.equal((await shop.get('/contacts/person/export', { contact_id })).events_removed_before, events_removed_before);
  t.match(await clicked(), { recipients: [], events_removed_before });
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const page = await app.page('GET', `/contacts/${contact_id}`, { headers });
  t.match(page.text, /Individual opens, clicks and events before [^.]* are no longer stored/);
  t.match(page.text, /1 open, 1 click/);
  const list = await app.page('GET', `/campaigns/${utr}/recipients?link=0`, { headers });
  t.match(list.text, /Clicks before [^.]* are no longer stored for each contact/);
});

t.test('the file shrinks after a removal while others write, but for an eighth of it', async (t) => {
  const app = await startApp(t, { EVENTS_DAYS: '20' });
  const size = () => {
    app.db.pragma('wal_checkpoint(TRUNCATE)');
    return statSync(app.path).size;
  };
  const empty = size();
  await app.background();
  app.db
    .prepare(`
      WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 120000)
        INSERT INTO events (mailing_id, delivery_id, kind, link_number, happened_at) SELECT 1, at, 'click', 0, ? FROM n`)
    .run(app.clock.now().getTime() - 40 * DAY);
  const full = size();
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  // Another connection writes between any two transactions, as the HTTP thread does.
  const other = connect(app.path);
  t.teardown(() => other.$client.close());
  let written = 0;
  app.clock.advance(HOUR);
  for (let hasMore = true; hasMore; written++) {
    hasMore = await app.step();
    const form = { contact_type_id: '1', email: `p${written}@example.org`, country: '1' };
    t.equal((await app.one.call('POST', '/contacts/add', { form })).status, 200);
    other.$client.prepare('UPDATE events SET made_by = 1 WHERE id = 0').run();
  }
  t.strictSame(kinds(app), {});
  t.ok(written > 1, `${written} writes in between`);
  t.equal(app.db.prepare('SELECT count(*) FROM contacts').pluck().get(), written);
  const left = size();
  t.ok(full - empty > 4_000_000 && left - empty < (full - empty) / 4, `${empty}, ${full}, then ${left} bytes`);
  t.equal(app.db.pragma('integrity_check', { simple: true }), 'ok');
});
