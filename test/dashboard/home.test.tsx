/** Home, as different users see it. */
import t from 'tap';
import { difference } from '../../src/campaigns/screens/overview.tsx';
import { RelayUse } from '../../src/delivery/queue/relay-use.ts';
import { recordDoctorFindings, type SeenDomain } from '../../src/installation/health-checks/doctor-findings.ts';
import { chooseLanguage } from '../../src/ui/words/choose.ts';
import { HOUR_MS } from '../../src/units.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { fillAccount, HOSTILE } from '../support/dashboard/filled-account.ts';
import { addPerson, callerOf, cookieOf } from '../support/people.ts';

let visits = 0;

/** Opens Home as a user of this role; `language` is what the browser asks for. */
async function openHome(app: TestApp, role: 'owner' | 'viewer' = 'owner', accountId = 1, language = 'en-GB') {
  const cookie = cookieOf(app, addPerson(app, role, { accountId, name: `${role}${++visits}` }));
  return app.page('GET', '/', { headers: { cookie, 'accept-language': language } });
}

/** The steps of the checklist by title, with what is done. */
function stepsOf(text: string) {
  return [...text.matchAll(/<li[^>]*><span class="tick">.*?hidden">(.*?)<\/span>.*?<h3>(?:<a[^>]*>)?([^<]*)</g)].map(
    ([, state, title]) => [title, state],
  );
}

t.test('whoever is not signed in is sent to the sign-in page, and comes back', async (t) => {
  const app = await startApp(t);
  const { status, headers } = await app.page('GET', '/');
  t.strictSame([status, headers.location], [303, '/login']);
  const wanted = '/contacts?search=ann%20%26%20bob&page=2';
  const away = (await app.page('GET', wanted)).headers.location ?? '';
  t.equal(away, `/login?${new URLSearchParams({ next: wanted })}`);
  const form = await app.page('GET', String(away));
  t.match(form.text, `name="next" value="${wanted.replace('&', '&amp;')}"`);
  addPerson(app);
  const fields = { email: 'owner@example.org', password: 'correct horse battery', next: wanted };
  const post = { form: fields, headers: { 'sec-fetch-site': 'same-origin' } };
  t.equal((await app.page('POST', '/login', post)).headers.location, wanted);
});

t.test('the checklist finds out by itself which steps are done', async (t) => {
  const app = await startApp(t);
  const { status, text } = await openHome(app);
  t.equal(status, 200);
  t.strictSame(stepsOf(text), [
    ['Import your contacts', 'To do'],
    ['Design your first e-mail', 'To do'],
    ['Send the e-mail to the test outbox', 'To do'],
    ['Set your tracking domain', 'Done'],
    ['Connect an SMTP server', 'To do'],
    ['Authenticate your domain', 'To do'],
  ]);
  await fillAccount(t, app);
  t.match(stepsOf((await openHome(app, 'viewer')).text), [
    ['Import your contacts', 'Done'],
    ['Design your first e-mail', 'Done'],
    ['Send the e-mail to the test outbox', 'Done'],
    ['Set your tracking domain', 'Done'],
    ['Connect an SMTP server', 'To do'],
  ]);
});

t.test('the step of the relay says what was seen of it, and is done once it answers or takes a mail', async (t) => {
  const app = await startApp(t, { SMTP_URL: 'smtp://relay.example:587' });
  const relays = new RelayUse(app.db);
  const relay = 'relay.example:587';
  const at = () => app.clock.now().getTime();
  const step = async () => {
    const { text } = await openHome(app);
    return [stepsOf(text)[4]?.[1], /Connect an SMTP server<\/a><\/h3><p>([^<]*)/.exec(text)?.[1]];
  };
  t.match(await step(), ['To do', /The first e-mail shows whether it works/]);
  relays.failed({ relay, reply: '535 wrong password', at: at() });
  app.clock.advance(2 * HOUR_MS);
  t.match(await step(), ['To do', /last attempt with the SMTP server failed 2 hours ago/]);
  t.notMatch(await step(), [/./, /535/], 'what the relay said is for owners, in the settings');
  recordDoctorFindings(app.db, { at: at(), relays: [{ relay, state: 'ok' }], domains: [] });
  t.match(await step(), ['Done', /answered now/]);
  app.clock.advance(HOUR_MS);
  relays.accepted({ relay, at: at() });
  t.strictSame(await step(), ['Done', 'The SMTP server accepted an e-mail now.']);
  const [moved] = await Promise.all([startApp(t, { SMTP_URL: 'smtp://other.example:587' })]);
  new RelayUse(moved.db).accepted({ relay, at: moved.clock.now().getTime() });
  const { body } = await moved.one.call('GET', '/overview');
  t.match(
    body.message.overview.setup.relay,
    { state: 'untried', has_worked: 1 },
    'what another relay did says nothing',
  );
});

t.test('the step of the DNS is done when the doctor saw every domain of a sender pass as it is now', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  const step = async () => {
    const { text } = await openHome(app);
    return [stepsOf(text)[5]?.[1], /Authenticate your domain<\/a><\/h3><p>([^<]*)/.exec(text)?.[1]];
  };
  const seen = (checks: Partial<SeenDomain['checks']>, more: Partial<SeenDomain> = {}) => {
    const passed = { SPF: 'ok', DKIM: 'ok', DMARC: 'ok', Alignment: 'ok' } as const;
    const domain = { domain: 'example.com', returnPath: 'example.com', keys: [], ...more };
    const at = app.clock.now().getTime() - HOUR_MS;
    recordDoctorFindings(app.db, { at, relays: [], domains: [{ ...domain, checks: { ...passed, ...checks } }] });
  };
  t.match(await step(), ['To do', /^example\.com has not been checked yet/]);
  seen({ SPF: 'fail', DMARC: 'fail' });
  t.match(await step(), ['To do', /^example\.com failed the check 1 hour ago \(SPF, DMARC\)/]);
  seen({ DKIM: 'warn' });
  t.match(await step(), ['To do', /warnings about example\.com \(DKIM\)/]);
  seen({});
  t.match(await step(), ['Done', /passed 1 hour ago/]);
  seen({}, { returnPath: 'bounces.example.com' });
  t.match(await step(), ['To do', /has not been checked yet/], 'another return path has another SPF record');
  seen({}, { keys: ['old._domainkey.example.com'] });
  t.match(await step(), ['To do', /has not been checked yet/], 'another key is published elsewhere');
});

