/** Kills of the built service, -9, while an automation is duplicated. Run `npm run build` before. */

import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { readerOf } from '../support/database-reader.ts';
import { Service } from '../support/service.ts';

const MAILS = 60;
const ATTEMPTS = 20;

t.test('killed while it copies an automation, nothing of the copy is left after the next start', async (t) => {
  const service = new Service(t, {});
  await service.start();
  await service.post('/automations/create', {
    type: 'custom',
    automation_name: 'Course',
    unsubscribe_group_id: '0',
  });
  const { message } = (await service.get('/automations')) as { message: { automations: { utr: string }[] } };
  const { utr = '' } = message.automations[0] ?? {};
  service.change((client) => {
    client.exec(`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MAILS})
      INSERT INTO automation_schedules (user_id, automation_id, sender_id, subject, waiting_period, waiting_type, utr, template_id, preview_img,
        template_html, position, created_at, updated_at)
      SELECT 1, 1, 1, 'Lesson', 1, 'days', 'lesson ' || i, 0, '', hex(zeroblob(300000)), i, '', '' FROM n`);
  });
  const read = readerOf(t, join(service.folder, 'test.db'));
  const copied = () => Number(read('SELECT count(*) AS mails FROM automation_schedules WHERE automation_id > 1').mails);
  const hidden = () => Number(read('SELECT count(*) AS copies FROM automations WHERE deleted_at IS NOT NULL').copies);
  let wasKilledWithin = false;
  for (let attempt = 0; attempt < ATTEMPTS && !wasKilledWithin; attempt++) {
    const before = copied();
    const ended = service.get(`/automations/duplicate?utr=${utr}`).catch(() => null);
    while (copied() === before) await setImmediate();
    await service.end('SIGKILL');
    await ended;
    wasKilledWithin = hidden() === 1;
    await service.start();
  }
  t.ok(wasKilledWithin);
  t.equal(hidden(), 0);
  t.equal(copied() % MAILS, 0, 'only whole copies are left');
});
