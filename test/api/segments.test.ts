/** Segments through the API: their records, and that whoever is listed is who belongs, whatever was written. */
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { markForRecompute, recomputeDueSegments } from '../../src/audience/segments/recompute.ts';
import { readConfig } from '../../src/config.ts';
import { enqueueRecipients } from '../../src/delivery/queue/enqueue-recipients.ts';
import { State } from '../../src/delivery/queue/ledger.ts';
import { Launcher } from '../../src/single-sends/launch.ts';
import { type Answer, type CallOptions, startApp, type TestApp } from '../helper.ts';

const NOW_LIVE =
  "INSERT INTO automations (user_id, automation_for, automation_for_table, automation_name, exit_criteria, unsubscribe_group_id, automation_type, utr, status, created_at, updated_at) VALUES (1, ?, ?, 'A', 1, '1', 2, ?, 1, '', '')";

/** An account with contact types 1 and 2, custom fields 1 (`hobby`, text), 2 (`points`, number) and 3 (`seen`, datetime-local). */
async function start(t: Test): Promise<TestApp> {
  const app = await startApp(t);
  for (const name of ['Readers', 'Writers']) await ok(app, 'POST', '/contacts-type/add', { form: { name } });
  for (const [field_name, field_type] of [
    ['hobby', 'text'],
    ['points', 'number'],
    ['seen', 'datetime-local'],
  ]) {
    await ok(app, 'POST', '/custom-fields/save', { form: { field_name, field_type } });
  }
  return app;
}

async function ok(app: TestApp, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const answer = await app.one.call(method, path, options);
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer;
}

const idOf = (answer: Answer) => Number(/=(\d+)$/.exec(String(answer.headers.location))?.[1]);

async function addContact(app: TestApp, email: string, values: Record<string, unknown> = {}): Promise<number> {
  const form = { contact_type_id: 1, email, country: 1, ...values };
  return idOf(await ok(app, 'POST', '/contacts/add', { form }));
}

/** A segment of type 1 with one rule unless told otherwise. */
async function store(app: TestApp, rule: string[], more: Record<string, unknown> = {}): Promise<number> {
  const [field = '', operator = '', ...value] = rule;
  const form = {
    segment_name: 'S',
    contact_type_id: 1,
    select_field: [field],
    select_operator: [operator],
    ...(value.length > 0 && { value }),
    ...more,
  };
  return idOf(await ok(app, 'POST', '/segment/store', { form }));
}

// biome-ignore lint/suspicious/noExplicitAny: records are asserted field by field
async function recipients(app: TestApp, segment_id: number): Promise<any[]> {
  return (await ok(app, 'GET', '/segment/email/list', { query: { segment_id } })).body.message.contactEmails;
}

/** The local parts of who is in it, and that the count says the same. */
async function members(t: Test, app: TestApp, segment_id: number): Promise<string> {
  const list = await recipients(app, segment_id);
  const { segment } = (await ok(app, 'GET', '/segment/details', { query: { segment_id } })).body.message;
  t.equal(segment.segment_emails_count, list.length, 'the count equals the list');
  return list
    .map(({ email }) => email.split('@')[0])
    .sort()
    .join(' ');
}

function changes(app: TestApp): string[] {
  const rows = app.db
    .prepare(
      "SELECT change || ' ' || automation_for_table || ' ' || automation_for || ' ' || compared_email FROM membership_changes m JOIN automations au ON au.id = m.automation_id JOIN addresses a ON a.id = m.address_id ORDER BY m.id",
    )
    .pluck()
    .all();
  app.db.exec('DELETE FROM membership_changes');
  return rows.map((row) => String(row).replace('@example.com', ''));
}

async function upload(app: TestApp, csv: string, type = '1'): Promise<void> {
  await ok(app, 'POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', type],
      ['file', { filename: 'c.csv', content: csv }],
    ],
  });
}

function failed(_segmentId: number, error: unknown): never {
  throw error;
}

t.test('a segment is stored, shown and listed as the interface says', async (t) => {
  const app = await start(t);
  const id = await store(app, [], {
    select_field: ['city', 'points', 'Hobby'],
    select_operator: ['Is', 'IS BETWEEN', 'is blank'],
    value: ['Bonn', '1', '5'],
    query_type: 'or',
  });
  const { segment } = (await ok(app, 'GET', '/segment/details', { query: { segment_id: id } })).body.message;
  t.strictSame(segment, {
    id,
    user_id: 1,
    contact_type_id: 1,
    segment_name: 'S',
    select_field: ['city', 'points', 'hobby'],
    select_operator: ['is', 'is between', 'is blank'],
    value: ['Bonn', '1', '5'],
    query_type: 'or',
    deleted_at: null,
    created_at: '2026-01-15T09:00:00.000000Z',
    updated_at: '2026-01-15T09:00:00.000000Z',
    segment_emails_count: 0,
  });
  t.strictSame((await ok(app, 'GET', '/segment/list')).body.message.segments, [segment]);
});

