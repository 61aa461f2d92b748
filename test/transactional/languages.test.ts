/** Transactional mails in the language of their recipient: versions of the template. */
import t, { type Test } from 'tap';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { outboxOf, readyToSend } from '../support/single-sends.ts';
import { post, sent } from '../support/transactional.ts';

async function withVersions(t: Test) {
  const { app } = await readyToSend(t);
  const add = async (template_name: string, template_html: string): Promise<number> =>
    (await app.one.call('POST', '/templates/create', { form: { template_name, template_html } })).body.message.id;
  const receipt = await add('Receipt', '<p>Thank you: ((order))</p>');
  const german = await add('Quittung', '<p>Vielen Dank: ((order))</p>');
  const save = (form: Record<string, unknown>) =>
    app.one.call('POST', '/templates/languages', { form: { id: receipt, ...form } });
  await save({ language: 'de', subject: 'Quittung ((order))', template_id: german });
  await save({ language: 'fr', subject: 'Reçu' });
  const contacts = [
    { email: 'ann@example.org', language: 'de' },
    { email: 'bob@example.org', country: 'France' },
    { email: 'cy@example.org', language: 'pl' },
  ];
  await app.one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } });
  const mail = (email: string, more: object = {}) => ({
    ...{ sender_id: 1, email, subject: 'Receipt ((order))', template_id: receipt, data: { order: '7' } },
    ...more,
  });
  return { app, receipt, german, save, mail };
}

t.test('a mail is in the language that the call names, else of the contact, else of the account', async (t) => {
  const { app, mail } = await withVersions(t);
  await sent(app, mail('ann@example.org'));
  await sent(app, mail('bob@example.org'));
  await sent(app, mail('cy@example.org'));
  await sent(app, mail('new@example.org'));
  await sent(app, mail('new@example.org', { language: 'German' }));
  await sent(app, mail('ann@example.org', { language: 'fr-CA' }));
  await sent(app, mail('ann@example.org', { language: 'es' }));
  await app.background();
  const mails = app.db
    .prepare<[], { to: string; subject: string; raw: Buffer }>(
      'SELECT envelope_to AS "to", subject, raw FROM outbox ORDER BY id',
    )
    .all()
    .map(({ to, subject, raw }) => [to.split('@')[0], subject, raw.toString().includes('Vielen Dank: 7')]);
  t.strictSame(mails, [
    ['ann', 'Quittung 7', true],
    ['bob', 'Reçu', false],
    ['cy', 'Receipt 7', false],
    ['new', 'Receipt 7', false],
    ['new', 'Quittung 7', true],
    ['ann', 'Reçu', false],
    ['ann', 'Receipt 7', false],
  ]);
  await app.one.call('POST', '/sending/mails/save', { form: { language: 'de' } });
  await sent(app, mail('other@example.org'));
  await app.background();
  t.match(outboxOf(app).at(-1)?.raw.toString(), 'Subject: Quittung 7');
});

t.test('a condition can ask for the language of the mail', async (t) => {
  const { app, mail } = await withVersions(t);
  const subject = '((if language = "de"))Quittung((else))Receipt((end)) ((language))';
  for (const [language, expected] of [
    ['de', 'Quittung de'],
    ['pt-BR', 'Receipt pt'],
  ] as const) {
    await sent(app, { ...mail('ann@example.org', { language }), template_id: 0, text: 'Thanks', subject });
    await app.background();
    t.match(outboxOf(app).at(-1)?.raw.toString(), `Subject: ${expected}\r\n`);
  }
});

t.test('a language that is none is refused, and another language is another request of the same key', async (t) => {
  const { app, mail } = await withVersions(t);
  t.match((await post(app.one, mail('ann@example.org', { language: 'Klingon' }))).body.errors, { language: [] });
  const utr = await sent(app, mail('ann@example.org', { language: 'de' }), 'key');
  t.equal(await sent(app, mail('ann@example.org', { language: 'German' }), 'key'), utr);
  t.equal((await post(app.one, mail('ann@example.org', { language: 'fr' }), 'key')).status, 409);
});

t.test('contacts without a version are counted, and templates of others are unknown', async (t) => {
  const { app, receipt, save } = await withVersions(t);
  const { languages, missing } = (await app.one.call('GET', '/templates/languages', { query: { id: receipt } })).body
    .message;
  t.strictSame(
    languages.map(({ language }: { language: string }) => language),
    ['de', 'fr'],
  );
  t.match(
    missing.find(({ language }: { language: string }) => language === 'pl'),
    { count: 1 },
  );
  t.equal((await app.two.call('GET', '/templates/languages', { query: { id: receipt } })).status, 404);
  t.equal((await save({ id: 1, language: 'de', subject: 'a' })).status, 404, 'built-in templates have no versions');
  t.match((await save({ language: 'de', template_id: 9999 })).body.errors, { template_id: [] });
  const remove = { form: { id: receipt, language: 'fr' } };
  t.equal((await app.one.call('POST', '/templates/languages/remove', remove)).status, 200);
  t.equal((await app.one.call('POST', '/templates/languages/remove', remove)).status, 404);
});

t.test('the page of a template leads to its versions', async (t) => {
  const { app, receipt } = await withVersions(t);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'owner', { name: 'owner' })) };
  t.match(
    (await app.page('GET', `/templates/${receipt}`, { headers })).text,
    /There are versions in: German, French\./,
  );
  const path = `/templates/${receipt}/languages`;
  t.match((await app.page('GET', path, { headers })).text, /value="Quittung \(\(order\)\)"/);
  const form = { language: 'es', subject: 'Recibo', preheader: '', template_id: '' };
  t.equal((await app.page('POST', path, { headers, form })).status, 303);
  t.equal((await app.page('POST', `${path}/remove`, { headers, form: { language: 'es' } })).status, 303);
  t.equal((await app.page('POST', path, { headers, form: { ...form, subject: '' } })).status, 422);
});
