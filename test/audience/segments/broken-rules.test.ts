/** Segments whose custom field or contact type was deleted. */
import t from 'tap';
import {
  addContact,
  INSERT_LIVE_AUTOMATION,
  membersOf,
  mustAnswer,
  queueSend,
  startWithFields,
  statusOf,
  storeSegment,
  uploadCsv,
} from '../../support/segments.ts';

t.test('after a custom field was deleted a segment keeps its members and says why', async (t) => {
  const app = await startWithFields(t);
  await addContact(app, 'pro@example.com', { 'custom_field[hobby]': 'chess' });
  const none = await addContact(app, 'none@example.com', { 'custom_field[hobby]': 'none' });
  const gone = await addContact(app, 'gone@example.com', { 'custom_field[hobby]': 'go' });
  const isNot = await storeSegment(app, ['hobby', 'is not', 'none'], { query_type: 'or' });
  const other = await storeSegment(app, ['points', 'is blank']);
  const shown = async (segment_id: number) =>
    (await mustAnswer(app, 'GET', '/segment/problem', { query: { segment_id } })).body.message.problem;
  t.equal(await shown(isNot), null);
  await mustAnswer(app, 'DELETE', '/custom-fields/delete', { query: { id: 1 } });
  t.equal(await membersOf(t, app, isNot), 'gone pro');
  t.equal(await shown(isNot), 'A rule of the segment "S" names the custom field hobby, which was deleted');
  t.equal(await shown(other), null);
  const details = await mustAnswer(app, 'GET', '/segment/details', { query: { segment_id: isNot } });
  t.strictSame(
    Object.keys(details.body.message),
    ['segment'],
    'the record stays what it is, and nothing stands beside it',
  );

  await mustAnswer(app, 'POST', '/contacts/update', {
    form: { contact_id: none, contact_type_id: 1, email: 'none@example.com', country: 1, city: 'Bonn' },
  });
  await uploadCsv(app, 'email,city\nnew@example.com,Bonn\npro@example.com,Bonn');
  await mustAnswer(app, 'DELETE', '/contacts/delete', { query: { contact_id: gone } });
  await mustAnswer(app, 'POST', '/segment/email/store', {
    form: { segment_id: isNot, first_name: 'H', last_name: 'H', email: 'hand@example.com' },
  });
  t.equal(
    await membersOf(t, app, isNot),
    'hand pro',
    'contacts that are written neither join nor leave; deleted ones leave',
  );
});

t.test('a campaign for a segment with a deleted field is held, and so is one that is made later', async (t) => {
  const app = await startWithFields(t);
  await addContact(app, 'a@example.com', { 'custom_field[hobby]': 'chess' });
  await addContact(app, 'b@example.com');
  const segment_id = await storeSegment(app, ['hobby', 'is not', 'none']);
  const reason = 'A rule of the segment "S" names the custom field hobby, which was deleted';
  const [to, without] = [
    await queueSend(app, { recipient_id: [`segments_${segment_id}`] }),
    await queueSend(app, { recipient_id: ['contacts_1'], exclude_specific_recipient_id: [`segments_${segment_id}`] }),
  ];
  app.db.prepare(INSERT_LIVE_AUTOMATION).run(segment_id, 'segments', '00000000-0000-4000-8000-000000000001');
  await mustAnswer(app, 'DELETE', '/custom-fields/delete', { query: { id: 1 } });
  for (const utr of [to, without]) t.strictSame(statusOf(app, utr), { status: 0, held_reason: reason });
  t.strictSame(app.db.prepare('SELECT status, english(held_reason) AS held_reason FROM automations').get(), {
    status: 0,
    held_reason: reason,
  });
  const live = await app.one.call('GET', '/automations/set-live', {
    query: { utr: '00000000-0000-4000-8000-000000000001' },
  });
  t.match([live.status, live.body.errors], [409, `The automation cannot go live: ${reason}`]);

  const later = await queueSend(app, { recipient_id: [`segments_${segment_id}`] });
  app.clock.advance(11_000);
  await app.background();
  t.strictSame(statusOf(app, later), { status: 0, held_reason: reason });
  t.equal(app.db.prepare("SELECT count(*) FROM mailings WHERE owner_kind = 'single'").pluck().get(), 0);
});

