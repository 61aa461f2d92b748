/** Mailings in the dashboard. */
import t, { type Test } from 'tap';
import { recountReasons } from '../../fixtures/mailing-counters.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { mustSucceed, readOutbox, sendCampaign } from '../support/campaign.ts';
import { HOSTILE } from '../support/dashboard/filled-account.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import { flushHits, sendAgain } from '../support/recipient-links.ts';
import { visitor } from '../support/visitor.ts';

const SEND = {
  template_id: 1,
  template_html: '<p>Hello</p>',
  sender_id: 1,
  unsubscribe_group_id: 1,
  single_send_name: 'Winter sale',
  subject: 'Up to half off',
  preheader: 'News',
  recipient_id: ['contacts_1'],
  schedule_type: 0,
};

/** Saves a single send to everybody of the first list. */
async function create(t: Test, app: TestApp, fields: Record<string, unknown> = {}): Promise<string> {
  const { utr } = (await mustSucceed(t, app.one)('/single/send/create', { ...SEND, ...fields })) as { utr: string };
  return utr;
}

const LATER = { schedule_type: 1, schedule_date: '2027-12-01', schedule_time: '09:00' };
const PEOPLE = ['anna', 'bea', 'cleo'].map((name) => ({ email: `${name}@example.org`, first_name: name }));

/** A single send whose mailing is in this state, as the ledger would have it, with so many of its three people still waiting. */
async function inState(t: Test, state: string, waiting: number) {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app, { people: PEOPLE });
  app.db
    .prepare("UPDATE mailings SET state = ?, delivered = 3 - ?, finished_at = NULL WHERE owner_kind = 'single'")
    .run(state, waiting);
  app.db.exec('UPDATE single_sends SET status = 2');
  return { app, utr, path: `/campaigns/${utr}` };
}

t.test('the list is newest first and finds mailings by name, subject and state', async (t) => {
  const app = await startApp(t);
  const { open } = visitor(app);
  t.match((await open('/campaigns')).text, 'No campaigns yet');
  await sendCampaign(t, app, { people: PEOPLE });
  await create(t, app, LATER);
  const { status, text } = await open('/campaigns');
  t.equal(status, 200);
  t.match(text, /<header class="page-head">.*href="\/transactional">All transactional e-mail<.*<\/header>/s);
  t.match(text, /Winter sale.*Up to half off.*Scheduled.*>News<.*In test outbox.*<td[^>]*>0<\/td>.*–/s);
  const found = async (query: string) => {
    const { text: page } = await open(`/campaigns?${query}`);
    return ['Winter sale', 'News'].filter((name) => page.includes(`<bdi>${name}</bdi>`));
  };
  t.strictSame(await found('search=HALF'), ['Winter sale']);
  t.strictSame(await found('state=kept'), ['News']);
  t.strictSame(await found('state=kept&search=half'), []);
  t.match((await open('/campaigns?search=nothing')).text, 'No campaign matches.');
  t.match((await visitor(app, 'owner', { accountId: 2 }).open('/campaigns')).text, 'No campaigns yet');
});

t.test('the list goes on in pages that keep the filter', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  for (let copies = 0; copies < 21; copies++) await app.one.call('POST', '/single/send/duplicate', { query: { utr } });
  const { open } = visitor(app);
  const [next = ''] = /\/campaigns\?state=draft&amp;before=\d+/.exec((await open('/campaigns?state=draft')).text) ?? [];
  const second = (await open(next.replace('&amp;', '&'))).text;
  t.equal(second.match(/<th scope="row"/g)?.length, 1);
  t.match(second, 'href="/campaigns?state=draft"');
});

/** The form that does something with campaigns of the list. */
const chosen = (utrs: string[], action: string): [string, string][] => [
  ...utrs.map((utr): [string, string] => ['ids', utr]),
  ['action', action],
];

/** The names on a list of campaigns, in its order. */
const namesOn = (page: string) =>
  [...page.matchAll(/<th scope="row"[^>]*><a [^>]*><bdi>([^<]*)<\/bdi>/g)].map((one) => one[1]);

