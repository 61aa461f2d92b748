/** What is learnt of opens and clicks: by the choice of the account, and by that of each person. */
import t, { type Test } from 'tap';
import { startApp, type TestApp } from '../support/app.ts';
import { type Mail, mustSucceed, readOutbox, sendCampaign } from '../support/campaign.ts';
import { countersOf, flushHits, sendAgain } from '../support/recipient-links.ts';

const PERSON = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
const HTML =
  '<p>Hello ((first_name)), <a href="https://shop.example/new">news</a>, <a href="https://shop.example/for/((first_name))">yours</a></p>';
const PEOPLE = ['anna', 'ben', 'cleo'].map((name) => ({ email: `${name}@example.org`, first_name: name }));

/** A campaign to three people of an account with this choice. */
async function sentWith(t: Test, mode: string) {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/tracking/save', { mode });
  const { utr, mails } = await sendCampaign(t, app, { people: PEOPLE, html: HTML });
  app.clock.advance(3_600_000);
  return { app, must, utr, mails };
}

/** Sends the same again; gives the mails by the name of their recipient. */
async function again(t: Test, app: TestApp, utr: string) {
  const before = (await readOutbox(app)).length;
  const next = await sendAgain(t, app, utr);
  app.clock.advance(11_000);
  await app.background();
  app.clock.advance(3_600_000);
  const mails = (await readOutbox(app)).slice(before);
  const of = (name: string): Mail => {
    const mail = mails.find(({ to }) => to.startsWith(name));
    if (mail === undefined) throw new Error(`no mail to ${name}`);
    return mail;
  };
  return { utr: next, of };
}

async function visit(app: TestApp, path: string | undefined): Promise<number> {
  const { status } = await app.page('GET', path ?? '', { headers: PERSON });
  flushHits(app);
  return status;
}

const choose = (app: TestApp, mail: Mail | undefined, form: string) =>
  app.page('POST', mail?.paths.u ?? '', { form: { form } });
const eventsOf = ({ db }: TestApp) =>
  db.prepare("SELECT count(*) FROM events WHERE kind <> 'unsubscribe'").pluck().get();
const funnelOf = async (app: TestApp, utr: string) =>
  (await app.one.call('GET', '/single-send/report', { query: { utr } })).body.message.report.funnel;

t.test('an account that wants to learn nothing sends mails without a pixel and with untouched links', async (t) => {
  const { app, utr, mails } = await sentWith(t, 'off');
  t.equal(mails.length, 3);
  for (const { html, paths } of mails) {
    t.notMatch(html, '/o/');
    t.notMatch(html, '/c/');
    t.notMatch(html, /width="1" height="1"/);
    t.match(html, 'href="https://shop.example/new"');
    t.ok(paths.u, 'the page of choices is there');
  }
  t.match(mails[0]?.html, 'href="https://shop.example/for/anna"');
  t.match(await funnelOf(app, utr), { delivered: 3, unmeasured: 3 });
  const page = await app.page('GET', mails[0]?.paths.u ?? '');
  t.notMatch(page.text, 'Opens and clicks', 'where nothing is recorded there is nothing to choose');
});

t.test('totals are counted by a pixel and links that are the same for everybody, and name nobody', async (t) => {
  const { app, utr, mails } = await sentWith(t, 'totals');
  const [one, other] = mails;
  t.ok(one?.paths.o && one.paths.c);
  t.strictSame([one?.paths.o, one?.paths.c], [other?.paths.o, other?.paths.c]);
  t.match(
    one?.html,
    'href="https://shop.example/for/anna"',
    'a link that differs from person to person is not counted',
  );
  t.equal(await visit(app, one?.paths.o), 200);
  await visit(app, other?.paths.o);
  t.equal(await visit(app, one?.paths.c), 302);
  t.match(countersOf(app), { delivered: 3, total_opens: 2, unique_opens: 0 });
  t.equal(eventsOf(app), 0);
  const touched = app.db.prepare('SELECT count(*) FROM deliveries WHERE opens + clicks + by_person > 0').pluck().get();
  t.equal(touched, 0);
  const { body } = await app.one.call('GET', '/single-send/report', { query: { utr } });
  t.match(body.message.report.funnel, { unmeasured: 3, people_opens: 0 });
  t.equal(body.message.report.links[0].clicks, 1);
  await app.one.call('POST', '/tracking/save', { form: { mode: 'consent' } });
  await visit(app, one?.paths.o);
  t.match(countersOf(app), { total_opens: 2 }, 'with consent nobody is counted of whom it is not known');
});

