/** Segments in the dashboard: the form makes the same segments as the API, says what is wrong beside each input, and counts beforehand. */
import t, { type Test } from 'tap';
import { OPERATORS } from '../../src/audience/segments/rules.ts';
import type { TestApp } from '../support/app.ts';
import { addPerson, cookieOf } from '../support/people.ts';
import {
  addContact,
  membersOf,
  mustAnswer,
  queueSend,
  recipientsOf,
  startWithFields,
  storeSegment,
} from '../support/segments.ts';
import { visitor } from '../support/visitor.ts';

const FORM = { segment_name: 'Clicked', contact_type_id: '1', query_type: 'and', do: 'save' };

/** A text within a page, without its markup. */
const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');

/** People that differ in every field that the rules are about. */
async function withPeople(t: Test): Promise<TestApp> {
  const app = await startWithFields(t);
  for (const [at, [city, hobby, points, seen]] of [
    ['Bonn', 'chess', '5', '2026-05-01'],
    ['Berlin', 'Bonsai', '-2.5', '2026-05-02T10:30'],
    ['', '', '', ''],
  ].entries())
    await addContact(app, `p${at}@example.com`, {
      city,
      country: at === 0 ? 83 : 1,
      'custom_field[hobby]': hobby,
      'custom_field[points]': points,
      'custom_field[seen]': seen,
    });
  return app;
}

/** A value of each type that some people match and others do not. */
const OPERANDS = { text: ['Bon', 'x'], number: ['-3', '5'], 'datetime-local': ['2026-05-01', '2026-05-02'] } as const;
const FIELDS = [
  ...['first_name', 'last_name', 'email', 'alt_email', 'country', 'state', 'city', 'address_line1'].map((name) => [
    name,
    'text',
  ]),
  ...['address_line2', 'state_province_region', 'postal_code', 'language', 'hobby'].map((name) => [name, 'text']),
  ['points', 'number'],
  ['created_at', 'datetime-local'],
  ['seen', 'datetime-local'],
] as [string, keyof typeof OPERANDS][];

t.test('every field and operator makes by clicking the same segment as through the API', async (t) => {
  const app = await withPeople(t);
  const { open, send } = visitor(app);
  for (const [field, type] of FIELDS) {
    for (const [operator, count] of Object.entries(OPERATORS[type])) {
      const values = operator.endsWith('within') ? ['30'] : OPERANDS[type].slice(0, count);
      const stored = await storeSegment(app, [field, operator, ...values], {
        query_type: 'and',
        segment_name: 'Clicked',
      });
      const rule = { field0: field, operator0: operator, value0: values[0] ?? '', until0: values[1] ?? '' };
      const { status, headers } = await send('/contacts/segments/new', { ...FORM, ...rule });
      t.equal(status, 303, `${field} ${operator}`);
      const clicked = Number(String(headers.location).split('/').at(-1));
      const details = async (segment_id: number) => {
        const { segment } = (await mustAnswer(app, 'GET', '/segment/details', { query: { segment_id } })).body.message;
        return { ...segment, id: 0 };
      };
      t.strictSame(await details(clicked), await details(stored), `${field} ${operator}`);
      t.equal(
        await membersOf(t, app, clicked),
        await membersOf(t, app, stored),
        `${field} ${operator}: the same people`,
      );
      const form = (await open(`/contacts/segments/${clicked}/edit`)).text;
      t.match(
        form,
        new RegExp(`<option value="${field}" selected`),
        `${field} ${operator} is chosen when it is changed`,
      );
      t.match(form, new RegExp(`<option value="${operator}" selected`), `${field} ${operator} is chosen`);
      for (const value of values)
        t.match(form, `value="${value}"`, `${field} ${operator} ${value} stands in its input`);
      const count0 = (await recipientsOf(app, clicked)).length;
      t.match(
        textOf(form),
        `${count0} ${count0 === 1 ? 'contact' : 'contacts'}`,
        `${field} ${operator} is counted beforehand`,
      );
    }
  }
});

