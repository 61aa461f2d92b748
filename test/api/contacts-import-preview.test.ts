/** Previewing an import, and choosing what it does with people who are there already, with a segment and with subscriptions. */
import t, { type Test } from 'tap';
import { startApp, type TestApp } from '../support/app.ts';
import { mailsInBrief, withWelcomeSeries } from '../support/automations.ts';
import { until } from '../support/until.ts';

const FILE =
  'email,first_name,city\nzoe@example.com,Zoë,\nada@example.com,Ada,Wien\nnonsense,X,\nADA@example.com,Ada,Graz\n';
const PLAN = { contact_type_id: 1, mapping: ['email', 'first_name', 'city'] };

/** Both accounts with a type, a segment of nobody and a group; the first with Zoë in Graz, who has unsubscribed. */
async function withPeople(t: Test): Promise<TestApp> {
  const app = await startApp(t);
  for (const [at, { call }] of [app.one, app.two].entries()) {
    await call('POST', '/contacts-type/add', { form: { name: 'Customers' } });
    const rules = { select_field: ['city'], select_operator: ['is'], value: ['Nowhere'] };
    const form = { segment_name: 'Chosen', contact_type_id: at + 1, ...rules };
    await call('POST', '/segment/store', { form });
    await call('POST', '/unsubscribes-groups/save', {
      form: { group_name: 'News', description: 'News', is_display: 1 },
    });
  }
  const person = {
    contact_type_id: 1,
    email: 'zoe@example.com',
    first_name: 'Zoe',
    last_name: 'M',
    city: 'Graz',
    country: 1,
  };
  await app.one.call('POST', '/contacts/add', { form: person });
  await app.one.call('POST', '/global-unsubscribes/save', { form: { email_address: 'zoe@example.com' } });
  return app;
}

async function look(app: TestApp): Promise<string> {
  const multipart: [string, { filename: string; content: string }][] = [
    ['file', { filename: 'list.csv', content: FILE }],
  ];
  return (await app.one.call('POST', '/contacts/imports/look', { multipart })).body.message.upload.id;
}

const ask = (app: TestApp, what: 'preview' | 'start', upload_id: string, options = {}) =>
  app.one.call('POST', `/contacts/imports/${what}`, { json: { upload_id, ...PLAN, ...options } });

/** Waits for a preview or an import to end, and gives the upload. */
async function ended(app: TestApp, upload_id: string) {
  const upload = async () =>
    (await app.one.call('GET', '/contacts/imports/progress', { query: { upload_id } })).body.message.upload;
  await until(async () => !['running', 'previewing'].includes((await upload()).state));
  return upload();
}

const previewed = async (app: TestApp, upload_id: string, query = {}) =>
  (await app.one.call('GET', '/contacts/imports/previewed', { query: { upload_id, ...query } })).body.message;

t.test('a preview says what an import would do, and to whom, and changes nothing', async (t) => {
  const app = await withPeople(t);
  const id = await look(app);
  t.strictSame(await previewed(app, id), { preview: null, people: [] });
  const [answer, tooEarly] = await Promise.all([
    ask(app, 'preview', id, { empty_cells: 'clear' }),
    ask(app, 'start', id, { empty_cells: 'clear' }),
  ]);
  t.match(answer, { status: 200, body: { message: { upload: { state: 'previewing' } } } });
  t.match(tooEarly, { status: 409, text: /being previewed/ });
  t.equal((await ended(app, id)).state, 'looked');
  const { preview, people } = await previewed(app, id);
  t.match(preview, {
    is_possible: 1,
    removed: 1,
    rows: 4,
    failed: 1,
    repeated: 1,
    counts: { new: 1, changed: 1, unchanged: 0, skipped: 0, left: 1 },
    fields: [
      { field: 'first_name', count: 1 },
      { field: 'city', count: 1 },
    ],
    errors: [{ line: 4, field: 'email' }],
  });
  t.strictSame(people, [{ line: 5, email: 'ADA@example.com', changes: [] }]);
  const changes = [
    { field: 'first_name', before: 'Zoe', after: 'Zoë' },
    { field: 'city', before: 'Graz', after: null },
  ];
  for (const kind of ['changed', 'left'])
    t.strictSame((await previewed(app, id, { kind })).people, [{ line: 2, email: 'zoe@example.com', changes }], kind);
  t.equal(app.db.prepare('SELECT count(*) FROM contacts').pluck().get(), 1);
  t.equal((await ask(app, 'start', id, { empty_cells: 'clear' })).status, 200);
  t.equal((await ended(app, id)).state, 'done');
  t.equal((await ask(app, 'preview', id, { empty_cells: 'clear' })).status, 409, 'not after the import');
});

