/** What one account may ask for: no request of it, and none to a page about it, costs the others more than a moment. */
import t, { type Test } from 'tap';
import { type Caller, startApp, type TestApp } from '../support/app.ts';
import { mustSucceed, sendCampaign } from '../support/campaign.ts';

const NOW = '2026-01-15T09:00:00.000000Z';

/** Counts the statements that are prepared from now on: a query in a loop prepares one each time. */
function countStatements(t: Test, { db }: TestApp): () => number {
  const prepare = t.capture(db, 'prepare', db.prepare);
  return () => prepare().length;
}

t.test('of thousands of wrong custom fields an answer names twenty', async (t) => {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/contacts-type/add', { name: 'Readers' });
  const names = Array.from({ length: 9000 }, (_, at) => [`custom_field[wrong_${at}]`, 'x']);
  const form = { contact_type_id: 1, email: 'a@example.com', country: 1, ...Object.fromEntries(names) };
  const { status, body } = await app.one.call('POST', '/contacts/add', { form });
  t.equal(status, 422);
  t.equal(body.errors.custom_field.length, 20);
  t.equal(body.errors.custom_field[0], 'The selected wrong 0 is invalid.');
});

t.test('thousands of targets are looked up together, and one of another account refuses them all', async (t) => {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/contacts-type/add', { name: 'Ours' });
  await mustSucceed(t, app.two)('/contacts-type/add', { name: 'Theirs' });
  const ours = Array.from({ length: 5000 }, () => 'contacts_1');
  const statements = countStatements(t, app);
  const { body } = await app.one.call('POST', '/single/send/create', { form: { recipient_id: ours } });
  t.notOk('recipient_id' in body.errors);
  t.ok(statements() < 50);
  const mixed = await app.one.call('POST', '/single/send/create', { form: { recipient_id: [...ours, 'contacts_2'] } });
  t.strictSame(mixed.body.errors.recipient_id, ['The selected recipient id is invalid.']);
});

t.test(
  'the preference page stays small however many groups an account has, and begins with the one of the mail',
  async (t) => {
    const app = await startApp(t);
    const { mails } = await sendCampaign(t, app, { groups: [{ name: 'Of the mail', isDisplay: 0 }] });
    const insert = app.db.prepare(`
    INSERT INTO unsubscribe_groups (user_id, rand_id, group_name, description, is_display, created_at, updated_at)
    SELECT user_id, rand_id, ?, ?, ?, created_at, updated_at FROM unsubscribe_groups WHERE id = 1`);
    for (let at = 0; at < 300; at++) insert.run(`Group ${at}`, 'x'.repeat(60_000), at % 10 === 0 ? 0 : 1);
    const { text } = await app.page('GET', mails[0]?.paths.u ?? '');
    t.ok(text.length < 512 * 1024);
    const shown = text.match(/name="shown" value="\d+"/g);
    t.equal(shown?.length, 200);
    t.equal(shown?.[0], 'name="shown" value="1"');
    t.notOk(text.includes('Group 10<'), 'a group that is not displayed');
    t.match(text, 'Unsubscribe from all mail');
  },
);

t.test('an account has at most a thousand custom fields', async (t) => {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/custom-fields/save', { field_name: 'first', field_type: 'text' });
  const insert = app.db.prepare(`
    INSERT INTO custom_fields (user_id, field_name, field_type, created_at, updated_at)
    SELECT user_id, ?, 'text', '${NOW}', '${NOW}' FROM custom_fields LIMIT 1`);
  for (let at = 1; at < 999; at++) insert.run(`field_${at}`);
  await mustSucceed(t, app.one)('/custom-fields/save', { field_name: 'last', field_type: 'text' });
  const form = { field_name: 'one_more', field_type: 'text' };
  const { status, body } = await app.one.call('POST', '/custom-fields/save', { form });
  t.equal(status, 422);
  t.strictSame(body.errors, { field_name: ['An account may not have more than 1000 custom fields.'] });
  await mustSucceed(t, app.two)('/custom-fields/save', form);
});

t.test('an account has three templates at work at once, and the others have their turn', async (t) => {
  const app = await startApp(t);
  const body = async (caller: Caller) => {
    const must = mustSucceed(t, caller);
    await must('/contacts-type/add', { name: 'Readers' });
    await must('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: 1 });
    const email = { from_email: 'a@example.com', reply_to_email: 'a@example.com' };
    await must('/sender/save', { from_name: 'A', ...email, country_id: 1, company_address: 'Street 1', nickname: 'A' });
    const last = (table: string) => app.db.prepare(`SELECT max(id) FROM ${table}`).pluck().get();
    const own = { sender_id: last('senders'), unsubscribe_group_id: last('unsubscribe_groups') };
    const words = { single_send_name: 'A', subject: 'A', preheader: 'A', template_id: 1, template_html: '<p>A</p>' };
    return { ...own, ...words, schedule_type: 0, recipient_id: [`contacts_${last('contact_types')}`] };
  };
  const [ours, theirs] = [await body(app.one), await body(app.two)];
  const preview = (caller: Caller, form: object) => caller.call('POST', '/single/send/preview', { form: { ...form } });
  const answers = await Promise.all([
    ...Array.from({ length: 6 }, () => preview(app.one, ours)),
    preview(app.two, theirs),
  ]);
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 429, 429, 429]);
  t.equal(answers.at(-1)?.status, 200);
  t.equal((await preview(app.one, ours)).status, 200);
});

t.test('an account has so many mails to be shown at a time, which keeps no other waiting', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app, { html: `<p>Hello</p>${'<p>news</p>'.repeat(30_000)}` });
  const done: string[] = [];
  const show = async (path: string) => {
    const { status } = await app.one.call('GET', path, { query: { utr } });
    done.push(`${path} ${status}`);
  };
  const mail = '/single-send/mail/html';
  await Promise.all(Array.from({ length: 60 }, () => show(mail)));
  const count = (status: number) => done.filter((one) => one === `${mail} ${status}`).length;
  t.strictSame([count(200), count(429)], [50, 10]);
  await show('/single-send/mail');
  t.equal(done.at(-1), '/single-send/mail 200', 'afterwards there is room again');
});

t.test('an account uploads twenty files with contacts at once, which keeps no other account waiting', async (t) => {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/contacts-type/add', { name: 'Ours' });
  await mustSucceed(t, app.two)('/contacts-type/add', { name: 'Theirs' });
  const file = { filename: 'contacts.csv', content: 'email\na@example.com\n' };
  const upload = (caller: Caller, path: string, type: number) =>
    caller.call('POST', path, {
      multipart: [
        ['contact_type_id', String(type)],
        ['file', file],
      ],
    });
  const paths = Array.from({ length: 24 }, (_, at) =>
    at % 2 === 0 ? '/contacts/upload-csv' : '/contacts/imports/look',
  );
  const uploads = paths.map((path) => upload(app.one, path, 1));
  const theirs = await upload(app.two, '/contacts/upload-csv', 2);
  t.equal(theirs.status, 200);
  const answers = await Promise.all(uploads);
  const refused = answers.filter(({ status }) => status === 429);
  t.equal(refused.length, 4);
  t.match(refused[0]?.body.errors, /^Too many imports are under way/);
  t.equal(answers.filter(({ status }) => status === 200).length, 20);
  t.equal((await upload(app.one, '/contacts/upload-csv', 1)).status, 200, 'and further ones afterwards');
});
