/** Renaming custom fields. */
import t from 'tap';
import { addSchedule } from '../support/account-records.ts';
import type { TestApp } from '../support/app.ts';
import { addContact, membersOf, mustAnswer, queueSend, startWithFields, storeSegment } from '../support/segments.ts';

const rename = (app: TestApp, field_name: string, id = 1) =>
  app.one.call('POST', '/custom-fields/update', { form: { id, field_name } });
const nameOf = (app: TestApp, id = 1) =>
  app.db.prepare('SELECT field_name FROM custom_fields WHERE id = ?').pluck().get(id);

t.test('a custom field nothing uses is renamed and keeps its values', async (t) => {
  const app = await startWithFields(t);
  const contact_id = await addContact(app, 'zoe@example.com', { 'custom_field[hobby]': 'chess' });
  const { status, body } = await rename(app, 'Pastime');
  t.match([status, body.message], [200, 'Updated Successfully']);
  const { contact } = (await mustAnswer(app, 'GET', '/contacts/details', { query: { contact_id } })).body.message;
  t.match(contact.custom_field.Pastime, { field_value: 'chess' });
  t.notOk('hobby' in contact.custom_field);
  t.equal((await rename(app, 'pastime')).status, 200, 'its own name in another case is not taken');
  t.equal((await rename(app, 'pastime')).status, 200, 'the name it has changes nothing');
});

t.test('a new name follows the rules for adding, and other accounts have no such field', async (t) => {
  const app = await startWithFields(t);
  for (const name of [
    'POINTS',
    'First_Name',
    'created_at',
    'web_copy',
    'two words',
    'größe',
    '__proto__',
    '',
    'x'.repeat(256),
  ]) {
    const { status, body } = await rename(app, name);
    t.equal(status, 422, name);
    t.ok(body.errors.field_name, name);
  }
  t.equal((await rename(app, 'pastime', 99)).status, 404);
  t.equal(
    (await app.two.call('POST', '/custom-fields/update', { form: { id: 1, field_name: 'pastime' } })).status,
    404,
  );
  t.equal(nameOf(app), 'hobby');
});

t.test('a custom field is not renamed while unfinished work names it, and the refusal counts what', async (t) => {
  const app = await startWithFields(t);
  const refused = async (what: string) => {
    const { status, body } = await rename(app, 'pastime');
    t.equal(status, 409, what);
    t.match(body.errors, what);
    t.equal(nameOf(app), 'hobby');
  };
  await addContact(app, 'zoe@example.com');
  const utr = await queueSend(app, { recipient_id: ['contacts_1'] });
  t.equal((await rename(app, 'a')).status, 200, 'a mail without the placeholder is in nobody’s way');
  t.equal((await rename(app, 'hobby')).status, 200);
  const setSend = app.db.prepare('UPDATE single_sends SET subject = ? WHERE utr = ?');
  setSend.run('Your hobby, ((hobbyist))', utr);
  t.equal((await rename(app, 'a')).status, 200, 'neither is the word, or a longer name');
  t.equal((await rename(app, 'hobby')).status, 200);

  setSend.run('Your (( hobby|free time))', utr);
  await refused('1 single sends that are not finished, 0 automations, 0 templates, 0 saved blocks and 0 segments');
  app.db.prepare('UPDATE single_sends SET status = 3 WHERE utr = ?').run(utr);
  t.equal((await rename(app, 'a')).status, 200, 'a finished one is in nobody’s way');
  t.equal((await rename(app, 'hobby')).status, 200);

  const course = (
    await mustAnswer(app, 'POST', '/automations/create', {
      form: { type: 'custom', automation_name: 'Course', unsubscribe_group_id: '1' },
    })
  ).body.message.utr;
  await addSchedule(app.one, course, '1');
  await addSchedule(app.one, course, '1');
  app.db.prepare('UPDATE automation_schedules SET template_html = ?').run('<p>((hobby))</p>');
  await mustAnswer(app, 'POST', '/templates/create', {
    form: { template_name: 'Own', template_html: '<p>((hobby))</p>' },
  });
  const json_code = JSON.stringify({
    tagName: 'mjml',
    children: [
      {
        tagName: 'mj-body',
        children: [
          {
            tagName: 'mj-section',
            children: [{ tagName: 'mj-column', children: [{ tagName: 'mj-text', content: '((hobby|x))' }] }],
          },
        ],
      },
    ],
  });
  await mustAnswer(app, 'POST', '/blocks/create', { form: { block_name: 'Block', json_code } });
  const segment_id = await storeSegment(app, ['hobby', 'is', 'chess']);
  await refused('0 single sends that are not finished, 1 automations, 1 templates, 1 saved blocks and 1 segments');

  await mustAnswer(app, 'DELETE', '/automations/delete', { query: { utr: course } });
  await refused('0 automations, 1 templates');
  app.db.exec('DELETE FROM own_templates; DELETE FROM saved_blocks');
  await refused('0 automations, 0 templates, 0 saved blocks and 1 segments');
  await mustAnswer(app, 'DELETE', '/segment/delete', { query: { segment_id } });
  t.equal((await rename(app, 'pastime')).status, 200);
});

