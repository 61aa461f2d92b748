/** Segments through the API: their records, their errors, and what names a deleted one. */
import t from 'tap';
import type { CallOptions } from '../support/app.ts';
import {
  addContact,
  INSERT_LIVE_AUTOMATION,
  membersOf,
  mustAnswer,
  queueSend,
  recipientsOf,
  SEND,
  startWithFields,
  statusOf,
  storeSegment,
} from '../support/segments.ts';

t.test('a segment is stored, shown and listed as the contract says', async (t) => {
  const app = await startWithFields(t);
  const id = await storeSegment(app, [], {
    select_field: ['city', 'points', 'Hobby'],
    select_operator: ['Is', 'IS BETWEEN', 'is blank'],
    value: ['Bonn', '1', '5'],
    query_type: 'or',
  });
  const { segment } = (await mustAnswer(app, 'GET', '/segment/details', { query: { segment_id: id } })).body.message;
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
  t.strictSame((await mustAnswer(app, 'GET', '/segment/list')).body.message.segments, [segment]);
});

t.test('field errors come all at once', async (t) => {
  const app = await startWithFields(t);
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

t.test('a missing record is answered with the text of its endpoint, and so is one of another account', async (t) => {
  const app = await startWithFields(t);
  const segment_id = await storeSegment(app, ['city', 'is', 'Bonn']);
  await mustAnswer(app, 'POST', '/segment/email/store', {
    form: { segment_id, first_name: 'A', last_name: 'B', email: 'a@example.com' },
  });
  const [recipient] = await recipientsOf(app, segment_id);
  const form = {
    segment_id,
    segment_name: 'X',
    contact_type_id: 1,
    select_field: ['city'],
    select_operator: ['is blank'],
  };
  const calls: [string, string, CallOptions, string][] = [
    ['GET', '/segment/details', { query: { segment_id } }, 'Record Not Found'],
    ['GET', '/segment/problem', { query: { segment_id } }, 'Record Not Found'],
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
  t.equal(await membersOf(t, app, segment_id), 'a');
});

t.test('a stored segment has its contacts at once, with their values', async (t) => {
  const app = await startWithFields(t);
  const contact_id = await addContact(app, 'A@Example.com', {
    first_name: 'Ann',
    city: 'Bonn',
    state: 'NRW',
    address_line1: 'Lane 1',
  });
  await addContact(app, 'b@example.com', { city: 'Rome' });
  const segment_id = await storeSegment(app, ['city', 'is', 'BONN']);
  const [recipient, ...others] = await recipientsOf(app, segment_id);
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

t.test('a preview counts a segment as time has made it, not as it was at the last check', async (t) => {
  const app = await startWithFields(t);
  await addContact(app, 'a@example.com', { 'custom_field[seen]': '2026-01-15T09:30' });
  const segment_id = await storeSegment(app, ['seen', 'is within', '1']);
  app.clock.advance(45 * 60_000);
  await queueSend(app, { recipient_id: ['contacts_2'] });
  const form = { ...SEND, recipient_id: [`segments_${segment_id}`] };
  const { preview } = (await mustAnswer(app, 'POST', '/single/send/preview', { form })).body.message;
  t.equal(preview.audience.recipients, 1);
});

t.test('a deleted segment appears nowhere, holds queued sends and automations that name it', async (t) => {
  const app = await startWithFields(t);
  await addContact(app, 'a@example.com', { city: 'Bonn' });
  const segment_id = await storeSegment(app, ['city', 'is', 'Bonn']);
  const [{ id }] = await recipientsOf(app, segment_id);
  const target = `segments_${segment_id}`;
  const to = await queueSend(app, { recipient_id: [target] });
  const without = await queueSend(app, { recipient_id: ['contacts_1'], exclude_specific_recipient_id: [target] });
  const other = await queueSend(app, { recipient_id: ['contacts_1'] });
  app.db.prepare(INSERT_LIVE_AUTOMATION).run(segment_id, 'segments', 'u1');
  const gone = await mustAnswer(app, 'DELETE', '/segment/delete', { query: { segment_id } });
  t.strictSame(gone.body, { status: 'success', errors: 'Deleted Successfully' });
  const held = { status: 0, held_reason: 'A segment it names was deleted' };
  t.strictSame([statusOf(app, to), statusOf(app, without)], [held, held]);
  t.equal(statusOf(app, other).status, 1);
  t.strictSame(app.db.prepare('SELECT status, english(held_reason) AS held_reason FROM automations').get(), {
    status: 0,
    held_reason: 'Its segment was deleted',
  });
  t.strictSame((await mustAnswer(app, 'GET', '/segment/list')).body.message.segments, []);
  t.equal((await app.one.call('GET', '/segment/details', { query: { segment_id } })).status, 404);
  t.equal((await app.one.call('GET', '/segment/email/list', { query: { segment_id } })).status, 404);
  t.equal((await app.one.call('DELETE', '/segment/email/delete', { query: { segment_recipient_id: id } })).status, 404);
  const again = await app.one.call('POST', '/single/send/create', { form: { ...SEND, recipient_id: [target] } });
  t.same(again.body.errors, { recipient_id: ['The selected recipient id is invalid.'] });
});

t.test('a deletion is undone: the rules apply to the contacts of now, and those added by hand are in it', async (t) => {
  const app = await startWithFields(t);
  await addContact(app, 'a@example.com', { city: 'Bonn' });
  const segment_id = await storeSegment(app, ['city', 'is', 'Bonn']);
  const byHand = { segment_id, email: 'hand@example.com', first_name: 'Hand', last_name: 'Added' };
  await mustAnswer(app, 'POST', '/segment/email/store', { form: byHand });
  const to = await queueSend(app, { recipient_id: [`segments_${segment_id}`] });
  const undelete = (caller = app.one) => caller.call('POST', '/segment/undelete', { form: { segment_id } });
  t.equal((await undelete()).status, 404, 'it is not deleted');
  await mustAnswer(app, 'DELETE', '/segment/delete', { query: { segment_id } });
  await addContact(app, 'b@example.com', { city: 'Bonn' });
  t.equal((await undelete(app.two)).status, 404, 'it is of another account');
  t.equal((await undelete()).status, 200);
  const emails = (await recipientsOf(app, segment_id)).map(({ email }: { email: string }) => email).sort();
  t.strictSame(emails, ['a@example.com', 'b@example.com', 'hand@example.com']);
  t.equal(statusOf(app, to).status, 0, 'a single send that became a draft stays one');
  await mustAnswer(app, 'DELETE', '/segment/delete', { query: { segment_id } });
  await mustAnswer(app, 'DELETE', '/contacts-type/delete', { query: { contact_type_id: 1 } });
  t.equal((await undelete()).status, 404, 'its list is deleted');
});
