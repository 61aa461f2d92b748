/** Lists, custom fields and unsubscribe groups in the dashboard, by sending their forms. */
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { connect } from '../../src/database/open.ts';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addContact, mustAnswer, queueSend, startWithFields, storeSegment } from '../support/segments.ts';
import { SHOP_SENDER } from '../support/sender.ts';
import { visitor } from '../support/visitor.ts';

const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');

t.test('a contact type is added, renamed, and deleted with its people after a question in numbers', async (t) => {
  const app = await startWithFields(t);
  const { open, send } = visitor(app, 'editor');
  const wrong = await send('/settings/lists', { name: 'x' });
  t.equal(wrong.status, 422);
  t.match(wrong.text, 'id="name-problem"');
  t.match(wrong.text, 'value="x"');
  t.equal((await send('/settings/lists', { name: 'Guests' })).status, 303);
  t.equal((await send('/settings/lists/3', { name: 'Visitors' })).status, 303);
  t.match((await open('/settings/lists')).text, '<bdi>Visitors</bdi>');
  for (const name of ['a', 'b']) await addContact(app, `${name}@example.com`, { city: 'Bonn' });
  await storeSegment(app, ['city', 'is', 'Bonn']);
  await queueSend(app, { recipient_id: ['segments_1'] });
  const asked = textOf((await open('/settings/lists/1')).text);
  t.match(asked, 'The 2 contacts of the list are deleted too.');
  t.match(asked, '1 segment is based on this list');
  t.match(asked, '1 draft or scheduled campaign uses this list or one of its segments.');
  t.match(asked, '1 of them is scheduled and will not be sent.');
  t.equal((await send('/settings/lists/1/delete')).status, 303);
  t.strictSame((await mustAnswer(app, 'GET', '/contacts/list')).body.message.contacts, []);
});

t.test('a custom field is added and deleted after a question in numbers', async (t) => {
  const app = await startWithFields(t);
  const { open, send } = visitor(app, 'editor');
  const wrong = await send('/settings/fields', { field_name: 'Größe', field_type: 'number' });
  t.equal(wrong.status, 422);
  t.match(wrong.text, 'id="field_name-problem"');
  t.match(wrong.text, '<option value="number" selected');
  t.equal((await send('/settings/fields', { field_name: 'shoe size', field_type: 'number' })).status, 303);
  t.match((await open('/settings/fields')).text, '((shoe_size))');
  await storeSegment(app, ['hobby', 'is', 'chess']);
  const asked = textOf((await open('/settings/fields/1')).text);
  t.match(asked, '1 segment has a rule with this field');
  t.match(asked, 'No draft, scheduled campaign or automation uses this field or a segment with a rule about it.');
  t.equal((await send('/settings/fields/1/delete')).status, 303);
  t.equal((await open('/settings/fields/1')).status, 404);
});

t.test(
  'a custom field is renamed, unless something uses it: then the page says what, in the reader’s language',
  async (t) => {
    const app = await startWithFields(t);
    const { open, send } = visitor(app, 'editor');
    const wrong = await send('/settings/fields/1', { field_name: 'Größe' });
    t.equal(wrong.status, 422);
    t.match(wrong.text, 'value="Größe"');
    t.match(wrong.text, 'id="field_name-problem"');
    t.equal((await send('/settings/fields/1', { field_name: 'spare time' })).status, 303);
    t.match((await open('/settings/fields')).text, '((spare_time))');
    await storeSegment(app, ['points', 'is', '7']);
    const refused = await send('/settings/fields/2', { field_name: 'score' });
    t.equal(refused.status, 409);
    t.match(refused.text, 'saved blocks (0) and segments (1)');
    t.match(refused.text, 'value="score"');
  },
);

t.test('an unsubscribe group is added, changed and deleted', async (t) => {
  const app = await startWithFields(t);
  const { open, send } = visitor(app, 'editor');
  const wrong = await send('/unsubscribes/topics/new', { group_name: 'News' });
  t.equal(wrong.status, 422);
  t.match(wrong.text, 'id="description-problem"');
  t.equal(
    (await send('/unsubscribes/topics/new', { group_name: 'News', description: 'Weekly', is_display: '1' })).status,
    303,
  );
  t.match((await open('/unsubscribes/topics')).text, 'href="/unsubscribes/topics/1/edit"');
  t.match((await open('/unsubscribes/topics/1/edit')).text, 'value="Weekly"');
  const hint = 'Conditions in e-mails find the topic by its name.';
  t.match((await open('/unsubscribes/topics/1/edit')).text, hint);
  t.notMatch((await open('/unsubscribes/topics/new')).text, hint, 'no condition names a new topic');
  t.equal((await send('/unsubscribes/topics/1/edit', { group_name: 'News', description: 'Monthly' })).status, 303);
  const { unsubscribesGroup } = (await mustAnswer(app, 'GET', '/unsubscribes-groups/details', { query: { id: 1 } }))
    .body.message;
  t.match(unsubscribesGroup, { description: 'Monthly', is_display: 0 });
  t.match((await open('/unsubscribes/topics/1/edit')).text, 'Links in sent e-mails keep working');
  await mustAnswer(app, 'POST', '/automations/create', {
    form: { automation_name: 'Welcome', type: 'welcome', unsubscribe_group_id: 1 },
  });
  t.equal((await send('/unsubscribes/topics/1/delete')).headers.location, '/unsubscribes/topics/1/edit');
  t.match((await open('/unsubscribes/topics/1/edit')).text, 'One automation uses this topic.');
  app.db.prepare('DELETE FROM automations').run();
  t.equal((await send('/unsubscribes/topics/1/delete')).headers.location, '/unsubscribes/topics');
  t.match((await open('/unsubscribes/topics')).text, 'No topics yet');
  t.equal((await open('/unsubscribes/topics/1/edit')).status, 404);
});

