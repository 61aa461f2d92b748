/** What an upgrade makes of opens and clicks that earlier releases recorded. */
import t from 'tap';
import { mailingCounters } from '../../fixtures/mailing-counters.ts';
import { connect } from '../../src/database/open.ts';
import { migrateAndSeed } from '../../src/database/upgrade.ts';
import { continueReclassifying } from '../../src/delivery/feedback/earlier-hits.ts';
import { oldDatabase, releases } from '../support/releases.ts';

t.test('an upgrade classifies earlier opens and clicks anew in the background, and goes on after a kill', async (t) => {
  const path = oldDatabase(
    t,
    releases.findIndex(({ tag }) => tag.endsWith('_reader_classes')),
  );
  const { $client } = connect(path);
  $client.pragma('foreign_keys = OFF');
  const HOUR = 3_600_000;
  const PEOPLE = 400;
  $client.exec(
    "INSERT INTO mailings (id, user_id, owner_kind, owner_id, content, state, created_at) VALUES (9, 1, 'single', 9, '{}', 'done', '')",
  );
  for (const number of [0, 1, 2])
    $client.prepare('INSERT INTO links (mailing_id, number, url) VALUES (9, ?, ?)').run(number, '/');
  const deliver = $client.prepare(
    'INSERT INTO deliveries (mailing_id, address_id, state, updated_at, opened_at, opens, clicks, by_person) VALUES (9, ?, 2, ?, ?, ?, ?, ?)',
  );
  const happen = $client.prepare(
    'INSERT INTO events (mailing_id, delivery_id, kind, link_number, is_machine, happened_at) VALUES (9, ?, ?, ?, ?, ?)',
  );
  for (let person = 0; person < PEOPLE; person++) {
    const hits = [
      [['open', null, 0, 60_000]],
      [['open', null, 1, 60_000]],
      [['open', null, 1, 500]],
      [
        ['open', null, 0, 60_000],
        ['click', 0, 0, 60_100],
        ['click', 1, 0, 60_200],
        ['click', 2, 0, 60_300],
      ],
    ][person % 4] as [string, number | null, 0 | 1, number][];
    const opens = hits.filter(([kind]) => kind === 'open').length;
    const bits = hits.reduce((sum, [kind, , machine]) => sum | (machine === 1 ? 0 : kind === 'open' ? 1 : 2), 0);
    const { lastInsertRowid } = deliver.run(
      person + 1000,
      HOUR,
      HOUR + (hits[0]?.[3] ?? 0),
      opens,
      hits.length - opens,
      bits,
    );
    for (const [kind, link, machine, after] of hits) happen.run(lastInsertRowid, kind, link, machine, HOUR + after);
  }
  $client.exec(`
    UPDATE mailings SET delivered = ${PEOPLE}, unique_opens = ${PEOPLE}, total_opens = ${PEOPLE}, unique_clicks = ${PEOPLE / 4},
      people_opens = ${PEOPLE / 2}, people_clicks = ${PEOPLE / 4} WHERE id = 9;
    UPDATE links SET clicks = ${PEOPLE / 4} WHERE mailing_id = 9;
    INSERT INTO mailing_hours (mailing_id, hour, opens, machine_opens, clicks) VALUES (9, ${HOUR}, ${PEOPLE}, ${PEOPLE / 2}, ${(PEOPLE * 3) / 4})`);
  $client.close();
  const upgraded = connect(path);
  migrateAndSeed(upgraded);
  await continueReclassifying(upgraded.$client);
  upgraded.$client.close();
  const db = connect(path);
  while (await continueReclassifying(db.$client));
  const classes = db.$client.prepare("SELECT made_by, count(*) FROM events WHERE kind = 'open' GROUP BY 1").raw().all();
  t.strictSame(classes, [
    [0, PEOPLE / 4],
    [1, PEOPLE / 2],
    [2, PEOPLE / 4],
  ]);
  for (const { name, kept, right } of mailingCounters(db.$client)) {
    if (!/ (states|reasons)$/.test(name)) t.strictSame(kept.at(-1), right.at(-1), name);
  }
  t.match(db.$client.prepare('SELECT * FROM mailings WHERE id = 9').get(), {
    proxied_only: PEOPLE / 4,
    total_opens: PEOPLE / 2,
  });
  t.equal(db.$client.prepare("SELECT count(*) FROM installation WHERE name = 'hits_to_classify'").pluck().get(), 0);
  db.$client.close();
});
