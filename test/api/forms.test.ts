/** The endpoints of forms: additions for owners and editors. */
import t from 'tap';
import { SENTENCES } from '../../src/errors/sentences.ts';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addForm, addReadyForm } from '../support/forms.ts';
import { addPerson, callerOf } from '../support/people.ts';

t.test('a form is added, read, changed and deleted', async (t) => {
  const app = await startApp(t);
  await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'shoe_size', field_type: 'number' } });
  const { id, path } = await addReadyForm(t, app, { fields: ['city', 'shoe_size'], required: ['shoe_size'] });
  const read = async () => (await app.one.call('GET', '/forms/details', { query: { id } })).body.message;
  const { form, snippet } = await read();
  t.match(form, {
    id,
    name: 'Footer',
    language: 'en',
    is_active: 1,
    off_code: null,
    url: `http://mail.example.com${path}`,
    fields: [
      { name: 'city', label: '', required: 0 },
      { name: 'shoe_size', label: '', required: 1 },
    ],
    group_ids: [],
    segment_id: null,
    title: 'Subscribe to our newsletter',
    shown: 0,
    sent: 0,
    confirmed: 0,
  });
  t.match(snippet, `<form method="post" action="http://mail.example.com${path}"`);
  t.match(snippet, 'src="http://mail.example.com/f/form.js"');
  const must = mustSucceed(t, app.one);
  await must('/forms/save', { id, title: 'Ours', fields: '', privacy_url: 'https://example.com/privacy' });
  t.match((await read()).form, {
    name: 'Footer',
    title: 'Ours',
    fields: [],
    privacy_url: 'https://example.com/privacy',
  });
  const rule = { select_field: 'city', select_operator: 'is', value: 'Bonn' };
  await must('/segment/store', { segment_name: 'Bonn', contact_type_id: 1, ...rule });
  await must('/forms/save', { id, segment_id: 1 });
  await must('/forms/save', { id, privacy_url: 'example.com/privacy', redirect_url: 'www.example.com' });
  t.match((await read()).form, {
    privacy_url: 'https://example.com/privacy',
    redirect_url: 'https://www.example.com/',
  });
  await must('/forms/save', { id, title: '', privacy_url: '', redirect_url: '' });
  t.match((await read()).form, { segment_id: 1 }, 'what is not given stays');
  t.match((await read()).form, { title: 'Subscribe to our newsletter', privacy_url: '' });
  const { forms } = (await app.one.call('GET', '/forms')).body.message;
  t.strictSame(forms, [(await read()).form]);
  t.equal((await app.one.call('DELETE', '/forms/delete', { query: { id } })).status, 200);
  t.equal((await app.one.call('GET', '/forms/details', { query: { id } })).status, 404);
  const actions = app.db.prepare("SELECT action FROM audit_log WHERE action LIKE 'form%' ORDER BY id").pluck().all();
  t.strictSame(actions, ['form_added', ...Array<string>(4).fill('form_changed'), 'form_removed']);
});

t.test(
  'the form that was deleted last is restored at its address, and what begins with it waits until then',
  async (t) => {
    const app = await startApp(t);
    const { id, path } = await addReadyForm(t, app);
    const must = mustSucceed(t, app.one);
    await must('/unsubscribes-groups/save', { group_name: 'News', description: 'News', is_display: '1' });
    const { utr } = (await must('/automations/create', {
      ...{ type: 'welcome', automation_for: 'contacts_1', automation_name: 'Welcome', unsubscribe_group_id: 1 },
    })) as { utr: string };
    await must('/automations/update', { utr, trigger_kind: 'form', trigger_form_id: id });
    await must('/automations/step/add', { utr, kind: 'exit', waiting_type: 'instantly', waiting_period: 1 });
    const start = () => app.one.call('GET', '/automations/set-live', { query: { utr } });
    const undelete = (caller = app.one) => caller.call('POST', '/forms/undelete', { form: { id } });
    const before = app.db.prepare('SELECT * FROM forms').all();
    t.equal((await app.one.call('DELETE', '/forms/delete', { query: { id } })).status, 200);
    t.equal((await app.page('GET', path)).status, 404);
    t.match((await start()).body, { status: 'failed', errors: SENTENCES.live_no_trigger });
    t.equal((await undelete(app.two)).status, 404);
    t.equal((await undelete()).status, 200);
    t.strictSame(app.db.prepare('SELECT * FROM forms').all(), before);
    t.equal((await app.page('GET', path)).status, 200);
    t.match((await start()).body, { errors: SENTENCES.live_no_mail }, 'the automation finds its form again');
    t.equal((await undelete()).status, 404);
  },
);

