/** Senders in the settings: added, changed, deleted and checked by clicking. */
import PostalMime from 'postal-mime';
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addReadyForm } from '../support/forms.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { verifySenders } from '../support/sender.ts';
import { startDns } from '../support/smtp/dns-server.ts';

const GERMANY = '84';
const SENDER = {
  from_name: 'Lark Books',
  from_email: 'news@example.com',
  reply_to_email: 'hello@example.com',
  nickname: 'News',
  company_address: '1 Harbour St',
  company_address2: '',
  zip_code: '12345',
  country_id: GERMANY,
  city: '',
};

async function signedIn(t: Test, role: 'owner' | 'editor' | 'viewer' = 'owner') {
  const app = await startApp(t);
  const cookie = cookieOf(app, addPerson(app, role));
  const get = (path: string, headers = {}) => app.page('GET', path, { headers: { cookie, ...headers } });
  const post = (path: string, form: Record<string, string> = {}, headers = {}) =>
    app.page('POST', path, { form, headers: { cookie, 'sec-fetch-site': 'same-origin', ...headers } });
  return { app, get, post, cookie };
}

t.test(
  'a sender is added by a form, with the city of its postal address at once, and its address is sent a link',
  async (t) => {
    const { app, get, post, cookie } = await signedIn(t);
    t.match((await get('/settings/senders')).text, 'href="/settings/senders/new"');
    t.match((await get('/settings/senders/new')).text, 'name="city"');
    const { status, headers } = await post('/settings/senders/new', { ...SENDER, city: 'berlin' });
    t.strictSame([status, headers.location], [303, '/settings/senders']);
    const next = async (cookies: unknown) =>
      (await get('/settings/senders', { cookie: `${cookie}; ${String(cookies).split(';')[0]}` })).text;
    t.match(
      await next(headers['set-cookie']),
      /The sender was added\. .* is kept in the test outbox, because there is no SMTP server\./,
    );
    await app.background();
    t.equal(app.db.prepare('SELECT count(*) FROM outbox').pluck().get(), 1);
    const { text } = await get('/settings/senders');
    t.match(
      text,
      /Kept in the test outbox (now|\d+ seconds? ago)/,
      'its mail is not called sent without an SMTP server',
    );
    t.notMatch(text, /Sent (now|\d)/);
    t.match(
      app.db
        .prepare('SELECT s.*, c.name FROM senders s JOIN cities c ON c.id = s.city_id AND c.state_id = s.state_id')
        .get(),
      { from_email: 'news@example.com', country_id: Number(GERMANY), name: 'Berlin', zip_code: '12345' },
    );
  },
);

t.test('a city is typed by its name, and by its state where the country has several of that name', async (t) => {
  const { app, get, post } = await signedIn(t);
  const offers = await get(`/settings/senders/cities?country_id=${GERMANY}&city=hall`);
  const names: string[] = JSON.parse(offers.text);
  t.ok(names.includes('Halle, Lower Saxony'), offers.text);
  t.ok(names.length <= 20);
  const several = await post('/settings/senders/new', { ...SENDER, city: 'Halle' });
  t.equal(several.status, 422);
  t.match(several.text, /id="city-problem">Several cities have this name/);
  t.match(
    (await post('/settings/senders/new', { ...SENDER, city: 'Atlantis' })).text,
    /id="city-problem">This city is not in the list/,
  );
  t.match(
    (await post('/settings/senders/new', { ...SENDER, city: 'Berlin', country_id: '' })).text,
    'Choose the country first.',
  );
  t.equal(app.db.prepare('SELECT count(*) FROM senders').pluck().get(), 0);
  t.equal((await post('/settings/senders/new', { ...SENDER, city: 'Halle, Lower Saxony' })).status, 303);
  t.match((await get('/settings/senders/1')).text, 'value="Halle, Lower Saxony"', 'it is shown as it was typed');
});

t.test(
  'a large city is offered and found by its German, local or English name, with or without its state',
  async (t) => {
    const { app, get, post } = await signedIn(t);
    const offersFor = async (city: string): Promise<string[]> =>
      JSON.parse((await get(`/settings/senders/cities?${new URLSearchParams({ country_id: GERMANY, city })}`)).text);
    t.ok((await offersFor('mün')).includes('München, Bavaria'), 'by the name that is typed');
    t.ok((await offersFor('Mun')).includes('Munich, Bavaria'));
    for (const [city, name] of [
      ['München', 'Munich'],
      ['nürnberg, bavaria', 'Nuremberg'],
      ['Cologne', 'Köln'],
    ] as const) {
      t.equal((await post('/settings/senders/new', { ...SENDER, city })).status, 303, city);
      const found = app.db
        .prepare('SELECT c.name FROM senders s JOIN cities c ON c.id = s.city_id ORDER BY s.id DESC')
        .pluck()
        .get();
      t.equal(found, name);
    }
    const AFGHANISTAN = '1';
    const elsewhere = await post('/settings/senders/new', { ...SENDER, country_id: AFGHANISTAN, city: 'München' });
    t.equal(elsewhere.status, 422, 'in its own country only');
  },
);