t.test('a draft on the list leads to its editor, and for a viewer to its page', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const copied = await app.one.call('POST', '/single/send/duplicate', { query: { utr } });
  const copy = String(copied.headers.location).split('utr=')[1];
  const linkOf = (page: string, name: string) => new RegExp(`href="([^"]+)"><bdi>${name}`).exec(page)?.[1];
  const mine = (await visitor(app).open('/campaigns')).text;
  t.equal(linkOf(mine, 'Copy of News'), `/campaigns/${copy}/edit/audience`);
  t.equal(linkOf(mine, 'News'), `/campaigns/${utr}`);
  const seen = (await visitor(app, 'viewer').open('/campaigns')).text;
  t.equal(linkOf(seen, 'Copy of News'), `/campaigns/${copy}`);
  t.notMatch(seen, 'row-menu', 'a viewer is offered nothing that is refused');
});

t.test(
  'an archived campaign is on no list of the dashboard but that of the archived, and in the answers of the contract',
  async (t) => {
    const app = await startApp(t);
    const { utr } = await sendCampaign(t, app);
    const waiting = await create(t, app, LATER);
    const { open, send } = visitor(app, 'editor');
    const act = async (ids: string[], action: string) => {
      t.equal((await send('/campaigns/actions', chosen(ids, action))).status, 303);
      return (await open('/campaigns')).text;
    };
    t.match(await act([utr, waiting], 'archive'), '1 campaign stays, because it is scheduled');
    t.strictSame(namesOn((await open('/campaigns')).text), ['Winter sale'], 'what is scheduled stays in sight');
    t.strictSame(namesOn((await open('/campaigns?state=archived')).text), ['News']);
    const { singleSends } = (await app.one.call('GET', '/single-send/list')).body.message;
    t.equal(singleSends.length, 2);
    t.notMatch(Object.keys(singleSends[0]), ['hidden_at']);
    t.strictSame(namesOn(await act([utr], 'unarchive')), ['Winter sale', 'News']);
    const copied = await app.one.call('POST', '/single/send/duplicate', { query: { utr } });
    const copy = String(copied.headers.location).split('utr=')[1] ?? '';
    t.match(await act([copy], 'archive'), '1 campaign was archived.');
    await mustSucceed(t, app.one)('/single/send/update', { utr: copy, ...SEND, ...LATER });
    t.strictSame(namesOn((await open('/campaigns')).text)[0], 'Winter sale', 'what is scheduled later comes back');
  },
);

t.test('drafts are deleted after a question that says how many, and nothing else is', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const waiting = await create(t, app, LATER);
  await app.one.call('POST', '/single/send/duplicate', { query: { utr } });
  const { open, send } = visitor(app, 'editor');
  const ids = app.db.prepare<[], string>('SELECT utr FROM single_sends').pluck().all();
  const asked = (await send('/campaigns/actions', chosen(ids, 'delete'))).text;
  t.match(asked, /Delete 1 draft permanently\?.*2 selected campaigns are not drafts and stay/s);
  t.equal(app.db.prepare('SELECT count(*) FROM single_sends').pluck().get(), 3, 'nothing is deleted before the answer');
  await send('/campaigns/actions', [...chosen(ids, 'delete'), ['sure', '1']]);
  const left = (await open('/campaigns')).text;
  t.match(left, '1 draft was deleted.');
  t.strictSame(namesOn(left), ['Winter sale', 'News']);
  const refused = visitor(app, 'viewer');
  t.equal((await refused.send('/campaigns/actions', chosen([waiting], 'archive'))).status, 403);
  t.equal((await send('/campaigns/actions', chosen([], 'archive'))).status, 303);
  t.match((await open('/campaigns')).text, 'No campaign was selected.');
});

