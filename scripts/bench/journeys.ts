/**
 * Measures the CPU time that a step of an automation takes for each contact who is due at the step: a condition, a split and a field that is
 * set, each for all contacts. As a comparison, three statements write the same rows.
 *
 *   npm run bench:journeys -- [contacts]
 */
import { join } from 'node:path';
import { createSegment } from '../../src/audience/segments/segments.ts';
import { NewMails, takeDueSteps } from '../../src/automations/enrolment.ts';
import { readConfig } from '../../src/config.ts';
import { AUTOMATION_STATUS, automationSchedules, automations } from '../../src/database/schema/index.ts';
import { isoTimestamp, systemClock } from '../../src/time/clock.ts';
import { inFolder, type Measurement, makeDatabase, measureWork, row } from './measure.ts';
import { report, type Table } from './report.ts';

const contacts = Number(process.argv[2] ?? 100_000);

await inFolder(async (folder) => {
  const path = join(folder, 'bench.db');
  const db = makeDatabase(path, contacts);
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
  let automationNumber = 0;

  /** Creates an automation with one step, at which all contacts are due. Returns the automation's id. */
  const createAutomation = (
    step: Pick<typeof automationSchedules.$inferInsert, 'kind' | 'segment_id' | 'share' | 'field' | 'value'>,
  ) => {
    automationNumber++;
    const common = { ...stamps, user_id: 1, utr: `automation-${automationNumber}` };
    const { id } = db
      .insert(automations)
      .values({
        ...common,
        ...{ automation_for: 1, automation_for_table: 'contacts', automation_name: 'Bench', exit_criteria: 0 },
        ...{ unsubscribe_group_id: '1', automation_type: 2, status: AUTOMATION_STATUS.live },
      })
      .returning({ id: automations.id })
      .get();
    const mail = { sender_id: 0, subject: '', template_id: 0, preview_img: '' };
    db.insert(automationSchedules)
      .values({
        ...common,
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
  const measureStep = async (step: Parameters<typeof createAutomation>[0]): Promise<Measurement> => {
    const id = createAutomation(step);
    const waiting = client
      .prepare<[number], number>('SELECT count(*) FROM enrolments WHERE automation_id = ? AND position = 0')
      .pluck();
    const result = await measureWork(contacts, async () => {
      for (let done = 0, moved = -1; done < contacts && moved !== 0; done += moved) moved = await takeDueSteps(deps);
    });
    if (waiting.get(id) !== 0) throw new Error('some contacts still wait at the step');
    client.prepare('UPDATE automations SET status = 0 WHERE id = ?').run(id);
    return result;
  };

  const id = createAutomation({ kind: 'exit' });
  const floor = await measureWork(contacts, () => {
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
  table['a condition'] = row(await measureStep({ kind: 'if', segment_id: 1 }), 'enrolment', floor);
  table['a split'] = row(await measureStep({ kind: 'split', share: 50 }), 'enrolment', floor);
  table['a field that is set'] = row(
    await measureStep({ kind: 'set_field', field: 'city', value: 'Ulm' }),
    'enrolment',
    floor,
  );
  client.close();
  report(table);
});
