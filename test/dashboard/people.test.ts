/** People in the dashboard: the list, one contact and actions on many, as a user goes through them. */
import t from 'tap';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { fillAccount, HOSTILE } from '../support/dashboard/filled-account.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';
import { visitor } from '../support/visitor.ts';

t.test('the list finds people by name and address and shows hostile names as text', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  const { open } = visitor(app);
  const { status, text } = await open('/contacts');
  t.equal(status, 200);
  t.match(text, 'd20p1@example.org');
  t.notMatch(text, HOSTILE.slice(0, 20));
  const found = (await open('/contacts?search=reader3')).text;
  t.match(found, 'reader3@example.org');
  t.notMatch(found, 'reader4@example.org');
  t.match((await visitor(app, 'owner', { accountId: 2 }).open('/contacts')).text, /class="empty"/);
});

t.test('one person is shown with what happened, to their own account only', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  const { status, text } = await visitor(app).open('/contacts/1');
  t.equal(status, 200);
  t.match(text, 'reader0@example.org');
  t.match(text, 'Autumn reading list', 'the mails they got');
  t.equal((await visitor(app, 'owner', { accountId: 2 }).open('/contacts/1')).status, 404);
});

t.test('a German page of a person names fields, mails and reasons in German', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  const must = mustSucceed(t, app.one);
  await must('/bounces', { address: 'reader0@example.org', kind: 'bounce', diagnostic: '550 no' });
  await must('/global-unsubscribes/save', { email_address: 'reader0@example.org' });
  const { text } = await visitor(app, 'owner', { language: 'de' }).open('/contacts/1');
  t.match(text, '<dt>E-Mail</dt>');
  t.match(text, 'Grund: Bounce: 550 no');
  t.match(text, 'Quelle: durch ein anderes Programm (API) oder im Dashboard');
  t.match(text, /Autumn reading list<\/a> · (Im Test-Postausgang|Wartet|Bounce)/);
});

t.test('countries have their German names on German pages, and contacts are found by them', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  const germany = app.db.prepare<[], number>("SELECT id FROM countries WHERE name = 'Germany'").pluck().get();
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/contacts/add', { contact_type_id: 1, email: 'zoe@example.org', country: germany });
  await must('/contacts/add', { contact_type_id: 1, email: 'ann@example.org', country: 1 });
  const { open } = visitor(app, 'owner', { language: 'de' });
  t.match((await open('/contacts/1')).text, '<dd>Deutschland</dd>');
  const { text } = await open('/contacts?field=country&value=deutschland&fields=country');
  t.match(text, /zoe@example\.org.*<td>Deutschland<\/td>/s);
  t.notMatch(text, 'ann@example.org');
  t.match(text, 'value="Deutschland"', 'the filter keeps the name');
  for (const page of ['/settings/senders/new', '/contacts/1/edit'])
    t.match((await open(page)).text, />Afghanistan<.*>Ägypten<.*>Albanien<.*>Zypern</s, `${page}: in German order`);
});

t.test('a person’s page names the groups they have not left', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  for (const group_name of ['News', 'Events']) {
    await must('/unsubscribes-groups/save', { group_name, description: 'Mail', is_display: 1 });
  }
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/contacts/add', { contact_type_id: 1, email: 'zoe@example.org', country: 1 });
  const { open } = visitor(app);
  const groups = async () => {
    const { text } = await open('/contacts/1');
    t.match(text, 'List: Readers');
    const [, list = ''] = /Subscribed topics(.*?)<\/p>/s.exec(text) ?? [];
    return ['News', 'Events'].filter((name) => list.includes(name));
  };
  t.strictSame(await groups(), ['News', 'Events']);
  await must('/unsubscribes-groups/manually-add', { unsubscribe_groups_id: 2, email_address: 'zoe@example.org' });
  t.strictSame(await groups(), ['News']);
  await must('/global-unsubscribes/save', { email_address: 'zoe@example.org' });
  t.strictSame(await groups(), []);
});