t.test('field errors come all at once', async (t) => {
  const app = await start(t);
  const none = await app.one.call('POST', '/segment/store', { form: {} });
  t.equal(none.status, 422);
  t.strictSame(Object.keys(none.body.errors).sort(), [
    'contact_type_id',
    'segment_name',
    'select_field',
    'select_operator',
  ]);
  const bad = await app.one.call('POST', '/segment/store', {
    form: { segment_name: 'S', contact_type_id: 9, select_field: ['city'], select_operator: ['is'], query_type: 'xor' },
  });
  t.strictSame(bad.body.errors, {
    query_type: ['The selected query type is invalid.'],
    contact_type_id: ['The selected contact type id is invalid.'],
    value: ['The value field is required.'],
  });
  const person = await app.one.call('POST', '/segment/email/store', { form: { segment_id: 7 } });
  t.strictSame(person.body.errors, {
    segment_id: ['The selected segment id is invalid.'],
    first_name: ['The first name field is required.'],
    last_name: ['The last name field is required.'],
    email: ['The email field is required.'],
  });
});

t.test('a record that is not there has the text of its endpoint, and another account sees none', async (t) => {
  const app = await start(t);
  const segment_id = await store(app, ['city', 'is', 'Bonn']);
  await ok(app, 'POST', '/segment/email/store', {
    form: { segment_id, first_name: 'A', last_name: 'B', email: 'a@example.com' },
  });
  const [recipient] = await recipients(app, segment_id);
  const form = {
    segment_id,
    segment_name: 'X',
    contact_type_id: 1,
    select_field: ['city'],
    select_operator: ['is blank'],
  };
  const calls: [string, string, CallOptions, string][] = [
    ['GET', '/segment/details', { query: { segment_id } }, 'Record Not Found'],
    ['GET', '/segment/email/list', { query: { segment_id } }, 'Record not found'],
    ['DELETE', '/segment/email/delete', { query: { segment_recipient_id: recipient.id } }, 'Record Not Found'],
    ['DELETE', '/segment/delete', { query: { segment_id } }, 'Record Not Found'],
  ];
  for (const [method, path, options, text] of calls) {
    const foreign = await app.two.call(method, path, options);
    t.equal(foreign.status, 404);
    t.equal(foreign.body.errors, text, path);
    t.equal((await app.two.call(method, path, {})).text, foreign.text);
  }
  await app.two.call('POST', '/contacts-type/add', { form: { name: 'Own' } });
  const update = await app.two.call('POST', '/segment/update', { form: { ...form, contact_type_id: 3 } });
  t.equal(update.body.errors, 'Record Not Found');
  const added = await app.two.call('POST', '/segment/email/store', {
    form: { segment_id, first_name: 'A', last_name: 'B', email: 'b@example.com' },
  });
  t.strictSame(added.body.errors, { segment_id: ['The selected segment id is invalid.'] });
  t.equal(await members(t, app, segment_id), 'a');
});

t.test('a stored segment has its contacts at once, with their values', async (t) => {
  const app = await start(t);
  const contact_id = await addContact(app, 'A@Example.com', {
    first_name: 'Ann',
    city: 'Bonn',
    state: 'NRW',
    address_line1: 'Lane 1',
  });
  await addContact(app, 'b@example.com', { city: 'Rome' });
  const segment_id = await store(app, ['city', 'is', 'BONN']);
  const [recipient, ...others] = await recipients(app, segment_id);
  t.strictSame(others, []);
  const country = app.db.prepare('SELECT name FROM countries WHERE id = 1').pluck().get();
  t.match(recipient, {
    user_id: 1,
    segment_id,
    contact_id,
    first_name: 'Ann',
    last_name: '',
    email: 'A@Example.com',
    country,
    state: 'NRW',
    city: 'Bonn',
    address_line1: 'Lane 1',
    fullname: 'Ann',
  });
});

t.test(
  'every write of a contact moves it in and out: added, changed, moved between types, readdressed, deleted',
  async (t) => {
    const app = await start(t);
    const bonn = await store(app, ['city', 'is', 'Bonn']);
    const rest = await store(app, ['city', 'is not', 'Bonn']);
    const other = await store(app, ['city', 'is', 'Bonn'], { contact_type_id: 2 });
    const where = async () => [await members(t, app, bonn), await members(t, app, rest), await members(t, app, other)];
    const contact_id = await addContact(app, 'a@example.com', { city: 'Bonn' });
    t.strictSame(await where(), ['a', '', '']);
    const change = (values: object) =>
      ok(app, 'POST', '/contacts/update', {
        form: { contact_id, contact_type_id: 1, email: 'a@example.com', country: 1, ...values },
      });
    await change({ city: 'Rome' });
    t.strictSame(await where(), ['', 'a', '']);
    await change({ city: 'Bonn', email: 'b@example.com' });
    t.strictSame(await where(), ['b', '', '']);
    await change({ contact_type_id: 2 });
    t.strictSame(await where(), ['', '', 'a']);
    await ok(app, 'DELETE', '/contacts/delete', { query: { contact_id } });
    t.strictSame(await where(), ['', '', '']);
    const ids = [await addContact(app, 'c@example.com'), await addContact(app, 'd@example.com', { city: 'Bonn' })];
    t.strictSame(await where(), ['d', 'c', '']);
    await ok(app, 'POST', '/contacts/bulk-delete', { form: { strIds: ids } });
    t.strictSame(await where(), ['', '', '']);
  },
);