t.test(
  'the list is sorted by name, opens and clicks, filtered by list, and says shares beside the usual ones',
  async (t) => {
    const app = await startApp(t);
    const { open } = visitor(app);
    await sendCampaign(t, app, { people: PEOPLE });
    const type = await app.one.call('POST', '/contacts-type/add', { form: { name: 'Others' } });
    const other = /=(\d+)/.exec(String(type.headers.location))?.[1];
    for (const [name, list] of [
      ['Zebra', 'contacts_1'],
      ['apples', `contacts_${other}`],
    ] as const)
      await create(t, app, { single_send_name: name, recipient_id: [list], ...LATER });
    app.db.exec(
      `UPDATE mailings SET delivered = 10, people_opens = 4, people_clicks = 1, state = 'done' WHERE owner_kind = 'single'`,
    );
    app.db.exec("UPDATE deliveries SET reply = '250 ok'");
    recountReasons(app.db);
    const found = async (query: string) => namesOn((await open(`/campaigns?${query}`)).text);
    t.strictSame(await found(''), ['apples', 'Zebra', 'News']);
    t.strictSame(await found('order=name'), ['apples', 'News', 'Zebra']);
    t.strictSame(await found('order=opens'), ['News', 'apples', 'Zebra'], 'what was not measured comes last');
    t.strictSame(await found('order=clicks'), ['News', 'apples', 'Zebra']);
    t.strictSame(await found(`list=contacts_${other}`), ['apples']);
    const { text } = await open('/campaigns');
    t.match(
      text,
      /Your last five campaigns: 40%.*40%.*class="value" width="50"/s,
      'the usual share is named once, and is in the middle of each bar',
    );
    t.match(text, /aria-sort="descending"><a href="\/campaigns">/);
  },
);

t.test('each campaign of the list has a small picture of its mail, which is another one after a change', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app);
  const utr = await create(t, app, { ...LATER, template_html: '<h1>Sale</h1><img src="https://shop.example/a.png">' });
  const { open } = visitor(app);
  const pictureOn = async () => /src="(\/campaigns\/[^"]+sketch\.svg[^"]*)"/.exec((await open('/campaigns')).text)?.[1];
  const before = (await pictureOn()) ?? '';
  const { status, text, headers } = await open(before);
  t.match([status, headers['content-type'], headers['content-security-policy']], [200, /svg/, /sandbox/]);
  t.match(headers['cache-control'], 'immutable');
  t.match(text, /^<svg [^>]+>(<path fill="#[0-9a-f]+" d="[\w .-]+"\/>){3}<\/svg>$/, 'a sheet, a heading and an image');
  t.notMatch(text, 'shop.example');
  app.clock.advance(1000);
  await mustSucceed(t, app.one)('/single/send/update', { utr, ...SEND, ...LATER, template_html: '<p>Other</p>' });
  const after = (await pictureOn()) ?? '';
  t.not(after, before);
  t.not((await open(after)).text, text);
  t.equal((await visitor(app, 'owner', { accountId: 2 }).open(after)).status, 404);
});

t.test(
  'the calendar has the campaigns of a month with their times in the zone of the account, and no drafts',
  async (t) => {
    const app = await startApp(t, { TIME_ZONE: 'Europe/Berlin' });
    const { open } = visitor(app, 'owner', { language: 'en-GB' });
    await sendCampaign(t, app);
    await create(t, app, LATER);
    const midnight = { schedule_type: 1, schedule_date: '2027-12-01', schedule_time: '00:30' };
    await create(t, app, { single_send_name: 'Late <b>', ...midnight });
    const { text } = await open('/campaigns/calendar?month=2027-12');
    t.match(text, /December 2027.*Times in Europe\/Berlin/s);
    const dayOf = (page: string, day: string) => page.split(`<time datetime="${day}">`)[1]?.split('</td>')[0] ?? '';
    t.match(dayOf(text, '2027-12-01'), /00:30<\/time> <bdi>Late &lt;b><\/bdi>.*09:00<\/time> <bdi>Winter sale/s);
    t.match(text, /href="\/campaigns\/calendar\?month=2027-11".*href="\/campaigns\/calendar\?month=2028-01"/s);
    const other = await open('/campaigns/calendar?month=2027-11');
    t.match(other.text, 'No campaign in this month.');
    const now = (await open('/campaigns/calendar')).text;
    t.match(now, /aria-current="date".*News/s, 'what was sent today is on today');
    for (const month of ['2027-13', '0000-00', 'x', '2027-1', '2027-12-01'])
      t.equal((await open(`/campaigns/calendar?month=${month}`)).status, 200, month);
    const foreign = await visitor(app, 'owner', { accountId: 2 }).open('/campaigns/calendar?month=2027-12');
    t.notMatch(foreign.text, 'Winter sale');
    t.match(await visitor(app, 'viewer').open('/campaigns/calendar?month=2027-12'), {
      status: 200,
      text: 'Winter sale',
    });
  },
);

