/** Undoing an import: contacts and segments are what they were, except what was changed since. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import t, { type Test } from 'tap';
import { limitUndo } from '../../src/audience/import/undo.ts';
import { contactImports } from '../../src/database/schema/index.ts';
import { isoTimestamp } from '../../src/time/clock.ts';
import { DAY_MS } from '../../src/units.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { addReadyForm, askedMails, subscribe } from '../support/forms.ts';
import { scriptArguments } from '../support/run-script.ts';

/** Account one with type 1, a custom field, segment 1 of those in Graz and 2 of those in Wien, and 300 people of whom half are in Graz. */
async function withPeople(t: Test): Promise<TestApp> {
  const app = await startApp(t);
  for (const name of ['Customers', 'Readers']) await app.one.call('POST', '/contacts-type/add', { form: { name } });
  await app.one.call('POST', '/custom-fields/save', { form: { field_name: 'shoe_size', field_type: 'number' } });
  for (const city of ['Graz', 'Wien'])
    await app.one.call('POST', '/segment/store', {
      form: { segment_name: city, contact_type_id: 1, select_field: ['city'], select_operator: ['is'], value: [city] },
    });
  const rows = Array.from(
    { length: 300 },
    (_, at) => `p${at}@example.com,Name ${at},${at % 2 === 0 ? 'Graz' : 'Wien'},${at % 3 === 0 ? at : ''}`,
  );
  await upload(app, `email,first_name,city,shoe_size\n${rows.join('\n')}\n`);
  await app.one.call('POST', '/segment/email/store', {
    form: { segment_id: 1, email: 'new3@example.com', first_name: 'By', last_name: 'Hand' },
  });
  await app.background();
  app.clock.advance(1000);
  return app;
}

async function upload(app: TestApp, content: string): Promise<number> {
  const { status, text, headers } = await app.one.call('POST', '/contacts/upload-csv', {
    multipart: [
      ['contact_type_id', '1'],
      ['file', { filename: 'people.csv', content }],
    ],
  });
  if (status !== 200) throw new Error(text);
  return Number(/id=(\d+)/.exec(String(headers.location))?.[1]);
}

/** Changes the first 200 people, moves most of them between the segments, and adds 200. */
const SECOND = `email,city,shoe_size,last_name\n${Array.from(
  { length: 400 },
  (_, at) =>
    `${at < 200 ? `P${at}` : `new${at - 200}`}@example.com,${at % 3 === 0 ? 'Graz' : ''},${at % 5 === 0 ? 7 : ''},Other`,
).join('\n')}\n`;

const undo = (app: TestApp, id: number) => app.one.call('POST', '/contacts/imports/undo', { form: { id } });
const details = async (app: TestApp, id: number) =>
  (await app.one.call('GET', '/contacts/imports/details', { query: { id } })).body.message.import;
const keptOf = async (app: TestApp, id: number) =>
  (await app.one.call('GET', '/contacts/imports/kept', { query: { id } })).body.message.contacts;

/** Every row of the tables that an import changes. Addresses and the logs of what happened stay, since sent mails lead to them. */
const dump = (app: TestApp) =>
  [
    'contacts',
    'contact_types',
    'custom_fields',
    'segments',
    'segment_recipients',
    'unsubscribers',
    'membership_changes',
  ].map((table) => [table, app.db.prepare(`SELECT * FROM ${table} ORDER BY id`).all()]);

t.test('after an undo contacts, fields, counts and memberships are identical to those before the import', async (t) => {
  const app = await withPeople(t);
  const before = dump(app);
  const id = await upload(app, SECOND);
  // Not by notSame, which would compute a difference of thousands of lines.
  t.notOk(isDeepStrictEqual(dump(app), before));
  t.match(await details(app, id), { state: 'done', created: 200, updated: 200, is_undoable: 1 });
  app.clock.advance(1000);
  t.equal((await undo(app, id)).status, 200);
  await app.background();
  t.strictSame(dump(app), before);
  t.match(await details(app, id), { state: 'undone', removed: 200, restored: 200, kept: 0, is_undoable: 0 });
  t.strictSame(await keptOf(app, id), []);
  t.equal((await undo(app, id)).status, 409, 'only once');
  for (const table of ['import_changes', 'import_added'])
    t.equal(app.db.prepare(`SELECT count(*) FROM ${table} WHERE import_id = ${id}`).pluck().get(), 0, table);
});