t.test('an import moves people in and out, in chunks, and counts stay true', async (t) => {
  const app = await start(t);
  await addContact(app, 'p7@example.com', { 'custom_field[points]': 1, city: 'Bonn' });
  const rich = await store(app, ['points', 'is greater than', '500']);
  const poor = await store(app, ['points', 'is not', '7']);
  const rows = (of: (n: number) => number) => Array.from({ length: 700 }, (_, n) => `p${n}@example.com,${of(n)}`);
  await upload(app, ['email,points', ...rows((n) => n)].join('\n'));
  t.equal((await recipients(app, rich)).length, 199);
  t.equal((await recipients(app, poor)).length, 699);
  await upload(app, ['email,points', ...rows((n) => 600 - n)].join('\n'));
  t.equal((await members(t, app, rich)).split(' ').length, 100);
  t.notOk((await members(t, app, poor)).split(' ').includes('p593'));
  t.equal((await recipients(app, poor)).length, 699);
});

t.test('an update of the rules recomputes; what was done by hand stays', async (t) => {
  const app = await start(t);
  for (const name of ['a', 'b', 'c']) await addContact(app, `${name}@example.com`, { city: name });
  const segment_id = await store(app, ['city', 'is', 'a']);
  const hand = (email: string) =>
    ok(app, 'POST', '/segment/email/store', { form: { segment_id, first_name: 'H', last_name: 'And', email } });
  await hand('x@example.com');
  await hand('c@example.com');
  t.equal(await members(t, app, segment_id), 'a c x');
  const [a] = await recipients(app, segment_id);
  await ok(app, 'DELETE', '/segment/email/delete', { query: { segment_recipient_id: a.id } });
  t.equal(await members(t, app, segment_id), 'c x');
  const form = {
    segment_id,
    segment_name: 'New',
    contact_type_id: 1,
    select_field: ['city'],
    select_operator: ['is not'],
    value: ['zzz'],
  };
  await ok(app, 'POST', '/segment/update', { form });
  t.equal(await members(t, app, segment_id), 'b c x');
  await ok(app, 'POST', '/segment/update', { form: { ...form, contact_type_id: 2 } });
  t.equal(await members(t, app, segment_id), 'c x', 'people of another type go, people added by hand stay');
  t.strictSame(
    (await recipients(app, segment_id)).map(({ contact_id, fullname }) => [contact_id, fullname]),
    [
      [null, 'H And'],
      [null, 'H And'],
    ],
  );
});

t.test(
  'someone added by hand is one recipient, linked to the contact of that address while there is one',
  async (t) => {
    const app = await start(t);
    const segment_id = await store(app, ['city', 'is', 'Bonn']);
    const form = { segment_id, first_name: 'Hand', last_name: 'Made', email: 'a@example.com' };
    await ok(app, 'POST', '/segment/email/store', { form });
    await ok(app, 'POST', '/segment/email/store', { form: { ...form, email: 'A@EXAMPLE.com' } });
    const seen = async () => {
      const list = await recipients(app, segment_id);
      t.equal(list.length, 1);
      return [list[0].contact_id, list[0].fullname, list[0].country === null];
    };
    t.strictSame(await seen(), [null, 'Hand Made', true]);
    const contact_id = await addContact(app, 'a@example.com', { first_name: 'Own', city: 'Rome' });
    t.strictSame(await seen(), [contact_id, 'Own', false]);
    await ok(app, 'DELETE', '/contacts/delete', { query: { contact_id } });
    t.strictSame(await seen(), [null, 'Hand Made', true]);
  },
);

