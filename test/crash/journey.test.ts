/** Kills in the middle of an automation with every kind of step: nobody loses or repeats one. */
import { spawnSync } from 'node:child_process';
import t, { type Test } from 'tap';
import { STEP_KINDS, TRIGGER_KINDS } from '../../src/database/schema/index.ts';
import { HOUR, withPaths, withWelcomeSeries } from '../support/automations.ts';
import { addForm, askedMails, subscribe } from '../support/forms.ts';
import { addWebhook, ON_THIS_MACHINE } from '../support/webhooks/dispatching.ts';

const PEOPLE = 12;
const BUYERS = 6;

/** Runs the victim from so many hours after `began`, and asserts that it was killed if it should be at something. */
function runVictim(t: Test, path: string, began: number, start: number, hours: number, kind = ''): void {
  const args = ['test/crash/journey-victim.ts', path, String(began + start * HOUR), String(hours), kind];
  const { signal, status, stderr } = spawnSync(process.execPath, ['--import=./scripts/run-sources.js', ...args], {
    encoding: 'utf8',
  });
  if (kind === '') t.equal(status, 0, stderr);
  else t.equal(signal, 'SIGKILL', `killed at ${kind} ${stderr}`);
}

t.test('killed in the transaction of each kind of step, everybody takes each step of their path once', async (t) => {
  const { app, post, step, utrOf, live, join } = await withPaths(t, ON_THIS_MACHINE);
  await addWebhook(app.one, 'http://127.0.0.1:1/hook', ['automation.step']);
  await post('/contacts-type/add', { name: 'Customers' });
  const before = await utrOf('two');
  await step({ kind: 'set_field', field: 'city', value: 'Ulm', before });
  await step({ kind: 'segment_add', segment_id: 1, before });
  await step({ kind: 'if', segment_id: 1, before });
  await step({ kind: 'split', share: 50, before });
  await step({ kind: 'move', contact_type_id: 2, before });
  await step({ kind: 'webhook', before });
  const wait = await step({ kind: 'wait_until', until: 'event', event: 'purchase', timeout_hours: 24, before });
  await step({ kind: 'segment_remove', segment_id: 1, parent: wait, branch: 'yes' });
  await step({ kind: 'exit', parent: wait, branch: 'no' });
  await live();
  for (let at = 0; at < PEOPLE; at++) await join(`p${at}`);

  const began = app.clock.now().getTime();
  const killed = new Set<string>();
  const run = (start: number, hours: number, kind = '') => {
    runVictim(t, app.path, began, start, hours, kind);
    killed.add(kind);
  };
  for (const kind of ['mail', 'set_field', 'segment_add', 'if', 'split', 'move', 'webhook']) run(0, 0, kind);
  run(0, 1);
  app.clock.advance(2 * HOUR);
  for (let at = 0; at < BUYERS; at++)
    await app.one.call('POST', '/events', { json: { email: `p${at}@example.org`, name: 'purchase' } });
  for (const kind of ['wait_until', 'segment_remove']) run(3, 0, kind);
  run(3, 30, 'exit');
  run(30, 100);
  t.strictSame([...killed].filter((kind) => kind !== '').sort(), [...STEP_KINDS].sort());

  const count = (sql: string) => Number(app.db.prepare(sql).pluck().get());
  const steps = PEOPLE * 8 + BUYERS * 3 + (PEOPLE - BUYERS);
  t.equal(count('SELECT count(*) FROM steps'), steps, 'each step once');
  t.equal(count('SELECT count(*) FROM enrolment_log WHERE step_id IS NOT NULL'), steps, 'with its line');
  t.equal(count("SELECT count(*) FROM webhook_events WHERE type = 'automation.step'"), PEOPLE);
  t.equal(count("SELECT count(*) FROM contacts WHERE city = 'Ulm' AND contact_type_id = 2"), PEOPLE);
  t.equal(count('SELECT count(*) FROM contact_moves'), PEOPLE);
  t.equal(count('SELECT count(*) FROM segment_recipients WHERE is_removed = 0'), PEOPLE - BUYERS);
  t.equal(count("SELECT count(*) FROM steps WHERE outcome = 'not_done'"), 0);
  t.equal(count("SELECT count(*) FROM enrolments WHERE state = 'finished'"), BUYERS);
  t.equal(count("SELECT count(*) FROM enrolments WHERE state = 'left' AND reason LIKE '%exit_step%'"), PEOPLE - BUYERS);
  const mails = "FROM deliveries d JOIN mailings m ON m.id = d.mailing_id WHERE m.owner_kind = 'schedule'";
  t.equal(count(`SELECT count(*) ${mails}`), PEOPLE + 2 * BUYERS, 'each mail of the path once');
  t.equal(count(`SELECT count(*) ${mails} AND d.state = 2`), PEOPLE + 2 * BUYERS, 'and accepted');
});

