/** Actions on many contacts: each contact once, through kills, with progress; cancelled and undone. */
import t, { type Test } from 'tap';
import { startApp, type TestApp } from '../support/app.ts';

const PEOPLE = 450;

/** Account one with contacts 1 to 450 of type 1, and an empty type 2; every tenth is in Graz. */
async function withContacts(t: Test): Promise<TestApp> {
  const app = await startApp(t);
  for (const name of ['Customers', 'Readers']) await app.one.call('POST', '/contacts-type/add', { form: { name } });
  const rows = Array.from(
    { length: PEOPLE },
    (_, at) => `p${String(at + 1).padStart(3, '0')}@example.com,${at % 10 === 0 ? 'Graz' : 'Wien'}`,
  );
  await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', { filename: 'contacts.csv', content: `email,city\n${rows.join('\n')}\n` }],
    ],
  });
  await app.background();
  return app;
}

async function start(app: TestApp, form: Record<string, unknown>) {
  const { status, text, body } = await app.one.call('POST', '/contacts/jobs/start', { form });
  if (status !== 200) throw new Error(text);
  return body.message.job;
}

const job = async (app: TestApp, id: number) =>
  (await app.one.call('GET', '/contacts/jobs/details', { query: { id } })).body.message.job;

const idsOfType = (app: TestApp, type: number): number[] =>
  app.db
    .prepare<[number], number>('SELECT id FROM contacts WHERE contact_type_id = ? AND deleted_at IS NULL ORDER BY id')
    .pluck()
    .all(type);

const counts = (app: TestApp) =>
  app.db.prepare<[], number>('SELECT contacts_count FROM contact_types ORDER BY id').pluck().all();

t.test('what matches is moved, what does not stays, and undoing moves it back', async (t) => {
  const app = await withContacts(t);
  const { id } = await start(app, {
    action: 'move',
    everything: 1,
    field: 'city',
    value: ['Graz'],
    to_contact_type_id: 2,
  });
  await app.background();
  const moved = Array.from({ length: 45 }, (_, at) => at * 10 + 1);
  t.strictSame(idsOfType(app, 2), moved);
  t.match(await job(app, id), { state: 'done', whole: 45, done: 45, skipped: 0, is_undoable: 1 });
  t.strictSame(counts(app), [405, 45]);
  const { status } = await app.one.call('POST', '/contacts/jobs/undo', { form: { id } });
  t.equal(status, 200);
  await app.background();
  t.strictSame(idsOfType(app, 2), []);
  t.strictSame(counts(app), [450, 0]);
  t.match(await job(app, id), { state: 'undone', done: 0, is_undoable: 0 });
  t.equal((await app.one.call('POST', '/contacts/jobs/undo', { form: { id } })).status, 409, 'only once');
});

t.test('chosen contacts are deleted; undoing brings back whom nothing has replaced', async (t) => {
  const app = await withContacts(t);
  const { id } = await start(app, { action: 'delete', strIds: [1, 2, 3, 4] });
  await app.background();
  t.strictSame(idsOfType(app, 1).slice(0, 2), [5, 6]);
  await app.one.call('POST', '/contacts/add', { form: { contact_type_id: 1, email: 'p002@example.com', country: 1 } });
  await app.one.call('POST', '/contacts/jobs/undo', { form: { id } });
  await app.background();
  t.strictSame(idsOfType(app, 1).slice(0, 4), [1, 3, 4, 5]);
  t.strictSame(counts(app), [450, 0]);
});

t.test('an hour later an action cannot be undone any more', async (t) => {
  const app = await withContacts(t);
  const { id } = await start(app, { action: 'delete', strIds: [1] });
  await app.background();
  app.clock.advance(3_600_001);
  t.equal((await app.one.call('POST', '/contacts/jobs/undo', { form: { id } })).status, 409);
  t.equal((await job(app, id)).is_undoable, 0);
});

t.test('a contact whose address the type has already is not moved, and counted', async (t) => {
  const app = await withContacts(t);
  await app.one.call('POST', '/contacts/add', { form: { contact_type_id: 2, email: 'P001@example.com', country: 1 } });
  const { id } = await start(app, { action: 'move', strIds: [1, 2], to_contact_type_id: 2 });
  await app.background();
  t.match(await job(app, id), { state: 'done', whole: 2, done: 1, skipped: 1 });
  t.strictSame(idsOfType(app, 2), [2, PEOPLE + 1]);
});