t.test('a recipient deleted by hand stays out, until added by hand', async (t) => {
  const app = await start(t);
  const contact_id = await addContact(app, 'a@example.com', { city: 'Bonn' });
  const segment_id = await store(app, ['city', 'is', 'Bonn']);
  const [{ id }] = await recipients(app, segment_id);
  const remove = { query: { segment_recipient_id: id } };
  await ok(app, 'DELETE', '/segment/email/delete', remove);
  t.equal((await app.one.call('DELETE', '/segment/email/delete', remove)).body.errors, 'Record Not Found');
  await ok(app, 'POST', '/contacts/update', {
    form: { contact_id, contact_type_id: 1, email: 'a@example.com', country: 1, city: 'bonn' },
  });
  await upload(app, 'email,city\na@example.com,Bonn');
  t.equal(await members(t, app, segment_id), '');
  await ok(app, 'POST', '/segment/email/store', {
    form: { segment_id, first_name: 'A', last_name: 'B', email: 'a@example.com' },
  });
  t.equal(await members(t, app, segment_id), 'a');
});

t.test('after a custom field was deleted a segment keeps its members and says why', async (t) => {
  const app = await start(t);
  await addContact(app, 'pro@example.com', { 'custom_field[hobby]': 'chess' });
  const none = await addContact(app, 'none@example.com', { 'custom_field[hobby]': 'none' });
  const gone = await addContact(app, 'gone@example.com', { 'custom_field[hobby]': 'go' });
  const isNot = await store(app, ['hobby', 'is not', 'none'], { query_type: 'or' });
  const other = await store(app, ['points', 'is blank']);
  const shown = async (segment_id: number) =>
    (await ok(app, 'GET', '/segment/details', { query: { segment_id } })).body.message.problem;
  t.equal(await shown(isNot), null);
  await ok(app, 'DELETE', '/custom-fields/delete', { query: { id: 1 } });
  t.equal(await members(t, app, isNot), 'gone pro');
  t.equal(await shown(isNot), 'A rule of the segment "S" names the custom field hobby, which was deleted');
  t.equal(await shown(other), null);

  await ok(app, 'POST', '/contacts/update', {
    form: { contact_id: none, contact_type_id: 1, email: 'none@example.com', country: 1, city: 'Bonn' },
  });
  await upload(app, 'email,city\nnew@example.com,Bonn\npro@example.com,Bonn');
  await ok(app, 'DELETE', '/contacts/delete', { query: { contact_id: gone } });
  await ok(app, 'POST', '/segment/email/store', {
    form: { segment_id: isNot, first_name: 'H', last_name: 'H', email: 'hand@example.com' },
  });
  t.equal(
    await members(t, app, isNot),
    'hand pro',
    'contacts that are written neither join nor leave; deleted ones leave',
  );
});

t.test('what targets a segment with a deleted field is held, and so is what is made for it later', async (t) => {
  const app = await start(t);
  await addContact(app, 'a@example.com', { 'custom_field[hobby]': 'chess' });
  await addContact(app, 'b@example.com');
  const segment_id = await store(app, ['hobby', 'is not', 'none']);
  const reason = 'A rule of the segment "S" names the custom field hobby, which was deleted';
  const [to, without] = [
    await queueSend(app, { recipient_id: [`segments_${segment_id}`] }),
    await queueSend(app, { recipient_id: ['contacts_1'], exclude_specific_recipient_id: [`segments_${segment_id}`] }),
  ];
  app.db.prepare(NOW_LIVE).run(segment_id, 'segments', '00000000-0000-4000-8000-000000000001');
  await ok(app, 'DELETE', '/custom-fields/delete', { query: { id: 1 } });
  for (const utr of [to, without]) t.strictSame(statusOf(app, utr), { status: 0, held_reason: reason });
  t.strictSame(app.db.prepare('SELECT status, held_reason FROM automations').get(), { status: 0, held_reason: reason });
  const live = await app.one.call('GET', '/automations/set-live', {
    query: { utr: '00000000-0000-4000-8000-000000000001' },
  });
  t.match([live.status, live.body.errors], [409, `The automation can not go live: ${reason}`]);

  const later = await queueSend(app, { recipient_id: [`segments_${segment_id}`] });
  app.clock.advance(11_000);
  await app.background();
  t.strictSame(statusOf(app, later), { status: 0, held_reason: reason });
  t.equal(app.db.prepare("SELECT count(*) FROM mailings WHERE owner_kind = 'single'").pluck().get(), 0);
});

t.test('making the deleted field again revives its segments, unless their rules do not suit its type', async (t) => {
  const app = await start(t);
  const pro = await addContact(app, 'pro@example.com', { 'custom_field[hobby]': 'chess' });
  await addContact(app, 'none@example.com', { 'custom_field[hobby]': 'none' });
  const segment_id = await store(app, ['hobby', 'is', 'chess']);
  const problem = async () =>
    (await ok(app, 'GET', '/segment/details', { query: { segment_id } })).body.message.problem;
  const make = (field_name: string, field_type: string) =>
    ok(app, 'POST', '/custom-fields/save', { form: { field_name, field_type } });
  await ok(app, 'DELETE', '/custom-fields/delete', { query: { id: 1 } });
  await make('hobby', 'number');
  t.equal(
    await problem(),
    'A rule of the segment "S" does not suit the custom field hobby, which is of type number now',
  );
  t.equal(await members(t, app, segment_id), 'pro', 'it stays as it was');
  await ok(app, 'DELETE', '/custom-fields/delete', { query: { id: 4 } });
  await make('Hobby', 'text');
  t.equal(await problem(), null);
  t.equal(await members(t, app, segment_id), '', 'the values went with the old field');
  await ok(app, 'POST', '/contacts/update', {
    form: { contact_id: pro, contact_type_id: 1, email: 'pro@example.com', country: 1, 'custom_field[Hobby]': 'Chess' },
  });
  t.equal(await members(t, app, segment_id), 'pro', 'and its rules hold again');
});

