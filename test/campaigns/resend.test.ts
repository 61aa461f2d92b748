/** Sending a single send again to those who got it and did not open it. */
import t, { type Test } from 'tap';
import { HitBuffer } from '../../src/delivery/feedback/opens-and-clicks.ts';
import type { Reader } from '../../src/delivery/feedback/readers.ts';
import { bounceDelivery } from '../../src/delivery/queue/ledger/ended-deliveries.ts';
import { prepareAbTest } from '../support/ab-tests.ts';
import type { TestApp } from '../support/app.ts';
import { readOutbox } from '../support/campaign.ts';
import { addPerson, callerOf, cookieOf, FROM_PAGE } from '../support/people.ts';
import { fieldsOf, sentCampaign } from '../support/recipient-links.ts';
import { mustAnswer } from '../support/segments.ts';

const NAMES = ['opener', 'machine', 'proxied', 'clicker', 'leaver', 'bouncer', 'sleeper'];
const HOUR = 3_600_000;

/** A mail to six people, of whom each did something else with it. */
async function mailed(t: Test) {
  const people = NAMES.map((name) => ({ email: `${name}@example.org`, first_name: name }));
  const { app, utr, mails } = await sentCampaign(t, {}, { people });
  app.clock.advance(HOUR);
  act(app, 'opener', null, 'person');
  act(app, 'machine', null, 'machine');
  // Nobody knows whether that was the person.
  act(app, 'proxied', null, 'proxied');
  act(app, 'clicker', 1, 'person');
  const leaver = mails.find(({ to }) => to.startsWith('leaver'));
  t.equal((await app.page('POST', leaver?.paths.u ?? '', { form: { 'List-Unsubscribe': 'One-Click' } })).status, 200);
  const bounced = deliveryOf(app, 'bouncer');
  app.db.transaction(() =>
    bounceDelivery(app.db, { id: bounced.delivery, mailing_id: bounced.mailing, state: 2 }, 'no', 1),
  )();
  await app.background();
  return { app, utr };
}

function deliveryOf({ db }: TestApp, name: string) {
  return db
    .prepare<[string], { delivery: number; mailing: number; address: number }>(`
      SELECT d.id AS delivery, d.mailing_id AS mailing, d.address_id AS address FROM deliveries d JOIN addresses a ON a.id = d.address_id
        JOIN mailings m ON m.id = d.mailing_id AND m.owner_kind = 'single' WHERE a.normalized_email = ? ORDER BY d.id`)
    .get(`${name}@example.org`) as { delivery: number; mailing: number; address: number };
}

/** Somebody, or a machine for them, opens the first mail or clicks in it. */
function act(app: TestApp, name: string, link: number | null, reader: Reader): void {
  const hits = new HitBuffer(app.db);
  const at = app.clock.now().getTime();
  hits.add({ ids: { ...deliveryOf(app, name), group: 1, user: 1, email: '' }, at, link, reader });
  while (hits.flush(at));
}

const countOf = async (app: TestApp, utr: string) =>
  (await mustAnswer(app, 'GET', '/single-send/unopened', { query: { utr } })).body.message.count;
const again = async (app: TestApp, utr: string): Promise<string> =>
  (await mustAnswer(app, 'POST', '/single/send/resend', { form: { utr, subject: 'Once more' } })).body.message.utr;

t.test('the draft goes to exactly those who got it, did not open it and may get mail when it leaves', async (t) => {
  const { app, utr } = await mailed(t);
  t.equal(await countOf(app, utr), 2, 'machine and sleeper');
  const copy = await again(app, utr);
  const { body } = await app.one.call('GET', '/single-send/details', { query: { utr: copy } });
  const [draft] = body.message.singleSend;
  t.match(draft, { status: 0, subject: 'Once more', single_send_name: 'News', exclude_specific_recipient_id: [] });
  const counted = await app.one.call('GET', '/single-send/audience', { query: { utr: copy } });
  t.equal(counted.body.message.audience.recipients, 2, 'the count of the draft is the same');
  const before = (await readOutbox(app)).length;
  const targets = draft.recipient_id.map(({ id, table }: { id: string; table: string }) => `${table}_${id}`);
  await mustAnswer(app, 'POST', '/single/send/update', {
    form: { ...fieldsOf(draft), utr: copy, recipient_id: targets },
  });
  // Whoever opens it while the draft waits gets nothing.
  act(app, 'sleeper', null, 'person');
  app.clock.advance(11_000);
  await app.background();
  const sent = (await readOutbox(app)).slice(before);
  t.strictSame(
    sent.map(({ to, subject }) => [to, subject]),
    [['machine@example.org', 'Once more']],
  );
});

t.test('after an A/B test the draft has the content of the variant that won', async (t) => {
  const shop = await prepareAbTest(t);
  await shop.post('/templates/create', { template_name: 'Other', template_html: '<p>Other mail</p>' });
  const { templates } = await shop.get('/templates/list');
  const other = templates.find(({ template_name: name }: { template_name: string }) => name === 'Other').id;
  await shop.post('/single/send/variants', {
    utr: shop.utr,
    winner_by: 'hand',
    preheaders: ['another beginning'],
    sender_names: ['Ann'],
    template_ids: [other],
  });
  await shop.start();
  await shop.post('/single/send/variants/decide', { utr: shop.utr, variant: 1 });
  await shop.app.background();
  const draftOf = async (utr: string) => (await shop.get('/single-send/details', { utr })).singleSend[0];
  const first = await draftOf(shop.utr);
  const draft = await draftOf(await again(shop.app, shop.utr));
  t.match(draft, { subject: 'Once more', preheader: 'another beginning', sender_name: first.sender_name });
  t.match(draft.template_html, 'Other mail');

  await shop.post('/templates/delete', { id: other });
  const empty = await again(shop.app, shop.utr);
  t.match((await shop.get('/single-send/draft', { utr: empty })).draft, { content: 'none' }, 'its template is gone');
});

