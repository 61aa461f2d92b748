/** Subscribing by a form: from the page to the mail, its link and the contact. */
import t from 'tap';
import { USUAL_TEXTS } from '../../src/forms/texts.ts';
import { wordsIn } from '../../src/http/pages/words/index.ts';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addForm, addReadyForm, askedMails, proofOn, solve, subscribe, TYPING_MS } from '../support/forms.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

const contactsOf = async (app: Awaited<ReturnType<typeof startApp>>) =>
  (await app.one.call('GET', '/contacts/list')).body.message.contacts;

t.test('somebody fills in a form, confirms by the link in the mail, and is a contact', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'shoe_size', field_type: 'number' } });
  const form = await addReadyForm(t, app, {
    fields: ['first_name', 'shoe_size'],
    labels: ['Your name'],
    required: ['first_name'],
  });
  const page = await app.page('GET', form.path);
  t.equal(page.status, 200);
  t.match(page.text, 'Your name');
  t.match(
    page.headers['content-security-policy'],
    /^default-src 'none'; .*script-src 'self'; connect-src 'self'; .*frame-ancestors 'none'$/,
  );
  t.notOk(page.headers['set-cookie']);
  app.clock.advance(TYPING_MS);
  const filled = {
    email: ' Anna@Example.org ',
    'value[first_name]': 'Anna',
    'value[custom-1]': '38,75',
    consent: '1',
    proof: await solve(proofOn(page.text)),
  };
  const sent = await app.page('POST', form.path, { form: filled });
  t.equal(sent.status, 303);
  t.match((await app.page('GET', String(sent.headers.location))).text, 'look into your inbox');
  t.strictSame(await contactsOf(app), [], 'nothing is kept before the confirmation');

  const [mail, ...others] = await askedMails(app);
  t.strictSame(others, []);
  t.match(mail, { to: 'anna@example.org', subject: 'Please confirm your subscription' });
  t.match(mail?.raw, 'From: Lark Books <hello@example.com>');
  t.match(mail?.raw, 'Auto-Submitted: auto-generated');
  t.notMatch(mail?.raw, /List-Unsubscribe|<img|\/[oc]\//, 'it is no campaign, and counts nothing');
  t.notMatch(mail?.raw, /Anna@|38\.75/, 'and has nothing in it that was filled in');

  const path = mail?.path ?? '';
  for (const method of ['GET', 'HEAD', 'GET']) t.equal((await app.page(method, path)).status, 200);
  t.strictSame(await contactsOf(app), [], 'a scanner that opens the link confirms nothing');
  t.match((await app.page('GET', path)).text, /Anna@Example\.org.*Your name.*Anna/s);
  t.match((await app.page('POST', path)).text, 'You are subscribed');
  const [contact] = await contactsOf(app);
  t.match(contact, {
    email: 'Anna@Example.org',
    first_name: 'Anna',
    custom_field: { shoe_size: { field_value: '38.75' } },
  });
  t.match((await app.page('GET', path)).text, 'already subscribed');
  t.match((await app.page('POST', path)).text, 'already subscribed');
  t.equal((await contactsOf(app)).length, 1);
  const { forms } = (await app.one.call('GET', '/forms')).body.message;
  t.match(forms[0], { sent: 1, confirmed: 1 });
  const cookie = cookieOf(app, addPerson(app));
  const shown = await app.page('GET', `/forms/${form.id}`, { headers: { ...FROM_PAGE, cookie } });
  t.match(shown.text, '100% of e-mails sent');
});

t.test('the page that confirms names what was filled in and chosen', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  for (const group_name of ['News', 'Offers <b>', 'Events'])
    await must('/unsubscribes-groups/save', { group_name, description: 'd', is_display: 1 });
  const form = await addReadyForm(t, app, { group_ids: ['1', '2', '3'] });
  await subscribe(app, form, 'anna@example.org', { group: ['1', '2'] });
  const [mail] = await askedMails(app);
  const { text } = await app.page('GET', mail?.path ?? '');
  t.match(text, '<dt>Chosen</dt><dd>News</dd><dd>Offers &lt;b></dd>');
  t.notMatch(text, 'Events');
  await app.one.call('DELETE', '/unsubscribes-groups/delete', { query: { id: 1 } });
  t.notMatch((await app.page('GET', mail?.path ?? '')).text, 'News', 'a group that was deleted since');
});