t.test('time alone moves people in and out, checked every hour, also after the clock went back', async (t) => {
  const app = await start(t);
  await addContact(app, 'a@example.com', { 'custom_field[seen]': '2026-01-15T11:30' });
  const segment_id = await store(app, ['seen', 'is within', '1']);
  t.equal(await members(t, app, segment_id), '');
  const hour = 3_600_000;
  app.clock.advance(2 * hour);
  await app.background();
  t.equal(await members(t, app, segment_id), '', '11:00');
  app.clock.advance(hour);
  await app.background();
  t.equal(await members(t, app, segment_id), 'a', '12:00');
  app.clock.jump(-2 * hour);
  await app.background();
  t.equal(await members(t, app, segment_id), '', '10:00 again');
  app.clock.advance(26 * hour);
  await app.background();
  t.equal(await members(t, app, segment_id), '', 'a day later it is over');
});

t.test('a large segment is finished in the background, from where it was left', async (t) => {
  const app = await start(t);
  await upload(app, ['email', ...Array.from({ length: 1200 }, (_, n) => `p${n}@example.com`)].join('\n'));
  const segment_id = await store(app, ['email', 'contains', '@']);
  app.db.exec('DELETE FROM segment_recipients WHERE address_id > 300; UPDATE segments SET recompute_after = 300');
  while (await recomputeDueSegments(app.drizzle, app.clock, failed));
  t.equal((await recipients(app, segment_id)).length, 1200);
  t.equal(app.db.prepare('SELECT recompute_after FROM segments').pluck().get(), null);
});

t.test(
  'a deleted contact type takes its people out of segments, holds queued sends and automations that name it',
  async (t) => {
    const app = await start(t);
    await addContact(app, 'a@example.com', { city: 'Bonn' });
    const segment_id = await store(app, ['city', 'is', 'Bonn']);
    await ok(app, 'POST', '/segment/email/store', {
      form: { segment_id, first_name: 'A', last_name: 'B', email: 'x@example.com' },
    });
    const utr = await queueSend(app, { recipient_id: ['contacts_2'], exclude_specific_recipient_id: ['contacts_1'] });
    app.db.prepare(NOW_LIVE).run(1, 'contacts', 'u1');
    const gone = await ok(app, 'DELETE', '/contacts-type/delete', { query: { contact_type_id: 1 } });
    t.equal(gone.body.errors, 'Deleted Successfully');
    t.equal(await members(t, app, segment_id), 'x');
    t.strictSame(statusOf(app, utr), { status: 0, held_reason: 'A contact type it names was deleted' });
    t.strictSame(app.db.prepare('SELECT status, held_reason FROM automations').get(), {
      status: 0,
      held_reason: 'Its contact type was deleted',
    });
  },
);

t.test('a deleted contact type holds what names a segment of it, which has lost its people', async (t) => {
  const app = await start(t);
  await addContact(app, 'a@example.com', { city: 'Bonn' });
  await addContact(app, 'b@example.com', { contact_type_id: 2 });
  const segment_id = await store(app, ['city', 'is', 'Bonn']);
  const utr = await queueSend(app, { recipient_id: [`segments_${segment_id}`, 'contacts_2'] });
  app.db.prepare(NOW_LIVE).run(segment_id, 'segments', 'u1');
  await ok(app, 'DELETE', '/contacts-type/delete', { query: { contact_type_id: 1 } });
  t.strictSame(statusOf(app, utr), {
    status: 0,
    held_reason: 'The contact type of a segment it names was deleted',
  });
  t.strictSame(app.db.prepare('SELECT status, held_reason FROM automations').get(), {
    status: 0,
    held_reason: "Its segment's contact type was deleted",
  });
});

