/** Counting whom rules match before they are stored, and what depends on a segment, a contact type and a custom field. */
import t from 'tap';
import { addKeyPair } from '../../src/database/accounts.ts';
import { addPerson, callerOf } from '../support/people.ts';
import {
  addContact,
  INSERT_LIVE_AUTOMATION,
  membersOf,
  mustAnswer,
  queueSend,
  startWithFields,
  storeSegment,
} from '../support/segments.ts';

const RULES = {
  contact_type_id: 1,
  select_field: ['city', 'points'],
  select_operator: ['is', 'is greater than'],
  value: ['Bonn', '3'],
};

t.test('rules match the same contacts before they are stored as afterwards', async (t) => {
  const app = await startWithFields(t);
  for (let at = 0; at < 30; at++)
    await addContact(app, `p${at}@example.com`, {
      city: at % 2 === 0 ? 'Bonn' : 'Ulm',
      'custom_field[points]': String(at % 7),
      contact_type_id: at < 25 ? 1 : 2,
    });
  for (const query_type of ['and', 'or']) {
    const query = { ...RULES, query_type };
    const { message } = (await mustAnswer(app, 'GET', '/segment/count', { query })).body;
    const members = (await membersOf(t, app, await storeSegment(app, [], query))).split(' ');
    t.equal(message.count, members.length, query_type);
    t.equal(message.next, null);
    t.equal(message.contacts.length, Math.min(members.length, 10));
    for (const { email } of message.contacts) t.ok(members.includes(email.split('@')[0]), email);
  }
});

t.test('a count that goes on after a place adds up to the whole, and lists nobody again', async (t) => {
  const app = await startWithFields(t);
  const ids: number[] = [];
  for (let at = 0; at < 9; at++) ids.push(await addContact(app, `p${at}@example.com`, { city: 'Bonn' }));
  const query = { contact_type_id: 1, select_field: ['city'], select_operator: ['is'], value: ['bonn'] };
  const after = (place: number) => mustAnswer(app, 'GET', '/segment/count', { query: { ...query, after: place } });
  for (const [at, id] of ids.entries()) {
    const { message } = (await after(id)).body;
    t.strictSame(message, { count: at, contacts: [], next: null }, 'the newest are first');
  }
});

t.test('a viewer may count, and the errors are those of a segment that is stored', async (t) => {
  const app = await startWithFields(t);
  const viewer = callerOf(app, addPerson(app, 'viewer'));
  t.equal((await viewer.call('GET', '/segment/count', { query: RULES })).status, 200);
  for (const wrong of [
    { value: ['Bonn'] },
    { select_field: ['nothing', 'city'] },
    { contact_type_id: 9 },
    { value: ['Bonn', 'x'] },
  ]) {
    const counted = await app.one.call('GET', '/segment/count', { query: { ...RULES, ...wrong } });
    const stored = await app.one.call('POST', '/segment/store', { form: { ...RULES, segment_name: 'S', ...wrong } });
    t.equal(counted.status, 422);
    t.strictSame(counted.body, stored.body);
  }
  t.equal((await app.two.call('GET', '/segment/count', { query: RULES })).status, 422, 'of another account');
});

t.test('what depends on a segment, a contact type and a field is counted', async (t) => {
  const app = await startWithFields(t);
  await addContact(app, 'p@example.com', { city: 'Bonn', 'custom_field[points]': '5' });
  const id = await storeSegment(app, [], RULES);
  await storeSegment(app, ['city', 'is', 'Ulm']);
  await queueSend(app, { recipient_id: [`segments_${id}`, 'contacts_1'] });
  await queueSend(app, { recipient_id: ['contacts_2'], exclude_specific_recipient_id: [`segments_${id}`] });
  await queueSend(app, { recipient_id: ['contacts_1'] });
  await mustAnswer(app, 'POST', '/single/send/draft', { form: { single_send_name: 'Draft' } });
  app.db.prepare(INSERT_LIVE_AUTOMATION).run(id, 'segments', 'a');
  app.db.prepare(INSERT_LIVE_AUTOMATION).run(2, 'contacts', 'b');
  const uses = async (path: string, query: Record<string, unknown>) =>
    (await mustAnswer(app, 'GET', path, { query })).body.message.uses;
  const campaigns = (sends: number, automations: number) => ({
    single_sends: sends,
    queued_single_sends: sends,
    automations,
    live_automations: automations,
    mentions: 0,
    mentioned_in: [],
  });
  t.strictSame(await uses('/segment/uses', { segment_id: id }), { people: 1, ...campaigns(2, 1) });
  t.strictSame(await uses('/contacts-type/uses', { contact_type_id: 1 }), {
    people: 1,
    segments: 2,
    ...campaigns(3, 1),
  });
  t.strictSame(await uses('/contacts-type/uses', { contact_type_id: 2 }), {
    people: 0,
    segments: 0,
    ...campaigns(1, 1),
  });
  t.strictSame(await uses('/custom-fields/uses', { id: 2 }), { segments: 1, ...campaigns(2, 1) });
  t.strictSame(await uses('/custom-fields/uses', { id: 1 }), { segments: 0, ...campaigns(0, 0) });
});

