/**
 * The replay of an automation beside a live run over the same history: contacts who join, leave, are moved and change, who unsubscribe
 * and subscribe again, events, other mails that count to the caps. Both must give the same log and the same mails.
 */
import t, { type Test } from 'tap';
import { randomOf } from '../../../fixtures/random.ts';
import { replay } from '../../../src/automations/replay/engine.ts';
import { openView } from '../../../src/automations/replay/view.ts';
import { readConfig } from '../../../src/config.ts';
import type { TestApp } from '../../support/app.ts';
import { HOUR, withPaths } from '../../support/automations.ts';
import { Tables } from '../../support/tables.ts';

/** The journey: a mail at once, a condition, a split, a wait for a purchase, two more mails, a goal, caps and sending hours. */
async function withJourney(t: Test, trigger: Record<string, unknown> = {}) {
  const world = await withPaths(t);
  const { app, utr, post, step, mail, utrOf } = world;
  const call = async (path: string, form: Record<string, unknown>) => {
    const answer = await app.one.call('POST', path, { form });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
  };
  const segment = (segment_name: string, field: string, operator: string, value: string[]) =>
    post('/segment/store', {
      segment_name,
      contact_type_id: 1,
      select_field: [field],
      select_operator: [operator],
      value,
    });
  await segment('Buyers', 'event.order', 'has happened', []);
  await segment('Leavers', 'last_name', 'is', ['gone']);
  await post('/contacts-type/add', { name: 'Customers' });
  await call('/automations/update', {
    utr,
    goal_segment_id: 2,
    exit_segment_id: 3,
    exit_criteria: 1,
    hold_out: 10,
    ...trigger,
  });
  const before = await utrOf('two');
  const isAnn = await step({ kind: 'if', segment_id: 1, before });
  await mail('for ann', { parent: isAnn, branch: 'yes' });
  const half = await step({ kind: 'split', share: 40, before });
  await mail('some', { parent: half, branch: 'yes', waiting_type: 'hours', waiting_period: 5 });
  const wait = await step({ kind: 'wait_until', until: 'event', event: 'visit', timeout_hours: 30, before });
  await mail('came', { parent: wait, branch: 'yes' });
  return { ...world, call };
}

/** Lets things happen at random for some days, the background at each full hour. */
async function live(
  { app, post, call, live: setLive }: Awaited<ReturnType<typeof withJourney>>,
  seed: number,
  days: number,
) {
  const random = randomOf(seed);
  const below = (count: number) => Math.floor(random() * count);
  const contacts: { id: number; email: string; list: number }[] = [];
  const mailOf = app.db.prepare<[object]>(`
    INSERT INTO deliveries (mailing_id, address_id, state, updated_at, counts_to_caps) SELECT 9000, id, 2, @at, 1 FROM addresses
    WHERE normalized_email = @email ON CONFLICT DO NOTHING`);
  const add = async () => {
    const email = `p${contacts.length}@example.org`;
    const first_name = below(3) === 0 ? 'ann' : 'bo';
    const { headers } = await app.one.call('POST', '/contacts/add', {
      form: { contact_type_id: 1, email, first_name, country: 1 },
    });
    contacts.push({ id: Number(String(headers.location).split('=').at(-1)), email, list: 1 });
  };
  const one = () => contacts[Math.max(0, contacts.length - 1 - below(25))];
  const report = (email: string, name: string) => app.one.call('POST', '/events', { json: { email, name } });
  const happenings = [
    add,
    add,
    add,
    async () => {
      const { email = '' } = one() ?? {};
      await report(email, ['visit', 'visit', 'order'][below(3)] ?? '');
    },
    async () => {
      const { email = '' } = one() ?? {};
      await report(email, 'visit');
    },
    async () => {
      const { email = '' } = one() ?? {};
      if (below(2) === 0)
        await post('/unsubscribes-groups/manually-add', { unsubscribe_groups_id: 1, email_address: email });
      else await post('/global-unsubscribes/save', { email_address: email });
    },
    async () => {
      const row = app.db
        .prepare<[], { id: number }>('SELECT id FROM unsubscribers WHERE unsubscribe_groups_id = 1')
        .get();
      if (row !== undefined) await post('/unsubscribes-groups/recipients-bulk-delete', { strIds: [row.id] });
    },
    async () => {
      const contact = one();
      if (contact === undefined || contact.list === 0) return;
      await post('/contacts/bulk-delete', { strIds: [contact.id] });
      contact.list = 0;
    },
    async () => {
      const contact = one();
      if (contact === undefined || contact.list === 0) return;
      contact.list = 3 - contact.list;
      const { id: contact_id, list: contact_type_id, email } = contact;
      await call('/contacts/update', { contact_id, contact_type_id, email, country: 1, first_name: 'bo' });
    },
    async () => {
      const contact = one();
      if (contact === undefined || contact.list === 0) return;
      const { id: contact_id, list: contact_type_id, email } = contact;
      await call('/contacts/update', { contact_id, contact_type_id, email, country: 1, last_name: 'gone' });
    },
    async () => {
      const { email = '' } = one() ?? {};
      mailOf.run({ at: app.clock.now().getTime(), email });
    },
  ];
  for (let before = 0; before < 20; before++) await add();
  app.db.exec(
    `INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, created_at, finished_at)
    VALUES (9000, 1, 'single', 9000, '{}', 'done', '2026-01-15T09:00:00.000000Z', '2026-01-15T09:00:00.000000Z')`,
  );
  await app.background();
  app.clock.advance(HOUR);
  await setLive();
  const began = app.clock.now().getTime();
  for (let hour = 0; hour < days * 24; hour++) {
    const count = below(3);
    for (let done = 0; done < count; done++) {
      app.clock.advance(Math.floor(HOUR / 4));
      await happenings[below(happenings.length)]?.();
    }
    app.clock.advance(HOUR - count * Math.floor(HOUR / 4));
    await app.background();
  }
  return began;
}