t.test('the form offers only operators that fit the field, and inputs of its type', async (t) => {
  const app = await withPeople(t);
  const { send } = visitor(app);
  const rows = async (fields: Record<string, string>) =>
    (await send('/contacts/segments/new', { ...FORM, do: 'show', ...fields })).text;
  const number = await rows({ field0: 'points', operator0: 'starts with', value0: '1' });
  t.match(number, '<option value="is" selected');
  t.notMatch(number, 'value="starts with"');
  t.match(number, 'type="number"');
  t.match(
    await rows({ field0: 'seen', operator0: 'is between' }),
    /type="date"[^>]*name="value0"[\s\S]*type="date"[^>]*name="until0"/,
  );
  t.match(await rows({ field0: 'seen', operator0: 'is on', value0: '2026-05-01T10:00' }), 'type="datetime-local"');
  t.match(await rows({ field0: 'country', operator0: 'is' }), /<datalist id="countries"><option value="Afghanistan"/);
  t.notMatch(await rows({ field0: 'city', operator0: 'is blank' }), 'name="value0"');
});

t.test('rules are added and removed by buttons that keep what was typed', async (t) => {
  const app = await withPeople(t);
  const { send } = visitor(app);
  const rule = { field0: 'city', operator0: 'is', value0: 'Bonn' };
  const added = (await send('/contacts/segments/new', { ...FORM, ...rule, do: 'add' })).text;
  t.match(added, 'name="field1"');
  t.match(added, 'value="Bonn"');
  const two = { ...rule, field1: 'points', operator1: 'is', value1: '5' };
  const removed = (await send('/contacts/segments/new', { ...FORM, ...two, do: 'remove0' })).text;
  t.notMatch(removed, 'name="field1"');
  t.match(removed, '<option value="points" selected');
  t.match(removed, 'value="5"');
  t.match(textOf(added), 'Fill in every rule', 'an unfinished rule is not counted');
  t.match(textOf(removed), '1 contact');
});

t.test('what the API refuses stands beside the input it is about', async (t) => {
  const app = await withPeople(t);
  const { send } = visitor(app, 'editor', { language: 'de' });
  const rules = {
    field0: 'city',
    operator0: 'is',
    value0: 'Bonn',
    field1: 'points',
    operator1: 'is',
    value1: 'many',
    field2: 'city',
    operator2: 'is',
    value2: '',
  };
  const { status, text } = await send('/contacts/segments/new', { ...FORM, ...rules, segment_name: '' });
  t.equal(status, 422);
  t.match(text, /id="segment_name-problem">Diese Angabe fehlt\./);
  t.notMatch(text, 'id="value0-problem"');
  t.match(text, 'id="value1-problem"');
  t.match(text, /id="value2-problem">Diese Angabe fehlt\./);
  t.match(text, 'value="many"', 'what was typed is kept');
});

t.test('a sentence says in both languages whom the rules choose', async (t) => {
  const app = await withPeople(t);
  await storeSegment(app, [], {
    select_field: ['country', 'seen'],
    select_operator: ['is', 'is after'],
    value: ['Germany', '2026-05-01'],
  });
  const english = textOf((await visitor(app).open('/contacts/segments')).text);
  t.match(english, 'All contacts in Readers whose country is Germany and whose seen is after May 1, 2026');
  const { open, send } = visitor(app, 'owner', { language: 'de' });
  const german = textOf((await open('/contacts/segments')).text);
  t.match(german, 'Alle Kontakte in Readers, bei denen „Land“ Deutschland ist und „seen“ nach dem 01.05.2026 liegt');
  const { headers } = await send('/contacts/segments/new', {
    ...FORM,
    field0: 'country',
    operator0: 'is',
    value0: 'Deutschland',
  });
  const { segment } = (
    await mustAnswer(app, 'GET', '/segment/details', {
      query: { segment_id: String(headers.location).split('/').at(-1) },
    })
  ).body.message;
  t.strictSame(segment.value, ['Germany'], 'a country may be written in the language of the reader');
});

t.test('people are added and taken out by hand', async (t) => {
  const app = await withPeople(t);
  const id = await storeSegment(app, ['city', 'is', 'Bonn']);
  const { open, send } = visitor(app);
  const wrong = await send(`/contacts/segments/${id}/add`, { email: 'nobody', first_name: 'Ada' });
  t.equal(wrong.status, 422);
  t.match(wrong.text, 'id="email-problem"');
  t.match(wrong.text, 'value="nobody"');
  await send(`/contacts/segments/${id}/add`, { email: 'p1@example.com', first_name: 'Ada', last_name: 'L' });
  t.equal(await membersOf(t, app, id), 'p0 p1');
  t.match((await open(`/contacts/segments/${id}`)).text, 'p1@example.com');
  const [first] = await recipientsOf(app, id);
  t.equal((await send(`/contacts/segments/${id}/remove/${first.id}`)).status, 303);
  t.equal(await membersOf(t, app, id), 'p1');
});

