/** An A/B test in the pages for composing: it is added, changed, looked at, tried by a test mail and removed by forms alone. */
import t, { type Test } from 'tap';
import type { TestApp } from '../support/app.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { createSend, outboxOf, readyToSend } from '../support/single-sends.ts';
import { visitor } from '../support/visitor.ts';

type Form = Record<string, string>;

/** A draft, with its pages as somebody of this role opens them. */
async function compose(t: Test) {
  const { app, body } = await readyToSend(t);
  const utr = await createSend(app, { ...body, schedule_type: 1, schedule_date: '2030-01-15', schedule_time: '09:00' });
  const cookie = cookieOf(app, addPerson(app, 'editor', { name: 'Ada' }));
  const base = `/campaigns/${utr}/edit`;
  const page = async (path: string) => (await app.page('GET', base + path, { headers: { ...FROM_PAGE, cookie } })).text;
  const send = async (path: string, form: Form) => {
    const opened = await page('/variants');
    const unchanged_since = /name="unchanged_since" value="([^"]*)"/.exec(opened)?.[1] ?? '';
    return app.page('POST', base + path, { headers: { ...FROM_PAGE, cookie }, form: { unchanged_since, ...form } });
  };
  return { app, utr, page, send, stored: () => storedTest(app, utr) };
}

const storedTest = async (app: TestApp, utr: string) =>
  (await app.one.call('GET', '/single-send/variants', { query: { utr } })).body.message.ab_test;

const TEST = { share: '50', winner_by: 'clicks', hours: '6' };

t.test('a test is added, says what it can find, and is removed again', async (t) => {
  const { page, send, stored } = await compose(t);
  t.match(await page('/content'), /Everybody gets the same e-mail.*Set up an A\/B test/s);
  const empty = await page('/variants');
  t.match(empty, /A: your e-mail as it is.*For \(\(first_name\|you\)\).*Variant B.*Variant C.*Variant D/s);
  t.notMatch(empty, 'What this test can detect');
  // What is filled in at D becomes C: no variant lacks everything of its own.
  const saved = await send('/variants', {
    ...TEST,
    subject_1: ' Second <b> ',
    sender_name_3: 'Ann',
    template_id_3: '5',
  });
  t.match(saved, { status: 303, headers: { location: /\/edit\/variants$/ } });
  const variants = [
    { subject: 'Second <b>', preheader: '', sender_name: '', template_id: 0 },
    { subject: '', preheader: '', sender_name: 'Ann', template_id: 5 },
  ];
  t.strictSame(await stored(), { variants, share: 50, winner_by: 'clicks', hours: 6 });
  const shown = await page('/variants');
  t.match(shown, 'value="Second &lt;b>"');
  t.match(
    shown,
    /What this test can detect.*About 1 contact per variant, divided at random.*1 contact waits for the winner/s,
  );
  t.match(shown, /Opened<!-- -->|Opened: *none, as the groups are too small/);
  t.match(await page('/content'), /Variants A to C go to some contacts.*Change the test/s);
  t.match(await page('/schedule'), /Variants A to C.*What this test can detect/s);
  t.match(shown, /and 3 contacts get A/);
  t.equal((await send('/variants/remove', {})).status, 303);
  t.equal(await stored(), null);
  t.notMatch(await page('/schedule'), 'Variants A to');
});

t.test('a test takes the place of a first part of the recipients, and the page says so before and after', async (t) => {
  const { app, page, send, stored } = await compose(t);
  t.notMatch(await page('/variants'), 'with a first batch cannot');
  app.db.exec('UPDATE single_sends SET canary_percent = 3');
  t.match(await page('/variants'), 'This campaign starts with a first batch.');
  const refused = await send('/variants', { ...TEST, subject_1: 'New', subject_2: 'New' });
  t.match(refused, { status: 422, text: /starts with a first batch/ });
  const saved = await send('/variants', { ...TEST, subject_1: 'New' });
  t.equal(saved.status, 303);
  const flash = /sendlark_flash=([\w-]+)/.exec(String(saved.headers['set-cookie']))?.[1] ?? '';
  t.match(Buffer.from(flash, 'base64url').toString(), 'compose.variants.savedWhole');
  t.match(await stored(), { share: 50 });
  t.equal(app.db.prepare('SELECT max(canary_percent) FROM single_sends').pluck().get(), 0);
  t.notMatch(await page('/variants'), 'with a first batch cannot');
});