t.test('what depends on a segment, a contact type and a field names the automations that mention it', async (t) => {
  const app = await startWithFields(t);
  const segment = await storeSegment(app, ['city', 'is', 'Ulm']);
  const other = await storeSegment(app, ['city', 'is', 'Bonn']);
  const group = 1;
  await mustAnswer(app, 'POST', '/unsubscribes-groups/save', {
    form: { group_name: 'News', description: 'n', is_display: 1 },
  });
  const automation = async (automation_name: string, more: object = {}) => {
    const target = { automation_for: 'contacts_2', unsubscribe_group_id: group, exit_criteria: 0 };
    const form = { type: 'custom', automation_name, ...target };
    const { utr } = (await mustAnswer(app, 'POST', '/automations/create', { form })).body.message;
    if (Object.keys(more).length > 0) await mustAnswer(app, 'POST', '/automations/update', { form: { utr, ...more } });
    return utr;
  };
  const step = (utr: string, settings: object) =>
    mustAnswer(app, 'POST', '/automations/step/add', {
      form: { utr, waiting_type: 'instantly', waiting_period: 1, ...settings },
    });
  const branches = await automation('Branches');
  await step(branches, { kind: 'if', segment_id: segment });
  const goal = await automation('Goal', { goal_segment_id: segment });
  const fields = await automation('Fields');
  await step(fields, { kind: 'set_field', field: 'points', value: '3' });
  await step(fields, { kind: 'move', contact_type_id: 1 });
  const dates = await automation('Dates', { trigger_kind: 'date', trigger_field: 'seen' });
  const gone = await automation('Deleted', { goal_segment_id: segment });
  await mustAnswer(app, 'DELETE', '/automations/delete', { query: { utr: gone } });
  const mentioned = async (path: string, query: Record<string, unknown>) =>
    (await mustAnswer(app, 'GET', path, { query })).body.message.uses.mentioned_in;
  t.strictSame(await mentioned('/segment/uses', { segment_id: segment }), [
    { utr: goal, automation_name: 'Goal' },
    { utr: branches, automation_name: 'Branches' },
  ]);
  t.strictSame(await mentioned('/segment/uses', { segment_id: other }), []);
  t.strictSame(
    await mentioned('/contacts-type/uses', { contact_type_id: 1 }),
    [
      { utr: fields, automation_name: 'Fields' },
      { utr: goal, automation_name: 'Goal' },
      { utr: branches, automation_name: 'Branches' },
    ],
    'a list by its steps and by its segments',
  );
  t.strictSame(await mentioned('/custom-fields/uses', { id: 2 }), [{ utr: fields, automation_name: 'Fields' }]);
  t.strictSame(await mentioned('/custom-fields/uses', { id: 3 }), [{ utr: dates, automation_name: 'Dates' }]);
  const { publicKey: PublicKey, secretKey: SecretKey } = addKeyPair(app.drizzle, app.clock, 1, {
    ...{ name: '', scopes: ['contacts'] },
  });
  const query = { segment_id: segment };
  const { body } = await app.one.call('GET', '/segment/uses', { query, headers: { PublicKey, SecretKey } });
  t.match(
    body.message.uses,
    { mentions: 2, mentioned_in: [] },
    'a key pair that may not read automations gets no names',
  );
  t.strictSame(body.message.uses.mentioned_in, []);
});