t.test('two imports undone at once are undone in the opposite order', async (t) => {
  const app = await withPeople(t);
  const before = dump(app);
  const first = await upload(app, SECOND);
  app.clock.advance(1000);
  const second = await upload(app, SECOND.replaceAll('Graz', 'Wien').replaceAll('Other', 'Third'));
  app.clock.advance(1000);
  for (const id of [first, second]) await undo(app, id);
  await app.background();
  t.strictSame(dump(app), before);
  t.match(await details(app, first), { state: 'undone', kept: 0 });
});

/** Undoes imports in a process that kills itself when it begins its transaction with this number; gives the signal it died of. */
function undoAndDie(path: string, transactions: number): string | null {
  const src = resolve(import.meta.dirname, '../../src');
  const script = `
    import { continueUndos } from '${src}/audience/import/undo.ts';
    import { connect } from '${src}/database/open.ts';
    let begun = 0;
    const now = () => {
      if (++begun === ${transactions}) process.kill(process.pid, 'SIGKILL');
      return new Date();
    };
    const db = connect(${JSON.stringify(path)});
    while (await continueUndos(db, { now, monotonic: () => 0 }, false, (_id, error) => { throw error; }));`;
  return spawnSync(process.execPath, scriptArguments(script), {
    encoding: 'utf8',
  }).signal;
}

t.test('an undo that is killed goes on, and ends as if it had not been', async (t) => {
  const app = await withPeople(t);
  const before = dump(app);
  const id = await upload(app, SECOND);
  await undo(app, id);
  for (const transactions of [1, 2, 3]) t.equal(undoAndDie(app.path, transactions), 'SIGKILL');
  const { state, removed, restored } = await details(app, id);
  t.equal(state, 'undoing');
  t.ok(removed + restored > 0 && removed + restored < 400, `killed after ${removed + restored}`);
  await app.background();
  t.strictSame(dump(app), before);
  t.match(await details(app, id), { state: 'undone', removed: 200, restored: 200, kept: 0 });
});

t.test('what was changed since the import is kept and listed', async (t) => {
  const app = await withPeople(t);
  const id = await upload(app, SECOND);
  app.clock.advance(1000);
  const find = (email: string) => Number(app.db.prepare('SELECT id FROM contacts WHERE email = ?').pluck().get(email));
  const [changed, moved, deleted] = [find('P1@example.com'), find('new1@example.com'), find('new2@example.com')];
  await app.one.call('POST', '/contacts/update', {
    form: { contact_id: changed, contact_type_id: 1, email: 'P1@example.com', first_name: 'Since', country: 1 },
  });
  await app.one.call('POST', '/contacts/update', {
    form: { contact_id: moved, contact_type_id: 2, email: 'new1@example.com', country: 1 },
  });
  await app.one.call('DELETE', '/contacts/delete', { query: { contact_id: deleted } });
  await app.one.call('POST', '/segment/email/store', {
    form: { segment_id: 2, email: 'new4@example.com', first_name: 'N', last_name: 'F' },
  });
  await undo(app, id);
  await app.background();
  const reasons = (await keptOf(app, id)).map(({ email, reason }: Record<string, string>) => [email, reason]);
  t.strictSame(reasons.sort(), [
    ['P1@example.com', 'changed'],
    ['new1@example.com', 'moved'],
    ['new2@example.com', 'deleted'],
    ['new4@example.com', 'segment'],
  ]);
  t.match(await details(app, id), { state: 'undone', removed: 197, restored: 199, kept: 4 });
  t.equal(app.db.prepare('SELECT first_name FROM contacts WHERE id = ?').pluck().get(changed), 'Since');
  t.equal(
    app.db.prepare('SELECT count(*) FROM contacts WHERE contact_type_id = 1 AND deleted_at IS NULL').pluck().get(),
    301,
  );
});

t.test('whoever subscribed with a form since the import is kept', async (t) => {
  const app = await withPeople(t);
  const id = await upload(app, 'email\nnew1@example.com\nnew2@example.com\n');
  app.clock.advance(1000);
  const form = await addReadyForm(t, app);
  await subscribe(app, form, 'new1@example.com');
  const [mail] = await askedMails(app);
  t.equal((await app.page('POST', mail?.path ?? '')).status, 200);
  await undo(app, id);
  await app.background();
  t.match(await details(app, id), { state: 'undone', removed: 1, kept: 1 });
  t.match(await keptOf(app, id), [{ email: 'new1@example.com', reason: 'changed' }]);
});