t.test('who confirms and is suppressed meanwhile is told so, and what to do; nobody else is', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  const form = await addReadyForm(t, app, { redirect_url: 'https://shop.example/welcome' });
  await subscribe(app, form, 'anna@example.org');
  const [mail] = await askedMails(app);
  const path = mail?.path ?? '';
  await must('/bounces', { address: 'anna@example.org', kind: 'complaint' });
  const page = await app.page('POST', path);
  t.equal(page.status, 200, 'the page of the owner that welcomes people is not shown');
  t.match(page.text, /suppression list.*write to hello@example\.com/s);
  t.notMatch(page.text, 'You are subscribed');
  const again = await app.page('GET', path);
  t.match(again.text, 'suppression list');
  t.notMatch(again.text, 'already subscribed');
  t.equal((await contactsOf(app)).length, 1, 'the choice is kept');
  const stranger = await subscribe(app, form, 'anna@example.org', {}, '192.0.2.9');
  t.notMatch((await app.page('GET', String(stranger.headers.location))).text, 'suppression list');
  const [{ id }] = (await app.one.call('GET', '/suppressions/list')).body.message.suppressions;
  await app.one.call('DELETE', '/suppressions/delete', { query: { id } });
  t.match((await app.page('GET', path)).text, 'already subscribed', 'after the suppression is lifted it holds');
});

t.test('the consent log and the timeline say what was agreed to, when and from where', async (t) => {
  const app = await startApp(t, { TRUST_PROXY: 'on' });
  const form = await addReadyForm(t, app, { consent_text: 'Yes, write to me' });
  await subscribe(app, form, 'anna@example.org', {}, '2001:db8:1:2:3::4');
  const asked = app.clock.now().toISOString();
  const [mail] = await askedMails(app);
  await mustSucceed(t, app.one)('/forms/save', { id: form.id, consent_text: 'Something else' });
  app.clock.advance(60_000);
  await app.page('POST', mail?.path ?? '', { headers: { 'x-forwarded-for': '198.51.100.7' } });
  const log = app.db.prepare("SELECT * FROM consent_log WHERE action = 'subscribed'").all();
  t.match(log, [
    {
      source: 'form',
      form_name: 'Footer',
      consent_text: 'Yes, write to me',
      asked_at: `${asked.slice(0, -1)}000Z`,
      asked_from: /^2001:db8:1:2/,
      confirmed_from: '198.51.100.7',
      created_at: `${app.clock.now().toISOString().slice(0, -1)}000Z`,
    },
  ]);
  const { moments } = (await app.one.call('GET', '/contacts/timeline', { query: { contact_id: 1 } })).body.message;
  const moment = moments.find(({ kind }: { kind: string }) => kind === 'subscribed');
  t.match(moment, {
    name: 'Footer',
    reason: /^Agreed to “Yes, write to me”\. .*198\.51\.100\.7\.$/,
    reason_code: 'form_consent',
  });
});

t.test('a confirmation fills in what is empty in a contact, and changes nothing else', async (t) => {
  const app = await startApp(t);
  const form = await addReadyForm(t, app, { fields: ['first_name', 'city'] });
  await mustSucceed(t, app.one)('/contacts/add', {
    contact_type_id: 1,
    email: 'anna@example.org',
    first_name: 'Anna',
    country: 3,
  });
  const values = { 'value[first_name]': 'Mallory', 'value[city]': 'Munich' };
  t.equal((await subscribe(app, form, 'ANNA@example.org', values)).status, 303);
  const [mail] = await askedMails(app);
  t.match((await app.page('POST', mail?.path ?? '')).text, 'already subscribed');
  const [contact, ...others] = await contactsOf(app);
  t.strictSame(others, []);
  t.match(contact, { email: 'anna@example.org', first_name: 'Anna', city: 'Munich', country: /./ });
});

t.test('who has left gets mail again only after the confirmed click, of the groups they chose', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  for (const group_name of ['News', 'Offers'])
    await must('/unsubscribes-groups/save', { group_name, description: group_name, is_display: 1 });
  const form = await addReadyForm(t, app, { group_ids: [1, 2] });
  await must('/contacts/add', { contact_type_id: 1, email: 'anna@example.org', country: 1 });
  await must('/global-unsubscribes/save', { email_address: 'anna@example.org' });
  const lists = () => app.db.prepare('SELECT unsubscribe_groups_id FROM unsubscribers ORDER BY id').pluck().all();
  await subscribe(app, form, 'anna@example.org', { group: '1' });
  t.strictSame(lists(), [null], 'the request alone changes nothing');
  const [mail] = await askedMails(app);
  t.match((await app.page('GET', form.path)).text, /News.*Offers/s);
  t.match((await app.page('POST', mail?.path ?? '')).text, 'You are subscribed');
  t.strictSame(lists(), [2], 'the group that was not chosen is left');
  app.clock.advance(25 * 60 * 60 * 1000);
  await subscribe(app, form, 'anna@example.org', { group: '2' });
  const [, second] = await askedMails(app);
  await app.page('POST', second?.path ?? '');
  t.strictSame(lists(), [], 'a group that is chosen later is joined, and none is left');
});