t.test('the people of a contact type are exported as a CSV file, to their own account only', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  const { open } = visitor(app, 'viewer');
  t.match((await open('/contacts')).text, 'action="/contacts/export"');
  const { status, headers, text } = await open('/contacts/export?contact_type_id=1');
  t.match([status, headers['content-type']], [200, 'text/csv; charset=utf-8']);
  t.equal(headers['content-disposition'], 'attachment; filename="contacts.csv"');
  t.equal(headers['cache-control'], 'no-store');
  t.match(text, 'd20p1@example.org');
  t.match(text, /^\ufeff"first_name","last_name"/, 'Excel reads UTF-8 after a byte order mark');
  const german = await app.page('GET', '/contacts/export?contact_type_id=1', {
    headers: { cookie: cookieOf(app, addPerson(app)), 'accept-language': 'de' },
  });
  t.match(german.text, /^\ufeff"first_name";"last_name"/, 'a German Excel divides cells at semicolons');
  const multipart: [string, string | { filename: string; content: string }][] = [
    ['contact_type_id', '1'],
    ['file', { filename: 'contacts.csv', content: german.text }],
  ];
  t.equal((await app.one.call('POST', '/contacts/upload-csv', { multipart })).status, 200, 'it can be imported again');
  const { imports } = (await app.one.call('GET', '/contacts/imports')).body.message;
  t.match(imports.at(-1), { created: 0, failed: 0 });
  t.equal((await visitor(app, 'owner', { accountId: 2 }).open('/contacts/export?contact_type_id=1')).status, 404);
  t.equal((await open('/contacts/export')).status, 404);
});

t.test('whoever chose people but no action is told so', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const form = { whom: 'everything', action: '' };
  const { status, text } = await app.page('POST', '/contacts/actions', { headers, form });
  t.equal(status, 422);
  t.match(text, 'No action was chosen.');
});

t.test('headings sort the list by address and by age, and keep its filter', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  const { open } = visitor(app);
  const table = async (path: string) => {
    const { text } = await open(path);
    const [, sorted] = /<th scope="col" aria-sort="(\w+)"/.exec(text) ?? [];
    const links = [...text.matchAll(/<th scope="col"[^>]*><a href="([^"]*)"/g)].map(([, href = '']) =>
      href.replaceAll('&amp;', '&'),
    );
    const addresses = [...text.matchAll(/<td class="email">([^<]+)</g)].map(([, address = '']) => address);
    return { sorted, links, addresses };
  };
  const newest = await table('/contacts?search=example.org');
  t.equal(newest.sorted, 'descending');
  const [byAddress = '', byAge = ''] = newest.links;
  const sorted = await table(byAddress);
  t.equal(sorted.sorted, 'ascending');
  t.strictSame(sorted.addresses, sorted.addresses.toSorted());
  t.ok(sorted.addresses.every((address) => address.endsWith('example.org')));
  const oldest = await table(byAge);
  t.equal(oldest.sorted, 'ascending');
  t.not(oldest.addresses[0], newest.addresses[0]);
  t.equal(oldest.links[1], '/contacts?search=example.org&order=newest');
});

t.test('a viewer sees people and is offered no changes', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  const { open } = visitor(app, 'viewer');
  const { text } = await open('/contacts');
  t.match(text, 'd20p1@example.org');
  t.notMatch(text, 'type="checkbox" name="ids"');
  t.notMatch(text, 'href="/contacts/import"');
  for (const path of ['/contacts/import', '/contacts/1/erase']) t.equal((await open(path)).status, 403, path);
});