t.test('after 30 days an import cannot be undone, and what undoing needs is gone', async (t) => {
  const app = await withPeople(t);
  const id = await upload(app, `${SECOND}nonsense,Graz,7,Other\n`);
  const refused = { line: 402, field: 'email', text: 'The email must be a valid email address.' };
  t.strictSame((await details(app, id)).errors, [{ ...refused, value: 'nonsense' }]);
  app.clock.advance(30 * DAY_MS + 2000);
  await app.background();
  app.clock.advance(-30 * DAY_MS - 2000);
  await app.background();
  t.equal((await details(app, id)).is_undoable, 1, 'a clock that was wrong for a moment takes nothing away');
  for (let day = 0; day < 30; day += 5) {
    await app.background();
    app.clock.advance(5 * DAY_MS);
  }
  app.clock.advance(-1);
  await app.background();
  t.equal((await details(app, id)).is_undoable, 1);
  app.clock.advance(2000);
  t.equal((await undo(app, id)).status, 409);
  await app.background();
  for (const table of ['import_changes', 'import_added'])
    t.equal(app.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 0, table);
  t.match(await details(app, id), { undo_until: null, is_undoable: 0, state: 'done' });
  t.strictSame(
    (await details(app, id)).errors,
    [{ ...refused, value: null }],
    'the cells of refused rows are gone, too',
  );
});

t.test('another account neither undoes an import nor sees whom its undo kept', async (t) => {
  const app = await withPeople(t);
  const id = await upload(app, SECOND);
  t.equal((await app.two.call('POST', '/contacts/imports/undo', { form: { id } })).status, 404);
  t.equal((await app.two.call('GET', '/contacts/imports/kept', { query: { id } })).status, 404);
  t.equal((await undo(app, 999)).status, 404);
  t.equal((await details(app, id)).state, 'done');
});

t.test(
  'whoever unsubscribed since stays unsubscribed, and an erased person leaves nothing in the records',
  async (t) => {
    const app = await withPeople(t);
    const id = await upload(app, SECOND);
    app.clock.advance(1000);
    await app.one.call('POST', '/global-unsubscribes/save', {
      form: { email_address: 'p3@example.com,new5@example.com' },
    });
    const erased = app.db.prepare("SELECT id FROM contacts WHERE email = 'P4@example.com'").pluck().get();
    await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: erased } });
    const corrected = app.db.prepare("SELECT id FROM contacts WHERE email = 'P6@example.com'").pluck().get();
    const correction = { contact_id: corrected, contact_type_id: 1, email: 'corrected@example.com', country: 1 };
    t.equal((await app.one.call('POST', '/contacts/update', { form: correction })).status, 200);
    await app.one.call('POST', '/contacts/person/erase', { form: { contact_id: corrected } });
    const left = (number: number) =>
      app.db
        .prepare('SELECT count(*) FROM import_changes WHERE before LIKE ? OR before LIKE ?')
        .pluck()
        .get(`%Name ${number}"%`, `%p${number}@%`);
    t.equal(left(4), 0);
    t.equal(left(6), 0, 'also when their address was corrected since');
    await undo(app, id);
    await app.background();
    t.equal(app.db.prepare('SELECT count(*) FROM unsubscribers').pluck().get(), 2);
    t.match(await details(app, id), { state: 'undone', kept: 0 });
  },
);

t.test(
  'the newest imports of an account can be undone, up to so many changes of contacts; the last one always',
  async (t) => {
    const app = await startApp(t);
    const now = isoTimestamp(app.clock.now());
    const add = (user_id: number, updated: number) =>
      app.drizzle
        .insert(contactImports)
        .values({
          user_id,
          contact_type_id: 1,
          file_name: 'a.csv',
          notes: [],
          errors: [],
          updated,
          undo_until: '9999-01-01T00:00:00.000000Z',
          created_at: now,
        })
        .returning()
        .get().id;
    const stranger = add(2, 900);
    const [oldest, middle, newer] = [add(1, 50), add(1, 60), add(1, 40)];
    const undoable = () =>
      app.db.prepare('SELECT id FROM contact_imports WHERE undo_until > ? ORDER BY id').pluck().all(now);
    limitUndo(app.drizzle, 1, now, 100);
    t.strictSame(undoable(), [stranger, middle, newer]);
    const newest = add(1, 500);
    limitUndo(app.drizzle, 1, now, 100);
    t.strictSame(undoable(), [stranger, newest], `${oldest} and those after it are too old`);
  },
);