t.test('a day with many campaigns shows three of them, and the others when it is opened', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app);
  for (let count = 0; count < 5; count++) await create(t, app, { ...LATER, single_send_name: `Mail ${count}` });
  const { text } = await visitor(app).open('/campaigns/calendar?month=2027-12');
  t.match(text, /Mail 2.*<summary>2 more<\/summary>.*Mail 3.*Mail 4/s);
});

t.test('a subject on the list and above a report has no codes of merge tags', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app);
  await create(t, app, { ...LATER, subject: 'For ((first_name|you)) and ((city))' });
  const { open } = visitor(app);
  const { text } = await open('/campaigns');
  const utr = app.db.prepare("SELECT utr FROM single_sends WHERE subject LIKE '%|you%'").pluck().get();
  const report = await open(`/campaigns/${utr}`);
  for (const page of [text, report.text]) {
    t.match(page, 'For <span class="merge-tag">you</span> and <span class="merge-tag">City</span>');
    t.notMatch(page, '((');
  }
});

t.test('the overview tells results, reasons and what can be done', async (t) => {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/global-unsubscribes/save', { email_address: 'cleo@example.org' });
  const { utr } = await sendCampaign(t, app, { people: PEOPLE });
  const { status, text } = await visitor(app).open(`/campaigns/${utr}`);
  t.equal(status, 200);
  t.match(
    text,
    /Nobody received this campaign\. 2 e-mails were kept in the test outbox\..*Recipients<\/dt><dd><a [^>]+>3<.*Delivered<\/dt><dd>0<\/dd><dd>0% of recipients.*In test outbox<\/dt><dd><a href="[^"]+\?state=kept">2<\/a>/s,
  );
  t.match(text, /Not delivered, and why.*unsubscribed.*Skipped.*<td[^>]*>1<\/td>/s);
  t.match(text, /href="[^"]+\/recipients\?state=suppressed">1<\/a>/, 'a number leads to those it counts');
  t.match(text, 'Duplicate');
  t.notMatch(text, /Pause|Resume|Send again|Cancel for/);
  const later = (await visitor(app, 'editor').open(`/campaigns/${await create(t, app, LATER)}`)).text;
  t.match(later, /Scheduled.*Starts .*Nothing has been sent yet/s);
});

t.test(
  'a mailing under way shows how far it is, and is paused, resumed and cancelled for those who wait',
  async (t) => {
    const { app, utr, path } = await inState(t, 'sending', 2);
    const { open, send } = visitor(app, 'editor');
    const state = () => app.db.prepare("SELECT state FROM mailings WHERE owner_kind = 'single'").pluck().get();
    const page = (await open(path)).text;
    t.match(page, /<progress aria-label="1 of 3 contacts" value="1" max="3"/);
    t.match(page, /Cancel this campaign for 2 contacts\?.*The campaign is finished for 1 of 3 contacts/s);
    for (const [action, after, news] of [
      ['pause', 'paused', 'Nothing is sent until you resume.'],
      ['resume', 'sending', 'The campaign goes to those who have not'],
      ['cancel', 'cancelled', 'Cancelled. Nothing more is sent.'],
    ] as const) {
      const { status, headers } = await send(`${path}/${action}`);
      t.match([status, headers.location, state()], [303, `/campaigns/${utr}`, after]);
      t.match((await open(path)).text, news);
      t.notMatch((await open(path)).text, news, 'it is said once');
    }
    t.equal((await send(`${path}/pause`)).status, 303);
    t.match((await open(path)).text, 'Nothing was changed: Only a sending campaign can be paused.<');
  },
);

