/**
 * Measures the time of replaying an automation over 90 days. All contacts joined the list in that time and one in ten unsubscribed; the
 * automation has three mails, a split and a wait.
 *
 *   npm run bench:replay -- [contacts]
 */
import { join } from 'node:path';
import { replay } from '../../src/automations/replay/engine.ts';
import { readFigures } from '../../src/automations/replay/result.ts';
import { openView } from '../../src/automations/replay/view.ts';
import { readConfig } from '../../src/config.ts';
import { automationSchedules, automations } from '../../src/database/schema/index.ts';
import { isoTimestamp, systemClock } from '../../src/time/clock.ts';
import { DAY_MS } from '../../src/units.ts';
import { inFolder, makeDatabase, measureWork } from './measure.ts';
import { report } from './report.ts';

const contacts = Number(process.argv[2] ?? 100_000);
const DAYS = 90;

await inFolder(async (folder) => {
  const path = join(folder, 'bench.db');
  const db = makeDatabase(path, contacts);
  const client = db.$client;
  const now = systemClock.now().getTime();
  const from = now - DAYS * DAY_MS;
  // The contacts are spread evenly over the time, so that hardly two of them joined in the same moment.
  client.exec(`
    UPDATE contacts SET created_at = strftime('%Y-%m-%dT%H:%M:%f', ${from / 1000} + (id - 0.5) * ${(DAYS * 86_400) / contacts}, 'unixepoch') || '000Z';
    INSERT INTO unsubscribers (user_id, address_id, email_address, created_at, updated_at)
      SELECT 1, address_id, email, strftime('%Y-%m-%dT%H:%M:%f', created_at, '+1 day') || '000Z', created_at FROM contacts WHERE id % 10 = 0;`);
  const stamps = { created_at: isoTimestamp(new Date(now)), updated_at: isoTimestamp(new Date(now)) };
  const { id } = db
    .insert(automations)
    .values({
      ...{ user_id: 1, utr: 'bench', automation_for: 1, automation_for_table: 'contacts', automation_name: 'Bench' },
      ...{ exit_criteria: 0, unsubscribe_group_id: '1', automation_type: 2, status: 0, ...stamps },
    })
    .returning({ id: automations.id })
    .get();
  const addStep = (position: number, fields: Partial<typeof automationSchedules.$inferInsert>) =>
    db
      .insert(automationSchedules)
      .values({
        ...{
          user_id: 1,
          automation_id: id,
          position,
          sender_id: 0,
          subject: `Step ${position}`,
          template_id: 0,
          preview_img: '',
        },
        ...{ utr: `step-${position}`, waiting_period: 2, waiting_type: 'days', ...stamps, ...fields },
      })
      .run();
  addStep(1, { waiting_type: 'instantly' });
  addStep(2, {});
  addStep(3, { kind: 'split', share: 50, waiting_type: 'instantly' });
  addStep(4, { kind: 'wait_until', until: 'hour', hour: 9, waiting_type: 'hours' });
  addStep(5, {});
  client.close();
  const view = openView(path);
  const plan = { automationId: id, from, now, opens: 30, clicks: 3 };
  let mails = 0;
  let entered = 0;
  const { seconds, cpuSeconds, maxRssKb } = await measureWork(contacts, async () => {
    const replayed = await replay(view, readConfig({ DATABASE_PATH: path }), plan, () => undefined);
    ({ mails, entered } = readFigures(view, replayed));
  });
  view.$client.close();
  if (entered !== contacts) throw new Error(`only ${entered} of ${contacts} contacts entered the automation`);
  const row = {
    contacts,
    mails,
    'µs CPU per contact': Math.round((cpuSeconds / contacts) * 1e6),
    'CPU s': Number(cpuSeconds.toFixed(1)),
    seconds: Number(seconds.toFixed(1)),
    'peak MB': Math.round(maxRssKb / 1024),
  };
  report({ 'a replay of 90 days': row });
});