t.test('deleting a segment asks first, in numbers', async (t) => {
  const app = await withPeople(t);
  const id = await storeSegment(app, ['city', 'is not', 'Bonn']);
  await queueSend(app, { recipient_id: [`segments_${id}`] });
  await queueSend(app, { recipient_id: ['contacts_1'], exclude_specific_recipient_id: [`segments_${id}`] });
  const { open, send } = visitor(app);
  const asked = textOf((await open(`/contacts/segments/${id}`)).text);
  t.match(asked, 'The 2 contacts of the segment stay in the list.');
  t.match(asked, '2 drafts and scheduled campaigns use this segment.');
  t.match(asked, '2 of them are scheduled and will not be sent.');
  const deleted = await send(`/contacts/segments/${id}/delete`);
  t.equal(deleted.status, 303);
  const { text } = await open('/contacts/segments');
  t.equal((await open(`/contacts/segments/${id}`)).status, 404);
  const [, undo = ''] = /action="([^"]+\/undelete)"><button[^>]*>Undo</.exec(text) ?? [];
  t.equal(undo, `/contacts/segments/${id}/undelete`);
  t.equal((await send(undo)).headers.location, `/contacts/segments/${id}`);
  t.match(textOf((await open(`/contacts/segments/${id}`)).text), 'The 2 contacts of the segment stay in the list.');
  const planted = { tone: 'good', key: 'segments.deleted', values: { name: 'x' }, undo: '/contacts/1/erase' };
  const cookie = Buffer.from(JSON.stringify(planted)).toString('base64url');
  const headers = { cookie: `${cookieOf(app, addPerson(app, 'owner', { name: 'Ada' }))}; sendlark_flash=${cookie}` };
  const { text: shown } = await app.page('GET', '/contacts/segments', { headers });
  t.match(shown, '“x” was deleted.');
  t.notMatch(shown, 'erase', 'a planted cookie posts nowhere else');
});

t.test('a viewer sees segments without forms, and another account finds none of them', async (t) => {
  const app = await withPeople(t);
  const id = await storeSegment(app, ['city', 'is', 'Bonn']);
  const viewer = visitor(app, 'viewer');
  for (const path of ['/contacts/segments', `/contacts/segments/${id}`]) {
    const { status, text } = await viewer.open(path);
    t.equal(status, 200, path);
    t.notMatch(text, /action="\/contacts\/segments|href="\/contacts\/segments\/(new|\d+\/edit)/, path);
  }
  const other = visitor(app, 'owner', { accountId: 2 });
  t.equal((await viewer.open(`/contacts/segments/${id}/edit`)).status, 403);
  t.equal((await viewer.open('/contacts/segments/new')).status, 403);
  for (const path of ['', '/edit']) t.equal((await other.open(`/contacts/segments/${id}${path}`)).status, 404);
  const [member] = await recipientsOf(app, id);
  for (const path of ['/edit', '/add', '/delete', '/undelete', `/remove/${member.id}`]) {
    t.equal((await viewer.send(`/contacts/segments/${id}${path}`, FORM)).status, 403, path);
    t.equal((await other.send(`/contacts/segments/${id}${path}`, FORM)).status, 404, path);
  }
  t.equal(await membersOf(t, app, id), 'p0');
});

t.test('a field named created_at before the name was reserved keeps it, until it is renamed', async (t) => {
  const app = await withPeople(t);
  const { open } = visitor(app, 'editor');
  const offered = async () => (await open('/contacts/segments/new')).text.match(/<option value="created_at"/g)?.length;
  const found = async (day: string) => {
    const rule = { select_field: ['created_at'], select_operator: ['is on'], value: [day] };
    const { status, body, text } = await app.one.call('GET', '/segment/count', {
      query: { contact_type_id: 1, ...rule },
    });
    t.equal(status, 200, text);
    return body.message.count;
  };
  app.db.exec("UPDATE custom_fields SET field_name = 'created_at' WHERE field_name = 'seen'");
  t.equal(await offered(), 1);
  t.equal(await found('2026-05-01'), 1);
  const id = app.db.prepare("SELECT id FROM custom_fields WHERE field_name = 'created_at'").pluck().get();
  const renamed = await app.one.call('POST', '/custom-fields/update', { form: { id, field_name: 'seen' } });
  t.equal(renamed.status, 200, renamed.text);
  t.equal(await offered(), 1);
  t.equal(await found('2026-05-01'), 0, 'now the date at which contacts were added');
});