t.test('the plan says of how many people opens and clicks are recorded, where these are not all', async (t) => {
  const { app, page, send } = await compose(t);
  await send('/variants', { ...TEST, subject_1: 'New' });
  t.notMatch(await page('/variants'), 'nobody else counts');
  await app.one.call('POST', '/tracking/save', { form: { mode: 'consent' } });
  t.match(await page('/variants'), '0 of them are measured; nobody else counts');
});

t.test('what is wrong with a test is said on its page, with what was written', async (t) => {
  const { app, utr, page, send, stored } = await compose(t);
  const nothing = await send('/variants', TEST);
  t.match(nothing, { status: 422, text: /no variant differs from A/ });
  const same = await send('/variants', { ...TEST, subject_1: 'New', subject_2: 'New' });
  t.match(same, { status: 422, text: /Two variants are the same e-mail/ });
  t.match(same.text, /name="subject_2"[^>]*value="New"|value="New"[^>]*name="subject_2"/);
  const wrong = await send('/variants', { ...TEST, subject_1: 'New', share: '0', hours: 'x', winner_by: 'luck' });
  t.match(wrong, { status: 422, text: /id="share-problem".*id="hours-problem">Enter a whole number\./s });
  t.notMatch(wrong.text, 'must be an integer', 'nothing is said twice');
  t.match(await send('/variants', { ...TEST, subject_1: 'New', template_id_1: '4711' }), { status: 422 });
  const old = await send('/variants', { ...TEST, subject_1: 'New', unchanged_since: '2020-01-01T00:00:00.000000Z' });
  t.match(old, { status: 409, text: /changed in the meantime/ });
  t.equal(await stored(), null);
  const viewer = cookieOf(app, addPerson(app, 'viewer', { name: 'Vic' }));
  const theirs = await app.page('POST', `/campaigns/${utr}/edit/variants`, {
    headers: { ...FROM_PAGE, cookie: viewer },
    form: { ...TEST, subject_1: 'New' },
  });
  t.equal(theirs.status, 403);
  app.db.exec('UPDATE single_sends SET status = 2');
  t.match(await send('/variants', { ...TEST, subject_1: 'New' }), {
    status: 303,
    headers: { location: `/campaigns/${utr}` },
  });
  t.equal(await stored(), null);
  t.match(await page('/variants'), 'A/B test');
});

t.test('each variant is looked at and sent as a test mail', async (t) => {
  const { app, utr, page, send } = await compose(t);
  t.notMatch(await page('/check'), 'name="variant"');
  await send('/variants', { ...TEST, subject_1: 'Second' });
  t.match(await page('/check'), /For (Ann|Bob|Zoë)/);
  const second = await page('/check?variant=1');
  t.match(second, /<bdi>Second<\/bdi>/);
  t.match(second, /\/edit\/mail\?variant=1/);
  t.match(await page('/check?variant=2'), /id="variant-problem"/);
  t.equal((await send('/test', { email_address: 'ada@example.org', test_variant: '1' })).status, 303);
  await app.background();
  const [mail] = outboxOf(app);
  t.match(mail?.raw.toString(), /^Subject: Second\r$/m);
  t.match(await send('/test', { email_address: 'ada@example.org', test_variant: '9' }), {
    status: 422,
    text: /No test was sent/,
  });
  const refusal = async (email_address: string) => (await send('/test', { email_address })).text;
  t.match(await refusal('ada'), 'No test was sent: Enter a valid e-mail address.');
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'gone@example.org' } });
  t.match(await refusal('gone@example.org'), 'gone@example.org (unsubscribed from all mail)');
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'away@example.org' } });
  const form = { email_address: 'gone@example.org, away@example.org' };
  const inGerman = await visitor(app, 'owner', { language: 'de' }).send(`/campaigns/${utr}/edit/test`, form);
  const refused = 'gone@example.org (Von allen Mails abgemeldet), away@example.org (Von allen Mails abgemeldet)';
  t.match(inGerman.text, refused);
  t.match(await refusal(Array.from({ length: 11 }, (_, at) => `a${at}@example.org`).join()), /No test was sent: .*10/);
  const cookie = cookieOf(app, addPerson(app, 'viewer', { name: 'Vic' }));
  const preview = (query: string) =>
    app.page('GET', `/campaigns/${utr}/preview${query}`, { headers: { ...FROM_PAGE, cookie } });
  t.match((await preview('?variant=1')).text, /<bdi>Second<\/bdi>.*preview\/mail\?variant=1/s);
  t.ok((await preview('?variant=7')).status < 500);
});
