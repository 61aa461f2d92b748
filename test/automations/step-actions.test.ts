/** Steps of automations that change the contact: a field, its list, or a segment it is in by hand. */
import t from 'tap';
import { countryId } from '../../src/audience/contacts/countries.ts';
import { DAY, HOUR, withPaths } from '../support/automations.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../support/people.ts';

type World = Awaited<ReturnType<typeof withPaths>>;

const contact = async ({ get }: World, contact_id: number) =>
  (await get('/contacts/details', { contact_id })).body.message.contact;
const outcomes = ({ app }: World, step: string): string[] =>
  app.db
    .prepare<[string], string>(
      'SELECT outcome FROM steps JOIN automation_schedules s ON s.id = schedule_id WHERE s.utr = ? ORDER BY enrolment_id',
    )
    .pluck()
    .all(step);
const membersOf = ({ app }: World, segment: number): string[] =>
  app.db
    .prepare<[number], string>(
      'SELECT email FROM segment_recipients WHERE segment_id = ? AND is_removed = 0 ORDER BY 1',
    )
    .pluck()
    .all(segment);

t.test(
  'a step sets fields of each type or clears them, and segments, paths and other automations follow',
  async (t) => {
    const world = await withPaths(t);
    const { post, step, mail, utrOf, of, live, join, pass } = world;
    await post('/custom-fields/save', { field_name: 'Stage', field_type: 'text' });
    await post('/custom-fields/save', { field_name: 'renewal', field_type: 'datetime-local' });
    await post('/segment/store', {
      segment_name: 'Regulars',
      contact_type_id: 1,
      select_field: ['Stage'],
      select_operator: ['is'],
      value: ['regular'],
    });
    const before = await utrOf('two');
    const stage = await step({ kind: 'set_field', field: 'stage', value: 'regular', before });
    await step({ kind: 'set_field', field: 'renewal', value: '2027-02-28', before });
    await step({ kind: 'set_field', field: 'country', value: 'de', before });
    await step({ kind: 'set_field', field: 'City', value: "D'Oro; --", before });
    await step({ kind: 'set_field', field: 'language', value: 'pt-BR', before });
    await step({ kind: 'set_field', field: 'first_name', before });
    const condition = await step({ kind: 'if', segment_id: 2, before });
    await mail('for regulars', { parent: condition, branch: 'yes' });
    await live();
    await join('ann');
    await pass(HOUR);
    t.match(await contact(world, 1), {
      first_name: '',
      city: "D'Oro; --",
      custom_field: { Stage: { field_value: 'regular' }, renewal: { field_value: '2027-02-28' } },
    });
    t.equal(world.app.db.prepare('SELECT country_id FROM contacts').pluck().get(), countryId('Germany'));
    t.equal(world.app.db.prepare('SELECT language FROM contacts').pluck().get(), 'pt');
    t.strictSame(membersOf(world, 2), ['ann@example.org']);
    t.strictSame(membersOf(world, 1), [], 'who has no first name is no Ann any more');
    t.strictSame(outcomes(world, stage), ['done']);
    t.strictSame(of('ann'), ['one', 'for regulars']);
  },
);

t.test(
  'a step whose field, list or segment was deleted, or whose contact is gone, changes nothing and goes on',
  async (t) => {
    const world = await withPaths(t);
    const { app, post, step, utrOf, of, live, join, pass, series } = world;
    await post('/custom-fields/save', { field_name: 'stage', field_type: 'text' });
    await post('/contacts-type/add', { name: 'Old' });
    const before = await utrOf('two');
    const wait = { waiting_type: 'hours', waiting_period: 3, before };
    const set = await step({ kind: 'set_field', field: 'stage', value: 'x', ...wait });
    const move = await step({ kind: 'move', contact_type_id: 2, before });
    const add = await step({ kind: 'segment_add', segment_id: 1, before });
    const removal = await step({ kind: 'segment_remove', segment_id: 1, before });
    await live();
    await join('bo');
    await pass(HOUR);
    await app.one.call('DELETE', '/custom-fields/delete', { query: { id: 1 } });
    await app.one.call('DELETE', '/contacts-type/delete', { query: { contact_type_id: 2 } });
    await app.one.call('DELETE', '/segment/delete', { query: { segment_id: 1 } });
    await pass(3 * DAY);
    t.strictSame(of('bo'), ['one', 'two', 'three']);
    for (const utr of [set, move, add, removal]) t.strictSame(outcomes(world, utr), ['not_done']);
    t.match(
      (await series()).steps
        .slice(1, 5)
        .map(({ field, contact_type_name, segment_name }: Record<string, unknown>) => [
          field,
          contact_type_name,
          segment_name,
        ]),
      [
        [null, null, null],
        [null, null, null],
        [null, null, null],
        [null, null, null],
      ],
    );
  },
);