t.test(
  'an action on all that match is refused for nobody, and its exact number is confirmed, however many there are',
  async (t) => {
    const app = await startApp(t);
    await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
    const rows = Array.from({ length: 10_100 }, (_, at) => `reader${at}@example.org`);
    await app.one.call('POST', '/contacts/upload-csv', {
      multipart: [
        ['contact_type_id', '1'],
        ['file', { filename: 'readers.csv', content: `email\n${rows.join('\n')}\n` }],
      ],
    });
    await app.background();
    const { open, send } = visitor(app);
    const ask = (form: Record<string, string>) =>
      send('/contacts/actions', { whom: 'everything', action: 'delete', ...form });
    const nobody = await ask({ search: 'xyzxyz' });
    t.equal(nobody.status, 422);
    t.notMatch(nobody.text, '/contacts/actions/start');
    t.match((await ask({})).text, 'Delete 10,100 contacts?');
    // The search does not count that far, so the action does, before anything is changed.
    const { status, headers } = await ask({ search: 'reader' });
    t.equal(status, 303);
    t.equal(headers.location, '/contacts/actions/1');
    await app.background();
    const { text } = await open('/contacts/actions/1');
    t.match(text, 'Delete 10,100 contacts?');
    const deleted = app.db.prepare<[], number>('SELECT count(*) FROM contacts WHERE deleted_at IS NOT NULL').pluck();
    t.equal(deleted.get(), 0);
    t.equal((await send('/contacts/actions/1/confirm')).status, 303);
    await app.background();
    t.equal(deleted.get(), 10_100);
  },
);

t.test('whoever left the page of an action finds it again', async (t) => {
  const app = await startApp(t);
  await fillAccount(t, app);
  await app.one.call('POST', '/contacts/jobs/start', {
    form: { action: 'move', to_contact_type_id: 2, strIds: [1] },
  });
  await app.background();
  for (const filename of ['spring.csv', 'summer.csv']) {
    await app.one.call('POST', '/contacts/upload-csv', {
      multipart: [
        ['contact_type_id', '1'],
        ['file', { filename, content: 'email\nzoe@example.com\n' }],
      ],
    });
  }
  const { open } = visitor(app);
  t.match((await open('/contacts')).text, 'href="/contacts/recent"');
  const { status, text } = await open('/contacts/recent');
  t.equal(status, 200);
  t.match(text, /href="\/contacts\/actions\/1">Moving contacts to the list Nobody</);
  t.match(text, 'Can be undone');
  t.match(text, /summer\.csv.*spring\.csv/s, 'the newest first');
});

t.test('a contact is added by hand, with a country or without, to a list of the account', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  const { open, send } = visitor(app);
  t.match((await open('/contacts/new')).text, 'href="/settings/lists"', 'without a list there is nowhere to add to');
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/custom-fields/save', { field_name: 'points', field_type: 'number' });
  const post = (form: Record<string, string>) => send('/contacts/new', form);
  t.match((await open('/contacts')).text, 'href="/contacts/new"');
  t.match((await open('/contacts/new')).text, /<option value="1"[^>]*>Readers/);

  const given = { contact_type_id: '1', email: 'zoe@example.org', first_name: '<b>Zoë', country: '', own1: '5' };
  const refused = await post({ ...given, email: 'zoe', own1: 'many' });
  t.equal(refused.status, 422);
  t.match(refused.text, /id="email-problem">Enter a valid e-mail address\./);
  t.match(refused.text, 'The points must be a number, such as 1234.56.');
  t.match(refused.text, 'value="&lt;b>Zoë"', 'what was typed stays');

  t.match(refused.text, 'A number, such as 1234.56.');

  const added = await post({ ...given, own1: '5,5' });
  t.equal(added.headers.location, '/contacts/1');
  const { contact } = (await app.one.call('GET', '/contacts/details', { query: { contact_id: '1' } })).body.message;
  t.match(contact, { email: 'zoe@example.org', first_name: '<b>Zoë', country: '' });
  t.equal(contact.custom_field.points.field_value, '5.5', 'a decimal comma is understood');
  const again = (await post({ ...given, email: 'ZOE@example.org' })).text;
  t.match(again, /id="email-problem">This value is already in use\./);
  t.match(again, 'href="/contacts?search=ZOE%40example.org">Find the contact</a>');
  t.match((await open('/contacts?search=ZOE%40example.org')).text, 'href="/contacts/1"');
  t.equal((await post({ ...given, email: 'ann@example.org', contact_type_id: '99' })).status, 422);

  const viewer = visitor(app, 'viewer');
  t.equal((await viewer.open('/contacts/new')).status, 403);
  t.notMatch((await viewer.open('/contacts')).text, '/contacts/new');
});

