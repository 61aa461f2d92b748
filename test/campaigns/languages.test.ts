/** Versions of a campaign in other languages: who gets which, what the check and the report count, and what is refused. */
import t from 'tap';
import { PREFERENCES_LINK } from '../../src/delivery/content/footer.ts';
import type { PageLanguage } from '../../src/languages.ts';
import { readOutbox } from '../support/campaign.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { createSend, outboxOf, RECALL, readyToSend, sendReport } from '../support/single-sends.ts';

/** A campaign in English to contacts who speak German, French by their country, Polish, and something unknown. */
async function withVersions(t: Parameters<typeof readyToSend>[0]) {
  const { app, body } = await readyToSend(t);
  const { one, db } = app;
  const contacts = [
    { email: 'ann@example.org', first_name: 'Ann', language: 'de' },
    { email: 'bob@example.org', first_name: 'Bob', country: 'France' },
    { email: 'zoe@example.org', first_name: 'Zoe', language: 'pl' },
    { email: 'cy@example.org', first_name: 'Cy' },
    { email: 'dee@example.org', first_name: 'Dee', country: 'France', language: 'en' },
  ];
  await one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } });
  const { body: made } = await one.call('POST', '/templates/create', {
    json: {
      template_name: 'German',
      template_html:
        '<html lang="de"><p>Guten Tag ((first_name)) <a href="https://example.com/b">hier</a> <a href="((web_copy))">Web</a></p></html>',
    },
  });
  const template = made.message.id;
  const utr = await createSend(app, {
    ...body,
    subject: 'Hello ((first_name))',
    preheader: 'News',
    schedule_type: 1,
    schedule_date: '2030-01-01',
    schedule_time: '10:00:00',
  });
  const save = (form: Record<string, unknown>) =>
    one.call('POST', '/single/send/languages', { form: { utr, ...form } });
  return { app, one, db, utr, template, save };
}

t.test(
  'each contact gets the version in their language: their own, else that of their country, else the mail itself',
  async (t) => {
    const { app, one, utr, template, save } = await withVersions(t);
    t.equal((await save({ language: 'German', subject: 'Hallo ((first_name))', template_id: template })).status, 200);
    t.equal((await save({ language: 'fr-CA', subject: 'Salut', preheader: 'Nouvelles' })).status, 200);
    const { languages, account_language } = (await one.call('GET', '/single-send/languages', { query: { utr } })).body
      .message;
    t.equal(account_language, 'en');
    t.strictSame(languages, [
      { language: 'de', subject: 'Hallo ((first_name))', preheader: '', template_id: template },
      { language: 'fr', subject: 'Salut', preheader: 'Nouvelles', template_id: 0 },
    ]);
    const { check } = (await one.call('POST', '/check', { form: { utr } })).body.message;
    const missing = (findings: { code: string }[]) => findings.filter(({ code }) => code === 'language_missing');
    t.match(missing(check.recipients.findings), [{ name: 'pl', count: 1, severity: 'note', contact_id: 3 }]);
    const mail = (await one.call('GET', '/single-send/mail', { query: { utr, variant: 1 } })).body.message.mail;
    t.match(mail.html, 'Guten Tag');
    app.db.exec('UPDATE single_sends SET status = 1, schedule_type = 0, starts_at = 0');
    app.clock.advance(RECALL);
    await app.background();
    const mails = await readOutbox(app);
    const subjects = Object.fromEntries(mails.map(({ to, subject }) => [to, subject]));
    t.strictSame(subjects, {
      'ann@example.org': 'Hallo Ann',
      'bob@example.org': 'Salut',
      'zoe@example.org': 'Hello Zoe',
      'cy@example.org': 'Hello Cy',
      'dee@example.org': 'Hello Dee',
    });
    const german = mails.find(({ to }) => to === 'ann@example.org');
    t.match(german?.html, /Guten Tag Ann[\s\S]*Abmelden oder Einstellungen/, 'with the footer of its language');
    const polish = mails.find(({ to }) => to === 'zoe@example.org');
    t.ok(
      polish?.html.includes(PREFERENCES_LINK.en),
      'who gets no version of their own gets no footer of another language',
    );
    t.match(
      (await app.page('GET', german?.paths.w ?? '')).text,
      'Guten Tag Ann',
      'its web copy is in the same language',
    );
    const clicked = await app.page('GET', german?.paths.c ?? '');
    t.equal(clicked.headers.location, 'https://example.com/b', 'its links lead to its own targets');
    const report = await sendReport(app, utr);
    t.match(missing(report.findings), [{ code: 'language_missing', count: 1, names: ['pl'] }]);
  },
);

t.test('the footer of a mail without versions is in the language of each contact', async (t) => {
  const { app } = await withVersions(t);
  await app.one.call('POST', '/sending/mails/save', { form: { language: 'it' } });
  app.db.exec('UPDATE single_sends SET status = 1, schedule_type = 0, starts_at = 0');
  app.clock.advance(RECALL);
  await app.background();
  const mails = await readOutbox(app);
  const has = (name: string, language: PageLanguage) => {
    const mail = mails.find(({ to }) => to === `${name}@example.org`);
    t.ok(mail?.html.includes(`>${PREFERENCES_LINK[language]}</a>`), `${name}: ${language}`);
  };
  for (const [name, language] of [
    ['ann', 'de'],
    ['bob', 'fr'],
    ['zoe', 'pl'],
    ['cy', 'it'],
    ['dee', 'en'],
  ] as const)
    has(name, language);
});

