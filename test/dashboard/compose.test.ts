/** Composing a mailing by sending forms, without scripts. */
import t, { type Test } from 'tap';
import type { Role } from '../../src/database/schema/index.ts';
import { messages } from '../../src/errors/field-errors.ts';
import { recordSeenDomains, type SeenDomain } from '../../src/installation/health-checks/doctor-findings.ts';
import { Language } from '../../src/ui/words/index.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { HOSTILE } from '../support/dashboard/filled-account.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { SENDER } from '../support/sender.ts';
import { createSend, outboxOf, RECALL, readyToSend, sendDetails } from '../support/single-sends.ts';

type Form = Record<string, unknown> | [string, string][];

/** Opens pages and sends their forms as a user of this role. A form has what the page's hidden inputs have, unless it is given. */
function writer(app: TestApp, role: Role = 'editor', name: string = role, language = 'en-GB') {
  const session = cookieOf(app, addPerson(app, role, { name, email: `${name}@example.org` }));
  let flash = '';
  const ask = async (method: 'GET' | 'POST', path: string, form?: Form) => {
    const cookie = `${session}; ${flash}`;
    const headers = { ...FROM_PAGE, cookie, 'accept-language': language };
    const answer = await app.page(method, path, { headers, ...(form && { form }) });
    flash = String(answer.headers['set-cookie'] ?? '').split(';')[0] ?? '';
    return answer;
  };
  const get = async (path: string) => (await ask('GET', path)).text;
  const post = (path: string, form: Form = {}) => ask('POST', path, form);
  /** What the forms of a page send along. */
  const carried = (page: string) => ({
    unchanged_since: /name="unchanged_since" value="([^"]*)"/.exec(page)?.[1] ?? '',
    seen: /name="seen" value="([^"]*)"/.exec(page)?.[1] ?? '',
  });
  const open = async (path: string) => {
    const page = await get(path);
    return { page, send: (form: Form) => post(path, { ...carried(page), ...form }) };
  };
  return { get, post, open };
}

/** Begins a mailing with a name; gives its utr. */
async function begin(t: Test, { post }: ReturnType<typeof writer>, name = 'Spring'): Promise<string> {
  const { status, headers } = await post('/campaigns/new', { single_send_name: name });
  t.equal(status, 303);
  return /^\/campaigns\/([0-9a-f-]{36})\/edit\/audience$/.exec(String(headers.location))?.[1] ?? '';
}

const AUDIENCE = { recipient_id: 'contacts_1', sender_id: '1', unsubscribe_group_id: '1' };
const CONTENT = { subject: 'For ((first_name|you))', preheader: 'News', single_send_name: 'Spring' };

/** Gives a mailing everything it needs. */
async function fill(ada: ReturnType<typeof writer>, utr: string) {
  await (await ada.open(`/campaigns/${utr}/edit/audience`)).send(AUDIENCE);
  await (await ada.open(`/campaigns/${utr}/edit/content`)).send(CONTENT);
  await (await ada.open(`/campaigns/${utr}/edit/html`)).send({
    template_html: '<p>Hello ((first_name)), <a href="https://example.com/a">look</a></p>',
  });
}