/** What happened to whom, and which mails left or did not, a line each in the order of the person and the time. */
function outcome(client: TestApp['db'], began: number): string[] {
  const lines = client
    .prepare<[number], string>(`
      SELECT a.normalized_email || ' ' || l.run || ' ' || strftime('%m-%dT%H:%M', l.happened_at / 1000, 'unixepoch') || ' ' || l.code || ' ' || ifnull(s.subject || s.kind, '') || ' ' || ifnull(l.reason, '')
      FROM enrolment_log l JOIN addresses a ON a.id = l.address_id LEFT JOIN automation_schedules s ON s.id = l.step_id
      WHERE l.automation_id = 1 AND l.happened_at >= ? ORDER BY a.id, l.happened_at, l.id`)
    .pluck()
    .all(began);
  const mails = client
    .prepare<[], string>(`
      SELECT a.normalized_email || ' ' || s.subject || ' ' || d.state || ' ' || strftime('%m-%dT%H:%M', d.updated_at / 1000, 'unixepoch') || ' ' || iif(d.state = 5, d.reply, '')
      FROM deliveries d JOIN mailings m ON m.id = d.mailing_id AND m.owner_kind = 'schedule' JOIN automation_schedules s ON s.id = m.owner_id
        JOIN addresses a ON a.id = d.address_id WHERE d.state <> 0 ORDER BY a.id, d.id`)
    .pluck()
    .all();
  return [...lines, ...mails];
}

async function replayed(app: TestApp, from: number): Promise<string[]> {
  const view = openView(app.path);
  try {
    const config = readConfig({ DATABASE_PATH: app.path });
    const plan = { automationId: 1, from, now: app.clock.now().getTime(), opens: 0, clicks: 0 };
    const { problem } = await replay(view, config, plan, () => undefined);
    t.equal(problem, null);
    return outcome(view.$client, from);
  } finally {
    view.$client.close();
  }
}

/** The journeys, each with the seed of its history. */
const JOURNEYS: [number, Record<string, unknown>][] = [
  [1, {}],
  [2, { automation_for: 'segments_1' }],
  [3, { trigger_kind: 'event', trigger_event: 'visit', re_entry: 'days', re_entry_days: 2 }],
  [4, { exit_criteria: 0 }],
];
/** What must be among the lines of all together. */
const PARTS = [
  'goal_reached',
  'exit_rule',
  'left_target',
  'held_out',
  'unsubscribed_',
  'over_cap',
  ' 2 01-',
  ' came',
  ' some',
];
const seen: string[] = [];
const DAYS = 12;
const CAPS = JSON.stringify([
  { mails: 1, days: 1 },
  { mails: 2, days: 10 },
]);
const HOURS = JSON.stringify({ days: [1, 2, 3, 4, 5, 6], opens: '06:00', closes: '21:00' });

for (const [seed, trigger] of JOURNEYS)
  t.test(`a replay gives the log and the mails of a live run over the same history (seed ${seed})`, async (t) => {
    const world = await withJourney(t, trigger);
    const { app, utr } = world;
    app.db.prepare('UPDATE accounts SET mail_caps = ?, send_window = ? WHERE id = 1').run(CAPS, HOURS);
    const began = await live(world, seed, DAYS);
    const expected = outcome(app.db, began);
    await app.one.call('GET', '/automations/pause', { query: { utr } });
    const tables = new Tables(app.db);
    const found = await replayed(app, began);
    t.strictSame(found, expected);
    t.ok(expected.length > 150, `${expected.length} lines`);
    t.strictSame(tables.changed(), [], 'and nothing in the file is changed');
    seen.push(...expected);
  });

t.test('the histories have every kind of end, branches and caps', async (t) => {
  t.strictSame(
    PARTS.filter((part) => !seen.some((line) => line.includes(part))),
    [],
  );
});
