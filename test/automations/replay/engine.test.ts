/**
 * The replay of an automation beside a live run over the same history: contacts who join, leave, are moved and change,
 * who unsubscribe and subscribe again, confirm a form, events, other mails that count to the caps; with every trigger,
 * and steps that change contacts. Both must give the same log and the same mails.
 */
import PostalMime from 'postal-mime';
import t, { type Test } from 'tap';
import { randomOf } from '../../../fixtures/random.ts';
import { replay } from '../../../src/automations/replay/engine.ts';
import { openView } from '../../../src/automations/replay/view.ts';
import { readConfig } from '../../../src/config.ts';
import type { TestApp } from '../../support/app.ts';
import { DAY, HOUR, withPaths } from '../../support/automations.ts';
import { addForm, pathIn, type ReadyForm, subscribe } from '../../support/forms.ts';
import { Tables } from '../../support/tables.ts';

/** The journey: a mail at once, a condition, a split, a wait for a purchase, two more mails, a goal, caps and sending hours. */
async function withJourney(t: Test) {
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
  await post('/custom-fields/save', { field_name: 'due', field_type: 'datetime-local' });
  await post('/custom-fields/save', { field_name: 'time_zone', field_type: 'text' });
  await call('/automations/update', {
    utr,
    goal_segment_id: 2,
    exit_segment_id: 3,
    exit_criteria: 1,
    hold_out: 10,
  });
  const before = await utrOf('two');
  const isAnn = await step({ kind: 'if', segment_id: 1, before });
  await mail('for ann', { parent: isAnn, branch: 'yes' });
  const half = await step({ kind: 'split', share: 40, before });
  await mail('some', { parent: half, branch: 'yes', waiting_type: 'hours', waiting_period: 5 });
  const wait = await step({ kind: 'wait_until', until: 'event', event: 'visit', timeout_hours: 30, before });
  await mail('came', { parent: wait, branch: 'yes' });
  return { ...world, call, segment };
}

/**
 * The same with steps before the second mail that change contacts: a field and a segment by hand, each with a condition
 * that sees it, then for some the end by the exit rule, for others by another list.
 */
async function withChanges(world: Awaited<ReturnType<typeof withJourney>>) {
  const { step, mail, segment, utrOf } = world;
  await segment('Done', 'state', 'is', ['done']);
  await segment('By hand', 'email', 'is', ['nobody@example.net']);
  const before = await utrOf('two');
  const wait = { waiting_type: 'hours', waiting_period: 3 };
  await step({ kind: 'set_field', field: 'state', value: 'done', before, ...wait });
  const isDone = await step({ kind: 'if', segment_id: 4, before });
  await mail('done', { parent: isDone, branch: 'yes' });
  await step({ kind: 'segment_add', segment_id: 5, before, ...wait });
  const isIn = await step({ kind: 'if', segment_id: 5, before });
  await step({ kind: 'segment_remove', segment_id: 5, parent: isIn, branch: 'yes', ...wait });
  const some = await step({ kind: 'split', share: 30, before, ...wait });
  await step({ kind: 'segment_add', segment_id: 3, parent: some, branch: 'yes' });
  await step({ kind: 'move', contact_type_id: 2, parent: some, branch: 'no' });
}

/** What happens at random, as often as it is named, and what only some histories have. */
const USUAL = [
  ...(['add', 'add', 'add', 'report', 'visit', 'unsubscribe', 'resubscribe', 'remove'] as const),
  ...(['move', 'rename', 'otherMail'] as const),
] as const;
const MORE = ['visitTwice', 'askByForm', 'confirmForm'] as const;

interface History {
  seed: number;
  days?: number;
  more?: readonly (typeof MORE)[number][];
  /** What does not happen, because the values of fields in the past are not known. */
  without?: readonly (typeof USUAL)[number][];
  /** The fields of a contact who is added. */
  fields?: (now: Date, below: (count: number) => number) => Record<string, string>;
  form?: ReadyForm | null;
}

