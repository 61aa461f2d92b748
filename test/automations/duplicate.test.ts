/** Copies of automations. */
import t from 'tap';
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
  const again = app.one.call('GET', '/automations/duplicate', { query: { utr } });
  const begun = app.db.prepare('SELECT 1 FROM automation_schedules WHERE automation_id > 2').pluck();
  await until(() => begun.get() === 1);
  app.db.exec(
    'DELETE FROM automation_schedules WHERE id = (SELECT max(id) FROM automation_schedules WHERE automation_id = 1)',
  );
  t.equal((await again).status, 409, 'a mail was removed before it was copied');
  t.equal(begun.get(), undefined, 'and nothing of the copy is left');
  t.match(automations, [{}, { automation_name: 'Copy of Course', automation_schedule_count: MAILS, deleted_at: null }]);
});