t.test('contacts whose language is unknown have that of the account', async (t) => {
  const { app, one, utr, save } = await withVersions(t);
  t.equal((await one.call('POST', '/sending/mails/save', { form: { language: 'Klingon' } })).status, 422);
  t.equal((await one.call('POST', '/sending/mails/save', { form: { language: 'pt-BR' } })).status, 200);
  t.equal((await one.call('GET', '/sending/mails')).body.message.settings.language, 'pt');
  await save({ language: 'pt', subject: 'Bom dia' });
  app.db.exec('UPDATE single_sends SET status = 1, schedule_type = 0, starts_at = 0');
  app.clock.advance(RECALL);
  await app.background();
  const raw = outboxOf(app)
    .find(({ envelope_to }) => envelope_to === 'cy@example.org')
    ?.raw.toString();
  t.match(raw, 'Subject: Bom dia');
  t.match(
    (await sendReport(app, utr)).findings.filter(({ code }: { code: string }) => code === 'language_missing').length,
    4,
  );
});

t.test('what makes no version is refused, with the field', async (t) => {
  const { app, one, utr, template, save } = await withVersions(t);
  const fault = async (form: Record<string, unknown>) => Object.keys((await save(form)).body.errors ?? {}).join();
  t.equal(await fault({ language: 'xx', subject: 'a' }), 'language');
  t.equal(await fault({ language: 'de' }), 'subject');
  t.equal(await fault({ language: 'de', template_id: 9999 }), 'template_id');
  t.equal(await fault({ language: 'de', template_id: 'x' }), 'template_id');
  t.equal(await fault({ language: 'de', subject: '((if city))a' }), 'subject', 'a condition without its end');
  t.equal(await fault({ language: 'de', subject: 'a', preheader: '((if city =))a((end))' }), 'preheader');
  t.equal((await save({ language: 'de', subject: 'a', utr: 'nobody' })).status, 404);
  const other = await app.two.call('POST', '/single/send/languages', { form: { utr, language: 'de', subject: 'a' } });
  t.equal(other.status, 404, "another account's campaign is unknown");
  t.equal((await app.two.call('GET', '/single-send/languages', { query: { utr } })).status, 404);
  t.equal((await save({ language: 'de', subject: 'a', unchanged_since: '2020-01-01T00:00:00.000000Z' })).status, 409);

  t.equal((await save({ language: 'de', subject: 'a', template_id: template })).status, 200);
  const test = { utr, subjects: ['B'], winner_by: 'hand' };
  const tested = await one.call('POST', '/single/send/variants', { form: test });
  t.match(tested.body.errors, { subjects: ['A campaign cannot have an A/B test and versions in other languages.'] });
  const remove = (form: Record<string, unknown>) =>
    one.call('POST', '/single/send/languages/remove', { form: { utr, ...form } });
  t.equal((await remove({ language: 'fr' })).status, 404);
  t.equal((await remove({ language: 'de' })).status, 200);
  t.equal((await one.call('POST', '/single/send/variants', { form: test })).status, 200);
  t.match((await save({ language: 'de', subject: 'a' })).body.errors, { language: [/A\/B test/] });
});

t.test('a template that is broken in one language holds the campaign and names it', async (t) => {
  const { app, db, utr, template, save } = await withVersions(t);
  await save({ language: 'de', subject: 'a', template_id: template });
  t.equal((await app.one.call('POST', '/templates/delete', { form: { id: template } })).status, 200);
  db.exec(`UPDATE single_sends SET status = 1, schedule_type = 0, starts_at = 0`);
  app.clock.advance(RECALL);
  await app.background();
  t.equal(outboxOf(app).length, 0);
  const { draft } = (await app.one.call('GET', '/single-send/draft', { query: { utr } })).body.message;
  t.match(draft.held_reason, /The version in the language de:/);
});

t.test('versions are added, changed and removed beside the content; a viewer changes none', async (t) => {
  const { app, utr } = await withVersions(t);
  const headersOf = (role: 'owner' | 'viewer') => ({
    ...FROM_PAGE,
    cookie: cookieOf(app, addPerson(app, role, { name: role })),
  });
  const [owner, viewer] = [headersOf('owner'), headersOf('viewer')];
  const path = `/campaigns/${utr}/edit/languages`;
  const open = async (address = path) => (await app.page('GET', address, { headers: owner })).text;
  t.match(await open(`/campaigns/${utr}/edit/content`), /Everybody gets the e-mail in the same language/);
  const form = { language: 'de', subject: '<b>Hallo</b>', preheader: '', template_id: '' };
  await app.page('POST', path, { headers: viewer, form });
  t.equal(app.db.prepare('SELECT languages FROM single_sends').pluck().get(), null);
  t.equal((await app.page('POST', path, { headers: owner, form })).status, 303);
  t.match(await open(), /German<\/h[1-6]>[\s\S]*value="&lt;b>Hallo/);
  t.match(await open(`/campaigns/${utr}/edit/content`), /There are versions in: German\./);
  t.match(await open(`/campaigns/${utr}/edit/check?variant=1`), /Version[\s\S]*<bdi>&lt;b>Hallo/);
  const refused = await app.page('POST', path, { headers: owner, form: { ...form, language: 'fr', subject: '' } });
  t.equal(refused.status, 422);
  t.match(refused.text, 'A version needs a subject');
  const german = { ...owner, 'accept-language': 'de' };
  const faulty = await app.page('POST', path, { headers: german, form: { ...form, subject: '((if city))Hallo' } });
  t.match(faulty.text, /Die Bedingung in Zeile 1, Spalte 1 .*: ihr \(\(end\)\) fehlt\./);
  const removed = await app.page('POST', `${path}/remove`, { headers: owner, form: { language: 'de' } });
  t.equal(removed.status, 303);
  t.notMatch(await open(), '&lt;b>Hallo');
});