/** Lets things happen at random for some days, the background at each full hour. */
async function live(
  { app, post, call, live: setLive }: Awaited<ReturnType<typeof withJourney>>,
  { seed, days = DAYS, more = [], without = [], fields = () => ({}), form = null }: History,
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
      form: { contact_type_id: 1, email, first_name, country: 1, ...fields(app.clock.now(), below) },
    });
    contacts.push({ id: Number(String(headers.location).split('=').at(-1)), email, list: 1 });
  };
  const one = () => contacts[Math.max(0, contacts.length - 1 - below(25))];
  const lastAsked = app.db
    .prepare<[], Buffer>(
      "SELECT raw FROM outbox JOIN mailings m ON m.id = mailing_id WHERE m.owner_kind = 'form' ORDER BY outbox.id DESC LIMIT 1",
    )
    .pluck();
  const report = (email: string, name: string) => app.one.call('POST', '/events', { json: { email, name } });
  const can: Record<(typeof USUAL)[number] | (typeof MORE)[number], () => Promise<unknown>> = {
    add,
    async report() {
      const { email = '' } = one() ?? {};
      await report(email, ['visit', 'visit', 'order'][below(3)] ?? '');
    },
    async visit() {
      const { email = '' } = one() ?? {};
      await report(email, 'visit');
    },
    async visitTwice() {
      const { email = '' } = one() ?? {};
      const visit = () => ({ email, name: 'visit', key: `visit ${below(1e9)}` });
      await app.one.call('POST', '/events', { json: { events: [visit(), visit()] } });
    },
    async askByForm() {
      const { email = '' } = one() ?? {};
      if (form !== null) await subscribe(app, form, email, {}, `192.0.2.${below(250)}`);
    },
    async confirmForm() {
      const mail = await PostalMime.parse(lastAsked.get() ?? Buffer.from(''));
      app.db.exec('DELETE FROM outbox');
      if (mail.text !== undefined) await app.page('POST', pathIn(mail.text));
    },
    async unsubscribe() {
      const { email = '' } = one() ?? {};
      if (below(2) === 0)
        await post('/unsubscribes-groups/manually-add', { unsubscribe_groups_id: 1, email_address: email });
      else await post('/global-unsubscribes/save', { email_address: email });
    },
    async resubscribe() {
      const row = app.db
        .prepare<[], { id: number }>('SELECT id FROM unsubscribers WHERE unsubscribe_groups_id = 1')
        .get();
      if (row !== undefined) await post('/unsubscribes-groups/recipients-bulk-delete', { strIds: [row.id] });
    },
    async remove() {
      const contact = one();
      if (contact === undefined || contact.list === 0) return;
      await post('/contacts/bulk-delete', { strIds: [contact.id] });
      contact.list = 0;
    },
    async move() {
      const contact = one();
      if (contact === undefined || contact.list === 0) return;
      contact.list = 3 - contact.list;
      const { id: contact_id, list: contact_type_id, email } = contact;
      await call('/contacts/update', { contact_id, contact_type_id, email, country: 1, first_name: 'bo' });
    },
    async rename() {
      const contact = one();
      if (contact === undefined || contact.list === 0) return;
      const { id: contact_id, list: contact_type_id, email } = contact;
      await call('/contacts/update', { contact_id, contact_type_id, email, country: 1, last_name: 'gone' });
    },
    async otherMail() {
      const { email = '' } = one() ?? {};
      mailOf.run({ at: app.clock.now().getTime(), email });
    },
  };
  const happenings = [...USUAL.filter((one) => !without.includes(one)), ...more];
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
      await can[happenings[below(happenings.length)] ?? 'add']();
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
      SELECT a.normalized_email || ' ' || l.run || ' ' || strftime('%m-%dT%H:%M', l.happened_at / 1000, 'unixepoch') || ' ' || l.code || ' ' || ifnull(s.subject || s.kind, '') || ' ' || iif(l.step_id IS NULL, ifnull(l.reason, ''), '')
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