t.test(
  'saving the form keeps a city that it cannot show, because it is in another state than the sender',
  async (t) => {
    const { app, post } = await signedIn(t);
    await post('/settings/senders/new', { ...SENDER, city: 'Berlin' });
    const place = () => app.db.prepare('SELECT state_id, city_id FROM senders').get();
    const { city, ...fields } = SENDER;
    const { city_id } = app.db.prepare<[], { city_id: number }>('SELECT city_id FROM senders').get() ?? { city_id: 0 };
    await mustSucceed(t, app.one)('/sender/update', { ...fields, sender_id: 1, state_id: 0, city_id });
    t.strictSame(place(), { state_id: 0, city_id });
    t.equal((await post('/settings/senders/1', { ...SENDER, zip_code: '10115' })).status, 303);
    t.strictSame(place(), { state_id: 0, city_id });
    await post('/settings/senders/1', { ...SENDER, country_id: '1' });
    t.strictSame(place(), { state_id: 0, city_id: 0 }, 'but not in another country');
  },
);

t.test(
  "the verification mail is in the language of the user's settings, of the browser, or of the account's mails",
  async (t) => {
    const { app, post } = await signedIn(t);
    const subjectTo = async (from_email: string, acceptLanguage: string) => {
      const form = { ...SENDER, from_email };
      t.equal((await post('/settings/senders/new', form, { 'accept-language': acceptLanguage })).status, 303);
      await app.background();
      const raw = app.db.prepare<[], Buffer>('SELECT raw FROM outbox ORDER BY id DESC LIMIT 1').pluck().get();
      return (await PostalMime.parse(raw ?? '')).subject;
    };
    t.equal(await subjectTo('a@example.com', 'fr, de-AT'), 'a@example.com bestätigen');
    t.equal(await subjectTo('b@example.com', 'en, de'), 'Confirm b@example.com');
    await mustSucceed(t, app.one)('/sending/mails/save', { language: 'de' });
    t.equal(await subjectTo('c@example.com', '*'), 'c@example.com bestätigen');
    await post('/settings/account', { name: 'Ann', language: 'en', colour_scheme: 'system' });
    t.equal(await subjectTo('d@example.com', 'de'), 'Confirm d@example.com');
  },
);

t.test('saving the form keeps the city where its state has two of the name', async (t) => {
  const { app, post } = await signedIn(t);
  await post('/settings/senders/new', { ...SENDER, city: 'Berlin' });
  const { city, ...fields } = SENDER;
  const second = app.db
    .prepare<[], { city_id: number; state_id: number }>(
      'INSERT INTO cities (country_id, state_id, name) SELECT country_id, state_id, name FROM cities WHERE id = (SELECT city_id FROM senders) RETURNING id AS city_id, state_id',
    )
    .get();
  await mustSucceed(t, app.one)('/sender/update', { ...fields, sender_id: 1, ...second });
  t.equal((await post('/settings/senders/1', { ...SENDER, city: 'Berlin', zip_code: '10115' })).status, 303);
  t.strictSame(app.db.prepare('SELECT city_id, state_id FROM senders').get(), second);
});

t.test('what is wrong stands beside its field, what was typed stays, and nothing is saved', async (t) => {
  const { app, post } = await signedIn(t);
  const wrong = { ...SENDER, from_email: 'news@', country_id: '', nickname: '<b>"x' };
  const { status, text } = await post('/settings/senders/new', wrong);
  t.equal(status, 422);
  t.match(text, /id="from_email-problem">Enter a valid e-mail address\./);
  t.match(text, /id="country_id-problem">/);
  t.match(text, 'value="news@"');
  t.match(text, 'value="&lt;b>&quot;x"');
  const german = await post('/settings/senders/new', wrong, { 'accept-language': 'de' });
  t.match(german.text, /id="country_id-problem">Diese Angabe fehlt\./);
  t.equal(app.db.prepare('SELECT count(*) FROM senders').pluck().get(), 0);
});