t.test('making the deleted field again revives its segments, unless their rules do not suit its type', async (t) => {
  const app = await startWithFields(t);
  const pro = await addContact(app, 'pro@example.com', { 'custom_field[hobby]': 'chess' });
  await addContact(app, 'none@example.com', { 'custom_field[hobby]': 'none' });
  const segment_id = await storeSegment(app, ['hobby', 'is', 'chess']);
  const problem = async () =>
    (await mustAnswer(app, 'GET', '/segment/problem', { query: { segment_id } })).body.message.problem;
  const make = (field_name: string, field_type: string) =>
    mustAnswer(app, 'POST', '/custom-fields/save', { form: { field_name, field_type } });
  await mustAnswer(app, 'DELETE', '/custom-fields/delete', { query: { id: 1 } });
  await make('hobby', 'number');
  t.equal(
    await problem(),
    'A rule of the segment "S" does not suit the custom field hobby, which is of type number now',
  );
  t.equal(await membersOf(t, app, segment_id), 'pro', 'it stays as it was');
  await mustAnswer(app, 'DELETE', '/custom-fields/delete', { query: { id: 4 } });
  await make('Hobby', 'text');
  t.equal(await problem(), null);
  t.equal(await membersOf(t, app, segment_id), '', 'the values went with the old field');
  await mustAnswer(app, 'POST', '/contacts/update', {
    form: { contact_id: pro, contact_type_id: 1, email: 'pro@example.com', country: 1, 'custom_field[Hobby]': 'Chess' },
  });
  t.equal(await membersOf(t, app, segment_id), 'pro', 'and its rules hold again');
});

t.test(
  'a deleted contact type takes its people out of segments, holds queued sends and automations that name it',
  async (t) => {
    const app = await startWithFields(t);
    await addContact(app, 'a@example.com', { city: 'Bonn' });
    const segment_id = await storeSegment(app, ['city', 'is', 'Bonn']);
    await mustAnswer(app, 'POST', '/segment/email/store', {
      form: { segment_id, first_name: 'A', last_name: 'B', email: 'x@example.com' },
    });
    const utr = await queueSend(app, { recipient_id: ['contacts_2'], exclude_specific_recipient_id: ['contacts_1'] });
    app.db.prepare(INSERT_LIVE_AUTOMATION).run(1, 'contacts', 'u1');
    const gone = await mustAnswer(app, 'DELETE', '/contacts-type/delete', { query: { contact_type_id: 1 } });
    t.equal(gone.body.errors, 'Deleted Successfully');
    t.equal(await membersOf(t, app, segment_id), 'x');
    t.strictSame(statusOf(app, utr), { status: 0, held_reason: 'A contact type it names was deleted' });
    t.strictSame(app.db.prepare('SELECT status, english(held_reason) AS held_reason FROM automations').get(), {
      status: 0,
      held_reason: 'Its contact type was deleted',
    });
  },
);

t.test('a deleted contact type holds what names a segment of it, which has lost its people', async (t) => {
  const app = await startWithFields(t);
  await addContact(app, 'a@example.com', { city: 'Bonn' });
  await addContact(app, 'b@example.com', { contact_type_id: 2 });
  const segment_id = await storeSegment(app, ['city', 'is', 'Bonn']);
  const utr = await queueSend(app, { recipient_id: [`segments_${segment_id}`, 'contacts_2'] });
  app.db.prepare(INSERT_LIVE_AUTOMATION).run(segment_id, 'segments', 'u1');
  await mustAnswer(app, 'DELETE', '/contacts-type/delete', { query: { contact_type_id: 1 } });
  t.strictSame(statusOf(app, utr), {
    status: 0,
    held_reason: 'The contact type of a segment it names was deleted',
  });
  t.strictSame(app.db.prepare('SELECT status, english(held_reason) AS held_reason FROM automations').get(), {
    status: 0,
    held_reason: "Its segment's contact type was deleted",
  });
});