t.test('a mailing is made, filled, checked and sent by forms alone', async (t) => {
  const { app } = await readyToSend(t);
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'Bob@example.org' } });
  const ada = writer(app);
  t.match(await ada.get('/campaigns'), 'href="/campaigns/new"');
  t.match(
    (await ada.post('/campaigns/new', { single_send_name: '' })).text,
    /id="single_send_name-problem">This is required\./,
  );
  const utr = await begin(t, ada);
  const step = (name: string) => `/campaigns/${utr}/edit/${name}`;
  t.match(await ada.get(step('schedule')), /Still missing.*An audience.*A subject.*The content/s);
  t.equal((await sendDetails(app, utr)).status, 0);

  const audience = await ada.open(step('audience'));
  t.match(audience.page, /Readers.*Send to Readers.*Goes to nobody yet/s);
  t.equal((await audience.send({ ...AUDIENCE, next: '1' })).headers.location, step('content'));
  t.match(await ada.get(step('audience')), /Goes to 2 contacts.*1 contact is skipped:.*unsubscribed from all mail/s);

  const content = await ada.open(step('content'));
  t.equal((await content.send({ ...CONTENT, next: '1' })).headers.location, step('check'));
  t.match(await ada.get(step('templates')), /Use Newsletter/i);
  const html = await ada.open(step('html'));
  t.equal(
    (await html.send({ template_html: '<p>Hello ((first_name)), <a href="http://localhost/a">look</a></p>' })).status,
    303,
  );
  t.match(await ada.get(step('content')), /Your own HTML\..*edit\/design/s);
  t.match(await ada.get(step('design')), /<iframe class="designer" src="\/design\/[\w.-]+\?lang=en"/);

  const check = await ada.get(`${step('check')}?email=Ann@example.org`);
  t.match(check, 'is incomplete. Add to the sender: Postal code, City.', 'the postal address in the footer');
  t.match(check, /Audience, sender, topic and content are set.*1 link leads nowhere.*localhost.*For Ann/s);
  t.match(await ada.get(`${step('mail')}?email=Ann@example.org`), 'Hello Ann');
  t.match(
    await ada.get(`${step('check')}?email=nobody@example.org`),
    'None of the recipients of this e-mail has this address.',
  );
  const tested = await ada.post(step('test'), { email_address: 'Zoe@example.org' });
  t.equal(tested.status, 303);
  const [, flash = ''] = /sendlark_flash=([\w-]+)/.exec(String(tested.headers['set-cookie'])) ?? [];
  t.match(JSON.parse(Buffer.from(flash, 'base64url').toString()), {
    key: 'compose.test.kept',
    values: { address: 'Zoe@example.org' },
  });
  await app.background();
  t.strictSame(
    outboxOf(app).map(({ envelope_to }) => envelope_to),
    ['zoe@example.org'],
  );

  const schedule = await ada.open(step('schedule'));
  t.match(schedule.page, /10 seconds to undo.*Send to 2 contacts/s);
  t.equal((await schedule.send({ when: 'now' })).headers.location, `/campaigns/${utr}`);
  const counting = await ada.get(`/campaigns/${utr}`);
  t.match(counting, /Sending in 10 seconds\..*Undo send/s);
  t.notMatch(counting, 'Unschedule', 'one button stops it');
  t.equal((await schedule.send({ when: 'now' })).headers.location, `/campaigns/${utr}`, 'pressed twice');
  app.clock.advance(RECALL);
  await app.background();
  t.equal((await sendDetails(app, utr)).delivered, 2);
  t.equal((await ada.post(step('content'), CONTENT)).headers.location, `/campaigns/${utr}`, 'it is sent');
});