t.test('asked again it uses the same segment, unless somebody was added to it by hand', async (t) => {
  const { app, utr } = await mailed(t);
  await again(app, utr);
  await again(app, utr);
  const segments = () => app.db.prepare('SELECT id FROM segments').pluck().all();
  t.equal(segments().length, 1);
  const form = { segment_id: segments()[0], first_name: 'H', last_name: 'H', email: 'hand@example.org' };
  await mustAnswer(app, 'POST', '/segment/email/store', { form });
  await again(app, utr);
  t.equal(segments().length, 2);
});

t.test(
  'it is refused before the mailing is done, without counted opens, without the types, to viewers and others',
  async (t) => {
    const { app, utr } = await mailed(t);
    const ask = async (caller = app.one) => [
      (await caller.call('GET', '/single-send/unopened', { query: { utr } })).status,
      (await caller.call('POST', '/single/send/resend', { form: { utr, subject: 'S' } })).status,
    ];
    t.strictSame(await ask(app.two), [404, 404]);
    t.strictSame(await ask(callerOf(app, addPerson(app, 'viewer'))), [200, 403]);
    app.db.exec("UPDATE mailings SET state = 'sending' WHERE owner_kind = 'single'");
    t.strictSame(await ask(), [409, 409]);
    app.db.exec("UPDATE mailings SET state = 'done' WHERE owner_kind = 'single'; UPDATE single_sends SET tracking = 0");
    t.strictSame(await ask(), [409, 409]);
    app.db.exec(`UPDATE single_sends SET tracking = 1;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
        INSERT INTO contact_types (user_id, name, created_at, updated_at) SELECT 1, 'T' || i, '', '' FROM n`);
    const [{ recipient_id: targets }] = app.db
      .prepare<[], { recipient_id: string }>('SELECT recipient_id FROM single_sends')
      .all() as [{ recipient_id: string }];
    app.db.exec(
      "UPDATE single_sends SET recipient_id = (SELECT json_group_array(json_object('id', id || '', 'table', 'contacts')) FROM contact_types)",
    );
    t.strictSame(await ask(), [200, 409], 'a segment for each of so many types');
    app.db.prepare('UPDATE single_sends SET recipient_id = ?').run(targets);
    await mustAnswer(app, 'DELETE', '/contacts-type/delete', { query: { contact_type_id: 1 } });
    t.strictSame(await ask(), [200, 409]);
    t.equal(await countOf(app, utr), 0);
    t.equal(app.db.prepare('SELECT count(*) FROM segments').pluck().get(), 0);
  },
);

t.test('from the report it takes two clicks, and the page says how many people they are', async (t) => {
  const { app, utr } = await mailed(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'owner', { accountId: 1, name: 'Olga' })) };
  t.match((await app.page('GET', `/campaigns/${utr}`, { headers })).text, `href="/campaigns/${utr}/again"`);
  const page = (await app.page('GET', `/campaigns/${utr}/again`, { headers })).text;
  t.match(page, '2 contacts received the campaign and did not open it.');
  const post = (subject: string) => app.page('POST', `/campaigns/${utr}/again`, { headers, form: { subject } });
  t.equal((await post('')).status, 422);
  const made = await post('Once more');
  t.equal(made.status, 303);
  const shown = await app.page('GET', String(made.headers.location), { headers });
  t.match(shown.text, '2 contacts');
  app.db.exec("UPDATE mailings SET state = 'sending' WHERE owner_kind = 'single'");
  t.equal((await app.page('GET', `/campaigns/${utr}/again`, { headers })).headers.location, `/campaigns/${utr}`);
});

t.test('versions in other languages get new subjects, too, and none keeps its old one', async (t) => {
  const { app, utr } = await mailed(t);
  const languages = [
    { language: 'de', subject: 'Hallo', preheader: '', template_id: 0 },
    { language: 'fr', subject: '', preheader: 'Nouvelles', template_id: 0 },
  ];
  app.db.prepare('UPDATE single_sends SET languages = ?').run(JSON.stringify(languages));
  const resend = (subjects?: string[]) =>
    app.one.call('POST', '/single/send/resend', { form: { utr, subject: 'Once more', ...(subjects && { subjects }) } });
  t.match((await resend()).body.errors, { subjects: [] });
  t.match((await resend(['', 'Encore'])).body.errors, { subjects: [] });
  t.match((await resend(['((if city))a'])).body.errors, { subjects: [/line 1, column 1/] });
  const { body } = await resend(['Noch einmal']);
  const listed = await mustAnswer(app, 'GET', '/single-send/languages', { query: { utr: body.message.utr } });
  t.match(listed.body.message.languages, [
    { language: 'de', subject: 'Noch einmal' },
    { language: 'fr', subject: '', preheader: 'Nouvelles' },
  ]);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'owner', { name: 'owner' })) };
  const page = await app.page('GET', `/campaigns/${utr}/again`, { headers });
  t.match(page.text, /New subject in German[\s\S]*Previous subject: Hallo[\s\S]*New subject in French/);
  const refused = await app.page('POST', `/campaigns/${utr}/again`, {
    headers,
    form: { subject: 'x', 'subject-de': '' },
  });
  t.equal(refused.status, 422);
  const made = await app.page('POST', `/campaigns/${utr}/again`, {
    headers,
    form: { subject: 'x', 'subject-de': 'Neu' },
  });
  t.equal(made.status, 303);
});
