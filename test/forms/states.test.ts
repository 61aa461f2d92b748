/** The states of forms and of the links in their mails, and what becomes of them with time. */
import t from 'tap';
import { DAY_MS } from '../../src/units.ts';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addForm, addReadyForm, askedMails, subscribe } from '../support/forms.ts';
import { verifySenders } from '../support/sender.ts';

t.test('a link works for seven days, and leads back to the form afterwards', async (t) => {
  const app = await startApp(t);
  const form = await addReadyForm(t, app, { expired_text: 'Too late' });
  await subscribe(app, form, 'anna@example.org');
  const [mail] = await askedMails(app);
  const path = mail?.path ?? '';
  app.clock.advance(7 * DAY_MS);
  t.equal((await app.page('GET', path)).status, 200);
  app.clock.advance(1000);
  for (const method of ['GET', 'POST']) {
    const answer = await app.page(method, path);
    t.equal(answer.status, 410);
    t.match(answer.text, 'Too late');
    t.match(answer.text, `href="${form.path}"`);
  }
  t.equal(app.db.prepare('SELECT count(*) FROM contacts').pluck().get(), 0);
});

t.test('a form that is off, or lacks what it needs, says so and takes nothing', async (t) => {
  const app = await startApp(t, { SENDER_VERIFICATION: 'required' });
  const form = await addReadyForm(t, app, { off_text: 'Closed for now' });
  const must = mustSucceed(t, app.one);
  const read = async () => (await app.one.call('GET', '/forms/details', { query: { id: form.id } })).body.message.form;
  const isClosed = async (off_code: string, off_reason: string) => {
    t.match(await read(), { off_code, off_reason });
    t.match(await app.page('GET', form.path), { status: 200, text: /Closed for now/ });
    t.match(await subscribe(app, form, 'anna@example.org'), { status: 409, text: /Closed for now/ });
    t.equal((await app.page('GET', `${form.path}/challenge`)).status, 404);
  };
  await isClosed('sender_unverified', 'The sender is not verified yet');
  verifySenders(app);
  t.match(await read(), { off_code: null, off_reason: null });
  await must('/forms/save', { id: form.id, is_active: 0 });
  await isClosed('off', 'The form is closed.');
  await must('/forms/save', { id: form.id, is_active: 1 });
  await app.one.call('DELETE', '/sender/delete', { query: { sender_id: 1 } });
  await isClosed('sender_deleted', 'The sender of the form was deleted: choose another one.');
  await app.one.call('DELETE', '/contacts-type/delete', { query: { contact_type_id: 1 } });
  await isClosed('type_deleted', 'The list of the form was deleted: choose another one.');
  t.equal(app.db.prepare('SELECT count(*) FROM form_requests').pluck().get(), 0);
});

t.test('a deleted form and its links lead nowhere, and its mails that still wait are not sent', async (t) => {
  const app = await startApp(t);
  const form = await addReadyForm(t, app);
  await subscribe(app, form, 'anna@example.org');
  const [mail] = await askedMails(app);
  app.clock.advance(1000);
  await subscribe(app, form, 'ben@example.org');
  t.equal((await app.one.call('DELETE', '/forms/delete', { query: { id: form.id } })).status, 200);
  await app.background();
  const sent = app.db.prepare("SELECT envelope_to FROM outbox WHERE envelope_to LIKE '%@example.org'").pluck().all();
  t.strictSame(sent, ['anna@example.org'], 'the second mail is not sent');
  for (const path of [form.path, `${form.path}/sent`, mail?.path ?? ''])
    t.equal((await app.page('GET', path)).status, 404);
  t.equal((await app.page('POST', mail?.path ?? '')).status, 404);
  t.equal((await app.page('POST', form.path)).status, 404);
  t.strictSame(app.db.prepare('SELECT email FROM form_requests').pluck().all(), [''], 'of the waiting mail');
  app.clock.advance(60_000);
  await app.background();
  t.equal(app.db.prepare('SELECT count(*) FROM form_requests').pluck().get(), 0);
  t.equal(app.db.prepare("SELECT count(*) FROM mailings WHERE owner_kind = 'form'").pluck().get(), 0);
  t.notMatch(app.db.prepare('SELECT normalized_email FROM addresses ORDER BY id').pluck().all().join(), /anna|ben/);
});

