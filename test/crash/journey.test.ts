/** Kills in the middle of an automation with every kind of step: nobody loses or repeats one. */
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { STEP_KINDS } from '../../src/database/schema/index.ts';
import { HOUR, withPaths } from '../support/automations.ts';
import { addWebhook, ON_THIS_MACHINE } from '../support/webhooks/dispatching.ts';

const PEOPLE = 12;
const BUYERS = 6;

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
    const args = ['test/crash/journey-victim.ts', app.path, String(began + start * HOUR), String(hours), kind];
    const { signal, status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (kind === '') t.equal(status, 0, stderr);
    else t.equal(signal, 'SIGKILL', `killed at ${kind} ${stderr}`);
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