t.test('each step that has everything is ticked, and the last one reviews mail, sender and audience', async (t) => {
  const { app } = await readyToSend(t);
  const ada = writer(app);
  const utr = await begin(t, ada);
  const step = (name: string) => `/campaigns/${utr}/edit/${name}`;
  const ticked = async () =>
    [...(await ada.get(step('schedule'))).matchAll(/<li class="done"><a href="[^"]*\/(\w+)"/g)].map(([, name]) => name);
  t.strictSame(await ticked(), []);
  await (await ada.open(step('audience'))).send(AUDIENCE);
  t.strictSame(await ticked(), ['audience']);
  await fill(ada, utr);
  t.strictSame(await ticked(), ['audience', 'content']);
  const review = await ada.get(step('schedule'));
  t.match(review, /<h2[^>]*>Review<.*<iframe sandbox src="[^"]*edit\/mail"/s);
  t.match(review, /In the inbox.*For you.*News.*From.*lark@example\.com.*To.*Readers/s);
  t.notMatch(review, '((first_name', 'a merge tag is shown as in an inbox');
  await ada.post(step('audience'), {
    ...AUDIENCE,
    exclude_specific_recipient_id: 'contacts_1',
    unchanged_since: '',
    seen: '',
  });
  t.match(await ada.get(step('schedule')), 'Readers, without Readers');
});

t.test('the review says what the checks found in the mail and its variants, errors first', async (t) => {
  const { app } = await readyToSend(t);
  const ada = writer(app);
  const utr = await begin(t, ada);
  const step = (name: string) => `/campaigns/${utr}/edit/${name}`;
  await (await ada.open(step('content'))).send(CONTENT);
  await app.one.call('POST', '/single/send/save', { form: { utr, template_html: '<p>Our own words</p>' } });
  t.notMatch(await ada.get(step('schedule')), 'to look at', 'a campaign that lacks its audience is not checked');
  await fill(ada, utr);
  await app.one.call('POST', '/sender/update', {
    form: { ...SENDER, sender_id: 1, state_id: 1, city_id: 1, zip_code: '0001' },
  });
  const write = (code: string) =>
    app.one.call('POST', '/single/send/save', { form: { utr, template_html: `<html lang="en">${code}</html>` } });
  await write('<p>Hello ((first_name)), <a href="https://www.rfc-editor.org/">look</a></p>');
  t.match(await ada.get(step('schedule')), 'All checks passed');
  await write('<p>((last_name)) <a href="https://example.com/a">right</a></p>');
  await app.one.call('POST', '/single/send/variants', { form: { utr, subjects: ['For *|FNAME|*'] } });
  const review = await ada.get(step('schedule'));
  t.match(review, /3 things to look at.*Variant B.*FNAME.*leads to an example address/s, 'errors before warnings');
  t.notMatch(review, 'has no value', 'which is about the contact of a preview');
  t.match(review, `href="${step('check')}"`);
  t.match(review, 'Send to 3 contacts', 'the campaign can be sent all the same');
});

t.test('a test goes to several addresses, and the review says when it was and to whom', async (t) => {
  const { app } = await readyToSend(t);
  const ada = writer(app);
  const [utr, other] = [await begin(t, ada), await begin(t, ada, 'Summer')];
  await fill(ada, utr);
  const step = (name: string) => `/campaigns/${utr}/edit/${name}`;
  const addressField = async () =>
    /<input type="email"[^>]*name="email_address"[^>]*>/.exec(await ada.get(step('check')))?.[0];
  t.match(await ada.get(step('schedule')), 'No test has been sent yet.');
  t.match(await addressField(), /multiple value="editor@example\.org"/, 'the address of the user');
  app.clock.advance(60_000);
  const addresses = 'Ann@example.org, zoe@example.org';
  t.equal((await ada.post(step('test'), { email_address: addresses })).status, 303);
  await app.background();
  t.strictSame(
    outboxOf(app).map(({ envelope_to }) => envelope_to),
    ['Ann@example.org', 'zoe@example.org'],
  );
  const said = 'Last test: 15 Jan 2026, 09:01, to ann@example.org, zoe@example.org.';
  for (const page of ['check', 'schedule']) {
    const text = await ada.get(step(page));
    t.match(text, said, page);
    t.notMatch(text, 'Changes were saved', page);
  }
  t.match(await addressField(), 'value="editor@example.org"', 'of the user, whoever sent the last test');
  app.clock.advance(60_000);
  await (await ada.open(step('content'))).send({ ...CONTENT, subject: 'For you' });
  t.match(await ada.get(step('schedule')), `${said} Changes were saved after this test.`);
  t.notMatch(await ada.get(`/campaigns/${other}/edit/check`), 'Last test', 'of another campaign');
  const { contacts } = (await app.one.call('GET', '/contacts/search', { query: { search: 'zoe' } })).body.message;
  t.equal((await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: contacts[0].id } })).status, 200);
  t.match(await ada.get(step('schedule')), 'to ann@example.org. Changes were saved', 'an erased address is not named');
  app.db.exec("UPDATE mailings SET owner_kind = 'test' WHERE owner_kind = 'single_test'");
  t.match(
    await ada.get(step('schedule')),
    'No test has been sent yet.',
    'a test of an earlier release may be of a template',
  );
});