t.test(
  'an address with a domain that looks misspelt is questioned before it is added by hand, and kept for who says so',
  async (t) => {
    const app = await startApp(t);
    await mustSucceed(t, app.one)('/contacts-type/add', { name: 'Readers' });
    const { send } = visitor(app);
    const post = (form: Record<string, string>) => send('/contacts/new', form);
    const given = { contact_type_id: '1', email: 'zoe@gmial.com', first_name: 'Zoë', country: '' };
    const asked = await post(given);
    t.equal(asked.status, 422);
    t.match(asked.text, 'Did you mean zoe@gmail.com?');
    t.match(asked.text, /name="as_typed"[^>]*>.*gmial\.com is right/s);
    t.match(asked.text, 'value="Zoë"', 'what was typed stays');
    t.equal(app.db.prepare('SELECT count(*) FROM contacts').pluck().get(), 0);
    t.equal((await post({ ...given, as_typed: '1' })).headers.location, '/contacts/1');
    t.equal((await post({ ...given, email: 'zoe@gmail.com' })).headers.location, '/contacts/2');
    t.match((await post({ ...given, email: 'gmial.com' })).text, /id="email-problem">Enter a valid e-mail address\./);
  },
);

t.test('a contact is unsubscribed and subscribed again on its page, and the audit log names who did it', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers' });
  for (const group_name of ['News', 'Offers'])
    await must('/unsubscribes-groups/save', { group_name, description: group_name, is_display: 1 });
  await must('/contacts/add', { contact_type_id: 1, email: 'zoe@example.org', first_name: 'Zoe', country: 1 });
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const page = async () => (await app.page('GET', '/contacts/1', { headers })).text;
  const lists = () => app.db.prepare('SELECT unsubscribe_groups_id FROM unsubscribers ORDER BY id').pluck().all();
  const unsubscribe = (topic: string, as = headers) =>
    app.page('POST', '/contacts/1/unsubscribe', { headers: as, form: { topic } });
  const viewer = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'viewer')) };
  t.equal((await unsubscribe('2', viewer)).status, 403);
  t.notMatch((await app.page('GET', '/contacts/1', { headers: viewer })).text, '/contacts/1/unsubscribe');
  t.equal((await unsubscribe('2')).headers.location, '/contacts/1');
  t.strictSame(lists(), [2]);
  t.match(await page(), /Unsubscribed from Offers/);
  await unsubscribe('');
  t.strictSame(lists(), [2, null]);
  const left = await page();
  t.notMatch(left, '/contacts/1/unsubscribe', 'there is nothing left to unsubscribe from');
  const ways = [...left.matchAll(/href="(\/unsubscribes\/lift[^"]*)"/g)].map(([, href = '']) =>
    href.replaceAll('&amp;', '&'),
  );
  t.equal(ways.length, 2);
  for (const way of ways) {
    t.match((await app.page('GET', way, { headers })).text, 'only if they asked for it');
    t.equal((await app.page('POST', way, { headers })).headers.location, '/contacts/1');
  }
  t.strictSame(lists(), []);
  t.strictSame(
    app.db.prepare("SELECT action, subject FROM audit_log WHERE action LIKE 'contact%' ORDER BY id").raw().all(),
    [
      ['contacts_unsubscribed', 'Offers'],
      ['contacts_unsubscribed', ''],
      ['contact_resubscribed', 'Offers'],
      ['contact_resubscribed', ''],
    ],
  );
  t.match(await page(), '>Subscribed</span>');
});

t.test('a suppression for a complaint is lifted only by whoever says that the contact asked for it', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers' });
  for (const email of ['zoe@example.org', 'ada@example.org'])
    await must('/contacts/add', { contact_type_id: 1, email, first_name: 'Zoe', country: 1 });
  await must('/bounces', { address: 'zoe@example.org', kind: 'complaint' });
  await must('/bounces', { address: 'ada@example.org', kind: 'bounce' });
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const wayOf = async (id: number) => {
    const { text } = await app.page('GET', `/contacts/${id}`, { headers });
    return /href="(\/unsubscribes\/lift[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  };
  const kinds = () => app.db.prepare('SELECT kind FROM suppressions').pluck().all();
  const way = await wayOf(1);
  t.match((await app.page('GET', way, { headers })).text, 'marked your e-mail as spam');
  t.equal((await app.page('POST', way, { headers })).status, 422);
  t.strictSame(kinds(), ['complaint', 'bounce']);
  t.equal((await app.page('POST', way, { headers, form: { asked: '1' } })).headers.location, '/contacts/1');
  t.equal((await app.page('POST', await wayOf(2), { headers })).status, 303);
  t.strictSame(kinds(), []);
  t.equal(app.db.prepare("SELECT count(*) FROM audit_log WHERE action = 'suppression_lifted'").pluck().get(), 2);
});