t.test(
  'a step moves contacts to a list, whose automations they enter, unless the list has their address',
  async (t) => {
    const world = await withPaths(t);
    const { app, get, post, step, utrOf, of, live, join, pass } = world;
    await post('/contacts-type/add', { name: 'Customers' });
    const move = await step({ kind: 'move', contact_type_id: 2, before: await utrOf('two') });
    const other = await post('/automations/create', {
      type: 'custom',
      automation_for: 'contacts_2',
      automation_name: 'Customers',
      unsubscribe_group_id: 1,
    });
    await post('/automations/schedule/create', {
      utr: other.utr,
      sender_id: 1,
      subject: 'for customers',
      waiting_period: 1,
      waiting_type: 'instantly',
      template_id: 1,
      preview_img: 'blank.png',
      template_html: '<p>Hello</p>',
    });
    await get('/automations/set-live', { utr: other.utr });
    await live();
    await post('/contacts/add', { contact_type_id: 2, email: 'bo@example.org', country: 1 });
    await app.background();
    await join('ann');
    await join('bo');
    await pass(HOUR);
    const lists = app.db.prepare('SELECT email, contact_type_id FROM contacts ORDER BY id').raw().all();
    t.strictSame(lists, [
      ['bo@example.org', 2],
      ['ann@example.org', 2],
      ['bo@example.org', 1],
    ]);
    t.strictSame(outcomes(world, move), ['done', 'not_done']);
    t.strictSame(of('ann'), ['one', 'for customers']);
    await pass(3 * DAY);
    t.strictSame(of('ann'), ['one', 'for customers', 'two', 'three'], 'who was moved stays in the automation');
  },
);

t.test('steps add contacts to a segment by hand and take them out, whatever its rules say', async (t) => {
  const world = await withPaths(t);
  const { step, utrOf, live, join, pass, post } = world;
  const before = await utrOf('two');
  await step({ kind: 'segment_add', segment_id: 1, before });
  await step({ kind: 'segment_remove', segment_id: 1, waiting_type: 'days', waiting_period: 1, before });
  await live();
  await join('ann');
  await join('bo');
  await pass(HOUR);
  t.strictSame(membersOf(world, 1), ['ann@example.org', 'bo@example.org']);
  await pass(DAY);
  t.strictSame(membersOf(world, 1), []);
  await post('/contacts/update', {
    contact_id: 1,
    contact_type_id: 1,
    email: 'ann@example.org',
    first_name: 'Ann',
    country: 1,
  });
  t.strictSame(membersOf(world, 1), []);
});

t.test('killed at any step, each contact takes each step once, and its change is made with it', async (t) => {
  for (const steps of [0, 1, 2, 3, 4, 5, 6]) {
    const world = await withPaths(t);
    const { app, step, utrOf, live, join, pass } = world;
    const before = await utrOf('two');
    await step({ kind: 'set_field', field: 'city', value: 'Ulm', before });
    await step({ kind: 'segment_add', segment_id: 1, before });
    await live();
    await join('ann');
    await join('bo');
    for (let at = 0; at < steps; at++) await app.step();
    app.restartBackground();
    await pass(HOUR);
    t.strictSame(
      app.db.prepare('SELECT city FROM contacts').pluck().all(),
      ['Ulm', 'Ulm'],
      `killed after ${steps} steps`,
    );
    t.strictSame(membersOf(world, 1), ['ann@example.org', 'bo@example.org']);
    t.equal(app.db.prepare("SELECT count(*) FROM enrolment_log WHERE code = 'done'").pluck().get(), 4);
  }
});