t.test('killed at each entry, the goal and the exit rule, everybody enters and exits once', async (t) => {
  const { app, utr: first, post, get } = await withWelcomeSeries(t);
  const people = Array.from({ length: BUYERS }, (_, at) => `p${at}@example.org`);
  const json = async (path: string, body: object) => {
    const { status, text } = await app.one.call('POST', path, { json: body });
    t.equal(status, 200, text);
  };
  await post('/custom-fields/save', { field_name: 'plan', field_type: 'text' });
  await post('/custom-fields/save', { field_name: 'due', field_type: 'datetime-local' });
  const rules = { select_field: ['event.purchase'], select_operator: ['has happened'], value: [] };
  await post('/segment/store', { segment_name: 'Buyers', contact_type_id: 1, ...rules });
  await post('/automations/update', { utr: first, goal_segment_id: 1 });
  const left = { select_field: ['event.moved_away'], select_operator: ['has happened'], value: [] };
  await post('/segment/store', { segment_name: 'Moved away', contact_type_id: 1, ...left });
  const form = await addForm(t, app);
  const settings: Record<string, object> = {
    event: { trigger_event: 'login' },
    date: { trigger_field: 'due', trigger_hour: 12 },
    field: { trigger_field: 'plan', trigger_value: 'pro' },
    form: { trigger_form_id: form.id },
    hand: {},
  };
  const mail = { sender_id: 1, template_id: 1, subject: 'A mail', template_html: '<p>Hello</p>' };
  const wait = { waiting_type: 'instantly', waiting_period: 1 };
  const utrs: Record<string, string> = { join: first };
  for (const [trigger_kind, more] of Object.entries(settings)) {
    const { utr } = await post('/automations/create', {
      ...{ type: 'welcome', automation_for: 'contacts_1', automation_name: trigger_kind },
      ...{ unsubscribe_group_id: 1, exit_criteria: 0 },
    });
    await post('/automations/schedule/add', { utr, ...mail, ...wait });
    await post('/automations/update', { utr, trigger_kind, ...more });
    if (trigger_kind === 'hand') {
      await post('/automations/schedule/add', { utr, ...mail, waiting_type: 'days', waiting_period: 3 });
      await post('/automations/update', { utr, exit_segment_id: 2 });
    }
    utrs[trigger_kind] = utr;
  }
  t.strictSame(Object.keys(utrs).sort(), [...TRIGGER_KINDS].sort());
  for (const utr of Object.values(utrs)) t.equal((await get('/automations/set-live', { utr })).status, 200);

  for (const email of people) await subscribe(app, form, email);
  for (const { path } of await askedMails(app)) await app.page('POST', path);
  const custom_field = { plan: 'pro', due: '2026-01-15' };
  await json('/contacts/upsert', { contact_type_id: 1, contacts: people.map((email) => ({ email, custom_field })) });
  for (const email of people) await json('/events', { email, name: 'login' });
  await json('/automations/enter', { utr: utrs.hand, contacts: people });
  const began = app.clock.now().getTime();
  const id = (kind: string) => app.db.prepare('SELECT id FROM automations WHERE utr = ?').pluck().get(utrs[kind]);
  const run = (start: number, hours: number, kind = '') => runVictim(t, app.path, began, start, hours, kind);
  for (const kind of ['join', 'field', 'event', 'form', 'hand']) run(0, 0, `enter ${id(kind)}`);
  run(3, 0, 'record joined');
  run(3, 0, `enter ${id('date')}`);
  run(3, 1);
  app.clock.advance(5 * HOUR);
  for (const email of people) await json('/events', { email, name: 'purchase' });
  run(5, 0, 'record goal');
  run(5, 0, 'end :goal_reached');
  for (const email of people) await json('/events', { email, name: 'moved_away' });
  run(5, 0, 'record exit');
  run(5, 0, 'end :exit_rule');
  run(5, 100);

  const rows = (sql: string) => app.db.prepare(sql).raw().all();
  const perAutomation = Object.keys(utrs).map((kind) => [id(kind), BUYERS]);
  const each = (from: string) => rows(`SELECT automation_id, count(*) FROM ${from} GROUP BY 1 ORDER BY 1`);
  t.strictSame(each('enrolments'), perAutomation, 'everybody is in each automation once');
  t.strictSame(each("enrolment_log WHERE code = 'entered'"), perAutomation);
  t.strictSame(each("enrolment_log WHERE code IN ('left', 'finished')"), perAutomation);
  t.strictSame(
    each('deliveries d JOIN mailings m ON m.id = d.mailing_id WHERE d.state = 2 AND automation_id IS NOT NULL'),
    perAutomation,
  );
  t.strictSame(
    rows('SELECT state, reason, goal_at IS NOT NULL, count(*) FROM enrolments GROUP BY 1, 2, 3 ORDER BY 1, 2'),
    [
      ['finished', null, 0, 4 * BUYERS],
      ['left', ':exit_rule', 0, BUYERS],
      ['left', ':goal_reached', 1, BUYERS],
    ],
  );
});
