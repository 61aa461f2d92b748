/** Segments that are brought up to date by time, in the background and before a send. */
import { sql } from 'drizzle-orm';
import t from 'tap';
import { markForRecompute, recomputeDueSegments } from '../../../src/audience/segments/recompute.ts';
import { Launcher } from '../../../src/campaigns/launch.ts';
import { readConfig } from '../../../src/config.ts';
import { DELIVERY_STATE } from '../../../src/database/schema/index.ts';
import { enqueueRecipients } from '../../../src/delivery/queue/enqueue-recipients.ts';
import { FailedWork } from '../../../src/time/failed-work.ts';
import type { TestApp } from '../../support/app.ts';
import { withWelcomeSeries } from '../../support/automations.ts';
import {
  addContact,
  membersOf,
  mustAnswer,
  queueSend,
  recipientsOf,
  rethrow,
  startWithFields,
  statusOf,
  storeSegment,
  uploadCsv,
} from '../../support/segments.ts';

t.test('time alone moves people in and out, checked every hour, also after the clock went back', async (t) => {
  const app = await startWithFields(t);
  await addContact(app, 'a@example.com', { 'custom_field[seen]': '2026-01-15T11:30' });
  const segment_id = await storeSegment(app, ['seen', 'is within', '1']);
  t.equal(await membersOf(t, app, segment_id), '');
  const hour = 3_600_000;
  app.clock.advance(2 * hour);
  await app.background();
  t.equal(await membersOf(t, app, segment_id), '', '11:00');
  app.clock.advance(hour);
  await app.background();
  t.equal(await membersOf(t, app, segment_id), 'a', '12:00');
  app.clock.jump(-2 * hour);
  await app.background();
  t.equal(await membersOf(t, app, segment_id), '', '10:00 again');
  app.clock.advance(26 * hour);
  await app.background();
  t.equal(await membersOf(t, app, segment_id), '', 'a day later it is over');
});

t.test('a large segment is finished in the background, from where it was left', async (t) => {
  const app = await startWithFields(t);
  await uploadCsv(app, ['email', ...Array.from({ length: 1200 }, (_, n) => `p${n}@example.com`)].join('\n'));
  const segment_id = await storeSegment(app, ['email', 'contains', '@']);
  await app.background();
  app.db.exec('DELETE FROM segment_recipients WHERE address_id > 300; UPDATE segments SET recompute_after = 300');
  while (await recomputeDueSegments(app.drizzle, app.clock, new FailedWork(app.clock), rethrow));
  t.equal((await recipientsOf(app, segment_id)).length, 1200);
  t.equal(app.db.prepare('SELECT recompute_after FROM segments').pluck().get(), null);
});

t.test('a segment that was begun goes on before another is begun', async (t) => {
  const app = await startWithFields(t);
  await uploadCsv(app, 'email\na@example.com\nb@example.com');
  const segments = [
    await storeSegment(app, ['email', 'contains', '@']),
    await storeSegment(app, ['email', 'contains', '@']),
  ];
  app.db.exec(`DELETE FROM segment_recipients;
    CREATE TRIGGER breaks BEFORE INSERT ON segment_recipients BEGIN SELECT raise(ABORT, 'broken'); END`);
  for (const begun of segments) {
    app.db.prepare('UPDATE segments SET recompute_after = iif(id = ?, 1, 0)').run(begun);
    const tried: number[] = [];
    const failedSegments = new FailedWork(app.clock);
    while (await recomputeDueSegments(app.drizzle, app.clock, failedSegments, (id) => tried.push(id)));
    t.strictSame(tried, [begun, ...segments.filter((id) => id !== begun)]);
  }
});