t.test('a setting that is missing, of another type or of another account is refused', async (t) => {
  const { app, call, post } = await withPaths(t);
  await post('/custom-fields/save', { field_name: 'points', field_type: 'number' });
  await app.two.call('POST', '/contacts-type/add', { form: { name: 'Theirs' } });
  await app.two.call('POST', '/custom-fields/save', { form: { field_name: 'theirs', field_type: 'text' } });
  const wait = { waiting_type: 'instantly', waiting_period: 1 };
  for (const [field, wrong] of [
    ['field', { kind: 'set_field' }],
    ['field', { kind: 'set_field', field: 'email', value: 'a@example.org' }],
    ['field', { kind: 'set_field', field: 'theirs', value: 'x' }],
    ['value', { kind: 'set_field', field: 'language', value: 'Narnian' }],
    ['field', { kind: 'set_field', field: '__proto__', value: 'x' }],
    ['value', { kind: 'set_field', field: 'points', value: 'many' }],
    ['value', { kind: 'set_field', field: 'country', value: 'Atlantis' }],
    ['value', { kind: 'set_field', field: 'city', value: 'x'.repeat(256) }],
    ['contact_type_id', { kind: 'move' }],
    ['contact_type_id', { kind: 'move', contact_type_id: 2 }],
    ['segment_id', { kind: 'segment_add' }],
    ['segment_id', { kind: 'segment_remove', segment_id: 99 }],
  ] as const) {
    const { status, body } = await call('/automations/step/add', { ...wait, ...wrong });
    t.equal(status, 422, JSON.stringify(wrong));
    t.strictSame(Object.keys(body.errors), [field]);
  }
});

t.test('each kind of step is chosen, added and shown on the pages, in both languages', async (t) => {
  const world = await withPaths(t);
  const { app, utr, post, series, utrOf } = world;
  await post('/custom-fields/save', { field_name: 'loyal_since', field_type: 'datetime-local' });
  const owner = addPerson(app, 'owner', { accountId: 1, name: 'owner' });
  const headers = (language: string) => ({ ...FROM_PAGE, cookie: cookieOf(app, owner), 'accept-language': language });
  const page = async (path: string, language = 'en') =>
    (await app.page('GET', path, { headers: headers(language) })).text.replaceAll(/[\u2066-\u2069]/g, '');
  const before = await utrOf('two');
  const send = async (form: Record<string, string>) =>
    (
      await app.fastify.inject({
        method: 'POST',
        url: `/automations/${utr}/steps/new`,
        headers: { ...headers('en'), 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({
          waiting_type: 'instantly',
          waiting_period: '1',
          before,
          parent: '',
          branch: '',
          ...form,
        }).toString(),
      })
    ).statusCode;
  const chooser = await page(`/automations/${utr}/steps/new?before=${before}`);
  for (const { kind, field, english, german, ...form } of [
    {
      kind: 'set_field',
      field: 'loyal_since',
      value: '2026-01-31',
      english: 'Set “Loyal since” to “2026-01-31”',
      german: '„Loyal since“ auf „2026-01-31“ setzen',
    },
    { kind: 'set_field', field: 'city', value: '', english: 'Clear “City”', german: '„Ort“ leeren' },
    {
      kind: 'move',
      contact_type_id: '1',
      english: 'Move to the list “Readers”',
      german: 'In die Liste „Readers“ verschieben',
    },
    {
      kind: 'segment_add',
      segment_id: '1',
      english: 'Add to the segment “Anns”',
      german: 'Zum Segment „Anns“ hinzufügen',
    },
    {
      kind: 'segment_remove',
      segment_id: '1',
      english: 'Remove from the segment “Anns”',
      german: 'Aus dem Segment „Anns“ entfernen',
    },
  ]) {
    const address = `/automations/${utr}/steps/new?kind=${kind}&before=${before}`;
    t.match(chooser, address.replace('&', '&amp;'));
    t.match(await page(address), `name="kind" value="${kind}"`);
    t.equal(await send({ kind }), 422, kind);
    t.equal(await send({ kind, ...(field && { field }), ...form }), 303, kind);
    t.match(await page(`/automations/${utr}/edit`), english);
    t.match(await page(`/automations/${utr}/edit`, 'de'), german);
  }
  t.equal(await send({ kind: 'mail' }), 404);
  t.equal((await series()).steps.length, 8);
});