t.test(
  'what is under way shows with its reason, and the last mailings with their rates, to their own account',
  async (t) => {
    const app = await startApp(t);
    const utr = await fillAccount(t, app);
    const { text } = await openHome(app);
    t.match(text, 'Held for want of people');
    t.match(text, /<p class="reason">[^<]+<\/p>/);
    t.match(text, /Starts 1 Dec 2026, 09:00 UTC/);
    t.match(text, `<a href="/campaigns/${utr}">News</a>`);
    t.notMatch((await openHome(app, 'owner', 2)).text, utr);
  },
);

t.test('five campaigns are shown, those that wait for the owner first, and how many more there are', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  for (let day = 3; day <= 6; day++) {
    const json = {
      template_id: 1,
      template_html: '<p>Hello</p>',
      sender_id: 1,
      unsubscribe_group_id: 1,
      single_send_name: `Advent ${day}`,
      subject: 'Advent',
      preheader: 'News',
      recipient_id: ['contacts_1'],
      schedule_type: 1,
      schedule_date: `2026-12-0${day}`,
      schedule_time: '09:00',
    };
    t.equal((await app.one.call('POST', '/single/send/create', { json })).status, 200);
  }
  const { text } = await openHome(app);
  const [, list = ''] = /id="under-way"(.*?)<\/ul>/s.exec(text) ?? [];
  const [, ...items] = list.split('<li');
  t.strictSame(
    items.map((item) => item.includes('class="reason"')),
    [true, false, false, false, false],
  );
  t.match(text, '<a href="/campaigns">2 more campaigns</a>');
});