t.test('a segment that fails keeps no other from being brought up to date', async (t) => {
  const app = await start(t);
  await addContact(app, 'a@example.com', { city: 'Bonn' });
  const broken = await store(app, ['city', 'is', 'Bonn']);
  const sound = await store(app, ['city', 'is', 'Bonn']);
  app.db.exec('DELETE FROM segment_recipients');
  app.db.exec(`CREATE TRIGGER breaks BEFORE INSERT ON segment_recipients WHEN new.segment_id = ${broken} BEGIN
    SELECT raise(ABORT, 'broken'); END`);
  markForRecompute(app.drizzle, sql`true`);
  const failures = new Set<number>();
  while (await recomputeDueSegments(app.drizzle, app.clock, (id) => failures.add(id)));
  t.strictSame([...failures], [broken]);
  t.equal(app.db.prepare('SELECT count(*) FROM segment_recipients WHERE segment_id = ?').pluck().get(sound), 1);
});

t.test('who was added by hand gets the mail though their contact is deleted after the layout', async (t) => {
  const app = await start(t);
  const strIds = [
    await addContact(app, 'a@example.com', { city: 'Bonn', first_name: 'Contact' }),
    await addContact(app, 'b@example.com', { city: 'Bonn' }),
  ];
  const segment_id = await store(app, ['city', 'is', 'Bonn']);
  const form = { segment_id, first_name: 'Hand', last_name: 'B', email: 'a@example.com' };
  await ok(app, 'POST', '/segment/email/store', { form });
  await queueSend(app, { recipient_id: [`segments_${segment_id}`] });
  app.clock.advance(60_000);
  const launcher = new Launcher({
    db: app.drizzle,
    clock: app.clock,
    config: readConfig({}),
    log: (fields, text) => t.fail(text, { fields }),
  });
  await launcher.launchDue(() => true);
  while (await recomputeDueSegments(app.drizzle, app.clock, failed));
  await launcher.launchDue(() => true);
  const mailing = Number(app.db.prepare("SELECT id FROM mailings WHERE state = 'layout'").pluck().get());
  await enqueueRecipients(app.db, mailing);
  await ok(app, 'POST', '/contacts/bulk-delete', { form: { strIds } });
  await app.background();
  const outcome = app.db
    .prepare(
      'SELECT compared_email, d.state FROM deliveries d JOIN addresses a ON a.id = address_id WHERE mailing_id = ? ORDER BY 1',
    )
    .raw()
    .all(mailing);
  t.strictSame(outcome, [
    ['a@example.com', State.accepted],
    ['b@example.com', State.suppressed],
  ]);
});

t.test('a preview counts a segment as time has made it, not as it was at the last check', async (t) => {
  const app = await start(t);
  await addContact(app, 'a@example.com', { 'custom_field[seen]': '2026-01-15T09:30' });
  const segment_id = await store(app, ['seen', 'is within', '1']);
  app.clock.advance(45 * 60_000);
  await queueSend(app, { recipient_id: ['contacts_2'] });
  const form = { ...SEND, recipient_id: [`segments_${segment_id}`] };
  const { preview } = (await ok(app, 'POST', '/single/send/preview', { form })).body.message;
  t.equal(preview.audience.recipients, 1);
});

t.test('a deleted segment appears nowhere, holds queued sends and automations that name it', async (t) => {
  const app = await start(t);
  await addContact(app, 'a@example.com', { city: 'Bonn' });
  const segment_id = await store(app, ['city', 'is', 'Bonn']);
  const [{ id }] = await recipients(app, segment_id);
  const target = `segments_${segment_id}`;
  const to = await queueSend(app, { recipient_id: [target] });
  const without = await queueSend(app, { recipient_id: ['contacts_1'], exclude_specific_recipient_id: [target] });
  const other = await queueSend(app, { recipient_id: ['contacts_1'] });
  app.db.prepare(NOW_LIVE).run(segment_id, 'segments', 'u1');
  const gone = await ok(app, 'DELETE', '/segment/delete', { query: { segment_id } });
  t.strictSame(gone.body, { status: 'success', errors: 'Deleted Successfully' });
  const held = { status: 0, held_reason: 'A segment it names was deleted' };
  t.strictSame([statusOf(app, to), statusOf(app, without)], [held, held]);
  t.equal(statusOf(app, other).status, 1);
  t.strictSame(app.db.prepare('SELECT status, held_reason FROM automations').get(), {
    status: 0,
    held_reason: 'Its segment was deleted',
  });
  t.strictSame((await ok(app, 'GET', '/segment/list')).body.message.segments, []);
  t.equal((await app.one.call('GET', '/segment/details', { query: { segment_id } })).status, 404);
  t.equal((await app.one.call('GET', '/segment/email/list', { query: { segment_id } })).status, 404);
  t.equal((await app.one.call('DELETE', '/segment/email/delete', { query: { segment_recipient_id: id } })).status, 404);
  const again = await app.one.call('POST', '/single/send/create', { form: { ...SEND, recipient_id: [target] } });
  t.same(again.body.errors, { recipient_id: ['The selected recipient id is invalid.'] });
});

