/** Mails of automations in other languages: who gets which version, changes while it is live, previews and what is refused. */
import t from 'tap';
import { mailsOf, withWelcomeSeries } from '../support/automations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

async function withVersions(t: Parameters<typeof withWelcomeSeries>[0]) {
  const world = await withWelcomeSeries(t);
  const { app, utr: automation, get, post } = world;
  const [first] = (await get('/automations/schedule', { utr: automation })).body.message.automation_schedules;
  const utr: string = first.utr;
  const { id: template } = await post('/templates/create', {
    template_name: 'German',
    template_html: '<p>Guten Tag ((first_name)) <a href="https://example.com/b">hier</a></p>',
  });
  const save = (form: Record<string, unknown>) =>
    app.one.call('POST', '/automations/schedule/languages', { form: { utr, ...form } });
  const enter = (name: string, more: object) =>
    post('/contacts/add', { contact_type_id: 1, email: `${name}@example.org`, first_name: name, country: 1, ...more });
  return { ...world, mail: utr, automation, template, save, enter };
}

t.test(
  'each contact gets the version in their language, also one that is added or changed while it is live',
  async (t) => {
    const { app, mail: utr, automation, template, save, enter, get, live } = await withVersions(t);
    t.equal((await save({ language: 'de', subject: 'eins', template_id: template })).status, 200);
    await live();
    await enter('ann', { language: 'de' });
    await enter('bob', { language: 'fr' });
    await enter('cy', {});
    await app.background();
    const subjects = () => Object.fromEntries(mailsOf(app).map(({ to, subject }) => [to.split('@')[0], subject]));
    t.strictSame(subjects(), { ann: 'eins', bob: 'one', cy: 'one' });
    t.match(app.db.prepare("SELECT raw FROM outbox WHERE subject = 'eins'").pluck().get()?.toString(), /Guten Tag/);
    const { languages, account_language, missing } = (await get('/automations/schedule/languages', { utr })).body
      .message;
    t.strictSame(languages, [{ language: 'de', subject: 'eins', preheader: '', template_id: template }]);
    t.equal(account_language, 'en');
    t.match(
      missing.find(({ language }: { language: string }) => language === 'fr'),
      { count: 1 },
      'who has no version is counted',
    );
    t.match((await get('/automations/series', { utr: automation })).body.message.series.mails[0].languages, ['de']);

    t.equal((await save({ language: 'fr', subject: 'un' })).status, 200);
    await enter('dee', { language: 'fr' });
    await app.background();
    t.equal(subjects().dee, 'un');
    const removed = await app.one.call('POST', '/automations/schedule/languages/remove', {
      form: { utr, language: 'fr' },
    });
    t.equal(removed.status, 200);
    await enter('eve', { language: 'fr' });
    await app.background();
    t.equal(subjects().eve, 'one');
  },
);

t.test('a version is shown, checked and sent as a test by its number', async (t) => {
  const { app, mail: utr, template, save, get } = await withVersions(t);
  await save({ language: 'de', subject: 'eins', template_id: template });
  const shown = (await get('/automations/schedule/mail', { utr, variant: 1 })).body.message.mail;
  t.match(shown, { subject: 'eins', html: /Guten Tag[\s\S]*Abmelden oder Einstellungen/ });
  t.match((await get('/automations/schedule/mail', { utr })).body.message.mail, { subject: 'one' });
  t.equal((await get('/automations/schedule/mail', { utr, variant: 2 })).status, 422);
  const test = { utr, variant: 1, email_address: 'me@example.org' };
  t.equal((await app.one.call('POST', '/automations/schedule/test', { form: test })).status, 200);
  await app.background();
  t.match(mailsOf(app), [{ to: 'me@example.org', subject: 'eins' }]);
});

t.test('what makes no version is refused, and a broken one keeps a live automation as it was', async (t) => {
  const { app, mail: utr, template, save, enter, post, live } = await withVersions(t);
  t.match((await save({ language: 'xx', subject: 'a' })).body.errors, { language: [] });
  t.match((await save({ language: 'de' })).body.errors, { subject: [] });
  t.equal((await save({ language: 'de', subject: 'a', unchanged_since: '2020-01-01T00:00:00.000000Z' })).status, 409);
  const other = await app.two.call('POST', '/automations/schedule/languages', {
    form: { utr, language: 'de', subject: 'a' },
  });
  t.equal(other.status, 404);
  await save({ language: 'de', subject: 'eins', template_id: template });
  await live();
  await post('/templates/update', { id: template, template_html: ' ' });
  app.db.exec("UPDATE own_templates SET html_code = ''");
  t.equal((await save({ language: 'fr', subject: 'un' })).status, 409, 'a version that cannot be made is named');
  await enter('ann', { language: 'de' });
  await app.background();
  t.match(mailsOf(app), [{ subject: 'eins' }]);
});

t.test('versions are beside the mail; a viewer changes none', async (t) => {
  const { app, mail: utr, automation } = await withVersions(t);
  const headersOf = (role: 'owner' | 'viewer') => ({
    ...FROM_PAGE,
    cookie: cookieOf(app, addPerson(app, role, { name: role })),
  });
  const [owner, viewer] = [headersOf('owner'), headersOf('viewer')];
  const path = `/automations/${automation}/mails/${utr}`;
  const open = async (page: string) => (await app.page('GET', `${path}/${page}`, { headers: owner })).text;
  t.match(await open('content'), /Everybody gets the e-mail in the same language/);
  const form = { language: 'de', subject: '<b>eins</b>', preheader: '', template_id: '' };
  await app.page('POST', `${path}/languages`, { headers: viewer, form });
  t.equal(app.db.prepare('SELECT count(*) FROM automation_schedules WHERE languages IS NOT NULL').pluck().get(), 0);
  t.equal((await app.page('POST', `${path}/languages`, { headers: owner, form })).status, 303);
  t.match(await open('languages'), /German<\/h[1-6]>[\s\S]*value="&lt;b>eins/);
  t.match(await open('check?variant=1'), /<bdi>&lt;b>eins/);
  const removed = await app.page('POST', `${path}/languages/remove`, { headers: owner, form: { language: 'de' } });
  t.equal(removed.status, 303);
});
