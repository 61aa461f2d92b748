/** Letting those enter who are in the target already, or in a segment: counted first, in pages, once each, and not stopped by a kill. */
import t from 'tap';
import { continueBackfills } from '../../src/automations/backfill.ts';
import { mailsInBrief, withPaths } from '../support/automations.ts';

async function withReaders(t: Parameters<typeof withPaths>[0], names: readonly string[]) {
  const world = await withPaths(t);
  const { app, get, join, utr } = world;
  for (const name of names) await join(name);
  await app.background();
  app.db.exec('DELETE FROM outbox');
  const enterAll = async (form: Record<string, unknown> = {}, caller = app.one) =>
    caller.call('POST', '/automations/enter-all', { form: { utr, ...form } });
  const counted = async (form: Record<string, unknown> = {}) => {
    const {
      is_complete,
      unknown: _unknown,
      ...entries
    } = (await enterAll({ dry_run: 1, ...form })).body.message.entries;
    t.equal(is_complete, 1);
    return Object.fromEntries(Object.entries(entries).filter(([, count]) => count !== 0));
  };
  const got = async () => {
    await app.background();
    return mailsInBrief(app)
      .map((mail) => mail.slice('01-15T09:00 '.length))
      .sort();
  };
  const backfill = () => get('/automations/set-live', { utr, backfill: 1 });
  return { ...world, enterAll, counted, got, backfill };
}

t.test('those in the target enter when it goes live with them, as the dry run of the draft said', async (t) => {
  const { app, counted, got, backfill, live, enterAll } = await withReaders(t, ['ann', 'bob', 'left']);
  app.db.exec(`INSERT INTO unsubscribers (user_id, address_id, email_address, created_at, updated_at)
    SELECT 1, id, normalized_email, '', '' FROM addresses WHERE normalized_email = 'left@example.org'`);
  t.strictSame(await counted(), { contacts: 3, entered: 2, no_mail: 1 });
  t.equal((await enterAll()).status, 409, 'nobody enters a draft');
  t.strictSame(await got(), [], 'a dry run changes nothing');
  await live();
  t.strictSame(await got(), [], 'nor does going live alone');
  t.equal((await backfill()).status, 200, 'of a live one too');
  t.strictSame(await got(), ['ann one', 'bob one']);
  t.strictSame(await counted(), { contacts: 3, active: 2, no_mail: 1 });
  t.equal(app.db.prepare('SELECT count(*) FROM automation_backfills').pluck().get(), 0);
});

t.test('repeated, it lets nobody in twice who was in it, and only new ones enter', async (t) => {
  const { app, counted, got, backfill, enterAll, join, utr } = await withReaders(t, ['ann', 'bob']);
  await backfill();
  await got();
  app.db.exec("UPDATE enrolments SET state = 'left' WHERE contact_id = 1");
  t.strictSame(await counted(), { contacts: 2, active: 1, was_in: 1 });
  await app.one.call('POST', '/automations/update', { form: { utr, trigger_kind: 'hand' } });
  await join('cleo');
  const { status, body } = await enterAll();
  t.strictSame([status, body.message.entries.entered], [200, 1]);
  t.strictSame(await got(), ['ann one', 'bob one', 'cleo one']);
});

t.test('of a segment only its contacts enter, and none outside the target', async (t) => {
  const { app, counted, got, live, enterAll, post, join } = await withReaders(t, ['ann', 'bob', 'cleo']);
  await post('/contacts-type/add', { name: 'Others' });
  await live();
  t.strictSame(await counted({ segment_id: 1 }), { contacts: 1, entered: 1 });
  t.equal((await enterAll({ segment_id: 1 })).status, 200);
  t.strictSame(await got(), ['ann one']);
  await post('/segment/store', {
    segment_name: 'Other Anns',
    contact_type_id: 2,
    select_field: ['first_name'],
    select_operator: ['is'],
    value: ['ann'],
  });
  await post('/contacts/add', { contact_type_id: 2, email: 'ann2@example.org', first_name: 'ann', country: 1 });
  t.strictSame(await counted({ segment_id: 2 }), { contacts: 1, outside_target: 1 });
  await join('dan');
  app.db.exec('UPDATE segment_recipients SET is_removed = 1 WHERE segment_id = 1');
  t.strictSame(await counted({ segment_id: 1 }), {}, 'who was removed is not in it');
});

t.test('the hold-out is counted for itself and gets nothing', async (t) => {
  const names = Array.from({ length: 40 }, (_, at) => `reader${at}`);
  const { counted, got, backfill, utr, app } = await withReaders(t, names);
  await app.one.call('POST', '/automations/update', { form: { utr, hold_out: 50 } });
  const { entered = 0, held_out = 0 } = await counted();
  t.equal(Number(entered) + Number(held_out), 40);
  t.ok(Number(held_out) > 5);
  await backfill();
  t.equal((await got()).length, entered);
});