t.test('joining and leaving are recorded for what a live automation watches, and for nothing else', async (t) => {
  const app = await start(t);
  const watched = await store(app, ['city', 'is', 'Bonn']);
  await store(app, ['city', 'is not blank']);
  const one = await addContact(app, 'before@example.com', { city: 'Bonn' });
  t.strictSame(changes(app), []);
  app.db.prepare(NOW_LIVE).run(watched, 'segments', 'u1');
  app.db.prepare(NOW_LIVE).run(1, 'contacts', 'u2');
  const two = await addContact(app, 'a@example.com', { city: 'Bonn' });
  t.strictSame(changes(app), ['joined contacts 1 a', `joined segments ${watched} a`]);
  const update = (values: object) =>
    ok(app, 'POST', '/contacts/update', {
      form: { contact_id: two, contact_type_id: 1, email: 'a@example.com', country: 1, ...values },
    });
  await update({ first_name: 'Same' });
  t.strictSame(changes(app), []);
  await update({ city: 'Rome' });
  t.strictSame(changes(app), [`left segments ${watched} a`]);
  await update({ city: 'Bonn', email: 'b@example.com' });
  t.strictSame(
    changes(app),
    [`joined segments ${watched} b`],
    'a corrected address leaves and joins nothing, the rule does',
  );
  await update({ contact_type_id: 2, email: 'b@example.com' });
  t.strictSame(changes(app), ['left contacts 1 b', `left segments ${watched} b`]);
  await upload(app, 'email,city\nc@example.com,Bonn\nbefore@example.com,Rome');
  t.strictSame(changes(app), [
    'joined contacts 1 c',
    `left segments ${watched} before`,
    `joined segments ${watched} c`,
  ]);
  await ok(app, 'DELETE', '/contacts/delete', { query: { contact_id: one } });
  t.strictSame(changes(app), ['left contacts 1 before']);
  const form = { segment_id: watched, first_name: 'H', last_name: 'M', email: 'h@example.com' };
  await ok(app, 'POST', '/segment/email/store', { form });
  await ok(app, 'POST', '/segment/email/store', { form: { ...form, email: 'c@example.com' } });
  t.strictSame(changes(app), [`joined segments ${watched} h`]);
  const hand = (await recipients(app, watched)).find(({ email }) => email === 'h@example.com');
  await ok(app, 'DELETE', '/segment/email/delete', { query: { segment_recipient_id: hand.id } });
  t.strictSame(changes(app), [`left segments ${watched} h`]);
  await ok(app, 'POST', '/segment/update', {
    form: {
      segment_id: watched,
      segment_name: 'S',
      contact_type_id: 2,
      select_field: ['city'],
      select_operator: ['is'],
      value: ['bonn'],
    },
  });
  t.strictSame(
    changes(app),
    [`joined segments ${watched} b`],
    'the contact that moved to type 2; people added by hand were in it before',
  );
});

t.test('whatever the order of writes, who is in it is who a recompute puts in, and the count says so', async (t) => {
  const app = await start(t);
  const segment_id = await store(app, ['city', 'does not contain', 'x']);
  const person = fc.constantFrom('a', 'b', 'c', 'd');
  const place = { city: fc.constantFrom('x', 'y'), type: fc.constantFrom(1, 2) };
  const write = fc.oneof(
    fc.record({ act: fc.constant('add'), person, ...place }),
    fc.record({ act: fc.constant('change'), person, ...place, to: person }),
    fc.record({ act: fc.constant('import'), person, ...place }),
    fc.record({ act: fc.constantFrom('delete', 'hand', 'unhand'), person }),
  );
  const newest = (table: string, name: string) =>
    app.db.prepare(`SELECT max(id) FROM ${table} WHERE email = ?`).pluck().get(`${name}@example.com`) ?? 0;
  const apply = async (given: { act: string; person: string; city?: string; type?: number; to?: string }) => {
    const email = `${given.to ?? given.person}@example.com`;
    const contact_id = newest('contacts', given.person);
    const form = { contact_id, contact_type_id: given.type, email, country: 1, city: given.city };
    if (given.act === 'add') await app.one.call('POST', '/contacts/add', { form });
    if (given.act === 'change') await app.one.call('POST', '/contacts/update', { form });
    if (given.act === 'import') await upload(app, `email,city\n${email},${given.city}`, String(given.type));
    if (given.act === 'delete') await app.one.call('DELETE', '/contacts/delete', { query: { contact_id } });
    if (given.act === 'hand') {
      await ok(app, 'POST', '/segment/email/store', { form: { segment_id, first_name: 'H', last_name: 'M', email } });
    }
    if (given.act === 'unhand') {
      const segment_recipient_id = newest('segment_recipients', given.person);
      await app.one.call('DELETE', '/segment/email/delete', { query: { segment_recipient_id } });
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.array(write, { minLength: 4, maxLength: 12 }), async (writes) => {
      for (const given of writes) await apply(given);
      const kept = await recipients(app, segment_id);
      const { count } = app.db.prepare('SELECT segment_emails_count AS count FROM segments').get() as { count: number };
      markForRecompute(app.drizzle, sql`id = ${segment_id}`);
      while (await recomputeDueSegments(app.drizzle, app.clock, failed));
      const fresh = await recipients(app, segment_id);
      if (JSON.stringify(fresh) !== JSON.stringify(kept) || count !== kept.length)
        throw new Error(`${JSON.stringify(kept)}, counted ${count}, became ${JSON.stringify(fresh)}`);
    }),
    { numRuns: 15 },
  );
});