t.test('people are unsubscribed from all mail or from a group, with an entry in the consent log', async (t) => {
  const app = await withContacts(t);
  await app.one.call('POST', '/unsubscribes-groups/save', {
    form: { group_name: 'News', description: 'x', is_display: 1 },
  });
  await start(app, { action: 'unsubscribe', strIds: [1, 2] });
  await start(app, { action: 'unsubscribe', strIds: [3], unsubscribe_groups_id: 1 });
  await app.background();
  const rows = 'SELECT email_address, unsubscribe_groups_id FROM unsubscribers ORDER BY id';
  t.strictSame(app.db.prepare(rows).raw().all(), [
    ['p001@example.com', null],
    ['p002@example.com', null],
    ['p003@example.com', 1],
  ]);
  t.equal(app.db.prepare('SELECT count(*) FROM consent_log').pluck().get(), 3);
});

t.test('contacts for a segment that was deleted meanwhile are skipped, not counted as done', async (t) => {
  const app = await withContacts(t);
  await app.one.call('POST', '/segment/store', {
    form: {
      segment_name: 'Graz',
      contact_type_id: 1,
      select_field: ['city'],
      select_operator: ['is'],
      value: ['Graz'],
    },
  });
  const { id } = await start(app, { action: 'segment', strIds: [1, 2, 3], to_segment_id: 1 });
  await app.one.call('DELETE', '/segment/delete', { query: { segment_id: 1 } });
  await app.background();
  t.match(await job(app, id), { state: 'done', whole: 3, done: 0, skipped: 3 });
});

t.test('contacts are added to a segment by hand and stay, whatever its rules say', async (t) => {
  const app = await withContacts(t);
  await app.one.call('POST', '/segment/store', {
    form: {
      segment_name: 'Graz',
      contact_type_id: 1,
      select_field: ['city'],
      select_operator: ['is'],
      value: ['Graz'],
    },
  });
  await start(app, { action: 'segment', strIds: [1, 2, 3], to_segment_id: 1 });
  await app.background();
  t.equal(app.db.prepare('SELECT segment_emails_count FROM segments').pluck().get(), 47);
  t.strictSame(
    app.db.prepare('SELECT contact_id FROM segment_recipients WHERE by_hand = 1 ORDER BY 1').pluck().all(),
    [1, 2, 3],
  );
});

t.test('after a kill in the middle every contact is done once', async (t) => {
  const app = await withContacts(t);
  const { id } = await start(app, { action: 'move', everything: 1, to_contact_type_id: 2 });
  for (let kills = 0; (await job(app, id)).state !== 'done'; kills++) {
    // What is dropped can write no more; each start does at most one step.
    app.restartBackground();
    await app.step();
    if (kills > 100) throw new Error('it does not end');
  }
  t.match(await job(app, id), { whole: PEOPLE, done: PEOPLE, skipped: 0 });
  t.strictSame(counts(app), [0, PEOPLE]);
});

t.test('a cancelled action stops, and what it did can be undone', async (t) => {
  const app = await withContacts(t);
  const { id } = await start(app, { action: 'delete', everything: 1, search: 'p' });
  t.equal((await app.one.call('POST', '/contacts/jobs/cancel', { form: { id } })).status, 200);
  await app.background();
  t.strictSame(counts(app), [PEOPLE, 0]);
  t.match(await job(app, id), { state: 'cancelled', done: 0 });
  t.equal((await app.one.call('POST', '/contacts/jobs/cancel', { form: { id } })).status, 409);
});

t.test('an action needs its target, contacts of the account, and says so', async (t) => {
  const app = await withContacts(t);
  const errors = async (form: Record<string, unknown>) =>
    (await app.one.call('POST', '/contacts/jobs/start', { form })).body.errors;
  t.match(await errors({ action: 'burn', strIds: [1] }), { action: [/invalid/] });
  t.match(await errors({ action: 'move', strIds: [1] }), { to_contact_type_id: [/required/] });
  t.match(await errors({ action: 'move', strIds: [1], to_contact_type_id: 99 }), { to_contact_type_id: [/invalid/] });
  t.match(await errors({ action: 'segment', strIds: [1], to_segment_id: 99 }), { to_segment_id: [/invalid/] });
  t.equal(await errors({ action: 'delete' }), 'Record Not Found');
  const foreign = await app.two.call('POST', '/contacts/jobs/start', { form: { action: 'delete', strIds: [1] } });
  t.equal(foreign.status, 404);
  const { id } = await start(app, { action: 'delete', strIds: [1] });
  t.equal((await app.two.call('GET', '/contacts/jobs/details', { query: { id } })).status, 404);
  t.strictSame((await app.two.call('GET', '/contacts/jobs')).body.message.jobs, []);
  await app.two.call('POST', '/contacts/jobs/start', { form: { action: 'delete', everything: 1 } });
  await app.background();
  t.strictSame(counts(app), [PEOPLE - 1, 0]);
});

