/** GET /api/overview: what is set up, under way and lost. */
import t, { type Test } from 'tap';
import { DAY_MS } from '../../src/units.ts';
import { type Caller, startApp, type TestApp } from '../support/app.ts';
import { mustSucceed, sendCampaign } from '../support/campaign.ts';

async function overview(t: Test, caller: Caller) {
  const { status, text, body } = await caller.call('GET', '/overview');
  t.equal(status, 200, text);
  return body.message.overview;
}

/** The days on which something happened. */
const daysWithChanges = (days: Record<string, number | string>[]) =>
  days.filter(({ day: _day, ...counts }) => Object.values(counts).some((count) => count !== 0));

t.test('a new account has nothing, and thirty empty days up to today', async (t) => {
  const { one } = await startApp(t, { PUBLIC_URL: '' });
  const { setup, campaigns, last_mailings, audience, health } = await overview(t, one);
  t.strictSame(setup, {
    contacts: 0,
    senders: 0,
    verified_senders: 0,
    has_design: 0,
    has_sent: 0,
    courier: 'outbox',
    public_url: 0,
    signed_domains: 0,
    unsigned_domains: 0,
    relay: { state: 'none', seen_at: null, has_worked: 0 },
    dns: { state: 'none', seen_at: null, domain: null, checks: [] },
  });
  t.strictSame([campaigns, last_mailings, audience.contacts], [[], [], 0]);
  t.equal(audience.days.length, 30);
  t.equal(audience.months.length, 12);
  t.equal(audience.days[0].day, '2025-12-17');
  t.strictSame(audience.days[29], { day: '2026-01-15', added: 0, deleted: 0, unsubscribed: 0, suppressed: 0 });
  t.match(health, { sending: 'on', held_reason: null, clock: 'right', last_backup_at: null });
  t.ok(health.free_bytes > 0);
});

t.test('a draft counts as a mail that was made once it has content', async (t) => {
  const { one } = await startApp(t);
  const draft = await mustSucceed(t, one)('/single/send/draft', { single_send_name: 'Autumn' });
  t.equal((await overview(t, one)).setup.has_design, 0);
  const { utr } = draft as { utr: string };
  await mustSucceed(t, one)('/single/send/save', { utr, template_id: 2 });
  t.equal((await overview(t, one)).setup.has_design, 1);
});

t.test('what was set up and sent shows, to its own account only', async (t) => {
  const app = await startApp(t);
  const { utr } = await sendCampaign(t, app);
  const { setup, campaigns, last_mailings } = await overview(t, app.one);
  t.match(setup, { contacts: 1, senders: 1, has_design: 1, has_sent: 1, public_url: 1, unsigned_domains: 1 });
  t.strictSame(campaigns, [], 'what is done is not under way');
  t.match(last_mailings, [{ utr, name: 'News', subject: 'For ((first_name))', state: 'kept', delivered: 1, kept: 1 }]);
  const other = await overview(t, app.two);
  t.match(other.setup, { contacts: 0, senders: 0, has_design: 0, has_sent: 0 });
  t.strictSame(other.last_mailings, []);
  t.strictSame(daysWithChanges(other.audience.days), []);
});

t.test(
  'what is scheduled, held or paused is under way with the reason; a copy and a cancelled one are not',
  async (t) => {
    const app = await startApp(t);
    const { one } = app;
    const { utr: sent } = await sendCampaign(t, app);
    const must = mustSucceed(t, one);
    const create = async (name: string, fields: Record<string, unknown> = {}) => {
      const { utr } = (await must('/single/send/create', {
        template_id: 1,
        template_html: '<p>Hello</p>',
        sender_id: 1,
        unsubscribe_group_id: 1,
        single_send_name: name,
        subject: 'Hello',
        preheader: 'News',
        recipient_id: ['contacts_1'],
        schedule_type: 0,
        ...fields,
      })) as { utr: string };
      return utr;
    };
    await must('/contacts-type/add', { name: 'Nobody' });
    await create('Held', { recipient_id: ['contacts_2'] });
    app.clock.advance(11_000);
    await app.background();
    await create('Later', { schedule_type: 1, schedule_date: '2026-02-01', schedule_time: '09:00' });
    await one.call('POST', '/single/send/duplicate', { query: { utr: sent } });
    await one.call('POST', '/single/send/cancel', { query: { utr: await create('Cancelled') } });
    const { campaigns } = await overview(t, one);
    t.match(campaigns, [
      {
        kind: 'single_send',
        name: 'Later',
        state: 'scheduled',
        starts_at: '2026-02-01T09:00:00.000000Z',
        held_reason: null,
      },
      { kind: 'single_send', name: 'Held', state: 'held', held_code: 'no_audience', held_reason: /Nobody to send to/ },
    ]);
    t.equal(campaigns.length, 2);
  },
);