t.test('a confirmation begins automations as adding a contact does, and adds to the segment of the form', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: 1 });
  await addReadyForm(t, app);
  await must('/segment/store', {
    segment_name: 'By form',
    contact_type_id: 1,
    select_field: ['city'],
    select_operator: ['is'],
    value: ['nowhere'],
  });
  const form = await addForm(t, app, { segment_id: 1 });
  for (const automation_for of ['contacts_1', 'segments_1']) {
    const { utr } = (await must('/automations/create', {
      automation_name: automation_for,
      type: 'welcome',
      automation_for,
      unsubscribe_group_id: 1,
    })) as { utr: string };
    await must('/automations/schedule/create', {
      utr,
      sender_id: 1,
      subject: 'Welcome',
      template_id: 1,
      preview_img: 'blank.png',
      template_html: '<p>Hello</p>',
      waiting_type: 'instantly',
      waiting_period: 1,
    });
    t.equal((await app.one.call('GET', '/automations/set-live', { query: { utr } })).status, 200);
  }
  await subscribe(app, form, 'anna@example.org');
  const [mail] = await askedMails(app);
  await app.page('POST', mail?.path ?? '');
  await app.background();
  t.equal(app.db.prepare('SELECT count(*) FROM enrolments').pluck().get(), 2);
});

t.test('after the confirmation people are led where the form says, which its policy allows', async (t) => {
  const app = await startApp(t);
  const form = await addReadyForm(t, app, { redirect_url: 'https://shop.example/thanks?a=1' });
  await subscribe(app, form, 'anna@example.org');
  const [mail] = await askedMails(app);
  const page = await app.page('GET', mail?.path ?? '');
  t.match(page.headers['content-security-policy'], "form-action 'self' https://shop.example;");
  t.match((await app.page('GET', form.path)).headers['content-security-policy'], "form-action 'self';");
  t.match((await app.page('GET', `${form.path}/sent`)).headers['content-security-policy'], "form-action 'none';");
  const confirmed = await app.page('POST', mail?.path ?? '');
  t.match([confirmed.status, confirmed.headers.location], [303, 'https://shop.example/thanks?a=1']);
});

t.test('a contact whose language is known is asked in it, unless the owner has written the texts', async (t) => {
  const app = await startApp(t);
  const { one } = app;
  const form = await addReadyForm(t, app, { language: 'de' });
  const own = await addForm(t, app, { language: 'de', mail_text: 'Schön, dass du da bist!' });
  const contacts = [
    { email: 'ann@example.org', language: 'fr' },
    { email: 'bob@example.org', country: 'Poland' },
    { email: 'eve@example.org', language: 'sv' },
    { email: 'dee@example.org', language: 'fr' },
  ];
  await one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } });
  for (const email of ['ann', 'bob', 'eve', 'new']) await subscribe(app, form, `${email}@example.org`);
  await subscribe(app, own, 'dee@example.org');
  const mails = await askedMails(app);
  const subjects = Object.fromEntries(mails.map(({ to, subject }) => [to.split('@')[0], subject]));
  const of = (language: 'de' | 'fr' | 'pl') => USUAL_TEXTS[language].mail_subject;
  t.strictSame(subjects, { ann: of('fr'), bob: of('pl'), eve: of('de'), new: of('de'), dee: of('de') });

  const pathOf = (name: string) => mails.find(({ to }) => to.startsWith(name))?.path ?? '';
  const page = (await app.page('GET', pathOf('ann'))).text;
  t.match(page, '<html lang="fr">');
  t.ok(
    page.includes(wordsIn('fr').form.confirm) && page.includes(USUAL_TEXTS.de.consent_text),
    'what was agreed to stays',
  );
  t.ok((await app.page('POST', pathOf('bob'))).text.includes(USUAL_TEXTS.pl.already_text));
  t.match((await app.page('GET', pathOf('dee'))).text, '<html lang="de">');
  const language = app.db.prepare<[], string>('SELECT language FROM contacts WHERE country_id IS NOT NULL').pluck();
  t.equal(language.get(), 'de', 'the language that a form adds is that of the form');
});