t.test('an account has twenty actions under way, and those of another take turns with them', async (t) => {
  const app = await withContacts(t);
  for (let at = 0; at < 20; at++) await start(app, { action: 'unsubscribe', everything: 1 });
  const more = await app.one.call('POST', '/contacts/jobs/start', { form: { action: 'delete', strIds: [1] } });
  t.equal(more.status, 429, more.text);
  await app.two.call('POST', '/contacts-type/add', { form: { name: 'Others' } });
  const { body } = await app.two.call('POST', '/contacts/jobs/start', { form: { action: 'delete', everything: 1 } });
  const states = 'SELECT state FROM contact_jobs WHERE id = ?';
  for (let steps = 0; steps < 3; steps++) await app.step();
  t.equal(app.db.prepare(states).pluck().get(body.message.job.id), 'done');
  t.not(app.db.prepare(states).pluck().get(20), 'done');
  await app.background();
  t.equal(
    (await app.one.call('POST', '/contacts/jobs/start', { form: { action: 'delete', strIds: [1] } })).status,
    200,
  );
});

t.test('ten thousand chosen contacts are written down by the background, each once', async (t) => {
  const app = await withContacts(t);
  const rows = Array.from({ length: 9_550 }, (_, at) => `q${at}@example.com`);
  await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', { filename: 'more.csv', content: `email\n${rows.join('\n')}\n` }],
    ],
  });
  const strIds = Array.from({ length: 10_000 }, (_, at) => at + 1);
  const { id, whole } = await start(app, { action: 'move', strIds, to_contact_type_id: 2 });
  t.equal(whole, 10_000);
  t.equal(app.db.prepare('SELECT count(*) FROM contact_job_items').pluck().get(), 0);
  await app.background();
  t.match(await job(app, id), { state: 'done', whole: 10_000, done: 10_000, skipped: 0 });
  t.strictSame(counts(app), [0, 10_000]);
});

t.test(
  'an action that needs a confirmation collects its contacts, and changes them once it is confirmed',
  async (t) => {
    const app = await withContacts(t);
    const graz = { action: 'move', everything: 1, field: 'city', value: ['Graz'], to_contact_type_id: 2 };
    const confirm = async (caller: TestApp['one'], id: number) =>
      (await caller.call('POST', '/contacts/jobs/confirm', { form: { id } })).status;
    const { id } = await start(app, { ...graz, needs_confirmation: 1 });
    t.equal(await confirm(app.one, id), 409, 'not yet');
    await app.background();
    t.match(await job(app, id), { state: 'ready', whole: 45, done: 0 });
    t.strictSame(idsOfType(app, 2), []);
    t.equal(await confirm(app.two, id), 404);
    t.equal(await confirm(app.one, id), 200);
    await app.background();
    t.match(await job(app, id), { state: 'done', whole: 45, done: 45 });
    t.equal(await confirm(app.one, id), 409);
    const nobody = await start(app, { ...graz, value: ['Linz'], needs_confirmation: 1 });
    await app.background();
    t.match(await job(app, nobody.id), { state: 'done', whole: 0 }, 'there is nothing to confirm about nobody');
  },
);

t.test('an action that nobody confirms is cancelled after an hour, and its contacts are forgotten', async (t) => {
  const app = await withContacts(t);
  const { id } = await start(app, { action: 'delete', everything: 1, needs_confirmation: 1 });
  const other = await start(app, { action: 'delete', strIds: [1, 2], needs_confirmation: 1 });
  await app.background();
  await app.one.call('POST', '/contacts/jobs/cancel', { form: { id: other.id } });
  t.match(await job(app, other.id), { state: 'cancelled', done: 0 });
  app.clock.advance(3_601_000);
  await app.background();
  t.match(await job(app, id), { state: 'cancelled', whole: PEOPLE, done: 0, is_undoable: 0 });
  t.equal(idsOfType(app, 1).length, PEOPLE);
  app.clock.advance(3_601_000);
  await app.background();
  t.equal(app.db.prepare('SELECT count(*) FROM contact_job_items').pluck().get(), 0);
});
