/** Sunset: whom the rule stops or puts elsewhere, and what those who are stopped do not get. */
import t from 'tap';
import { cutoffOf } from '../../../src/audience/sunset/rule.ts';
import { WEBHOOK_EVENTS } from '../../../src/webhooks/operations/event-types.ts';
import { DAY } from '../../support/automations.ts';
import { addContact, mustAnswer, queueSend, storeSegment } from '../../support/segments.ts';
import { sent, stateOf } from '../../support/transactional.ts';
import { describedData } from '../../support/webhooks/described.ts';
import { APPLE_AGENT, act, join, newWorld, pass, SETTLED, send } from './engagement-world.ts';
import { inactiveNow } from './sunset-reckoning.ts';
import { kindsOf, lift, open, preview, readersAsleep, readSunset, STOP, switchOn } from './sunset-world.ts';

t.test(
  'who is stopped was counted before, gets no campaign, and the reason is in the report and the timeline',
  async (t) => {
    const world = await readersAsleep(t);
    const { app } = world;
    await addContact(app, 'new@example.com');
    t.strictSame(await preview(world, STOP), {
      count: 3,
      contacts: [2, 3, 4].map((id) => ({ id, fullname: '', email: `p${id - 1}@example.com` })),
      next_after_id: null,
    });
    t.match(await preview(world, { ...STOP, least_mails: 9 }), { count: 0 });
    t.match(await preview(world, { ...STOP, months: 2 }), { count: 0 });
    t.match(await readSunset(world), { is_on: 0, months: 12, least_mails: 5, stopped: 0, days: [] });
    t.strictSame(inactiveNow(app), [], 'counting changes nothing');
    await switchOn(world);
    t.strictSame(inactiveNow(app), ['p1', 'p2', 'p3']);
    const day = app.clock.now().toISOString().slice(0, 10);
    t.match(await readSunset(world), {
      is_on: 1,
      stopped: 3,
      is_working: 0,
      days: [{ day, stopped: 3, moved: 0, lifted: 0 }],
    });
    t.match((await kindsOf(world, 2))[0], 'inactive stop');
    const utr = await queueSend(app, { recipient_id: ['contacts_1'] });
    app.clock.advance(11_000);
    await app.background();
    const { report } = (await mustAnswer(app, 'GET', '/single-send/report', { query: { utr } })).body.message;
    t.match(report.funnel, { delivered: 2 });
    t.match(report.reasons, [{ state: 'suppressed', reason: 'inactive for long', count: 3 }]);
    await switchOn(world);
    await app.background();
    t.match(await readSunset(world), { stopped: 3 }, 'nobody is stopped twice');
  },
);

t.test(
  'people who are stopped after they were queued are left out when their mail is claimed; tests, confirmations and transactional mail go on',
  async (t) => {
    const world = await readersAsleep(t);
    const { app } = world;
    const utr = await queueSend(app, { recipient_id: ['contacts_1'] });
    app.clock.advance(11_000);
    await app.background();
    app.db.exec(
      "UPDATE deliveries SET state = 0, reply = NULL WHERE mailing_id = (SELECT max(id) FROM mailings); UPDATE mailings SET state = 'sending', acknowledged_state = '', finished_at = NULL, delivered = 0 WHERE id = (SELECT max(id) FROM mailings); UPDATE single_sends SET status = 2 WHERE id = (SELECT max(id) FROM single_sends)",
    );
    await switchOn(world);
    const states = app.db
      .prepare(
        "SELECT group_concat(state || ' ' || ifnull(english(reply), '')) FROM (SELECT state, reply FROM deliveries WHERE mailing_id = (SELECT max(id) FROM mailings) ORDER BY address_id)",
      )
      .pluck()
      .get();
    t.match(states, /^2 [^,]*,5 inactive for long,5 inactive for long,5 inactive for long$/);
    const before = app.db.prepare("SELECT count(*) FROM outbox WHERE envelope_to = 'p1@example.com'").pluck().get();
    await mustAnswer(app, 'POST', '/single/send/test', { form: { utr, email_address: 'p1@example.com' } });
    await app.background();
    const receipt = await sent(app, { sender_id: 1, email: 'p1@example.com', subject: 'Receipt', text: 'Thank you' });
    await app.background();
    t.equal((await stateOf(app, receipt)).state, 'accepted');
    t.equal(
      app.db.prepare("SELECT count(*) FROM outbox WHERE envelope_to = 'p1@example.com'").pluck().get(),
      Number(before) + 2,
    );
  },
);