t.test('conditions as they are stored, variants, versions and feeds name a custom field, too', async (t) => {
  const app = await startWithFields(t);
  await addContact(app, 'zoe@example.com');
  await queueSend(app, { recipient_id: ['contacts_1'] });
  const form = { type: 'custom', automation_name: 'Course', unsubscribe_group_id: '1' };
  const { utr } = (await mustAnswer(app, 'POST', '/automations/create', { form })).body.message;
  await addSchedule(app.one, utr, '1');
  const own = { template_name: 'Own', template_html: '<p>Hello</p>' };
  await mustAnswer(app, 'POST', '/templates/create', { form: own });
  app.db.exec(`INSERT INTO feeds (user_id, feed_name, url, sender_id, unsubscribe_group_id, recipient_id, exclude_specific_recipient_id,
      subject, rhythm, state, poll_at, created_at, updated_at)
    VALUES (1, 'Blog', 'https://blog.example/', 1, 1, '[]', '[]', 'New', 'item', 'paused', 0, '', '')`);
  const json = (...parts: object[]) => JSON.stringify({ tagName: 'mjml', children: parts });
  const condition = (written: string) => `<p>((if ${written}))a((else))b((end))</p>`;
  const version = { language: 'de', subject: '', preheader: '', template_id: 0 };
  const inVersion = JSON.stringify([{ ...version, template_html: condition('hobby = &quot;chess&quot;') }]);
  const cases = [
    ['single_sends', 'template_html', condition('hobby = &quot;chess&quot;')],
    ['single_sends', 'template_json', json({ tagName: 'mj-text', content: condition('hobby = "chess"') })],
    ['single_sends', 'template_json', json({ tagName: 'mj-text', attributes: { 'data-show-to': 'hobby = "chess"' } })],
    ['single_sends', 'languages', inVersion],
    ['single_sends', 'ab_test', JSON.stringify({ variants: [{ subject: 'For ((hobby|"you"))' }] })],
    ['automation_schedules', 'languages', inVersion],
    ['feeds', 'subject', '((item_title)) for ((hobby))'],
    ['feeds', 'languages', inVersion],
    ['own_templates', 'languages', inVersion],
  ] as const;
  for (const [table, column, text] of cases) {
    const { before } = app.db.prepare(`SELECT ${column} AS before FROM ${table}`).get() as { before: string | null };
    app.db.prepare(`UPDATE ${table} SET ${column} = ?`).run(text);
    const { status, body } = await rename(app, 'pastime');
    t.match([status, body.errors], [409, /(?<!\d)1 /], `${table}.${column}: ${text}`);
    app.db.prepare(`UPDATE ${table} SET ${column} = ?`).run(before);
  }
  t.equal((await rename(app, 'pastime')).status, 200);
});

t.test('a field that takes the name of a deleted one revives the segments about that', async (t) => {
  const app = await startWithFields(t);
  await mustAnswer(app, 'POST', '/custom-fields/save', { form: { field_name: 'sport', field_type: 'text' } });
  await addContact(app, 'zoe@example.com', { 'custom_field[hobby]': 'chess' });
  await addContact(app, 'max@example.com', { 'custom_field[sport]': 'chess' });
  const segment = await storeSegment(app, ['hobby', 'is', 'chess']);
  await mustAnswer(app, 'DELETE', '/custom-fields/delete', { query: { id: 1 } });
  t.equal(await membersOf(t, app, segment), 'zoe');
  t.equal((await rename(app, 'hobby', 4)).status, 200);
  t.equal(await membersOf(t, app, segment), 'max');
});