t.test('each page is one transaction, continues after a kill, and waits while the automation is paused', async (t) => {
  const { app, get, utr, backfill } = await withReaders(t, []);
  app.db.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
    INSERT INTO addresses (user_id, normalized_email) SELECT 1, 'c' || i || '@example.org' FROM n;
    INSERT INTO contacts (user_id, contact_type_id, email, address_id, created_at, updated_at)
      SELECT 1, 1, normalized_email, id, '', '' FROM addresses WHERE normalized_email GLOB 'c[0-9]*'`);
  await backfill();
  const page = () => continueBackfills({ db: app.drizzle, clock: app.clock, log: () => {} });
  const recorded = () => app.db.prepare('SELECT count(*) FROM membership_changes').pluck().get();
  t.equal(page(), true);
  t.equal(recorded(), 250);
  await get('/automations/pause', { utr });
  t.equal(page(), false);
  t.equal(recorded(), 250);
  await get('/automations/set-live', { utr });
  while (page());
  t.equal(recorded(), 600);
  await app.background();
  t.equal(app.db.prepare('SELECT count(*) FROM enrolments').pluck().get(), 600);
  await get('/automations/pause', { utr });
});

t.test(
  'it can be stopped, while it runs and while it waits: who has entered stays, and nobody else enters',
  async (t) => {
    const { app, get, utr, live, enterAll, got } = await withReaders(t, ['ann', 'bob']);
    const series = async () => (await get('/automations/series', { utr })).body.message.series;
    const stop = (caller = app.one) => caller.call('POST', '/automations/enter-all/stop', { form: { utr } });
    await live();
    t.equal((await enterAll()).status, 200);
    t.equal((await series()).is_entering, 1);
    t.equal((await stop(app.two)).status, 404);
    t.equal((await stop()).status, 200);
    t.equal((await series()).is_entering, 0);
    t.strictSame(await got(), []);
    await enterAll({ segment_id: 1 });
    t.strictSame(await got(), ['ann one']);
    await enterAll();
    await get('/automations/pause', { utr });
    t.equal((await series()).is_entering, 1, 'it waits while the automation is paused');
    t.equal((await stop()).status, 200);
    await live();
    t.strictSame(await got(), ['ann one']);
  },
);

t.test('entries that are recorded and not applied yet are withdrawn by the stop, but no others', async (t) => {
  const { app, utr, live, enterAll, got, join, counted } = await withReaders(t, ['ann', 'bob', 'cleo']);
  await live();
  const byHand = { json: { utr, contacts: ['bob@example.org'] } };
  t.equal((await app.one.call('POST', '/automations/enter', byHand)).body.message.entered, 1);
  await enterAll();
  continueBackfills({ db: app.drizzle, clock: app.clock, log: () => {} });
  await join('dan');
  t.equal(app.db.prepare('SELECT count(*) FROM membership_changes').pluck().get(), 5);
  t.equal((await app.one.call('POST', '/automations/enter-all/stop', { form: { utr } })).status, 200);
  t.strictSame(await got(), ['bob one', 'dan one']);
  t.strictSame(await counted(), { contacts: 4, entered: 2, active: 2 });
});

t.test('an automation whose page fails becomes a draft, and the backfills of others go on', async (t) => {
  const { app, post, get, utr, live, enterAll, got } = await withReaders(t, ['ann']);
  const { utr: other } = await post('/automations/create-from-recipe', {
    ...{ recipe: 'welcome', language: 'en', automation_name: 'Other', automation_for: 'contacts_1' },
    ...{ unsubscribe_group_id: 1, sender_id: 1 },
  });
  await live();
  await get('/automations/set-live', { utr: other });
  app.db.exec(`CREATE TRIGGER broken BEFORE INSERT ON membership_changes WHEN new.automation_id = 1 BEGIN
    SELECT RAISE(ABORT, 'broken page'); END`);
  await enterAll();
  await enterAll({ utr: other });
  t.strictSame(await got(), ['ann Welcome, ann']);
  const { summaries } = (await get('/automations/summaries', { utr })).body.message;
  t.match(summaries, [{ state: 'held', held_code: 'internal_error', held_reason: /broken page/ }]);
  app.db.exec('DROP TRIGGER broken');
  await live();
  t.strictSame(await got(), ['ann Welcome, ann', 'ann one'], 'started again, it goes on');
});

t.test("nobody lets contacts in another account's automation enter, nor by another account's segment", async (t) => {
  const { app, enterAll } = await withReaders(t, ['ann']);
  t.equal((await enterAll({ dry_run: 1 }, app.two)).status, 404);
  t.equal((await enterAll({ dry_run: 1, segment_id: 999 })).status, 422);
});