t.test('a running send shows how many of its recipients are finished', async (t) => {
  const people = ['anna', 'bea', 'cleo'].map((name) => ({ email: `${name}@example.org` }));
  const app = await startApp(t);
  await sendCampaign(t, app, { people });
  app.db.exec(`
    UPDATE deliveries SET state = 0 WHERE address_id > (SELECT id FROM addresses WHERE normalized_email = 'anna@example.org');
    UPDATE mailings SET state = 'paused', finished_at = NULL, delivered = 1 WHERE owner_kind = 'single';
    UPDATE single_sends SET status = 2`);
  const { campaigns } = await overview(t, app.one);
  t.match(campaigns, [{ state: 'paused', recipients: 3, finished: 1, delivered: 1 }]);
});

t.test('growth and losses are counted on their day, new ones at the next request', async (t) => {
  const app = await startApp(t);
  const { one, clock } = app;
  await sendCampaign(t, app);
  const must = mustSucceed(t, one);
  t.strictSame(daysWithChanges((await overview(t, one)).audience.days), [
    { day: '2026-01-15', added: 1, deleted: 0, unsubscribed: 0, suppressed: 0 },
  ]);
  clock.advance(DAY_MS);
  for (const name of ['bea', 'cleo', 'dora'])
    await must('/contacts/add', { contact_type_id: 1, first_name: name, email: `${name}@example.org`, country: 1 });
  await must('/global-unsubscribes/save', { email_address: 'bea@example.org' });
  await must('/bounces', { address: 'cleo@example.org', kind: 'bounce' });
  await one.call('DELETE', '/contacts/delete', { query: { contact_id: 4 } });
  const { audience } = await overview(t, one);
  t.strictSame(daysWithChanges(audience.days), [
    { day: '2026-01-15', added: 1, deleted: 0, unsubscribed: 0, suppressed: 0 },
    { day: '2026-01-16', added: 3, deleted: 1, unsubscribed: 1, suppressed: 1 },
  ]);
  t.equal(audience.contacts, 3);
  clock.advance(29 * DAY_MS);
  t.strictSame(
    daysWithChanges((await overview(t, one)).audience.days).map(({ day }) => day),
    ['2026-01-16'],
    'what is older than thirty days is gone',
  );
});

t.test('days are counted over thousands of rows, those before the thirty days left out', async (t) => {
  const app = await startApp(t);
  app.db.exec(`
    INSERT INTO contact_types (user_id, name, created_at, updated_at) VALUES (1, 'Readers', '', '');
    INSERT INTO addresses (user_id, normalized_email) VALUES (1, 'x@example.org')`);
  growBy(app, 5000, '2025-11-01');
  growBy(app, 4500, '2026-01-02');
  growBy(app, 3000, '2026-01-15');
  const { audience } = await overview(t, app.one);
  t.strictSame(
    daysWithChanges(audience.days).map(({ day, added, deleted }) => [day, added, deleted]),
    [
      ['2025-12-31', 0, 12_500],
      ['2026-01-02', 4500, 0],
      ['2026-01-15', 3000, 0],
    ],
  );
});

/** Adds deleted contacts created on a day, after all that are there. */
function growBy({ db }: TestApp, rows: number, day: string): void {
  db.prepare(`
    WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ?)
    INSERT INTO contacts (user_id, contact_type_id, address_id, email, created_at, updated_at, deleted_at)
    SELECT 1, 1, 1, 'x@example.org', @moment, @moment, '2025-12-31T00:00:00.000000Z' FROM n`).run(rows, {
    moment: `${day}T00:00:00.000000Z`,
  });
}