t.test('what does not fit a form is a field error', async (t) => {
  const app = await startApp(t);
  const { id } = await addReadyForm(t, app);
  await mustSucceed(t, app.one)('/contacts-type/add', { name: 'Customers' });
  await mustSucceed(t, app.one)('/segment/store', {
    segment_name: 'Of customers',
    contact_type_id: 2,
    select_field: ['city'],
    select_operator: ['is blank'],
  });
  const wrong: [Record<string, unknown>, string, RegExp | string][] = [
    [{ name: '' }, 'name', /at least 1/],
    [{ contact_type_id: 99 }, 'contact_type_id', /selected/],
    [{ sender_id: 99 }, 'sender_id', /selected/],
    [{ segment_id: 99 }, 'segment_id', /selected/],
    [{ segment_id: 1 }, 'segment_id', /different lists/],
    [{ fields: ['email'] }, 'fields', /cannot ask for this field: email/],
    [{ fields: ['city', 'city'] }, 'fields', /once/],
    [{ group_ids: ['1'] }, 'group_ids', /selected/],
    [{ language: 'sv' }, 'language', /selected/],
    [{ redirect_url: 'javascript:alert(1)' }, 'redirect_url', /https/],
    [{ redirect_url: 'https://shop;sandbox.example/' }, 'redirect_url', /https/],
    [{ redirect_url: 'https://shop,x.example/' }, 'redirect_url', /https/],
    [{ redirect_url: 'https://*.example/' }, 'redirect_url', /https/],
    [{ privacy_url: 'https://user:secret@example.com/' }, 'privacy_url', /https/],
    [{ mail_subject: 'A\nBcc: b@example.org' }, 'mail_subject', /line breaks/],
    [{ consent_text: 'x'.repeat(2001) }, 'consent_text', /2000/],
  ];
  for (const [more, field, text] of wrong) {
    const { status, body } = await app.one.call('POST', '/forms/save', { form: { id, ...more } });
    t.equal(status, 422, field);
    t.match(body.errors[field]?.[0], text);
  }
});

t.test('forms belong to their account; viewers look, editors change them', async (t) => {
  const app = await startApp(t);
  const { id } = await addReadyForm(t, app);
  t.strictSame((await app.two.call('GET', '/forms')).body.message.forms, []);
  t.equal((await app.two.call('POST', '/forms/save', { form: { id, name: 'Mine' } })).status, 404);
  t.equal((await app.two.call('DELETE', '/forms/delete', { query: { id } })).status, 404);
  const [viewer, editor] = [callerOf(app, addPerson(app, 'viewer')), callerOf(app, addPerson(app, 'editor'))];
  t.equal((await viewer.call('GET', '/forms')).body.message.forms.length, 1);
  t.equal((await viewer.call('POST', '/forms/save', { form: { id, name: 'Mine' } })).status, 403);
  t.equal((await editor.call('POST', '/forms/save', { form: { id, name: 'Mine' } })).status, 200);
});

t.test('an account has fifty forms at most', async (t) => {
  const app = await startApp(t);
  await addReadyForm(t, app);
  for (let count = 1; count < 50; count++) await addForm(t, app);
  const form = { name: 'One more', contact_type_id: 1, sender_id: 1 };
  t.match(await app.one.call('POST', '/forms/create', { form }), { status: 409, body: { errors: /50 forms/ } });
});