const ZONES = ['', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu'];
const SHORT = { days: 6, without: ['move', 'rename'] } as const;

/** The journeys, each with its history. Those of the second half have steps that change contacts. */
const JOURNEYS: [Record<string, unknown>, History][] = [
  [{}, { seed: 1 }],
  [{ automation_for: 'segments_1' }, { seed: 2 }],
  [{ trigger_kind: 'event', trigger_event: 'visit', re_entry: 'days', re_entry_days: 2 }, { seed: 3 }],
  [{ exit_criteria: 0 }, { seed: 4 }],
  [
    {
      trigger_kind: 'date',
      trigger_field: 'due',
      trigger_days: 1,
      trigger_before: 1,
      trigger_hour: 8,
      trigger_yearly: 1,
    },
    {
      ...{ seed: 5, ...SHORT },
      fields: (now, below) => ({
        'custom_field[due]': new Date(now.getTime() + below(5) * DAY)
          .toISOString()
          .replace('2026', '2019')
          .slice(0, 10),
        'custom_field[time_zone]': ZONES[below(ZONES.length)] ?? '',
      }),
    },
  ],
  [
    { trigger_kind: 'field', trigger_field: 'city', trigger_value: 'graz' },
    { seed: 6, ...SHORT, fields: (_now, below) => ({ city: below(3) === 0 ? 'Ulm' : 'Graz' }) },
  ],
  [
    { trigger_kind: 'form', trigger_form_id: 1, automation_for: 'segments_1' },
    { seed: 7, ...SHORT, more: ['askByForm', 'confirmForm', 'askByForm', 'confirmForm'] },
  ],
  [
    { trigger_kind: 'event', trigger_event: 'visit', re_entry: 'key', hold_out: 50 },
    { seed: 8, ...SHORT, more: ['visitTwice', 'visitTwice'] },
  ],
];
const FIRST_WITH_CHANGES = 5;
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
  ...['set_field', 'segment_add', 'segment_remove', 'move'].map((kind) => ` done ${kind}`),
];
const seen: string[] = [];
const DAYS = 7;
const CAPS = JSON.stringify([
  { mails: 1, days: 1 },
  { mails: 2, days: 10 },
]);
const LAX_CAPS = JSON.stringify([{ mails: 20, days: 10 }]);
const HOURS = JSON.stringify({ days: [1, 2, 3, 4, 5, 6], opens: '06:00', closes: '21:00' });

for (const [trigger, history] of JOURNEYS)
  t.test(
    `a replay gives the log and the mails of a live run over the same history (seed ${history.seed})`,
    async (t) => {
      const world = await withJourney(t);
      const { app, utr, call } = world;
      const changes = history.seed >= FIRST_WITH_CHANGES;
      const form = trigger.trigger_kind === 'form' ? await addForm(t, app) : null;
      await call('/automations/update', { utr, ...trigger });
      if (changes) await withChanges(world);
      app.db
        .prepare('UPDATE accounts SET mail_caps = ?, send_window = ? WHERE id = 1')
        .run(changes ? LAX_CAPS : CAPS, HOURS);
      const began = await live(world, { ...history, form });
      const expected = outcome(app.db, began);
      // Some are replayed while they are live.
      if (history.seed % 2 === 1) await app.one.call('GET', '/automations/pause', { query: { utr } });
      const tables = new Tables(app.db);
      const found = await replayed(app, began);
      t.strictSame(found, expected);
      // Shares are drawn by utrs, which differ from run to run: half of the fewest lines of twenty runs.
      t.ok(expected.length > (changes ? 17 : 35), `${expected.length} lines`);
      t.strictSame(tables.changed(), [], 'and nothing in the file is changed');
      seen.push(...expected);
    },
  );

t.test('the histories have every kind of end, branches and caps', async (t) => {
  t.strictSame(
    PARTS.filter((part) => !seen.some((line) => line.includes(part))),
    [],
  );
});