t.test('the review says if the domain of the sender is not authenticated, with a link for owners', async (t) => {
  const settings = { SMTP_URL: 'smtp://127.0.0.1:1', SENDER_VERIFICATION: 'optional' };
  const { app } = await readyToSend(t, settings);
  const [ada, eva] = [writer(app, 'owner'), writer(app)];
  const utr = await begin(t, ada);
  const review = () => ada.get(`/campaigns/${utr}/edit/schedule`);
  t.notMatch(await review(), 'The DNS records', 'a campaign without an audience has more urgent problems');
  await fill(ada, utr);
  t.match(await review(), /The DNS records of example\.com have not been checked yet.*href="\/settings\/senders#dns"/s);
  const seen = (checks: Partial<SeenDomain['checks']>) => {
    const passed = { SPF: 'ok', DKIM: 'ok', DMARC: 'ok', Alignment: 'ok' } as const;
    const domain = { domain: 'example.com', returnPath: 'example.com', keys: [], checks: { ...passed, ...checks } };
    recordSeenDomains(app.db, [domain], app.clock.now().getTime());
  };
  seen({ SPF: 'fail', DMARC: 'warn' });
  t.match(await review(), /SPF, DMARC of example\.com did not pass the last check\..*href="\/settings\/senders#dns"/s);
  const forEditor = await eva.get(`/campaigns/${utr}/edit/schedule`);
  t.match(forEditor, 'SPF, DMARC of example.com did not pass');
  t.notMatch(forEditor, '/settings/senders#dns');
  seen({ DKIM: 'warn' });
  t.notMatch(await review(), 'did not pass', 'the SMTP server may sign the mail');
  seen({});
  t.notMatch(await review(), 'did not pass');
  app.db.exec("UPDATE senders SET from_email = 'lark@gmail.com'");
  const fromMailbox = await review();
  t.match(fromMailbox, 'The sender is an address at gmail.com.');
  t.notMatch(fromMailbox, 'The DNS records of gmail.com', 'nobody but Google can add them');
});

t.test('the review does not ask for the DNS where no mail leaves this machine', async (t) => {
  const { app } = await readyToSend(t);
  const ada = writer(app, 'owner');
  const utr = await begin(t, ada);
  await fill(ada, utr);
  t.notMatch(await ada.get(`/campaigns/${utr}/edit/schedule`), 'have not been checked yet');
});

t.test('sending a mailing leaves its code exactly as it was written in the designer', async (t) => {
  const { app } = await readyToSend(t);
  const ada = writer(app);
  const utr = await begin(t, ada);
  await fill(ada, utr);
  const html = '\n<p>Hello ((first_name))</p>\n';
  const [, design] = /src="(\/design\/[\w.-]+)\?/.exec(await ada.get(`/campaigns/${utr}/edit/design`)) ?? [];
  const saved = await app.page('POST', design ?? '', { json: { html } });
  t.equal(saved.status, 200);
  await (await ada.open(`/campaigns/${utr}/edit/schedule`)).send({ when: 'now' });
  t.match(await sendDetails(app, utr), { status: 1, template_html: html });
});

t.test('a mailing that rests is stopped with one click and is a draft again', async (t) => {
  const { app } = await readyToSend(t);
  const ada = writer(app);
  const utr = await begin(t, ada);
  await fill(ada, utr);
  await (await ada.open(`/campaigns/${utr}/edit/schedule`)).send({ when: 'now' });
  await ada.post(`/campaigns/${utr}/cancel`);
  app.clock.advance(RECALL);
  await app.background();
  t.strictSame(outboxOf(app), []);
  t.match(await ada.get(`/campaigns/${utr}`), new RegExp(`href="/campaigns/${utr}/edit/audience"`));
});

