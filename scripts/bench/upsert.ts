/**
 * Measures the CPU time of POST /contacts/upsert for each contact. First new contacts are added to a list with five segments, in requests of
 * 1 000 contacts, one after the other; then the same contacts are sent again with other values. As a comparison, one prepared statement
 * writes the same rows.
 *
 *   npm run bench:upsert -- [contacts]
 */
import { join } from 'node:path';
import { createSegment } from '../../src/audience/segments/segments.ts';
import { connect } from '../../src/database/open.ts';
import { systemClock } from '../../src/time/clock.ts';
import {
  inFolder,
  KEYS,
  makeDatabase,
  measureService,
  measureWork,
  type RunningService,
  row,
  startService,
} from './measure.ts';
import { report, type Table } from './report.ts';

const contacts = Number(process.argv[2] ?? 50_000);
/** How many contacts are in a request. */
const BATCH = 1000;
const CITIES = ['Berlin', 'Bonn', 'Hamburg', 'Jena', 'Kiel'];

const contactOf = (number: number, round: number) => ({
  email: `shop${number}@example.com`,
  first_name: 'Zoë',
  last_name: `Smith ${number}`,
  city: CITIES[(number + round) % CITIES.length],
  country: 'DE',
  custom_field: { company_name: `Company ${number} of ${round}` },
});
const batchOf = (first: number, round: number) =>
  Array.from({ length: BATCH }, (_, index) => contactOf(first + index, round));

await inFolder(async (folder) => {
  const table: Table = {};
  const floorDb = connect(join(folder, 'floor.db'));
  floorDb.$client.exec(`
    CREATE TABLE rows (id INTEGER PRIMARY KEY, email TEXT, first_name TEXT, last_name TEXT, city TEXT, own TEXT);
    CREATE UNIQUE INDEX emails ON rows (email)`);
  const insert = floorDb.$client.prepare(
    'INSERT INTO rows (email, first_name, last_name, city, own) VALUES (?, ?, ?, ?, ?)',
  );
  const floor = await measureWork(contacts, () => {
    for (let first = 0; first < contacts; first += BATCH)
      floorDb.$client.transaction(() => {
        for (const { email, first_name, last_name, city, custom_field } of batchOf(first, 0))
          insert.run(email, first_name, last_name, city, JSON.stringify(custom_field));
      })();
  });
  floorDb.$client.close();
  table['rows by one statement'] = row(floor, 'contact', floor);

  const file = join(folder, 'bench.db');
  const db = makeDatabase(file, 100_000);
  for (const city of CITIES)
    await createSegment(db, systemClock, 1, {
      segment_name: city,
      contact_type_id: 1,
      select_field: ['city'],
      select_operator: ['is'],
      value: [city],
    });
  db.$client.close();
  const service = await startService(file);
  // The first request is not counted, because it compiles the schemas of the operation, once in a process.
  await upsert(service, [contactOf(0, 0)]);
  const stretches: string[] = [];
  for (const [round, title] of ['new', 'again, in another city'].entries()) {
    await service.longestStretch();
    table[`POST /contacts/upsert, 1 000 each: ${title}`] = row(await measureUpserts(service, round), 'contact', floor);
    stretches.push(`Longest stretch on the HTTP thread, ${title}: ${await service.longestStretch()} ms.`);
  }
  await service.close();
  report(table, stretches);
});

/** Upserts all contacts. Each round gives them other values. */
function measureUpserts(service: RunningService, round: number) {
  return measureService(service, async () => {
    for (let first = 0; first < contacts; first += BATCH) await upsert(service, batchOf(first, round));
    return contacts;
  });
}

/** Upserts these contacts by one request. */
async function upsert({ origin }: RunningService, some: ReturnType<typeof batchOf>): Promise<void> {
  const headers = { PublicKey: KEYS.PUBLIC_KEY, SecretKey: KEYS.SECRET_KEY, 'content-type': 'application/json' };
  const body = JSON.stringify({ contact_type_id: 1, contacts: some });
  const answer = await fetch(`${origin}/api/contacts/upsert`, { method: 'POST', headers, body });
  const text = await answer.text();
  if (answer.status !== 200 || !text.includes('"failed":0')) throw new Error(text);
}