t.test('mails in which nobody did anything say nothing about anybody', async (t) => {
  const world = await newWorld(t);
  for (let person = 0; person < 3; person++) await join(world);
  await pass(world, 40 * DAY);
  for (let mail = 0; mail < 4; mail++) await send(world, mail);
  await pass(world, DAY);
  t.match(await preview(world, STOP), { count: 0 });
  open(world, 'p0');
  await world.app.background();
  t.match(await preview(world, { ...STOP, least_mails: 1 }), { count: 2 });
  t.match(await preview(world, { ...STOP, least_mails: 2 }), { count: 0 });
});

t.test(
  'an open by a proxy is neither inactivity nor an act: who has one is not stopped, and who was stopped is not let go',
  async (t) => {
    const world = await readersAsleep(t);
    const { app, readers } = world;
    open(world, 'p1', APPLE_AGENT);
    // The first mail came before the month that counts.
    const [reader, old] = [readers.get('p2'), readers.get('p2')?.mails[0]];
    if (reader === undefined || old === undefined) throw new Error('p2 has no mail');
    act(world, reader, old, APPLE_AGENT, app.clock.now().getTime(), null);
    app.clock.advance(SETTLED);
    await app.background();
    t.match(await preview(world, STOP), { count: 1, contacts: [{ email: 'p3@example.com' }] });
    await switchOn(world);
    t.strictSame(inactiveNow(app), ['p3']);
    open(world, 'p3', APPLE_AGENT);
    app.clock.advance(SETTLED);
    await app.background();
    t.strictSame(inactiveNow(app), ['p3'], 'it does not let go');
    open(world, 'p3');
    app.clock.advance(SETTLED);
    await app.background();
    t.strictSame(inactiveNow(app), [], 'an open of a person does');
  },
);

t.test('a mail whose pictures only proxies loaded says nothing about anybody', async (t) => {
  const world = await newWorld(t);
  for (let person = 0; person < 3; person++) await join(world);
  await pass(world, 40 * DAY);
  await send(world, 1);
  open(world, 'p0', APPLE_AGENT);
  await pass(world, DAY);
  t.match(await preview(world, { ...STOP, least_mails: 1 }), { count: 0 });
  open(world, 'p1');
  await pass(world, DAY);
  t.match(await preview(world, { ...STOP, least_mails: 1 }), { count: 1, contacts: [{ email: 'p2@example.com' }] });
});

t.test('who opened a mail whose event was removed meanwhile is not inactive', async (t) => {
  const world = await readersAsleep(t);
  world.app.db.exec('DELETE FROM events; DELETE FROM activity');
  t.match(await preview(world, STOP), { count: 3 });
});

t.test(
  'who has left or is suppressed is left alone, and one person is counted once however many contacts they are',
  async (t) => {
    const world = await readersAsleep(t);
    const { app } = world;
    await mustAnswer(app, 'POST', '/global-unsubscribes/save', { form: { email_address: 'p1@example.com' } });
    await mustAnswer(app, 'POST', '/bounces', { form: { address: 'p2@example.com', kind: 'bounce' } });
    app.db.exec(
      "INSERT INTO contacts (user_id, contact_type_id, address_id, email, created_at, updated_at) SELECT user_id, 2, address_id, email, created_at, updated_at FROM contacts WHERE email = 'p3@example.com'",
    );
    t.match(await preview(world, STOP), { count: 1, contacts: [{ email: 'p3@example.com' }] });
  },
);

t.test(
  'they are put into a segment, except who was taken out of it, or moved to a contact type; a missing one does nothing',
  async (t) => {
    const world = await readersAsleep(t);
    const { app } = world;
    const segment_id = await storeSegment(app, ['city', 'is', 'Nowhere']);
    app.db.exec(
      `INSERT INTO segment_recipients (user_id, segment_id, address_id, contact_id, is_removed, email, created_at, updated_at) SELECT 1, ${segment_id}, address_id, id, 1, email, '', '' FROM contacts WHERE email = 'p1@example.com'`,
    );
    await switchOn(world, { ...STOP, action: 'segment', segment_id });
    const members = app.db.prepare('SELECT group_concat(email) FROM segment_recipients WHERE is_removed = 0').pluck();
    t.equal(members.get(), 'p2@example.com,p3@example.com');
    t.match(await readSunset(world), { stopped: 0, days: [{ stopped: 0, moved: 2 }] });
    t.match(await preview(world, STOP), { count: 3 }, 'who was put into a segment can still be stopped');
    app.db.exec('DELETE FROM sunset_people');
    await switchOn(world, { ...STOP, action: 'move', contact_type_id: 2 });
    const types = app.db.prepare('SELECT group_concat(contact_type_id) FROM contacts WHERE deleted_at IS NULL').pluck();
    t.equal(types.get(), '1,2,2,2');
    app.db.exec(`
      DELETE FROM sunset_people;
      INSERT INTO contacts (user_id, contact_type_id, address_id, first_name, email, country_id, created_at, updated_at)
        SELECT user_id, 1, address_id, first_name, email, country_id, created_at, updated_at FROM contacts WHERE contact_type_id = 2 LIMIT 1`);
    const move = { ...STOP, action: 'move', contact_type_id: 2 } as const;
    t.match(await preview(world, move), { count: 0 }, 'who has a contact of that type is not moved');
    app.db.exec('DELETE FROM contacts WHERE id = (SELECT max(id) FROM contacts)');
    await mustAnswer(app, 'POST', '/contacts-type/add', { form: { name: 'Gone' } });
    await mustAnswer(app, 'POST', '/sunset/save', { form: { is_on: 1, ...STOP, action: 'move', contact_type_id: 3 } });
    await mustAnswer(app, 'DELETE', '/contacts-type/delete', { query: { contact_type_id: 3 } });
    await app.background();
    t.equal(types.get(), '1,2,2,2');
    t.match(await readSunset(world), { is_on: 1, is_target_missing: 1, is_working: 0 });
    await mustAnswer(app, 'POST', '/sunset/save', { form: { is_on: 0, ...STOP, action: 'move', contact_type_id: 3 } });
    t.match(await readSunset(world), { is_on: 0, action: 'move' }, 'it can be switched off as it is');
  },
);