t.test('a mailing is scheduled in a time zone, and stays scheduled when it is changed', async (t) => {
  const { app } = await readyToSend(t, { TIME_ZONE: 'Europe/Vienna' });
  const ada = writer(app);
  const utr = await begin(t, ada);
  await fill(ada, utr);
  const path = `/campaigns/${utr}/edit/schedule`;
  const early = { when: 'later', date: '2025-01-20', time: '09:00', zone: 'UTC' };
  const past = await (await ada.open(path)).send(early);
  t.equal(past.status, 422);
  t.match(past.text, /value="2025-01-20".*The time must be in the future/s);
  const inGerman = await (await writer(app, 'editor', 'jan', 'de').open(path)).send(early);
  t.match(inGerman.text, 'Der Zeitpunkt muss in der Zukunft liegen.');
  const sent = await (await ada.open(path)).send({ when: 'later', date: '2026-01-20', time: '09:00', zone: 'UTC' });
  t.equal(sent.status, 303);
  t.match(await ada.get(`/campaigns/${utr}`), 'Scheduled for Tuesday, 20 January 2026 at 09:00 (UTC).');
  t.match(await sendDetails(app, utr), { status: 1, schedule_date: '2026-01-20', schedule_time: '10:00:00' });
  t.match(await ada.get(path), /Scheduled for Tuesday, 20 January 2026 at 10:00 \(Europe\/Vienna\)/);

  const stale = await ada.open(path);
  app.clock.advance(1000);
  const content = await ada.open(`/campaigns/${utr}/edit/content`);
  t.match(content.page, 'This campaign is scheduled and stays scheduled');
  t.equal((await content.send({ ...CONTENT, subject: '' })).status, 422);
  t.equal((await content.send({ ...CONTENT, subject: 'Changed' })).status, 303);
  t.match(await sendDetails(app, utr), { status: 1, subject: 'Changed', schedule_time: '10:00:00' });
  const unseen = await stale.send({ when: 'now' });
  t.equal(unseen.status, 409, 'what its sender has not seen does not leave');
  t.match(unseen.text, 'The campaign was changed in the meantime');
  t.match(await sendDetails(app, utr), { status: 1, schedule_type: 1 });
});

t.test('the step to send says whether each contact gets a scheduled campaign at their best hour', async (t) => {
  const { app, body } = await readyToSend(t);
  const ada = writer(app);
  const later = { ...body, schedule_type: 1, schedule_date: '2026-01-20', schedule_time: '09:00' };
  const pageOf = async (form: Record<string, unknown>) =>
    ada.get(`/campaigns/${await createSend(app, form)}/edit/schedule`);
  t.notMatch(await pageOf(later), 'at their best hour within 24 hours.');
  t.match(
    await pageOf({ ...later, best_hour: 1 }),
    'each contact gets the campaign at their best hour within 24 hours.',
  );
});

