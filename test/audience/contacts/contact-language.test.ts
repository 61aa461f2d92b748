/** The language of a contact: what is understood as one, and how it comes in, goes out, and decides what a contact gets. */
import t from 'tap';
import { languageCode, languageOfCountry } from '../../../src/audience/contacts/contact-languages.ts';
import { startApp } from '../../support/app.ts';
import { addReadyForm, askedMails, subscribe } from '../../support/forms.ts';
import { createSend, outboxOf, RECALL, readyToSend } from '../../support/single-sends.ts';

t.test('a language is given by its code, a tag of BCP 47, or its name in a language of public pages', (t) => {
  for (const [given, code] of [
    ['de', 'de'],
    [' DE ', 'de'],
    ['de-AT', 'de'],
    ['pt_BR', 'pt'],
    ['zh-Hant-TW', 'zh'],
    ['German', 'de'],
    ['deutsch', 'de'],
    ['Français', 'fr'],
    ['polski', 'pl'],
    ['iw', 'he'],
    ['yi', 'yi'],
    ['qq', null],
    ['', null],
    ['d', null],
    ['deu', null],
    ['de;drop', null],
    ['Klingon', null],
    ['de-'.repeat(40), null],
    ['constructor', null],
  ] as const)
    t.equal(languageCode(given), code, given);
  for (const [country, code] of [
    ['Germany', 'de'],
    ['Austria', 'de'],
    ['Brazil', 'pt'],
    ['Mexico', 'es'],
    ['Atlantis', null],
    ['', null],
  ] as const)
    t.equal(languageOfCountry(country), code, country);
  t.end();
});

t.test(
  'requests set, keep and clear it; the answers of the contract do not have it, those about the person do',
  async (t) => {
    const { one, db } = await startApp(t);
    await one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
    const stored = () => db.prepare<[], string>('SELECT language FROM contacts ORDER BY id').pluck().all();
    const contact = { contact_type_id: 1, email: 'ann@example.org', country: 1 };
    const wrong = await one.call('POST', '/contacts/add', { form: { ...contact, language: 'Narnian' } });
    t.equal(wrong.status, 422);
    t.strictSame(Object.keys(wrong.body.errors), ['language']);
    t.equal((await one.call('POST', '/contacts/add', { form: { ...contact, language: 'de-AT' } })).status, 200);
    t.strictSame(stored(), ['de']);
    const update = { ...contact, contact_id: 1 };
    await one.call('POST', '/contacts/update', { form: { ...update, first_name: 'Ann' } });
    t.strictSame(stored(), ['de'], 'it stays where a request does not name it');
    const { person } = (await one.call('GET', '/contacts/person', { query: { contact_id: 1 } })).body.message;
    t.equal(person.contacts[0].language, 'de');
    t.notOk(
      'language' in (await one.call('GET', '/contacts/details', { query: { contact_id: 1 } })).body.message.contact,
    );
    const upserted = await one.call('POST', '/contacts/upsert', {
      json: {
        contact_type_id: 1,
        contacts: [
          { email: 'ann@example.org', language: 'French' },
          { email: 'bo@example.org', language: 'pt_BR' },
          { email: 'cy@example.org', language: 'x' },
          { email: 'dee@example.org', language: 7 },
        ],
      },
    });
    t.match(upserted.body.message, { created: 1, updated: 1, failed: 2 });
    t.strictSame(stored(), ['fr', 'pt']);
    await one.call('POST', '/contacts/update', { form: { ...update, language: '' } });
    t.strictSame(stored(), ['', 'pt']);
  },
);

t.test('a file brings it in and takes it out, and undoing the import gives back the one before', async (t) => {
  const app = await startApp(t);
  const { one, db } = app;
  await one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  await one.call('POST', '/contacts/upsert', {
    json: { contact_type_id: 1, email: 'ann@example.org', language: 'nl' },
  });
  const content =
    'email,Language\nann@example.org,Deutsch\nbo@example.org,en-GB\ncy@example.org,??\ndee@example.org,\n';
  await one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', { filename: 'contacts.csv', content }],
    ],
  });
  t.equal(db.prepare('SELECT failed FROM contact_imports').pluck().get(), 1, 'an unknown language fails its row');
  const stored = () =>
    db.prepare<[], string>('SELECT language FROM contacts WHERE deleted_at IS NULL ORDER BY id').pluck().all();
  t.strictSame(stored(), ['de', 'en', '']);
  const { text } = await one.call('GET', '/contacts/export', { query: { contact_type_id: 1 } });
  t.match(text.split('\r\n')[0], /"postal_code","language"$/);
  t.match(text.split('\r\n')[1], /,de$/);
  app.clock.advance(1000);
  const { id } = db.prepare<[], { id: number }>('SELECT id FROM contact_imports').get() ?? {};
  await one.call('POST', '/contacts/imports/undo', { form: { id } });
  await app.background();
  t.strictSame(stored(), ['nl']);
});