t.test('a mailing that has not started becomes a draft when its start is cancelled', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app);
  const path = `/campaigns/${await create(t, app, LATER)}`;
  const { open, send } = visitor(app);
  const asked = (await open(path)).text;
  t.match(asked, /Unschedule this campaign\?.*Keep it scheduled/s);
  t.notMatch(asked, />Cancel<\/button>/, 'no button could be taken for the action');
  t.equal((await send(`${path}/cancel`)).status, 303);
  t.match((await open(path)).text, /The campaign is a draft again.*Draft/s);
});

t.test('duplicating a mailing leads to the copy, with a sentence that says what was made', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const { open, send } = visitor(app);
  const { headers } = await send(`/campaigns/${utr}/duplicate`);
  const copy = String(headers.location);
  t.match(copy, /^\/campaigns\/[\w-]{36}$/);
  t.not(copy, `/campaigns/${utr}`);
  t.match((await open(copy)).text, /<h1>Copy of News<.*the new draft, a copy of “News”.*This is a draft/s);
});

t.test('those for whom it failed get it again after a dialog that says how many they are', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app, { people: PEOPLE });
  app.db.exec(`UPDATE deliveries SET state = 4, reply = '451 Try later' WHERE id IN (SELECT id FROM deliveries ORDER BY id DESC LIMIT 2);
    UPDATE mailings SET delivered = 1, failed = 2 WHERE owner_kind = 'single'`);
  recountReasons(app.db);
  const { open, send } = visitor(app);
  const page = (await open(`/campaigns/${utr}`)).text;
  t.match(page, /Retry 2 failed e-mails\?.*Bounced, unsubscribed and suppressed contacts are skipped/s);
  await send(`/campaigns/${utr}/retry-failed`);
  t.match((await open(`/campaigns/${utr}`)).text, 'The campaign is sent again to 2 contacts.');
});