t.test('a viewer sees lists without forms, and another account finds none of them', async (t) => {
  const app = await startWithFields(t);
  await mustAnswer(app, 'POST', '/unsubscribes-groups/save', {
    form: { group_name: 'News', description: 'All', is_display: 1 },
  });
  const [viewer, other] = [visitor(app, 'viewer'), visitor(app, 'owner', { accountId: 2 })];
  for (const path of ['/settings/lists', '/settings/fields', '/unsubscribes/topics']) {
    const { status, text } = await viewer.open(path);
    t.equal(status, 200, path);
    t.notMatch(
      text,
      /action="\/(settings|left)|href="\/(settings\/(types|fields)|left\/groups)\/(new|\d+\/edit)/,
      path,
    );
  }
  for (const path of ['/settings/lists/1', '/settings/fields/1', '/unsubscribes/topics/1/edit']) {
    t.equal((await viewer.open(path)).status, 403, path);
    t.equal((await other.open(path)).status, 404, path);
  }
  const name = { name: 'Mine', group_name: 'Mine', description: 'Mine' };
  for (const path of [
    '/settings/lists/1',
    '/settings/lists/1/delete',
    '/settings/fields/1',
    '/settings/fields/1/delete',
    '/unsubscribes/topics/1/edit',
  ]) {
    t.equal((await viewer.send(path, name)).status, 403, path);
    t.equal((await other.send(path, name)).status, 404, path);
  }
});

t.test('others are answered between what a page asks for, and within a long list', async (t) => {
  const app = await startWithFields(t);
  const { open } = visitor(app);
  /** How often others could be answered while a page was made. */
  const turnsOf = async (path: string) => {
    let answer: { status: number } | undefined;
    void open(path).then((given) => {
      answer = given;
    });
    let turns = 0;
    for (; answer === undefined; turns++) await setImmediate();
    t.equal(answer.status, 200);
    return turns;
  };
  await app.fastify.dashboard();
  await storeSegment(app, ['city', 'is', 'Bonn']);
  const [short, many] = [await turnsOf('/settings/lists'), await turnsOf('/contacts/segments/1')];
  t.ok(many >= short + 6, `${many} turns for eight questions, ${short} for one`);
  app.db
    .prepare(
      "INSERT INTO contact_types (user_id, name, created_at, updated_at) SELECT 1, 'Type', '', '' FROM json_each(?)",
    )
    .run(JSON.stringify(Array.from({ length: 3500 })));
  const long = await turnsOf('/settings/lists');
  t.ok(long >= short + 3, `${long} turns for four pages of a list`);
});

t.test('a form waits for the lock of the database, also while others write', async (t) => {
  const app = await startWithFields(t);
  const { send } = visitor(app);
  await storeSegment(app, ['city', 'is', 'Bonn']);
  const background = connect(app.path).$client;
  t.teardown(() => background.close());
  background.exec('BEGIN IMMEDIATE');
  let answer: { status: number } | undefined;
  void send('/contacts/segments/1/delete').then((given) => {
    answer = given;
  });
  // Others write in each turn, and at all other times the lock is taken.
  for (let turn = 0; turn < 100; turn++) {
    await setImmediate();
    background.exec('COMMIT');
    app.db.exec('UPDATE contact_types SET name = name WHERE id = 1');
    background.exec('BEGIN IMMEDIATE');
  }
  t.equal(answer, undefined);
  background.exec('COMMIT');
  while (answer === undefined) await setImmediate();
  t.equal(answer.status, 303);
});

t.test('before a record is deleted, its page names the active feeds that use it', async (t) => {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/custom-fields/save', { field_name: 'plan', field_type: 'text' });
  const rule = { select_field: ['plan'], select_operator: ['is'], value: ['pro'] };
  await must('/segment/store', { segment_name: 'Pro', contact_type_id: 1, ...rule });
  await must('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: 1 });
  await must('/sender/save', SHOP_SENDER);
  const mail = { sender_id: 1, unsubscribe_group_id: 1, subject: '((item_title))', rhythm: 'item' };
  const feed = { ...mail, feed_name: 'Blog', url: 'https://blog.example/feed', recipient_id: ['segments_1'] };
  const { id } = (await must('/feeds/save', feed)) as { id: number };
  const { open } = visitor(app);
  const asked = {
    '/contacts/segments/1': 'this segment',
    '/settings/lists/1': 'this list or one of its segments',
    '/settings/fields/1': 'this field or a segment with a rule about it',
    '/settings/senders/1': 'this sender',
    '/unsubscribes/topics/1/edit': 'this topic',
  };
  for (const [path, what] of Object.entries(asked)) {
    const { text } = await open(path);
    t.match(text, `This feed uses ${what} and pauses before its next e-mail:`);
    t.match(text, `<a href="/feeds/${id}">Blog</a>`);
  }
  await must('/feeds/switch', { id, is_active: 0 });
  for (const path of Object.keys(asked)) t.notMatch((await open(path)).text, 'This feed uses');
});