t.test('with consent only those who allowed it are measured, and refusing ends it for mails they have', async (t) => {
  const { app, utr, mails } = await sentWith(t, 'consent');
  t.ok(mails.every(({ html }) => !html.includes('/o/') && !html.includes('/c/')));
  const page = await app.page('GET', mails[0]?.paths.u ?? '');
  t.match(page.text, 'At the moment this is not recorded.');
  t.match((await choose(app, mails[0], 'track')).text, 'At the moment this is recorded.');
  const second = await again(t, app, utr);
  t.ok(second.of('anna').paths.o);
  t.notOk(second.of('ben').paths.o);
  t.match(await funnelOf(app, second.utr), { delivered: 3, unmeasured: 2 });
  await visit(app, second.of('anna').paths.o);
  t.equal(eventsOf(app), 1);
  t.match((await choose(app, second.of('anna'), 'untrack')).text, 'are no longer recorded');
  await visit(app, second.of('anna').paths.o);
  t.equal(await visit(app, second.of('anna').paths.c), 302, 'the link goes on working');
  t.equal(eventsOf(app), 1);
  const log = app.db
    .prepare("SELECT action, source, consent_text FROM consent_log WHERE action LIKE 'tracking%' ORDER BY id")
    .all() as { consent_text: string }[];
  t.match(log, [
    { action: 'tracking_allowed', source: 'page' },
    { action: 'tracking_refused', source: 'page' },
  ]);
  t.ok(log.every(({ consent_text }) => consent_text.startsWith('We would like to record')));
});

t.test('who refuses gets mail without a pixel, and a change of the account holds for what was sent', async (t) => {
  const { app, must, utr, mails } = await sentWith(t, 'person');
  t.ok(mails.every(({ paths }) => paths.o));
  await choose(app, mails[1], 'untrack');
  const second = await again(t, app, utr);
  t.ok(second.of('anna').paths.o);
  t.notOk(second.of('ben').paths.o);
  await must('/tracking/save', { mode: 'off' });
  await visit(app, second.of('anna').paths.o);
  t.equal(eventsOf(app), 0);
  await must('/tracking/save', { mode: 'totals' });
  await visit(app, second.of('anna').paths.o);
  t.equal(eventsOf(app), 0, 'a link of a person is counted without the person');
  t.equal(app.db.prepare('SELECT sum(total_opens) FROM mailings').pluck().get(), 1);
});

t.test('a choice made elsewhere is kept with its text, for the account of the contact alone', async (t) => {
  const { app, utr } = await sentWith(t, 'consent');
  const form = { contact_id: 2, is_allowed: 1, consent_text: 'Ticked in the shop' };
  t.equal((await app.two.call('POST', '/contacts/tracking/save', { form })).status, 404);
  t.equal((await app.one.call('POST', '/contacts/tracking/save', { form })).status, 200);
  const { body } = await app.one.call('GET', '/contacts/tracking', { query: { contact_id: 2 } });
  t.match(body.message.tracking, {
    choice: 'allowed',
    is_measured: 1,
    consent_text: 'Ticked in the shop',
    source: 'api',
  });
  const second = await again(t, app, utr);
  t.ok(second.of('ben').paths.o);
  const { body: timeline } = await app.one.call('GET', '/contacts/timeline', { query: { contact_id: 2 } });
  t.match(
    timeline.message.moments.find(({ kind }: { kind: string }) => kind === 'tracking_allowed'),
    { reason: 'Ticked in the shop' },
  );
});

t.test('nobody who is not measured counts as somebody who did not open', async (t) => {
  const { app, must, utr, mails } = await sentWith(t, 'person');
  await choose(app, mails[1], 'untrack');
  const unopened = async (of: string) =>
    (await app.one.call('GET', '/single-send/unopened', { query: { utr: of } })).body.message?.count;
  t.equal(await unopened(utr), 2, 'who refused meanwhile is left out');
  const second = await again(t, app, utr);
  await choose(app, second.of('ben'), 'track');
  t.equal(await unopened(second.utr), 2, 'who got a mail without a pixel is left out');
  const rules: [string, string, string[]][] = [
    ['activity.mail', 'got and did not open', [second.utr]],
    ['activity.mail', 'got and did not click', [second.utr]],
    ['activity.mails', 'opened none of the last', ['2']],
  ];
  for (const [field, operator, value] of rules)
    t.strictSame(await membersOf(field, operator, value), ['anna', 'cleo'], operator);
  await choose(app, second.of('cleo'), 'untrack');
  const absent: [string, string, string[]][] = [
    ['activity.link', 'did not click', ['https://shop.example/new']],
    ['activity.last', 'is not within', ['30']],
    ['activity.last', 'is blank', []],
  ];
  for (const [field, operator, value] of absent)
    t.strictSame(await membersOf(field, operator, value), ['anna', 'ben'], operator);
  await must('/tracking/save', { mode: 'totals' });
  t.equal((await app.one.call('GET', '/single-send/unopened', { query: { utr } })).status, 409);

  async function membersOf(field: string, operator: string, value: string[]): Promise<string[]> {
    await must('/segment/store', {
      segment_name: `${field} ${operator}`,
      contact_type_id: 1,
      select_field: [field],
      select_operator: [operator],
      value,
    });
    await app.background();
    return app.db
      .prepare<[], string>(`
        SELECT replace(r.email, '@example.org', '') FROM segment_recipients r
        WHERE r.segment_id = (SELECT max(id) FROM segments) AND is_removed = 0 ORDER BY 1`)
      .pluck()
      .all();
  }
});
