/** A column of an import that says whether opens and clicks of people may be recorded. */
import t, { type Test } from 'tap';
import { startApp, type TestApp } from '../../support/app.ts';
import { mustSucceed } from '../../support/campaign.ts';
import { addPerson, cookieOf, FROM_PAGE } from '../../support/people.ts';

/** Imports a file of e-mails and answers, with the guessed columns; gives the import's id and the file's upload. */
async function importFile(app: TestApp, rows: readonly string[], options: Record<string, unknown> = {}) {
  const { one } = app;
  const file = { filename: 'survey.csv', content: ['E-Mail,Tracking Allowed', ...rows].join('\n') };
  const looked = await one.call('POST', '/contacts/imports/look', { multipart: [['file', file]] });
  const { id: upload_id, columns } = looked.body.message.upload;
  const mapping = ['email', columns[1].field];
  const { status, text } = await one.call('POST', '/contacts/imports/start', {
    json: { upload_id, contact_type_id: 1, mapping, ...options },
  });
  if (status !== 200) throw new Error(text);
  for (;;) {
    const { upload } = (await one.call('GET', '/contacts/imports/progress', { query: { upload_id } })).body.message;
    if (upload.state === 'done' || upload.state === 'failed') return { id: upload.import_id, mapping };
    await new Promise(setImmediate);
  }
}

async function started(t: Test): Promise<TestApp> {
  const app = await startApp(t);
  const must = mustSucceed(t, app.one);
  await must('/contacts-type/add', { name: 'Readers' });
  await must('/tracking/save', { mode: 'consent' });
  for (const name of ['ada', 'ben', 'cy'])
    await must('/contacts/add', { contact_type_id: 1, first_name: name, email: `${name}@example.org`, country: 1 });
  const choose = (contact_id: number, is_allowed: 0 | 1) =>
    must('/contacts/tracking/save', { contact_id, is_allowed, consent_text: 'In the shop' });
  await choose(1, 0);
  await choose(2, 1);
  return app;
}

const choiceOf = async (app: TestApp, contact_id: number) =>
  (await app.one.call('GET', '/contacts/tracking', { query: { contact_id } })).body.message.tracking;

/** The choices of ada, ben, cy and dora. */
const choices = (app: TestApp) => app.db.prepare('SELECT tracking_choice FROM addresses ORDER BY id').pluck().all();
const [NONE, ALLOWED, REFUSED] = [0, 1, 2];
const FILE = [
  'ada@example.org,1',
  'ben@example.org,nein',
  'cy@example.org,YES',
  'dora@example.org,',
  'eve@example.org,ja',
];

t.test(
  'the column sets what people chose with the import as its source, and never allows what somebody refused',
  async (t) => {
    const app = await started(t);
    const { mapping } = await importFile(app, FILE);
    t.strictSame(mapping, ['email', 'tracking_allowed'], 'it is found by its name');
    t.strictSame(choices(app), [REFUSED, REFUSED, ALLOWED, NONE, ALLOWED]);
    t.match(await choiceOf(app, 1), { consent_text: 'In the shop', source: 'api' });
    t.match(await choiceOf(app, 3), {
      choice: 'allowed',
      is_measured: 1,
      source: 'import',
      consent_text: 'As stated in the imported file survey.csv',
    });
    const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'owner', { name: 'Ada' })) };
    t.match((await app.page('GET', '/contacts/3', { headers })).text, 'As stated in the imported file survey.csv');
    await importFile(app, FILE);
    t.equal(app.db.prepare("SELECT count(*) FROM consent_log WHERE source = 'import'").pluck().get(), 3, 'once');
  },
);

t.test('a cell that says something else fails its row, and an empty one says nothing', async (t) => {
  const app = await started(t);
  const { id } = await importFile(app, ['cy@example.org,perhaps', 'ben@example.org,'], { existing: 'keep' });
  t.strictSame(choices(app), [REFUSED, ALLOWED, NONE]);
  const { import: report } = (await app.one.call('GET', '/contacts/imports/details', { query: { id } })).body.message;
  t.match(report, { rows: 2, failed: 1, errors: [{ field: 'tracking_allowed' }] });
});

t.test('undoing the import gives everybody the choice back that they had, unless they have chosen since', async (t) => {
  const app = await started(t);
  const { id } = await importFile(app, [...FILE, 'fay@example.org,1']);
  const fay = Number(app.db.prepare("SELECT id FROM contacts WHERE email = 'fay@example.org'").pluck().get());
  const form = { contact_id: fay, is_allowed: 0, consent_text: 'No longer' };
  await mustSucceed(t, app.one)('/contacts/tracking/save', form);
  t.equal((await app.one.call('POST', '/contacts/imports/undo', { form: { id } })).status, 200);
  await app.background();
  t.strictSame(choices(app), [REFUSED, ALLOWED, NONE, NONE, NONE, REFUSED]);
  t.match(await choiceOf(app, 3), { choice: 'none', consent_text: null, source: null, is_measured: 0 });
  t.match(await choiceOf(app, 2), { choice: 'allowed', source: 'import', consent_text: /was undone/ });
  const headers = { ...FROM_PAGE, cookie: cookieOf(app, addPerson(app, 'owner', { name: 'Ada' })) };
  t.match((await app.page('GET', '/contacts/3', { headers })).text, 'Choice about open and click tracking removed');
});