t.test('the first field of a new contact is the e-mail address', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Readers' } });
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const { text } = await app.page('GET', '/contacts/new', { headers });
  t.equal(/<main.*?<(?:input|select)[^>]*? name="(\w+)"/s.exec(text)?.[1], 'email');
});

t.test('a person’s fields are changed on a page, and those that were not touched stay as they are', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/custom-fields/save', { field_name: 'hobby', field_type: 'text' });
  await must('/custom-fields/save', { field_name: 'points', field_type: 'number' });
  const notes = 'chess\nand go';
  await must('/contacts/add', {
    contact_type_id: 1,
    email: 'zoe@example.org',
    country: 1,
    city: 'Bonn',
    'custom_field[hobby]': notes,
    'custom_field[points]': '5',
  });
  const { open, send } = visitor(app);
  const post = (form: Record<string, string>) => send('/contacts/1/edit', form);
  const contact = async () =>
    (await app.one.call('GET', '/contacts/details', { query: { contact_id: '1' } })).body.message.contact;
  const form = (await open('/contacts/1/edit')).text;
  for (const value of ['zoe@example.org', 'Bonn', '5']) t.match(form, `value="${value}"`);
  t.match(form, notes);

  const given = { email: 'zoe@example.org', country: '1', own1: 'chess\r\nand go' };
  const refused = await post({ ...given, email: 'zoe', city: 'Graz', own2: 'many' });
  t.equal(refused.status, 422);
  t.match(refused.text, /id="email-problem">Enter a valid e-mail address\./);
  t.match(refused.text, 'The points must be a number, such as 1234.56.');
  t.match(refused.text, 'value="Graz"', 'what was typed stays');
  t.match(await contact(), { city: 'Bonn' });

  const saved = await post({ ...given, first_name: 'Zoë', city: '', own2: '7' });
  t.equal(saved.headers.location, '/contacts/1');
  const { first_name, city, custom_field } = await contact();
  t.strictSame(
    [first_name, city, custom_field.hobby.field_value, custom_field.points.field_value],
    ['Zoë', '', notes, '7'],
  );

  // The browser counts a line break as two characters, so the form has more than the field.
  const long = 'chess\r\n'.repeat(1700);
  t.equal((await post({ ...given, own1: long })).status, 303, 'without the field points, as before it was added');
  const after = (await contact()).custom_field;
  t.equal(after.hobby.field_value, long.replaceAll('\r\n', '\n').trim());
  t.equal(after.points.field_value, '7');

  const viewer = visitor(app, 'viewer');
  t.equal((await viewer.open('/contacts/1/edit')).status, 403);
  t.notMatch((await viewer.open('/contacts/1')).text, '/contacts/1/edit');
  t.equal((await visitor(app, 'owner', { accountId: 2 }).open('/contacts/1/edit')).status, 404);
});

t.test('a person without a country, such as one from an import, is changed on a page', async (t) => {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/contacts-type/add', { name: 'Readers' });
  await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', { filename: 'readers.csv', content: 'email\nzoe@example.org\n' }],
    ],
  });
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app)) };
  const form = { email: 'zoe@example.org', first_name: 'Zoë', country: '' };
  t.equal((await app.page('POST', '/contacts/1/edit', { headers, form })).status, 303);
  const { first_name, country } = (await app.one.call('GET', '/contacts/details', { query: { contact_id: '1' } })).body
    .message.contact;
  t.strictSame([first_name, country], ['Zoë', '']);
});