t.test('a segment that fails keeps no other from being brought up to date', async (t) => {
  const app = await startWithFields(t);
  await addContact(app, 'a@example.com', { city: 'Bonn' });
  const broken = await storeSegment(app, ['city', 'is', 'Bonn']);
  const sound = await storeSegment(app, ['city', 'is', 'Bonn']);
  app.db.exec('DELETE FROM segment_recipients');
  app.db.exec(`CREATE TRIGGER breaks BEFORE INSERT ON segment_recipients WHEN new.segment_id = ${broken} BEGIN
    SELECT raise(ABORT, 'broken'); END`);
  markForRecompute(app.drizzle, sql`true`);
  const failures: number[] = [];
  const failedSegments = new FailedWork(app.clock);
  const step = () => recomputeDueSegments(app.drizzle, app.clock, failedSegments, (id) => failures.push(id));
  while (await step());
  t.strictSame(failures, [broken]);
  t.equal(app.db.prepare('SELECT count(*) FROM segment_recipients WHERE segment_id = ?').pluck().get(sound), 1);
  for (let steps = 0; steps < 10; steps++) await step();
  t.strictSame(failures, [broken], 'further steps spend nothing on it');
  app.clock.advance(60_000);
  await step();
  t.strictSame(failures, [broken, broken], 'it is tried again after a minute');
});

t.test(
  'who was added by hand gets the mail though their contact is deleted after the mailing was enqueued',
  async (t) => {
    const app = await startWithFields(t);
    const strIds = [
      await addContact(app, 'a@example.com', { city: 'Bonn', first_name: 'Contact' }),
      await addContact(app, 'b@example.com', { city: 'Bonn' }),
    ];
    const segment_id = await storeSegment(app, ['city', 'is', 'Bonn']);
    const form = { segment_id, first_name: 'Hand', last_name: 'B', email: 'a@example.com' };
    await mustAnswer(app, 'POST', '/segment/email/store', { form });
    await queueSend(app, { recipient_id: [`segments_${segment_id}`] });
    app.clock.advance(60_000);
    const launcher = new Launcher({
      db: app.drizzle,
      clock: app.clock,
      config: readConfig({}),
      log: (fields, text, level = 'info') => level !== 'info' && t.fail(text, { fields }),
    });
    await launcher.launchDue(() => true);
    while (await recomputeDueSegments(app.drizzle, app.clock, new FailedWork(app.clock), rethrow));
    while (await launcher.launchDue(() => true));
    const mailing = Number(app.db.prepare("SELECT id FROM mailings WHERE state = 'enqueueing'").pluck().get());
    await enqueueRecipients(app.db, mailing);
    await mustAnswer(app, 'POST', '/contacts/bulk-delete', { form: { strIds } });
    await app.background();
    const outcome = app.db
      .prepare(
        'SELECT normalized_email, d.state FROM deliveries d JOIN addresses a ON a.id = address_id WHERE mailing_id = ? ORDER BY 1',
      )
      .raw()
      .all(mailing);
    t.strictSame(outcome, [
      ['a@example.com', DELIVERY_STATE.accepted],
      ['b@example.com', DELIVERY_STATE.suppressed],
    ]);
  },
);