t.test(
  'a custom field of that name from an earlier release keeps its meaning, and no new one may have it',
  async (t) => {
    const app = await startApp(t);
    const { one, db } = app;
    await one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
    for (const field_name of ['language', 'Topic'])
      t.equal(
        (await one.call('POST', '/custom-fields/save', { form: { field_name, field_type: 'text' } })).status,
        422,
      );
    db.exec(`INSERT INTO custom_fields (user_id, field_name, field_type, created_at, updated_at)
    VALUES (1, 'language', 'text', '2026-01-01', '2026-01-01')`);
    const custom_field = { language: 'Plattdeutsch' };
    await one.call('POST', '/contacts/upsert', {
      json: { contact_type_id: 1, email: 'ann@example.org', custom_field },
    });
    const { text } = await one.call('GET', '/contacts/export', { query: { contact_type_id: 1 } });
    t.match(text, /"postal_code","language"\r\n.*,Plattdeutsch\r\n$/);
    const searched = await one.call('GET', '/contacts/search', { query: { field: 'language', value: 'plattdeutsch' } });
    t.equal(searched.body.message.contacts.length, 1);
  },
);

t.test('whoever subscribes by a form has its language, unless they have one', async (t) => {
  const app = await startApp(t);
  const form = await addReadyForm(t, app, { language: 'de' });
  await app.one.call('POST', '/contacts/upsert', {
    json: { contact_type_id: 1, email: 'bo@example.org', language: 'pl' },
  });
  await app.one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, email: 'cy@example.org' } });
  for (const email of ['ann@example.org', 'bo@example.org', 'cy@example.org']) await subscribe(app, form, email);
  for (const { path } of await askedMails(app)) await app.page('POST', path);
  const rows = app.db.prepare('SELECT email, language FROM contacts ORDER BY email').all();
  t.strictSame(rows, [
    { email: 'ann@example.org', language: 'de' },
    { email: 'bo@example.org', language: 'pl' },
    { email: 'cy@example.org', language: 'de' },
  ]);
});

t.test(
  'segments and conditions of mails ask for the language, and conditions for the topics that a contact gets',
  async (t) => {
    const { app, body } = await readyToSend(t);
    const { one } = app;
    for (const group_name of ['Offers', 'Events'])
      await one.call('POST', '/unsubscribes-groups/save', { form: { group_name, description: 'x', is_display: 1 } });
    const contacts = [
      { email: 'ann@example.org', language: 'de' },
      { email: 'bob@example.org', language: 'fr' },
    ];
    await one.call('POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } });
    await one.call('POST', '/unsubscribes-groups/manually-add', {
      form: { unsubscribe_groups_id: 2, email_address: 'bob@example.org' },
    });
    const segment = await one.call('POST', '/segment/store', {
      form: {
        segment_name: 'German',
        contact_type_id: 1,
        query_type: 'and',
        'select_field[0]': 'language',
        'select_operator[0]': 'is',
        'value[0]': 'DE',
      },
    });
    t.equal(segment.status, 200, segment.text);
    await app.background();
    t.equal(app.db.prepare('SELECT segment_emails_count FROM segments').pluck().get(), 1);
    const utr = await createSend(app, {
      ...body,
      subject: '((if language = "de"))Hallo((else))Hello((end))',
      template_html:
        '<p>((if topic = "offers"))With offers((end))((if topic != "Offers"))Without offers((end))((if topic is "News" and language = "fr"))French only((end))</p>',
    });
    t.type(utr, 'string');
    app.clock.advance(RECALL);
    await app.background();
    const mails = new Map(outboxOf(app).map(({ envelope_to, raw }) => [envelope_to, raw.toString()]));
    t.match(mails.get('ann@example.org'), /Subject: Hallo\r\n[\s\S]*With offers/);
    t.match(mails.get('bob@example.org'), /Subject: Hello\r\n[\s\S]*Without offers[\s\S]*French only/);
    t.match(mails.get('zoe@example.org'), /Subject: Hello\r\n[\s\S]*With offers/);
    t.notMatch(mails.get('zoe@example.org'), 'French only');
  },
);