t.test('the last campaign is compared with the average, and who did not open is one click away', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  const [, utr = ''] = /<a href="\/campaigns\/([^"]+)">News</.exec((await openHome(app)).text) ?? [];
  const set = (sql: string) =>
    app.db
      .prepare(
        `UPDATE mailings SET ${sql} WHERE owner_kind = 'single' AND owner_id = (SELECT id FROM single_sends WHERE utr = ?)`,
      )
      .run(utr);
  app.db.exec('DELETE FROM delivery_reasons; UPDATE mailings SET delivered = 0');
  set(
    "state = 'done', finished_at = 1, delivered = 3000, unmeasured = 0, people_opens = 1143, people_clicks = 300, unsubscribes = 3",
  );
  app.db.prepare('UPDATE single_sends SET status = 3 WHERE utr = ?').run(utr);
  const { text } = await openHome(app);
  t.match(text, /Your last campaign<\/h2>.*?<dt>Open rate<\/dt><dd>38\.1%<\/dd><dd>[^<]+<\/dd>/s);
  t.match(text, `href="/campaigns/${utr}/again">Resend to 1,857 contacts who did not open<`);
  t.notMatch((await openHome(app, 'viewer')).text, 'who did not open<');
});

t.test('contacts are shown over twelve months as a line, and health as a dot that opens', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  const change = app.db.prepare("UPDATE contacts SET created_at = '2025-04-10T00:00:00.000000Z' WHERE id = 1");
  change.run();
  const { body } = await app.one.call('GET', '/overview');
  const { contacts, months } = body.message.overview.audience;
  t.strictSame([months[0].month, months.at(-1)], ['2025-03', { month: '2026-02', contacts }]);
  t.strictSame([months[0].contacts, months[1].contacts], [0, 1], 'one contact since April');
  const { text } = await openHome(app);
  t.match(text, /Contacts over twelve months.*&quot;kind&quot;:&quot;line&quot;/s);
  t.match(
    text,
    /<details class="health"><summary><span class="badge \w+">\d+ things? needs? attention<\/span><\/summary>/,
  );
});

t.test('names of records are shown as text', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  const { text } = await openHome(app);
  t.match(text, HOSTILE.slice(0, 20).replaceAll('"', '&quot;').replaceAll('<', '&lt;'));
  t.notMatch(text, /<img|<script>/);
});

t.test('a viewer is offered nothing that only others may do', async (t) => {
  const app = await startApp(t);
  const action = /<div class="page-action">/;
  t.match((await openHome(app)).text, action);
  t.notMatch((await openHome(app, 'viewer')).text, action);
  t.match((await openHome(app)).text, '"/settings/health"');
  t.notMatch((await openHome(app, 'viewer')).text, '/settings/health', 'the page is for owners');
  t.match((await openHome(app)).text, /"\/contacts\/import".*"\/campaigns\/new"/s);
  t.notMatch((await openHome(app, 'viewer')).text, /"\/contacts\/import"|"\/campaigns\/new"/, 'nor by a step');
});

t.test('texts and numbers are in the language of the browser', async (t) => {
  const app = await startApp(t);
  const { text } = await openHome(app, 'owner', 1, 'de-DE,en;q=0.5');
  t.match(text, '<html lang="de"');
  t.match(text, '1 von 6 Schritten erledigt');
});

t.test('a form of another site does nothing, whoever is signed in', async (t) => {
  const app = await startApp(t);
  const cookie = cookieOf(app, addPerson(app));
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    {},
  ]) {
    const { status } = await app.page('POST', '/', { headers: { cookie, ...headers } });
    t.not(status, 200);
  }
});

t.test('with STATUS_CODES=always-200 a page still learns that the API refused', async (t) => {
  const app = await startApp(t, { STATUS_CODES: 'always-200' });
  const viewer = callerOf(app, addPerson(app, 'viewer'));
  const refused = await viewer.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  t.equal(refused.status, 403);
  t.equal((await app.one.call('GET', '/segment/details', { query: { segment_id: 9 } })).status, 200);
});

t.test('a rate that is one point from the usual one says one point, not one points', async (t) => {
  const of = (code: string, share: number) => difference(chooseLanguage(code, code, undefined), share, 0.1);
  t.equal(of('en', 0.11), '1 percentage point above your last five campaigns');
  t.equal(of('en', 0.085), '1.5 percentage points below your last five campaigns');
  t.equal(of('de', 0.09), '1 Prozentpunkt unter Ihren letzten fünf Kampagnen');
  t.equal(of('de', 0.12), '2 Prozentpunkte über Ihren letzten fünf Kampagnen');
});
