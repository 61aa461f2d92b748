/** Copies of automations. */
import t from 'tap';
import { removeCopy, removeUnfinishedCopies } from '../../src/automations/unfinished-copies.ts';
import { countsDuring } from '../support/counts-during.ts';
import { readyToSend } from '../support/single-sends.ts';
import { until } from '../support/until.ts';

const MAILS = 12;

t.test('an automation with large mails is copied in turns, and nobody sees a part of the copy', async (t) => {
  const { app } = await readyToSend(t);
  const made = await app.one.call('POST', '/automations/create', {
    form: { type: 'custom', automation_for: 'contacts_1', automation_name: 'Course', unsubscribe_group_id: 1 },
  });
  const { utr } = made.body.message;
  const mail = { sender_id: 1, subject: 'Lesson', waiting_period: 1, waiting_type: 'days', template_id: 1 };
  const template_html = `<p>${'lorem ipsum '.repeat(150_000)}</p>`;
  for (let at = 0; at < MAILS; at++)
    await app.one.call('POST', '/automations/schedule/create', {
      form: { utr, ...mail, preview_img: 'blank.png', template_html },
    });
  const mails = 'SELECT count(*) FROM automation_schedules WHERE automation_id = 2';
  const shown = 'SELECT count(*) FROM automations WHERE deleted_at IS NULL';
  const duplicate = app.one.call('GET', '/automations/duplicate', { query: { utr } });
  const { status, counts } = await countsDuring(
    app,
    `SELECT iif((${shown}) = 1 OR (${mails}) = ${MAILS}, (${mails}), -1)`,
    duplicate,
  );
  t.equal(status, 200);
  t.notOk(counts.has(-1), 'it is shown once it is whole');
  t.ok(counts.size > 2, `${[...counts]} mails between its turns`);
  const { automations } = (await app.one.call('GET', '/automations')).body.message;
  const begun = app.db.prepare('SELECT 1 FROM automation_schedules WHERE automation_id > 2').pluck();
  /** Copies the automation again, and removes a mail of it before that is copied. */
  const failing = async () => {
    const again = app.one.call('GET', '/automations/duplicate', { query: { utr } });
    await until(() => begun.get() === 1);
    app.db.exec(
      'DELETE FROM automation_schedules WHERE id = (SELECT max(id) FROM automation_schedules WHERE automation_id = 1)',
    );
    return (await again).status;
  };
  t.equal(await failing(), 409, 'a mail was removed before it was copied');
  t.equal(begun.get(), undefined, 'and nothing of the copy is left');
  t.match(automations, [{}, { automation_name: 'Copy of Course', automation_schedule_count: MAILS, deleted_at: null }]);
  app.db.exec(`CREATE TRIGGER kept BEFORE DELETE ON automation_schedules WHEN old.automation_id > 2
    BEGIN SELECT RAISE(ABORT, 'kept'); END`);
  const printed = t.capture(console, 'log');
  t.equal(await failing(), 409, 'also if the copy cannot be removed');
  t.match(printed(), [{ args: [/an unfinished copy of an automation is kept/] }]);
  const ids = app.db.prepare('SELECT id FROM automations ORDER BY id').pluck();
  const logged: object[] = [];
  const start = () => removeUnfinishedCopies(app.drizzle, (fields) => logged.push(fields));
  await start();
  t.match([logged.length, begun.get()], [1, 1], 'then it stops no start');
  app.db.exec(`UPDATE automations SET deleted_at = created_at WHERE id = 1;
    INSERT INTO enrolments (automation_id, address_id, state, entered_at, waiting_since, due_at) VALUES (1, 1, 'finished', 0, 0, 0)`);
  app.db.exec('DROP TRIGGER kept');
  await start();
  t.strictSame(ids.all(), [1, 2], 'the copy is removed; an automation that was entered is no copy');
  const removal = removeCopy(app.drizzle, 2).then(() => ({ status: 200 }));
  const { counts: left } = await countsDuring(app, mails, removal);
  t.ok(left.size > 2, `${[...left]} mails between the turns of a removal`);
  t.equal(begun.get(), undefined);
});