t.test('a viewer reads and changes nothing; another site and another account do neither', async (t) => {
  const { app, path } = await inState(t, 'sending', 2);
  const state = () => app.db.prepare("SELECT state FROM mailings WHERE owner_kind = 'single'").pluck().get();
  const viewer = visitor(app, 'viewer');
  const { status, text } = await viewer.open(path);
  t.equal(status, 200);
  t.notMatch(text, /method="post" action="\/campaigns/);
  const stranger = visitor(app, 'owner', { accountId: 2 });
  t.equal((await stranger.open(path)).status, 404);
  const owner = visitor(app);
  for (const action of ['pause', 'resume', 'cancel', 'duplicate', 'retry-failed']) {
    t.equal((await viewer.send(`${path}/${action}`)).status, 403, action);
    t.equal((await stranger.send(`${path}/${action}`)).status, 404, action);
    t.equal(
      (await owner.post(`${path}/${action}`, { headers: { 'sec-fetch-site': 'cross-site' } })).status,
      403,
      action,
    );
  }
  t.equal((await owner.send(`${path}/delete`)).status, 404, 'no other action is reached');
  t.equal(state(), 'sending');
  t.equal(app.db.prepare('SELECT count(*) FROM single_sends').pluck().get(), 1);
  t.equal((await app.page('GET', path)).status, 303, 'signed out');
});

t.test('names and subjects are shown as text', async (t) => {
  const app = await startApp(t);
  await sendCampaign(t, app);
  const utr = await create(t, app, { ...LATER, single_send_name: HOSTILE, subject: HOSTILE });
  const { open, send } = visitor(app);
  await send(`/campaigns/${utr}/duplicate`);
  for (const path of ['/campaigns', `/campaigns/${utr}`, `/campaigns?search=${encodeURIComponent(HOSTILE)}`]) {
    const { status, text } = await open(path);
    t.equal(status, 200);
    t.notMatch(text, /<script>alert|<img src=x/);
    t.match(text, '&lt;script>alert(1)');
  }
});

t.test('recipients are found by address, state and reason, each with why', async (t) => {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/global-unsubscribes/save', { email_address: 'cleo@example.org' });
  const { utr } = await sendCampaign(t, app, { people: PEOPLE });
  app.db.exec("UPDATE deliveries SET reply = '<script>alert(1)</script>' WHERE state = 5");
  recountReasons(app.db);
  const { open } = visitor(app, 'viewer');
  const path = `/campaigns/${utr}/recipients`;
  const found = async (query: string) =>
    [...(await open(path + query)).text.matchAll(/<bdi>(\w+)@example\.org/g)].map(([, name]) => name).sort();
  t.strictSame(await found(''), ['anna', 'bea', 'cleo']);
  t.strictSame(await found('?search=AN'), ['anna']);
  t.strictSame(await found('?state=kept'), ['anna', 'bea']);
  t.strictSame(await found('?state=lost'), ['anna', 'bea', 'cleo'], 'an unknown state is no filter');
  const page = (await open(`/campaigns/${utr}`)).text;
  const [, reason = ''] = /recipients(\?state=suppressed&amp;reason=[^"]+)"/.exec(page) ?? [];
  t.strictSame(await found(reason.replace('&amp;', '&')), ['cleo'], 'the overview links each reason to its people');
  t.notMatch((await open(path)).text, '<script>alert');
  t.match((await open(`${path}?search=nobody`)).text, 'No recipient matches.');
  t.equal((await visitor(app, 'owner', { accountId: 2 }).open(path)).status, 404);
});

t.test('what the outbox kept is delivered nowhere, and what a relay took stays delivered without one', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app, { people: PEOPLE });
  const { open } = visitor(app);
  const pages = ['/', '/campaigns', `/campaigns/${utr}`, `/campaigns/${utr}/recipients`, '/contacts/1'];
  for (const path of pages) {
    const { text } = await open(path);
    t.match(text, 'In test outbox', path);
    t.notMatch(text, /class="badge[^>]*>(?:<[^>]*>)*(?:Sent|Delivered)<|100\s?%/, path);
  }
  const read = async (path: string) => (await app.one.call('GET', path, { query: { utr } })).body.message;
  t.match((await read('/single-send/report')).report, { states: { accepted: 0, kept: 3 }, funnel: { kept: 3 } });
  t.match((await read('/single-send/recipients')).recipients, [
    { state: 'kept' },
    { state: 'kept' },
    { state: 'kept' },
  ]);
  t.match((await visitor(app, 'viewer').open(`/campaigns/${utr}`)).text, 'Test mode: nobody receives your e-mail');

  app.db.exec(`UPDATE deliveries SET reply = '250 ok' WHERE id <= 2; UPDATE delivery_reasons SET count = 1`);
  const some = (await open(`/campaigns/${utr}`)).text;
  t.match(some, /1 contact did not receive this.*Delivered<\/dt><dd><a [^>]+>2</s);
  t.match(some, /class="badge[^>]*>(?:<[^>]*>)*Sent</);
});

t.test('recipients are saved as CSV by the filter of the page, by those who may see them', async (t) => {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/global-unsubscribes/save', { email_address: 'cleo@example.org' });
  const { utr } = await sendCampaign(t, app, { people: PEOPLE });
  const { open } = visitor(app, 'viewer');
  const path = `/campaigns/${utr}/recipients`;
  const [, href = ''] = /href="([^"]+recipients\.csv[^"]*)"/.exec((await open(`${path}?state=kept`)).text) ?? [];
  const { status, headers, text } = await open(href);
  t.match([status, headers['content-type']], [200, 'text/csv; charset=utf-8']);
  t.equal(headers['content-disposition'], 'attachment; filename="recipients.csv"');
  t.match(text, /^"email".*\r\nanna@example\.org,kept,.*\r\nbea@example\.org,kept,.*\r\n$/);
  t.match((await open(`${path}.csv`)).text, 'cleo@example.org');
  t.equal((await visitor(app, 'owner', { accountId: 2 }).open(href)).status, 404);
  t.equal((await app.page('GET', href)).status, 303, 'signed out');
  const later = `/campaigns/${await create(t, app, LATER)}/recipients`;
  t.notMatch((await open(later)).text, 'recipients.csv', 'nobody is in it yet');
  t.equal((await open(`${later}.csv`)).status, 404);
});

t.test('a CSV of any size is read from the database no faster than the browser takes it', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app, { people: PEOPLE });
  const [mailing, address] = app.db
    .prepare('SELECT mailing_id, address_id FROM deliveries ORDER BY id DESC')
    .raw()
    .get() as [number, number];
  app.db.exec(`
    WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
    INSERT INTO addresses (user_id, normalized_email) SELECT 1, 'reader' || i || '@example.org' FROM n;
    INSERT INTO deliveries (mailing_id, address_id, state, reply) SELECT ${mailing}, id, 2, '${'x'.repeat(500)}' FROM addresses WHERE id > ${address};`);
  const response = await app.fastify.inject({
    url: `/campaigns/${utr}/recipients.csv`,
    headers: { cookie: cookieOf(app, addPerson(app)) },
    payloadAsStream: true,
  });
  const body = response.stream();
  await new Promise((resolve) => body.once('readable', resolve));
  // Long enough to read all of it, if it were read without waiting for the browser.
  await new Promise((resolve) => setTimeout(resolve, 300));
  // What was not read yet is missing from here on.
  app.db.exec('DELETE FROM deliveries WHERE address_id > 1000');
  let bytes = 0;
  for await (const part of body) bytes += part.length;
  t.ok(bytes > 50_000 && bytes < 5_000_000, `${bytes} bytes of more than 20 million`);
});

t.test(
  'a report tells each rate beside the average of five, and its numbers lead to contacts who become a segment',
  async (t) => {
    const app = await startApp(t);
    const people = ['anna', 'bea', 'cem', 'dan'].map((name) => ({ email: `${name}@example.org`, first_name: name }));
    const { utr, mails } = await sendCampaign(t, app, { people });
    const deliver = () =>
      app.db.exec("UPDATE deliveries SET reply = '250 ok'; DELETE FROM delivery_reasons WHERE state = 2");
    deliver();
    app.clock.advance(60_000);
    const headers = { 'user-agent': 'Mozilla/5.0 (X11) Firefox/140' };
    const visit = (paths: (string | undefined)[]) =>
      Promise.all(paths.map((path = '') => app.page('GET', path, { headers })));
    await visit([mails[0]?.paths.o, mails[1]?.paths.o, mails[1]?.paths.c]);
    flushHits(app);
    const { open, send } = visitor(app);
    const shown = async (path: string) => (await open(path)).text;
    const first = await shown(`/campaigns/${utr}`);
    t.match(first, /Open rate<\/dt><dd><a href="[^"]+\?did=opened">50%<\/a><\/dd><dd>No earlier campaign yet</);

    const again = await sendAgain(t, app, utr);
    app.clock.advance(11_000);
    await app.background();
    deliver();
    app.clock.advance(60_000);
    const next = (await readOutbox(app)).slice(-4);
    await visit([next[0]?.paths.o]);
    flushHits(app);
    const second = await shown(`/campaigns/${again}`);
    t.match(
      second,
      /Open rate<\/dt><dd><a [^>]+>25%<\/a><\/dd><dd>25 percentage points below your last five campaigns</,
    );
    t.match(second, /Click rate<\/dt><dd>0%<\/dd><dd>25 percentage points below/);
    t.match(second, /Delivery rate<\/dt><dd><a [^>]+>100%<\/a><\/dd><dd>Same as your last five campaigns</);

    const list = async (query: string) =>
      [...(await shown(`/campaigns/${utr}/recipients?${query}`)).matchAll(/<bdi>(\w+)@example\.org/g)].map(
        ([, who]) => who,
      );
    t.strictSame(await list('did=opened'), ['anna', 'bea']);
    t.strictSame(await list('did=clicked'), ['bea']);
    t.strictSame(await list('did=unsubscribed'), []);
    t.notMatch(await shown(`/campaigns/${utr}/recipients?state=queued`), 'Save as a segment', 'no rule says that');
    const page = await shown(`/campaigns/${utr}/recipients?did=opened`);
    const form = Object.fromEntries(
      [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    );
    const given = Object.entries({ ...form, contact_type_id: '1', do: 'save' });
    const saved = await send('/contacts/segments/new', given);
    t.equal(saved.status, 303);
    await app.background();
    const { contactEmails } = (await app.one.call('GET', '/segment/email/list', { query: { segment_id: 1 } })).body
      .message;
    t.strictSame(
      contactEmails.map(({ email }: { email: string }) => email),
      ['anna@example.org', 'bea@example.org'],
    );
  },
);

t.test('whom a list of recipients shows becomes a segment of the same contacts', async (t) => {
  const app = await startApp(t);
  const people = ['anna@a.org', 'bea@b.org', 'cem@b.org', 'dan@a.org', 'eve@b.org'].map((email) => ({ email }));
  const { utr, mails } = await sendCampaign(t, app, { people });
  app.clock.advance(60_000);
  await app.page('GET', mails[1]?.paths.c ?? '', { headers: { 'user-agent': 'Mozilla/5.0 (X11) Firefox/140' } });
  flushHits(app);
  const setState = app.db.prepare(
    'UPDATE deliveries SET state = ?, reply = ? WHERE contact_id = (SELECT id FROM contacts WHERE email = ?)',
  );
  setState.run(3, '550 5.1.1 <cem@b.org>: no such user here', 'cem@b.org');
  setState.run(5, ':suppressed_bounce', 'dan@a.org');
  setState.run(5, ':unsubscribed_all', 'eve@b.org');
  const { open, send } = visitor(app);
  const reason = (text: string) => `reason=${encodeURIComponent(text)}`;
  const lists: [query: string, names: string[]][] = [
    ['', ['anna', 'bea', 'cem', 'dan', 'eve']],
    ['state=kept', ['anna', 'bea']],
    ['state=bounced', ['cem']],
    ['state=suppressed', ['dan', 'eve']],
    [`state=suppressed&${reason(':suppressed_bounce')}`, ['dan']],
    [reason('550 5.1.1 <address>: no such user here'), ['cem']],
    ['link=0', ['bea']],
    ['did=unsubscribed', []],
    ['domain=B.org', ['bea', 'cem', 'eve']],
    ['domain=b.org&state=kept', ['bea']],
    ['search=da', ['dan']],
  ];
  for (const [at, [query, names]] of lists.entries()) {
    const { text } = await open(`/campaigns/${utr}/recipients?${query}`);
    t.strictSame(
      [...text.matchAll(/<bdi>(\w+)@[ab]\.org/g)].map(([, who]) => who),
      names,
      query,
    );
    const saving = /<form method="post" action="\/contacts\/segments\/new"[\s\S]+?<\/form>/.exec(text)?.[0] ?? '';
    const hidden = [...saving.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
    const form = hidden.map(([, name = '', value = '']): [string, string] => [name, value.replaceAll('&lt;', '<')]);
    const saved = await send('/contacts/segments/new', [...form, ['contact_type_id', '1'], ['do', 'save']]);
    t.equal(saved.status, 303, query);
    await app.background();
    const { contactEmails } = (await app.one.call('GET', '/segment/email/list', { query: { segment_id: at + 1 } })).body
      .message;
    t.strictSame(
      contactEmails.map(({ email }: { email: string }) => email.split('@')[0]),
      names,
      `the segment of ${query}`,
    );
  }
  const edit = await open('/contacts/segments/5/edit');
  t.match(edit.text, 'did not arrive, with the reason “suppressed after an earlier bounce”');
  const other = visitor(app, 'owner', { accountId: 2 });
  t.equal((await other.open(`/campaigns/${utr}/recipients?domain=b.org`)).status, 404);
});
