/**
 * What a step of an automation costs for each contact who is due at it: a condition, a split and a field that is set, each taken by all
 * contacts, beside the same rows written by three statements.
 *
 *   npm run bench:journeys -- [contacts]
 */
import { join } from 'node:path';
import { createSegment } from '../../src/audience/segments/segments.ts';
import { enqueueDueMails, NewMails } from '../../src/automations/enrolment.ts';
import { readConfig } from '../../src/config.ts';
import { AUTOMATION_STATUS, automationSchedules, automations } from '../../src/database/schema/index.ts';
import { isoTimestamp, systemClock } from '../../src/time/clock.ts';
import { inFolder, madeDatabase, row, type Taken, taken } from './measure.ts';
import { report, type Table } from './report.ts';

const contacts = Number(process.argv[2] ?? 100_000);

await inFolder(async (folder) => {
  const path = join(folder, 'bench.db');
  const db = madeDatabase(path, contacts);
  const client = db.$client;
  const stamps = { created_at: isoTimestamp(systemClock.now()), updated_at: isoTimestamp(systemClock.now()) };
  const deps = {
    db,
    clock: systemClock,
    config: readConfig({ DATABASE_PATH: path }),
    log: () => undefined,
    newMails: new NewMails(),
  };
  await createSegment(db, systemClock, 1, {
    segment_name: 'Smiths',
    contact_type_id: 1,
    select_field: ['last_name'],
    select_operator: ['contains'],
    value: ['1'],
  });
  const table: Table = {};
  let number = 0;

  /** An automation with one step, at which all contacts are due; returns its id and that of the step. */
  const begin = (
    step: Pick<typeof automationSchedules.$inferInsert, 'kind' | 'segment_id' | 'share' | 'field' | 'value'>,
  ) => {
    number++;
    const own = { ...stamps, user_id: 1, utr: `automation-${number}` };
    const { id } = db
      .insert(automations)
      .values({
        ...own,
        ...{ automation_for: 1, automation_for_table: 'contacts', automation_name: 'Bench', exit_criteria: 0 },
        ...{ unsubscribe_group_id: '1', automation_type: 2, status: AUTOMATION_STATUS.live },
      })
      .returning({ id: automations.id })
      .get();
    const mail = { sender_id: 0, subject: '', template_id: 0, preview_img: '' };
    db.insert(automationSchedules)
      .values({
        ...own,
        ...mail,
        automation_id: id,
        position: 1,
        waiting_period: 1,
        waiting_type: 'instantly',
        ...step,
      })
      .run();
    client
      .prepare(
        "INSERT INTO enrolments (automation_id, address_id, contact_id, state, entered_at, waiting_since, due_at) SELECT ?, address_id, id, 'active', 0, 0, 0 FROM contacts",
      )
      .run(id);
    return id;
  };
  const take = async (step: Parameters<typeof begin>[0]): Promise<Taken> => {
    const id = begin(step);
    const isTaken = client
      .prepare<[number], number>('SELECT count(*) FROM enrolments WHERE automation_id = ? AND position = 0')
      .pluck();
    const result = await taken(contacts, async () => {
      for (let done = 0, moved = -1; done < contacts && moved !== 0; done += moved) moved = await enqueueDueMails(deps);
    });
    if (isTaken.get(id) !== 0) throw new Error('not everybody took the step');
    client.prepare('UPDATE automations SET status = 0 WHERE id = ?').run(id);
    return result;
  };

  const id = begin({ kind: 'exit' });
  const floor = await taken(contacts, () => {
    client.transaction(() => {
      client.exec(
        `INSERT INTO steps (enrolment_id, schedule_id, outcome, taken_at) SELECT id, 1, 'yes', 1 FROM enrolments WHERE automation_id = ${id}`,
      );
      client.exec(
        `INSERT INTO enrolment_log (automation_id, address_id, run, code, step_id, happened_at)
        SELECT automation_id, address_id, run, 'yes', 1, 1 FROM enrolments WHERE automation_id = ${id}`,
      );
      client.exec(`UPDATE enrolments SET position = 1, waiting_since = 1, due_at = 1 WHERE automation_id = ${id}`);
    })();
  });
  client.prepare('UPDATE automations SET status = 0 WHERE id = ?').run(id);
  table['rows by three statements'] = row(floor, 'enrolment', floor);
  table['a condition'] = row(await take({ kind: 'if', segment_id: 1 }), 'enrolment', floor);
  table['a split'] = row(await take({ kind: 'split', share: 50 }), 'enrolment', floor);
  table['a field that is set'] = row(
    await take({ kind: 'set_field', field: 'city', value: 'Ulm' }),
    'enrolment',
    floor,
  );
  client.close();
  report(table);
});