t.test(
  'a sender is changed by the same form; its state stays while it has no city and stays in its country',
  async (t) => {
    const { app, get, post } = await signedIn(t);
    await post('/settings/senders/new', SENDER);
    const state_id = app.db.prepare('SELECT id FROM states WHERE country_id = ? LIMIT 1').pluck().get(GERMANY);
    app.db.prepare('UPDATE senders SET state_id = ?').run(state_id);
    t.match((await get('/settings/senders/1')).text, 'value="hello@example.com"');
    t.equal((await post('/settings/senders/1', { ...SENDER, nickname: 'Offers' })).status, 303);
    t.match(app.db.prepare('SELECT * FROM senders').get(), { nickname: 'Offers', state_id, city_id: 0 });
    t.equal((await post('/settings/senders/1', { ...SENDER, country_id: '1' })).status, 303);
    t.match(app.db.prepare('SELECT * FROM senders').get(), { country_id: 1, state_id: 0, city_id: 0 });
    t.equal((await get('/settings/senders/2')).status, 404);
    t.equal((await post('/settings/senders/2', SENDER)).status, 404);
  },
);

t.test('what is wrong with a warm-up stands beside its field, and what was typed stays', async (t) => {
  const { app, get, post } = await signedIn(t);
  await mustSucceed(t, app.one)('/sender/save', SENDER);
  t.match((await get('/settings/senders')).text, 'id="until_volume"');
  const plan = { domain: 'example.com', volume: 'many', growth: '50', until_volume: '', starts_on: '2026-01-16' };
  const { status, text } = await post('/settings/senders/warm-up', plan);
  t.equal(status, 422);
  t.match(text, /id="volume-problem">Enter a whole number\./);
  t.match(text, /id="until_volume-problem">This is required\./);
  t.match(text, 'value="many"');
  t.notMatch(text, 'until volume', 'no name of the API');
});

t.test('before a sender is deleted, the page says in numbers what stops', async (t) => {
  const { app, get, post } = await signedIn(t);
  await post('/settings/senders/new', SENDER);
  t.match((await get('/settings/senders/1')).text, 'No campaign and no live automation uses this sender.');
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: 1 });
  for (const single_send_name of ['Spring', 'Autumn'])
    await must('/single/send/create', {
      ...{ single_send_name, subject: 'Books', preheader: 'Books', template_id: 1, template_html: '<p>Hello</p>' },
      ...{ sender_id: 1, unsubscribe_group_id: 1, recipient_id: ['contacts_1'] },
      ...{ schedule_type: '1', schedule_date: '2030-01-31', schedule_time: '09:30' },
    });
  const { text } = await get('/settings/senders/1');
  t.match(text, '2 scheduled campaigns will be unscheduled.');
  t.equal((await post('/settings/senders/1/delete')).status, 303);
  t.strictSame(app.db.prepare('SELECT status FROM single_sends').pluck().all(), [0, 0]);
  t.match((await get('/settings/senders')).text, 'No senders yet');
  t.equal((await post('/settings/senders/1/delete')).status, 404);
});

t.test('the DNS is asked by a button, and its page has the records to copy', async (t) => {
  const { app, get, post } = await signedIn(t);
  await post('/settings/senders/new', SENDER);
  t.match((await get('/settings/senders')).text, 'Not checked yet.');
  app.askDns(await startDns(t, { '_dmarc.example.com': ['v=DMARC1; p=<script>'] }));
  t.equal((await post('/settings/senders/check')).headers.location, '/settings/senders');
  const { text } = await get('/settings/senders');
  t.match(text, 'Check again');
  t.match(text, '<code class="once">v=spf1 mx ~all</code>');
  t.match(text, 'data-island="copy"');
  t.match(text, 'The record needs p=none, quarantine or reject.');
  t.notMatch(text, 'p=<script>', 'what the DNS says is shown as text');
  const german = (await get('/settings/senders', { 'accept-language': 'de' })).text;
  t.match(german, 'Der Eintrag braucht p=none');
  t.notMatch(german, 'no record');
  await post('/settings/senders/new', { ...SENDER, from_email: 'lark.books@gmail.com' });
  const withMailbox = (await get('/settings/senders')).text;
  t.match(withMailbox, 'Only the company that runs gmail.com can add records for it.');
  t.notMatch(withMailbox, 'the e-mail is from gmail.com', 'no record is asked for that the owner cannot add');
});

for (const role of ['editor', 'viewer'] as const)
  t.test(`an ${role} neither sees nor changes senders here`, async (t) => {
    const { app, get, post } = await signedIn(t, role);
    await app.one.call('POST', '/sender/save', { form: SENDER });
    for (const path of ['', '/new', '/1']) t.equal((await get(`/settings/senders${path}`)).status, 403, path);
    for (const path of ['/new', '/1', '/1/delete', '/1/resend', '/check'])
      t.equal((await post(`/settings/senders${path}`, SENDER)).status, 403, path);
    t.match(app.db.prepare('SELECT nickname, deleted_at FROM senders').all(), [{ nickname: 'News', deleted_at: null }]);
  });