t.test(
  'empty cells keep what is there and clear it only where that is chosen, and people stay as they are where that is',
  async (t) => {
    const app = await withPeople(t);
    const zoe = () =>
      app.db.prepare("SELECT first_name, city FROM contacts WHERE email = 'zoe@example.com'").raw().get();
    const results: [object, number, unknown[]][] = [
      [{ existing: 'keep' }, 1, ['Zoe', 'Graz']],
      [{}, 0, ['Zoë', 'Graz']],
      [{ empty_cells: 'clear' }, 0, ['Zoë', '']],
    ];
    for (const [options, skipped, after] of results) {
      const id = await look(app);
      await ask(app, 'preview', id, options);
      await ended(app, id);
      t.equal((await previewed(app, id)).preview.counts.skipped, skipped);
      await ask(app, 'start', id, options);
      await ended(app, id);
      t.strictSame(zoe(), after, JSON.stringify(options));
    }
  },
);

t.test(
  'everybody in the file is added to a segment and unsubscribed from a group; an undo takes both back',
  async (t) => {
    const app = await withPeople(t);
    const id = await look(app);
    await ask(app, 'start', id, { to_segment_id: 1, unsubscribe: 1, unsubscribe_groups_id: 1 });
    const { import_id } = await ended(app, id);
    const lists = () => [
      app.db
        .prepare('SELECT email FROM segment_recipients WHERE segment_id = 1 AND is_removed = 0 ORDER BY id')
        .pluck()
        .all(),
      app.db
        .prepare('SELECT email_address FROM unsubscribers WHERE unsubscribe_groups_id = 1 ORDER BY id')
        .pluck()
        .all(),
      app.db.prepare('SELECT email_address FROM unsubscribers WHERE unsubscribe_groups_id IS NULL').pluck().all(),
    ];
    const both = ['ADA@example.com', 'zoe@example.com'];
    t.strictSame(
      lists().map((list) => list.sort()),
      [both, both, ['zoe@example.com']],
    );
    app.clock.advance(1000);
    await app.one.call('POST', '/contacts/imports/undo', { form: { id: import_id } });
    await app.background();
    t.strictSame(lists(), [[], [], ['zoe@example.com']]);
  },
);

t.test('without a group, everybody in the file is unsubscribed from all mail', async (t) => {
  const app = await withPeople(t);
  const id = await look(app);
  await ask(app, 'start', id, { unsubscribe: 1 });
  await ended(app, id);
  t.equal(app.db.prepare('SELECT count(*) FROM unsubscribers WHERE unsubscribe_groups_id IS NULL').pluck().get(), 2);
});

t.test('whoever is unsubscribed again after an import stays so when it is undone', async (t) => {
  const again: [string, (app: TestApp) => Promise<unknown>][] = [
    [
      'by the owner',
      ({ one }) =>
        one.call('POST', '/unsubscribes-groups/manually-add', {
          form: { unsubscribe_groups_id: 1, email_address: 'ada@example.com, zoe@example.com' },
        }),
    ],
    [
      'by another import',
      async (app) => {
        const id = await look(app);
        await ask(app, 'start', id, { unsubscribe: 1, unsubscribe_groups_id: 1 });
        await ended(app, id);
      },
    ],
  ];
  for (const [how, unsubscribe] of again) {
    const app = await withPeople(t);
    const id = await look(app);
    await ask(app, 'start', id, { unsubscribe: 1, unsubscribe_groups_id: 1 });
    const { import_id } = await ended(app, id);
    app.clock.advance(1000);
    await unsubscribe(app);
    app.clock.advance(1000);
    await app.one.call('POST', '/contacts/imports/undo', { form: { id: import_id } });
    await app.background();
    t.match((await app.one.call('GET', '/contacts/imports/details', { query: { id: import_id } })).body.message, {
      import: { state: 'undone' },
    });
    const left = app.db.prepare('SELECT count(*) FROM unsubscribers WHERE unsubscribe_groups_id = 1').pluck();
    t.equal(left.get(), 2, how);
  }
});