t.test('webhooks are told, and an erased person leaves nothing but the counts', async (t) => {
  const world = await readersAsleep(t);
  const { app } = world;
  await mustAnswer(app, 'POST', '/webhooks/save', { form: { url: 'https://hooks.example/', events: WEBHOOK_EVENTS } });
  await switchOn(world);
  t.equal(await lift(world, 'p1@example.com'), 200);
  const told = app.db
    .prepare<[], { type: string; data: string }>(
      "SELECT type, data FROM webhook_events WHERE type LIKE 'contact.%active' ORDER BY id",
    )
    .all();
  t.match(
    told.map(({ type, data }) => ({ type, ...describedData(t, type, data) })),
    [
      {
        type: 'contact.inactive',
        email: 'p1@example.com',
        action: 'stop',
        inactive_since: /^20\d\d-\d\d-\d\dT00:00:00/,
      },
      { type: 'contact.inactive', email: 'p2@example.com' },
      { type: 'contact.inactive', email: 'p3@example.com' },
      { type: 'contact.active', email: 'p1@example.com', action: 'stop', by: 'owner' },
    ],
  );
  await mustAnswer(app, 'POST', '/contacts/person/erase', { form: { contact_id: 3 } });
  t.match(await readSunset(world), { stopped: 1 });
  t.equal(app.db.prepare('SELECT count(*) FROM sunset_people').pluck().get(), 2);
});

t.test('the day so many months ago is the last of a shorter month', async (t) => {
  const cutoff = (now: string, months: number) => new Date(cutoffOf(new Date(now), months)).toISOString().slice(0, 16);
  t.equal(cutoff('2026-03-31T23:59:00Z', 1), '2026-02-28T00:00');
  t.equal(cutoff('2024-03-31T00:00:00Z', 1), '2024-02-29T00:00');
  t.equal(cutoff('2026-01-15T12:00:00Z', 36), '2023-01-15T00:00');
  t.equal(cutoff('2026-01-31T12:00:00Z', 2), '2025-11-30T00:00');
});

t.test('a rule of another account changes nothing here, and its people are not let go from here', async (t) => {
  const world = await readersAsleep(t);
  const { app } = world;
  await switchOn(world);
  const theirs = app.two;
  t.equal(await lift(world, 'p1@example.com', theirs), 404);
  t.equal((await theirs.call('POST', '/sunset/lift-all')).status, 200);
  await app.background();
  t.equal(inactiveNow(app).length, 3);
  t.strictSame((await theirs.call('GET', '/sunset/people')).body.message.people, []);
  const segment_id = await storeSegment(app, ['city', 'is', 'Nowhere']);
  const stolen = { is_on: 1, ...STOP, action: 'segment', segment_id };
  t.match((await theirs.call('POST', '/sunset/save', { form: stolen })).body.errors, { segment_id: Array });
  t.match(await mustAnswer(app, 'GET', '/sunset/people', { query: { email: 'p2@example.com' } }), {
    body: { message: { people: [{ email_address: 'p2@example.com', action: 'stop' }] } },
  });
  for (const bad of [{ months: 0 }, { months: 37 }, { least_mails: 0 }, { least_mails: 51 }, { action: 'delete' }])
    t.equal(
      (await app.one.call('POST', '/sunset/save', { form: { is_on: 1, ...STOP, ...bad } })).status,
      422,
      JSON.stringify(bad),
    );
});