t.test('an operator chooses the one relay of a sender in its form; others see nothing of relays', async (t) => {
  const { app, get, post } = await signedIn(t);
  t.notMatch((await get('/settings/senders/new')).text, 'name="relay_id"', 'there is none to choose');
  app.db.exec(`INSERT INTO relays (name, host, port, security, connections, position, failed_at, failure, created_at, updated_at)
    VALUES ('Provider <b>', 'localhost', 25, 'none', 1, 1, '2026-01-01T00:00:00.000000Z', '535 wrong <password>', '', '')`);
  t.equal((await post('/settings/senders/new', { ...SENDER, relay_id: '1' })).status, 303);
  t.match((await get('/settings/senders/1')).text, /<option value="1" selected[^>]*>Provider &lt;b>/);
  const { text } = await get('/settings/senders');
  t.match(text, 'Only Provider &lt;b>');
  t.match(text, 'Mail from this sender is waiting: 535 wrong &lt;password>');
  t.match((await post('/settings/senders/1', { ...SENDER, relay_id: '7' })).text, /id="relay_id-problem"/);
  t.equal((await post('/settings/senders/1', { ...SENDER, relay_id: '' })).status, 303);
  t.equal(app.db.prepare('SELECT relay_id FROM senders').pluck().get(), null);
  app.db.exec('UPDATE users SET account_id = 2');
  t.notMatch((await get('/settings/senders/new')).text, 'relay_id');
});

t.test(
  'an unverified sender keeps a campaign, an automation and a form back alike: one sentence, one link, nothing to start',
  async (t) => {
    const app = await startApp(t, { SENDER_VERIFICATION: 'required' });
    const { id: form } = await addReadyForm(t, app);
    const must = mustSucceed(t, app.one);
    await must('/contacts/add', { contact_type_id: 1, country: 1, email: 'anna@example.org' });
    await must('/unsubscribes-groups/save', { group_name: 'News', description: 'All', is_display: 1 });
    const content = { template_id: 1, template_html: '<p>Hello</p>' };
    const { utr } = (await must('/single/send/draft', { single_send_name: 'June' })) as { utr: string };
    const fields = { subject: 'June', preheader: 'News', recipient_id: ['contacts_1'] };
    await must('/single/send/save', { utr, ...fields, ...content });
    const { utr: series } = (await must('/automations/create', {
      ...{ type: 'custom', automation_for: 'contacts_1', automation_name: 'Welcome', unsubscribe_group_id: 1 },
    })) as { utr: string };
    const wait = { waiting_type: 'days', waiting_period: 1, preview_img: 'blank.png' };
    await must('/automations/schedule/create', { utr: series, subject: 'S', sender_id: 1, ...wait, ...content });
    const { utr: sent } = (await must('/single/send/create', {
      ...{ ...fields, ...content, sender_id: 1, unsubscribe_group_id: 1, single_send_name: 'May', schedule_type: 0 },
    })) as { utr: string };
    app.clock.advance(60_000);
    await app.background();

    const pages = {
      schedule: `/campaigns/${utr}/edit/schedule`,
      check: `/campaigns/${utr}/edit/check`,
      held: `/campaigns/${sent}`,
      automation: `/automations/${series}`,
      form: `/forms/${form}`,
    };
    const starts = /name="when"|\/start"/;
    const [owner, editor] = (['owner', 'editor'] as const).map((role) => cookieOf(app, addPerson(app, role)));
    const read = async (path: string, cookie = owner) =>
      (await app.page('GET', path, { headers: { cookie: cookie ?? '' } })).text;
    for (const path of Object.values(pages)) {
      const text = await read(path);
      t.equal(
        text.split('The sender is not verified yet. <a href="/settings/senders">Verify the sender</a>').length,
        2,
        `${path} says so once`,
      );
      t.notMatch(text, starts, path);
      t.match(
        await read(path, editor),
        'The sender is not verified yet. An owner of the account can verify the sender.',
      );
    }
    const live = await app.one.call('GET', '/automations/set-live', { query: { utr: series } });
    t.match(live, { status: 409, body: { errors: 'The sender is not verified yet' } }, 'the API says the same');

    verifySenders(app);
    await app.background();
    for (const path of Object.values(pages)) t.notMatch(await read(path), 'not verified yet', path);
    t.match(await read(pages.schedule), starts);
    t.match(await read(pages.automation), starts);
  },
);
