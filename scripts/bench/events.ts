/**
 * Measures what recording events costs. The events have four properties each, and are sent to the service in JSON lists of 1 000, one request
 * after the other. Beside it, one prepared statement writes the same rows. Then the events are read into a segment that counts them.
 *
 *   npm run bench:events -- [events] [contacts]
 */
import { join } from 'node:path';
import { followActivity } from '../../src/audience/segments/follow-activity.ts';
import { createSegment } from '../../src/audience/segments/segments.ts';
import { removeNamedValue } from '../../src/database/named-values.ts';
import { connect } from '../../src/database/open.ts';
import { systemClock } from '../../src/time/clock.ts';
import { inFolder, KEYS, makeDatabase, measureService, measureWork, row, startService } from './measure.ts';
import { report, type Table } from './report.ts';

const events = Number(process.argv[2] ?? 200_000);
const contacts = Number(process.argv[3] ?? 100_000);
const BATCH = 1000;

/** A prime number, so that successive events are of contacts that are far apart. */
const STEP = 7919;
const eventOf = (number: number) => ({
  contact_id: 1 + ((number * STEP) % contacts),
  name: number % 4 === 0 ? 'purchase' : 'page_view',
  key: `order-${number}`,
  value: number % 100,
  currency: 'EUR',
  properties: { category: `c${number % 20}`, size: number % 50, page: '/shop/shoes', gift: false },
});
const batchOf = (first: number) => Array.from({ length: BATCH }, (_, at) => eventOf(first + at));

await inFolder(async (folder) => {
  const file = join(folder, 'bench.db');
  makeDatabase(file, contacts).$client.close();
  const table: Table = {};

  const plain = connect(join(folder, 'floor.db'));
  plain.$client.exec(`
    CREATE TABLE rows (id INTEGER PRIMARY KEY, contact INTEGER, name INTEGER, at INTEGER, key TEXT, value REAL, currency TEXT, properties TEXT);
    CREATE UNIQUE INDEX keys ON rows (key); CREATE INDEX contacts ON rows (contact, at)`);
  const insert = plain.$client.prepare(
    'INSERT INTO rows (contact, name, at, key, value, currency, properties) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const floor = await measureWork(events, () => {
    for (let first = 0; first < events; first += BATCH)
      plain.$client.transaction(() => {
        for (const { contact_id, key, value, currency, properties } of batchOf(first))
          insert.run(contact_id, 1, first, key, value, currency, JSON.stringify(properties));
      })();
  });
  plain.$client.close();
  table['rows by one statement'] = row(floor, 'event', floor);

  const service = await startService(file);
  const headers = { PublicKey: KEYS.PUBLIC_KEY, SecretKey: KEYS.SECRET_KEY, 'content-type': 'application/json' };
  const record = async (some: ReturnType<typeof batchOf>) => {
    const body = JSON.stringify({ events: some });
    const answer = await fetch(`${service.origin}/api/events`, { method: 'POST', headers, body });
    if (answer.status !== 200) throw new Error(await answer.text());
    await answer.text();
  };
  // The first request is not counted, because it compiles the schemas of the operation, once in a process.
  await record([eventOf(events)]);
  await service.longestStretch();
  const recorded = await measureService(service, async () => {
    for (let first = 0; first < events; first += BATCH) await record(batchOf(first));
    return events;
  });
  table['POST /events, 1 000 each'] = row(recorded, 'event', floor);
  const stretch = await service.longestStretch();
  await service.close();

  const db = connect(file);
  const account = db.$client.prepare<[], number>('SELECT id FROM accounts ORDER BY id LIMIT 1').pluck().get() ?? 1;
  await createSegment(db, systemClock, account, {
    segment_name: 'Bought',
    contact_type_id: 1,
    select_field: ['event.purchase'],
    select_operator: ['happened at least'],
    value: ['1', '30'],
  });
  removeNamedValue(db.$client, 'contact_events_followed_to');
  const followed = await measureWork(events, async () => {
    while (await followActivity(db, systemClock));
  });
  db.$client.close();
  table['into one segment'] = row(followed, 'event', floor);
  report(table, [`Longest stretch on the HTTP thread: ${stretch} ms.`]);
});
