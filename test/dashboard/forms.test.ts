/** Forms in the dashboard: the builder makes what the API makes, shows how the page looks, and says what is wrong. */
import t, { type Test } from 'tap';
import { startApp } from '../support/app.ts';
import { mustSucceed } from '../support/campaign.ts';
import { addReadyForm } from '../support/forms.ts';
import { visitor } from '../support/visitor.ts';

async function withForm(t: Test) {
  const app = await startApp(t);
  await mustSucceed(t, app.one)('/custom-fields/save', { field_name: 'shoe_size', field_type: 'number' });
  await mustSucceed(t, app.one)('/unsubscribes-groups/save', { group_name: 'News', description: 'n', is_display: 1 });
  await addReadyForm(t, app);
  const read = async () => (await app.one.call('GET', '/forms/details', { query: { id: 1 } })).body.message.form;
  return { app, read };
}

const BUILT: [string, string][] = [
  ['name', 'Checkout'],
  ['is_active', '1'],
  ['contact_type_id', '1'],
  ['sender_id', '1'],
  ['segment_id', ''],
  ['language', 'de'],
  ['field', 'first_name'],
  ['ask', 'asked'],
  ['label', ''],
  ['field', 'city'],
  ['ask', ''],
  ['label', 'Not asked'],
  ['field', 'shoe_size'],
  ['ask', 'required'],
  ['label', 'Schuhgröße'],
  ['group', '1'],
  ['title', 'Unser Brief'],
  ['intro', 'Eins\r\nZwei'],
  ['redirect_url', 'https://shop.example/danke'],
];

t.test('a form is made, built, shown in a list and deleted', async (t) => {
  const { app, read } = await withForm(t);
  const { open, send } = visitor(app, 'editor');
  const made = await send('/forms/new', [
    ['name', 'Landing page'],
    ['contact_type_id', '1'],
    ['sender_id', '1'],
    ['language', 'en'],
  ]);
  t.match([made.status, made.headers.location], [303, '/forms/2']);
  t.match((await app.one.call('GET', '/forms')).body.message.forms[1], {
    name: 'Landing page',
    is_active: 0,
    off_code: 'off',
  });
  const saved = await send('/forms/1', [...BUILT, ['do', 'save']]);
  t.match([saved.status, saved.headers.location], [303, '/forms/1']);
  t.match(await read(), {
    name: 'Checkout',
    language: 'de',
    fields: [
      { name: 'first_name', label: '', required: 0 },
      { name: 'shoe_size', label: 'Schuhgröße', required: 1 },
    ],
    group_ids: [1],
    title: 'Unser Brief',
    intro: 'Eins\nZwei',
    mail_subject: 'Bitte bestätigen Sie Ihre Anmeldung',
    redirect_url: 'https://shop.example/danke',
  });
  const page = await open('/forms/1');
  t.match(page.text, /Checkout.*Open.*&lt;form method=&quot;post.*Schuhgröße/s);
  t.match((await open('/forms')).text, /Checkout.*Landing page/s);
  t.equal((await send('/forms/1/delete')).status, 303);
  t.match((await open('/forms')).text, /action="\/forms\/1\/undelete"><button[^>]*>Undo</);
  t.equal((await open('/forms/1')).status, 404);
  t.equal((await send('/forms/1/undelete')).headers.location, '/forms/1');
  t.match((await open('/forms/1')).text, /Checkout.*Schuhgröße/s);
});

t.test('the preview shows what was typed, and saves nothing', async (t) => {
  const { app, read } = await withForm(t);
  const before = await read();
  const { status, text } = await visitor(app).send('/forms/1', [...BUILT, ['do', 'show']]);
  t.equal(status, 200);
  t.match(text, /id="form-preview".*Unser Brief.*Vorname.*freiwillig.*Schuhgröße.*News/s);
  t.strictSame(await read(), before);
});

t.test('what is wrong stands beside its field, and what was typed stays', async (t) => {
  const { app } = await withForm(t);
  const wrong = BUILT.map(([name, value]): [string, string] => [
    name,
    name === 'redirect_url' ? 'javascript:x' : value,
  ]);
  const { status, text } = await visitor(app, 'owner', { language: 'de' }).send('/forms/1', [...wrong, ['do', 'save']]);
  t.equal(status, 422);
  t.match(text, /id="redirect_url-problem"[^>]*>Geben Sie eine Adresse an/);
  t.match(text, 'value="Unser Brief"');
});

t.test('a viewer looks at forms and changes none', async (t) => {
  const { app } = await withForm(t);
  const { open, send } = visitor(app, 'viewer');
  t.match((await open('/forms/1')).text, /<fieldset[^>]*disabled/);
  for (const path of ['/forms/new', '/forms/1', '/forms/1/delete', '/forms/1/undelete'])
    t.equal((await send(path, BUILT)).status, 403);
  t.equal((await open('/forms/new')).status, 403);
});