t.test(
  'a send goes to a segment, everyone once, not to the excluded, by name also to those added by hand',
  async (t) => {
    const app = await start(t);
    for (const [name, city] of [
      ['a', 'Bonn'],
      ['b', 'Bonn'],
      ['c', 'Rome'],
      ['d', 'Bonn'],
    ]) {
      await addContact(app, `${name}@example.com`, { first_name: `First ${name}`, city });
    }
    const bonn = await store(app, ['city', 'is', 'Bonn']);
    const all = await store(app, ['city', 'is not blank']);
    const out = await store(app, ['first_name', 'is', 'first b']);
    const byHand = { segment_id: bonn, first_name: 'Hand', last_name: 'Made', email: 'hand@example.com' };
    await ok(app, 'POST', '/segment/email/store', { form: byHand });
    const d = (await recipients(app, bonn)).find(({ email }) => email === 'd@example.com');
    await ok(app, 'DELETE', '/segment/email/delete', { query: { segment_recipient_id: d.id } });
    await queueSend(app, {
      recipient_id: [`segments_${bonn}`, `segments_${bonn}`],
      exclude_specific_recipient_id: [`segments_${out}`],
    });
    app.clock.advance(120_000);
    await app.background();
    t.strictSame(mails(app), ['a@example.com Hello First a', 'hand@example.com Hello Hand']);
    await queueSend(app, {
      recipient_id: [`segments_${all}`, 'contacts_1', `segments_${bonn}`],
      exclude_specific_recipient_id: [`segments_${out}`],
    });
    app.clock.advance(120_000);
    await app.background();
    t.strictSame(
      mails(app).map((mail) => mail.split('@')[0]),
      ['a', 'c', 'd', 'hand'],
    );
    const nobody = await queueSend(app, {
      recipient_id: [`segments_${out}`],
      exclude_specific_recipient_id: [`segments_${bonn}`],
    });
    app.clock.advance(120_000);
    await app.background();
    t.match(statusOf(app, nobody), { status: 0, held_reason: /^Nobody to send to/ });
  },
);

t.test('a segment is recomputed as a set before a send', async (t) => {
  const app = await start(t);
  await addContact(app, 'a@example.com', { first_name: 'A', city: 'Bonn' });
  const bonn = await store(app, ['city', 'is', 'Bonn']);
  await queueSend(app, { recipient_id: [`segments_${bonn}`] });
  app.db.exec('DELETE FROM segment_recipients');
  app.clock.advance(120_000);
  await app.background();
  t.strictSame(mails(app), ['a@example.com Hello A']);
});

const SEND = {
  template_id: 1,
  template_html: '<p>Hello ((first_name))</p>',
  sender_id: 1,
  unsubscribe_group_id: 1,
  single_send_name: 'News',
  subject: 'Hello ((first_name))',
  preheader: 'Pre',
  schedule_type: 0,
};

/** Queues a single send; the first one of an account comes with its sender and group. */
async function queueSend(app: TestApp, targets: Record<string, string[]>): Promise<string> {
  if (app.db.prepare('SELECT 1 FROM senders').get() === undefined) {
    await ok(app, 'POST', '/unsubscribes-groups/save', {
      form: { group_name: 'News', description: 'All', is_display: 1 },
    });
    const from = { from_name: 'Lark', from_email: 'lark@example.com', reply_to_email: 'lark@example.com' };
    await ok(app, 'POST', '/sender/save', {
      form: { ...from, country_id: 1, company_address: 'Lane 1', nickname: 'Lark' },
    });
    await app.background();
    app.db.exec('DELETE FROM outbox');
  }
  return (await ok(app, 'POST', '/single/send/create', { form: { ...SEND, ...targets } })).body.message.utr;
}

function statusOf(app: TestApp, utr: string): { status: number; held_reason: string | null } {
  const row = app.db.prepare('SELECT status, held_reason FROM single_sends WHERE utr = ?').get(utr);
  return row as { status: number; held_reason: string | null };
}

/** Who got what since the last call, by address. */
function mails(app: TestApp): string[] {
  const rows = app.db.prepare("SELECT envelope_to || ' ' || subject FROM outbox ORDER BY envelope_to").pluck().all();
  app.db.exec('DELETE FROM outbox');
  return rows.map(String);
}