t.test('whoever did not confirm is forgotten after a month, with their mail', async (t) => {
  const app = await startApp(t);
  const form = await addReadyForm(t, app, { fields: ['first_name'] });
  await subscribe(app, form, 'stranger@example.org', { 'value[first_name]': 'Stranger' });
  await askedMails(app);
  app.db.exec('DELETE FROM outbox');
  // A longer time without the background would be taken for a clock that went wrong.
  const pass = async (days: number) => {
    app.clock.advance(days * DAY_MS);
    await app.background();
  };
  await pass(6);
  t.match(app.db.prepare('SELECT email FROM form_requests').get(), { email: 'stranger@example.org' });
  await pass(2);
  t.match(app.db.prepare('SELECT email, given FROM form_requests').get(), { email: '', given: '{}' });
  for (let week = 0; week < 4; week++) await pass(6);
  const counts = ['form_requests', 'form_mailboxes', 'form_challenges'].map((table) =>
    app.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
  );
  t.strictSame(counts, [0, 0, 0]);
  t.equal(app.db.prepare("SELECT count(*) FROM mailings WHERE owner_kind = 'form'").pluck().get(), 0);
  t.notMatch(app.db.prepare('SELECT normalized_email FROM addresses ORDER BY id').pluck().all().join(), 'stranger');
});

t.test('erasing a person erases what they asked for, and no form asks them again', async (t) => {
  const app = await startApp(t);
  const form = await addReadyForm(t, app);
  await subscribe(app, form, 'anna@example.org');
  const [mail] = await askedMails(app);
  await app.page('POST', mail?.path ?? '');
  app.clock.advance(2 * DAY_MS);
  const other = await addForm(t, app);
  await subscribe(app, other, 'anna@example.org');
  const [, second] = await askedMails(app);
  await mustSucceed(t, app.one)('/contacts/person/erase', { contact_id: 1 });
  t.equal(app.db.prepare('SELECT count(*) FROM form_requests WHERE address_id IS NOT NULL').pluck().get(), 0);
  t.equal((await app.page('POST', second?.path ?? '')).status, 404);
  app.clock.advance(2 * DAY_MS);
  t.equal((await subscribe(app, other, 'anna@example.org')).status, 303);
  t.equal(app.db.prepare("SELECT count(*) FROM form_requests WHERE state = 'asked'").pluck().get(), 0);
  const asked = app.db.prepare('SELECT count(*) FROM consent_log').pluck().get();
  t.equal(asked, 0);
});

t.test('a German form speaks German, and changing the language changes the texts that the owner did not', async (t) => {
  const app = await startApp(t);
  const form = await addReadyForm(t, app, { title: 'Our letter' });
  await mustSucceed(t, app.one)('/forms/save', { id: form.id, language: 'de' });
  const page = await app.page('GET', form.path, { headers: { 'accept-language': 'en' } });
  t.match(page.text, /<html lang="de">.*Our letter.*E-Mail-Adresse.*Abonnieren/s);
  await subscribe(app, form, 'anna@example.org');
  const [mail] = await askedMails(app);
  t.equal(mail?.subject, 'Bitte bestätigen Sie Ihre Anmeldung');
});

t.test('deleting a form forgets whoever did not confirm, with their mail', async (t) => {
  const app = await startApp(t);
  const form = await addReadyForm(t, app);
  for (const name of ['stranger', 'reader']) await subscribe(app, form, `${name}@example.org`);
  const mails = await askedMails(app);
  await app.page('POST', mails.find(({ to }) => to.startsWith('reader'))?.path ?? '');
  await mustSucceed(t, app.one)('/contacts/add', { contact_type_id: 1, email: 'known@example.org', country: 1 });
  await subscribe(app, form, 'known@example.org');
  await askedMails(app);
  t.equal((await app.one.call('DELETE', '/forms/delete', { query: { id: form.id } })).status, 200);
  const addresses = app.db.prepare('SELECT normalized_email FROM addresses ORDER BY id').pluck().all().join();
  t.notMatch(addresses, 'stranger');
  t.match(addresses, /reader@.*known@/);
  t.equal(
    app.db.prepare("SELECT count(*) FROM mailings WHERE owner_kind = 'form'").pluck().get(),
    1,
    'the mail of the one who confirmed',
  );
  t.match(
    app.db
      .prepare(
        "SELECT content ->> '$.content.subject' AS subject, content ->> '$.content.html' AS html FROM mailings WHERE owner_kind = 'form'",
      )
      .get(),
    { subject: 'Please confirm your subscription', html: '[]' },
    'without its text',
  );
});

t.test('whoever was asked twice and confirmed neither time is forgotten, too', async (t) => {
  const app = await startApp(t);
  const form = await addReadyForm(t, app);
  const pass = async (days: number) => {
    app.clock.advance(days * DAY_MS);
    await app.background();
  };
  await subscribe(app, form, 'stranger@example.org');
  await pass(3);
  await subscribe(app, form, 'stranger@example.org');
  for (let week = 0; week < 5; week++) await pass(5.6);
  await pass(1);
  t.equal(app.db.prepare('SELECT count(*) FROM form_requests').pluck().get(), 1, 'the first is removed');
  t.match(app.db.prepare('SELECT normalized_email FROM addresses ORDER BY id').pluck().all().join(), 'stranger');
  await pass(4);
  t.equal(app.db.prepare('SELECT count(*) FROM form_requests').pluck().get(), 0);
  t.notMatch(app.db.prepare('SELECT normalized_email FROM addresses ORDER BY id').pluck().all().join(), 'stranger');
});