t.test(
  'a send goes to a segment, everyone once, not to the excluded, by name also to those added by hand',
  async (t) => {
    const app = await startWithFields(t);
    for (const [name, city] of [
      ['a', 'Bonn'],
      ['b', 'Bonn'],
      ['c', 'Rome'],
      ['d', 'Bonn'],
    ]) {
      await addContact(app, `${name}@example.com`, { first_name: `First ${name}`, city });
    }
    const bonn = await storeSegment(app, ['city', 'is', 'Bonn']);
    const all = await storeSegment(app, ['city', 'is not blank']);
    const out = await storeSegment(app, ['first_name', 'is', 'first b']);
    const byHand = { segment_id: bonn, first_name: 'Hand', last_name: 'Made', email: 'hand@example.com' };
    await mustAnswer(app, 'POST', '/segment/email/store', { form: byHand });
    const d = (await recipientsOf(app, bonn)).find(({ email }) => email === 'd@example.com');
    await mustAnswer(app, 'DELETE', '/segment/email/delete', { query: { segment_recipient_id: d.id } });
    await queueSend(app, {
      recipient_id: [`segments_${bonn}`, `segments_${bonn}`],
      exclude_specific_recipient_id: [`segments_${out}`],
    });
    app.clock.advance(120_000);
    await app.background();
    t.strictSame(mails(app), ['a@example.com Hello First a', 'hand@example.com Hello Hand']);
    await queueSend(app, {
      recipient_id: [`segments_${all}`, 'contacts_1', `segments_${bonn}`],
      exclude_specific_recipient_id: [`segments_${out}`],
    });
    app.clock.advance(120_000);
    await app.background();
    t.strictSame(
      mails(app).map((mail) => mail.split('@')[0]),
      ['a', 'c', 'd', 'hand'],
    );
    const nobody = await queueSend(app, {
      recipient_id: [`segments_${out}`],
      exclude_specific_recipient_id: [`segments_${bonn}`],
    });
    app.clock.advance(120_000);
    await app.background();
    t.match(statusOf(app, nobody), { status: 0, held_reason: /^Nobody to send to/ });
  },
);

t.test('a segment is recomputed as a set before a send', async (t) => {
  const app = await startWithFields(t);
  await addContact(app, 'a@example.com', { first_name: 'A', city: 'Bonn' });
  const bonn = await storeSegment(app, ['city', 'is', 'Bonn']);
  await queueSend(app, { recipient_id: [`segments_${bonn}`] });
  app.db.exec('DELETE FROM segment_recipients');
  app.clock.advance(120_000);
  await app.background();
  t.strictSame(mails(app), ['a@example.com Hello A']);
});

/** Who got what since the last call, by address. */
function mails(app: TestApp): string[] {
  const rows = app.db.prepare("SELECT envelope_to || ' ' || subject FROM outbox ORDER BY envelope_to").pluck().all();
  app.db.exec('DELETE FROM outbox');
  return rows.map(String);
}

t.test('who came to match while a segment was deleted enters no automation that is set live at once', async (t) => {
  const { app, utr, post, live, join } = await withWelcomeSeries(t);
  const rule = { select_field: ['email'], select_operator: ['contains'], value: ['@'] };
  await post('/segment/store', { segment_name: 'All', contact_type_id: 1, ...rule });
  await post('/automations/update', { utr, automation_for: 'segments_1' });
  const other = { type: 'welcome', automation_for: 'contacts_1', automation_name: 'Other', unsubscribe_group_id: 1 };
  const { utr: withGoal } = await post('/automations/create', other);
  await post('/automations/update', { utr: withGoal, goal_segment_id: 1 });
  await mustAnswer(app, 'DELETE', '/segment/delete', { query: { segment_id: 1 } });
  const contacts = Array.from({ length: 300 }, (_, n) => ({ email: `p${n}@example.com` }));
  await mustAnswer(app, 'POST', '/contacts/upsert', { json: { contact_type_id: 1, contacts } });
  const { now } = performance;
  t.teardown(() => {
    performance.now = now;
  });
  let time = now.call(performance);
  performance.now = () => (time += 1000);
  await post('/segment/undelete', { segment_id: 1 });
  performance.now = now;
  t.equal(app.db.prepare('SELECT recompute_after > 0 FROM segments').pluck().get(), 1, 'some are left');
  const reached = app.db.prepare("SELECT count(*) > 0 FROM membership_changes WHERE change = 'goal'").pluck();
  t.equal(reached.get(), 1, 'who reached a goal meanwhile has reached it');
  await live();
  await app.background();
  t.equal((await recipientsOf(app, 1)).length, 300);
  const entered = () => app.db.prepare('SELECT count(*) FROM enrolments').pluck().get();
  t.equal(entered(), 0);
  await join('new');
  await app.background();
  t.equal(entered(), 1, 'who matches from now on enters');
});