t.test('of two tabs that change the same, the second sees both versions and chooses', async (t) => {
  const { app } = await readyToSend(t);
  const ada = writer(app, 'editor', 'ada');
  const bob = writer(app, 'editor', 'bob');
  const utr = await begin(t, ada);
  const path = `/campaigns/${utr}/edit/content`;
  const [first, second, third] = [await ada.open(path), await bob.open(path), await bob.open(path)];
  app.clock.advance(1000);
  await first.send({ ...CONTENT, subject: 'From Ada' });
  const refused = await second.send({ ...CONTENT, subject: 'From Bob' });
  t.equal(refused.status, 409);
  t.match(refused.text, /Two versions.*While you were editing, ada saved the campaign.*From Bob.*From Ada/s);
  t.equal((await sendDetails(app, utr)).subject, 'From Ada');
  t.equal((await third.send({ ...CONTENT, subject: 'From Ada' })).status, 303, 'both say the same');

  const mine = Object.fromEntries(
    [...refused.text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
  t.equal((await bob.post(path, { ...mine })).status, 303);
  t.equal((await sendDetails(app, utr)).subject, 'From Bob');
});

t.test('of two tabs that change different steps, neither is asked', async (t) => {
  const { app } = await readyToSend(t);
  const ada = writer(app);
  const utr = await begin(t, ada);
  const audience = await ada.open(`/campaigns/${utr}/edit/audience`);
  const content = await ada.open(`/campaigns/${utr}/edit/content`);
  const html = await ada.open(`/campaigns/${utr}/edit/html`);
  app.clock.advance(1000);
  t.equal((await content.send(CONTENT)).status, 303);
  app.clock.advance(1000);
  t.equal((await audience.send(AUDIENCE)).status, 303);
  t.match(await sendDetails(app, utr), { subject: CONTENT.subject, recipient_id: [{ id: '1', table: 'contacts' }] });
  t.equal((await html.send({ template_html: '<p>Late</p>' })).status, 409, 'content is never replaced unseen');
  const late = await ada.open(`/campaigns/${utr}/edit/schedule`);
  app.clock.advance(1000);
  await (await ada.open(`/campaigns/${utr}/edit/html`)).send({ template_html: '<p>New</p>' });
  const refused = await late.send({ when: 'now' });
  t.equal(refused.status, 409);
  t.match(refused.text, 'The campaign was changed in the meantime');
  t.equal((await sendDetails(app, utr)).status, 0);
});

t.test('a list, a sender and a topic are made in the step, which then has them chosen', async (t) => {
  const app = await startApp(t);
  const ada = writer(app, 'owner');
  const utr = await begin(t, ada);
  const path = (name: string) => `/campaigns/${utr}/edit/${name}`;
  const page = await ada.get(path('audience'));
  t.match(page, /There is no sender yet.*No lists yet/s);
  t.equal(page.match(/<details open/g)?.length, 3, 'what there is none of stands open');
  const refused = await ada.post(path('group'), { group_name: '' });
  t.equal(refused.status, 422);
  t.match(refused.text, /id="group_name-problem">This is required\./);
  const sender = { from_name: 'Lark Books', from_email: 'nobody', company_address: '1 Harbour St', country_id: '1' };
  t.match(
    (await ada.post(path('sender'), sender)).text,
    /value="Lark Books".*id="from_email-problem">Enter a valid e-mail address/s,
    'what was typed stays',
  );
  for (const [name, form] of [
    ['list', { name: 'Readers' }],
    ['sender', { ...sender, from_email: 'hello@example.com' }],
    ['group', { group_name: 'Newsletter' }],
  ] as const)
    t.match(await ada.post(path(name), form), { status: 303, headers: { location: path('audience') } });
  t.match(await sendDetails(app, utr), {
    unsubscribe_group_id: 1,
    sender_id: 1,
    recipient_id: [{ id: '1', table: 'contacts' }],
  });
  t.match(
    await ada.get(path('audience')),
    /<option value="1" selected[^>]*>Not verified: Lark Books.*<option value="1" selected[^>]*>Newsletter/s,
  );
  t.notMatch(await writer(app, 'editor').get(path('audience')), 'New sender', 'an editor may add none');
});

t.test('the only sender is chosen for a draft that was made before it', async (t) => {
  const { app } = await readyToSend(t);
  const ada = writer(app);
  const utr = await begin(t, ada);
  app.db.exec('UPDATE single_sends SET sender_id = 0');
  const audience = await ada.open(`/campaigns/${utr}/edit/audience`);
  t.notMatch(audience.page, 'Choose …');
});

t.test('the check says first what is to be mended, folds away what is good, and leads to the review', async (t) => {
  const { app } = await readyToSend(t);
  const ada = writer(app);
  const utr = await begin(t, ada);
  const step = (name: string) => `/campaigns/${utr}/edit/${name}`;
  await app.one.call('POST', '/single/send/save', { form: { utr, ...CONTENT, template_id: 7 } });
  const check = await ada.get(step('check'));
  t.match(
    check,
    /Sample text is left in 15 places.*One week only.*<details class="passed">.*Every merge tag is known/s,
  );
  t.match(check, `href="${step('design')}?find=One+week+only"`);
  t.match(await ada.get(`${step('design')}?find=One+week+only`), /src="\/design\/[^"]+&amp;find=One\+week\+only"/);
  const primary = [...check.matchAll(/class="(?:button )?primary"[^>]*>([^<]*)/g)].map(([, text]) => text);
  t.strictSame(primary, ['Review and send'], 'one way forward');
  await app.one.call('POST', '/single/send/save', { form: { utr, template_html: '<p>Our own words</p>' } });
  t.notMatch(await ada.get(step('check')), 'Sample text is left');
});

t.test('of a mail of 2 MB the pages show a bounded part, and the checks find the same as in a small one', async (t) => {
  const { app, body } = await readyToSend(t);
  const ada = writer(app);
  const small = '<p>((frist_name)) *|FNAME|* <a href="http://localhost/">here</a></p>';
  const large = `${small}${'<p>Spring "news" &amp; more of it</p>'.repeat(54_000)}`;
  const utrOf = async (template_html: string) => {
    const answer = await app.one.call('POST', '/single/send/create', { form: { ...body, template_html } });
    return answer.body.message.utr;
  };
  const utr = await utrOf(large);
  const check = await ada.get(`/campaigns/${utr}/edit/check`);
  t.ok(check.length < 200_000, `${check.length}`);
  t.match(check, /The first 100,000 characters of 1,[\d,]+\./);
  const checks = (page: string) =>
    [...page.matchAll(/<li><span class="badge[^>]*>.*?<\/li>/gs)]
      .map(([item]) => item.replaceAll(/\/campaigns\/[\w-]+/g, '/campaigns/utr'))
      .filter((item) => !item.includes('Gmail'));
  const usual = await ada.get(`/campaigns/${await utrOf(small)}/edit/check`);
  t.strictSame(checks(check), checks(usual));
  t.equal(checks(check).length, 18);
  t.match(check, /does not exist and stays empty: frist_name.*This merge tag belongs.*: \*\|FNAME\|\*/s);
  t.notMatch(usual, 'The first 100,000');

  const path = `/campaigns/${utr}/edit/html`;
  const html = await ada.open(path);
  t.ok(html.page.length < 300_000);
  t.match(html.page, /This HTML is 1\.9 MB, too large to edit here\..*<textarea[^>]*><\/textarea>/s);
  t.equal(await ada.get(`${path}/code`), large);
  app.clock.advance(1000);
  t.equal((await html.send({ template_html: '<p>Short</p>' })).status, 303);
  t.match(await ada.get(path), /<textarea[^>]*>\s*&lt;p>Short/);
  const refused = await html.send({ template_html: `${large.slice(0, 400_000)}<p>The end</p>` });
  t.equal(refused.status, 409, 'the mail was changed since the page was opened');
  t.match(refused.text, /&lt;p>The end&lt;\/p>\s*<\/textarea>/, 'what is stored nowhere is shown again');
});

t.test('a viewer reaches none of it', async (t) => {
  const { app } = await readyToSend(t);
  const utr = await begin(t, writer(app));
  const guest = writer(app, 'viewer');
  t.notMatch(await guest.get('/campaigns'), '/campaigns/new');
  t.notMatch(await guest.get(`/campaigns/${utr}`), '/edit');
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'viewer', { email: 'v@example.org' })) };
  for (const path of ['new', `${utr}/edit`, `${utr}/edit/audience`, `${utr}/edit/check`, `${utr}/edit/design`])
    t.equal((await app.page('GET', `/campaigns/${path}`, { headers })).status, 403, path);
  for (const path of [
    'new',
    `${utr}/edit/audience`,
    `${utr}/edit/group`,
    `${utr}/edit/content`,
    `${utr}/edit/schedule`,
    `${utr}/edit/test`,
  ])
    t.equal((await app.page('POST', `/campaigns/${path}`, { headers, form: {} })).status, 403, path);
});

t.test('names that look like markup are shown as text, and nothing of another account', async (t) => {
  const { app } = await readyToSend(t);
  const ada = writer(app);
  await app.one.call('POST', '/contacts-type/add', { form: { name: HOSTILE } });
  const utr = await begin(t, ada, HOSTILE);
  await (await ada.open(`/campaigns/${utr}/edit/content`)).send({ ...CONTENT, subject: HOSTILE, preheader: HOSTILE });
  for (const step of ['audience', 'content', 'templates', 'html', 'check', 'schedule'])
    t.notMatch(await ada.get(`/campaigns/${utr}/edit/${step}`), /<script>alert|<img src=x/, step);
  const eve = writer(app, 'owner', 'eve');
  app.db.prepare("UPDATE users SET account_id = 2 WHERE email = 'eve@example.org'").run();
  for (const step of ['audience', 'content', 'templates', 'html', 'design', 'check', 'schedule'])
    t.match(await eve.get(`/campaigns/${utr}/edit/${step}`), /not found|nothing here|no such/i, step);
  t.equal((await eve.post(`/campaigns/${utr}/edit/group`, { group_name: 'Theirs' })).status, 404);
  t.strictSame(app.db.prepare('SELECT group_name FROM unsubscribe_groups').pluck().all(), ['News']);
});

t.test('of an address that is given twice, pages take the first', async (t) => {
  const { app } = await readyToSend(t);
  const ada = writer(app);
  const utr = await begin(t, ada);
  await fill(ada, utr);
  const twice = 'email=Ann@example.org&email=Bob@example.org';
  t.match(await ada.get(`/campaigns/${utr}/edit/check?${twice}`), 'For Ann');
  t.match(await ada.get(`/campaigns/${utr}/edit/mail?${twice}`), 'Hello Ann');
  t.match(await ada.get(`/transactional?${twice}`), 'value="Ann@example.org"');
});

t.test('a page that is refused for several reasons says each in the language of the reader', async (t) => {
  const { app } = await readyToSend(t);
  const cookie = cookieOf(app, addPerson(app, 'editor', { name: 'Eva' }));
  const headers = { ...FROM_PAGE, cookie, 'accept-language': 'de' };
  const { status, text } = await app.page('GET', '/campaigns?before=x&search=a&search=b', { headers });
  t.equal(status, 422);
  t.match(text, 'Bei „Suche“ muss ein Text stehen.');
  t.match(text, /Bei „before id“ muss eine ganze Zahl stehen\./);
});

t.test('a refused text names the field as the page does, and what was deleted', async (t) => {
  const { app } = await readyToSend(t);
  const languages = [
    ['en', 'There is an error in the preview text: ', 'The topic no longer exists. Choose another.'],
    ['de', 'Im Feld „Vorschautext“ ist ein Fehler: ', 'Was bei „Thema“ gewählt ist, gibt es nicht mehr.'],
  ] as const;
  for (const [code, fault, gone] of languages) {
    const ada = writer(app, 'editor', code, code);
    const utr = await begin(t, ada);
    const { send } = await ada.open(`/campaigns/${utr}/edit/content`);
    t.match(await send({ ...CONTENT, preheader: '((if plan))((if))' }), { status: 422, text: fault });
    t.match(new Language(code).sentence(messages.gone('unsubscribe_group_id')), gone);
    const { send: choose } = await ada.open(`/campaigns/${utr}/edit/audience`);
    const below = new Language(code).say('problem.field_gone');
    t.match(await choose({ ...AUDIENCE, unsubscribe_group_id: '99' }), { status: 422, text: below });
  }
});

t.test("a schedule begins in the reader's own zone where none was set for the installation", async (t) => {
  const { app } = await readyToSend(t);
  const ada = writer(app);
  const utr = await begin(t, ada);
  await fill(ada, utr);
  const cookie = `${cookieOf(app, addPerson(app, 'editor', { name: 'Eva' }))}; sendlark_zone=Europe%2FBerlin`;
  const { text } = await app.page('GET', `/campaigns/${utr}/edit/schedule`, { headers: { ...FROM_PAGE, cookie } });
  t.match(text, '<option value="Europe/Berlin" selected');
  t.match(text, /data-weekday/);
});
