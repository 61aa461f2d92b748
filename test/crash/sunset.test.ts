/** Kills of the built service, -9, while the sunset rule looks at the contacts of an account. Run `npm run build` before. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { connect } from '../../src/database/open.ts';
import { Service } from '../support/service.ts';

const PEOPLE = 20_000;
const PATIENCE_MS = 120_000;

t.test('killed again and again while people are put into a segment, it finds each of them once', async (t) => {
  const service = new Service(t, {});
  await service.start();
  await service.post('/contacts-type/add', { name: 'Readers' });
  await service.post('/segment/store', {
    segment_name: 'Asleep',
    contact_type_id: '1',
    'select_field[0]': 'city',
    'select_operator[0]': 'is',
    'value[0]': 'Nowhere',
  });
  await service.end('SIGTERM');
  const db = connect(join(service.folder, 'test.db')).$client;
  t.teardown(async () => db.close());
  const now = Date.now();
  db.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${PEOPLE})
    INSERT INTO addresses (user_id, normalized_email) SELECT 1, 'p' || i || '@example.org' FROM n;
    INSERT INTO contacts (user_id, contact_type_id, address_id, email, created_at, updated_at)
      SELECT 1, 1, id, normalized_email, '2020-01-01T00:00:00.000000Z', '' FROM addresses;
    INSERT INTO mailings (user_id, owner_kind, owner_id, content, state, people_opens, finished_at, created_at)
      VALUES (1, 'single', 1, '{}', 'done', 1, '${new Date(now).toISOString()}', '');
    INSERT INTO deliveries (mailing_id, address_id, contact_id, state, updated_at) SELECT 1, address_id, id, 2, ${now} FROM contacts`);
  await service.start();
  await service.post('/sunset/save', {
    is_on: '1',
    months: '6',
    least_mails: '1',
    action: 'segment',
    segment_id: '1',
  });
  const count = (table: string) => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  const until = async (reached: () => boolean) => {
    for (const end = Date.now() + PATIENCE_MS; !reached(); await pause(5))
      if (Date.now() > end) throw new Error(`it does not get beyond ${count('sunset_people')}`);
  };
  let inside = 0;
  for (const share of [0.1, 0.4, 0.7]) {
    await until(() => count('sunset_people') > PEOPLE * share);
    await service.end('SIGKILL');
    const people = count('sunset_people');
    if (people < PEOPLE) inside++;
    t.equal(count('segment_recipients'), people, `${people} are found and in the segment`);
    await service.start();
  }
  t.ok(inside > 0, `${inside} kills landed inside the look`);
  await until(() => db.prepare('SELECT 1 FROM sunsets WHERE next_at > 0 AND cutoff IS NULL').get() !== undefined);
  await service.end('SIGTERM');
  t.equal(count('sunset_people'), PEOPLE);
  t.equal(count('(SELECT DISTINCT address_id FROM sunset_people)'), PEOPLE);
  t.equal(count('segment_recipients WHERE by_hand = 1'), PEOPLE);
  t.equal(db.prepare('SELECT sum(moved) FROM sunset_days').pluck().get(), PEOPLE);
});