t.test('another account’s upload, type, segment or group is refused, as one that does not exist', async (t) => {
  const app = await withPeople(t);
  const id = await look(app);
  for (const what of ['preview', 'start'] as const) {
    for (const field of ['contact_type_id', 'to_segment_id', 'unsubscribe_groups_id']) {
      const refusals = [2, 999].map((record) => ask(app, what, id, { unsubscribe: 1, [field]: record }));
      const [theirs, nobodys] = await Promise.all(refusals);
      t.match(theirs, { status: 422, body: { errors: { [field]: [/invalid/] } } }, `${what} with ${field}`);
      t.strictSame(theirs?.body, nobodys?.body);
    }
    const { status } = await app.two.call('POST', `/contacts/imports/${what}`, {
      json: { ...PLAN, upload_id: id, contact_type_id: 2 },
    });
    t.equal(status, 404, what);
  }
  t.equal((await app.two.call('GET', '/contacts/imports/previewed', { query: { upload_id: id } })).status, 404);
  t.equal((await ended(app, id)).state, 'looked');
});

t.test(
  'a preview says who would enter a live automation, and nobody enters one, then or later, where that is chosen',
  async (t) => {
    const { app, utr, post, get, live } = await withWelcomeSeries(t);
    const rules = { select_field: ['city'], select_operator: ['is'], value: ['Graz'] };
    await post('/segment/store', { segment_name: 'Graz', contact_type_id: 1, ...rules });
    const ofSegment = await post('/automations/create', {
      ...{ type: 'welcome', automation_for: 'segments_1', automation_name: 'To Graz', unsubscribe_group_id: 1 },
    });
    await post('/automations/schedule/create', {
      ...{ utr: ofSegment.utr, sender_id: 1, subject: 'Graz', waiting_period: 1, waiting_type: 'days', template_id: 1 },
      ...{ preview_img: 'blank.png', template_html: '<p>Hello</p>' },
    });
    await live();
    t.equal((await get('/automations/set-live', { utr: ofSegment.utr })).status, 200);
    const entered = async () => {
      await app.background();
      return app.db
        .prepare(
          'SELECT DISTINCT a.automation_name FROM enrolments e JOIN automations a ON a.id = e.automation_id ORDER BY a.id',
        )
        .pluck()
        .all();
    };
    const imported = async (options: object) => {
      const id = await look(app);
      await ask(app, 'preview', id, options);
      await ended(app, id);
      const { automations } = (await previewed(app, id)).preview;
      await ask(app, 'start', id, options);
      return { automations, ...(await ended(app, id)) };
    };

    const options = { start_automations: 0, to_segment_id: 1 };
    const without = await imported(options);
    t.match(without, { automations: [], plan: options });
    t.equal(app.db.prepare('SELECT count(*) FROM segment_recipients WHERE segment_id = 1').pluck().get(), 2);
    t.strictSame(await entered(), []);
    await imported({});
    t.strictSame(await entered(), [], 'who is there already does not join');
    await post('/contacts/imports/undo', { id: without.import_id });
    t.strictSame(await entered(), [], 'nor by the undo');
    app.db.exec('DELETE FROM segment_recipients');
    for (const id of app.db.prepare('SELECT id FROM contacts WHERE deleted_at IS NULL').pluck().all())
      await post('/contacts/delete', { id });

    const { automations } = await imported({});
    t.strictSame(automations, [
      { utr, automation_name: 'Welcome', people: 2, is_exact: 1 },
      { utr: ofSegment.utr, automation_name: 'To Graz', people: 2, is_exact: 0 },
    ]);
    t.strictSame(await entered(), ['Welcome', 'To Graz']);
  },
);

t.test('an upload starts no automation where `start_automations` is 0', async (t) => {
  const { app, live } = await withWelcomeSeries(t);
  await live();
  const send = (start_automations: string, email: string) =>
    app.one.call('POST', '/contacts/upload-csv', {
      multipart: [
        ['contact_type_id', '1'],
        ['start_automations', start_automations],
        ['file', { filename: 'contacts.csv', content: `email\n${email}\n` }],
      ],
    });
  t.match((await send('maybe', 'ann@example.org')).body.errors, { start_automations: Array });
  t.equal((await send('0', 'ann@example.org')).status, 200);
  t.equal((await send('false', 'cat@example.org')).status, 200, 'as flags are read everywhere');
  t.equal((await send('1', 'bob@example.org')).status, 200);
  await app.background();
  t.strictSame(
    mailsInBrief(app).map((line) => line.split(' ').slice(1)),
    [['bob', 'one']],
  );
});
