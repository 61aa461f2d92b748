/**
 * Measures what importing a CSV file costs: our import beside its floor (the same staging and sorted upsert without checks, rules or pauses)
 * and fast-csv with an ORM. Then the file is uploaded to the running service while other requests come in.
 *
 *   npm run bench:import -- [rows]
 */
import { createReadStream, createWriteStream, openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseStream } from 'fast-csv';
import { addAddresses } from '../../src/audience/contacts/address-rows.ts';
import { readCsv } from '../../src/audience/import/csv.ts';
import { importContacts } from '../../src/audience/import/import.ts';
import { connect } from '../../src/database/open.ts';
import { contacts } from '../../src/database/schema/index.ts';
import { load } from './load.ts';
import { inFolder, KEYS, type Measurement, makeDatabase, measureWork, row, runApart, startService } from './measure.ts';
import { report } from './report.ts';

const [rowsText = '100000', part, path = '', csvPath = ''] = process.argv.slice(2);
const rows = Number(rowsText);
const NOW = '2026-01-01T00:00:00.000000Z';
/** The maximum number of rows for the ORM, which takes a minute for a million. */
const MAX_ORM_ROWS = 100_000;

/** Yields the lines of a CSV file in mixed order. One cell in eight is quoted, and one row in ten has a letter outside ASCII. */
function* csv(): Generator<string> {
  yield 'email,first_name,last_name,country,city,address_line1,postal_code,company_name\n';
  for (let at = 0; at < rows; at++) {
    const number = (at * 7919) % rows;
    const city = number % 10 === 0 ? 'Köln' : 'Berlin';
    yield `person${number}@example${number % 997}.com,John${number % 89},Smith${number % 9973},Germany,${city},"Main Street ${number % 499}, 2",${10000 + (number % 90000)},Company ${number % 5003}\n`;
  }
}

async function ours(): Promise<Measurement> {
  const db = connect(path);
  const job = { databasePath: path, accountId: 1, typeId: 1, path: csvPath, fileName: 'bench.csv' };
  return measureWork(rows, async () => {
    const report = await importContacts(db, job);
    if (report.created + report.updated !== rows) throw new Error(`only ${report.created} contacts were made`);
  });
}

async function floor(): Promise<Measurement> {
  const { $client: client } = connect(path);
  client.exec('CREATE TEMP TABLE staged (email, first_name, last_name, country, city, line1, postal, company)');
  const insert = client.prepare('INSERT INTO staged VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  return measureWork(rows, async () => {
    client.exec('BEGIN');
    const file = await readCsv(() => createReadStream(csvPath));
    for await (const batch of file.batches()) for (const cells of batch.rows) insert.run(...cells);
    client.exec('COMMIT; CREATE TEMP TABLE sorted AS SELECT * FROM staged ORDER BY email');
    const people = client.prepare(
      'INSERT INTO addresses (user_id, normalized_email) SELECT 1, email FROM sorted WHERE rowid > ? AND rowid <= ?',
    );
    const upsert = client.prepare(`
      INSERT INTO contacts (user_id, contact_type_id, address_id, first_name, last_name, email, country_id, city, address_line1,
        postal_code, custom_values, created_at, updated_at)
      SELECT 1, 1, a.id, first_name, last_name, email, 81, city, line1, postal, json_object('1', company), '${NOW}', '${NOW}'
      FROM sorted CROSS JOIN addresses a ON a.user_id = 1 AND a.normalized_email = email WHERE sorted.rowid > ? AND sorted.rowid <= ?
      ON CONFLICT (contact_type_id, address_id) WHERE deleted_at IS NULL DO UPDATE SET email = excluded.email`);
    for (let after = 0; after < rows; after += 1000) {
      client.transaction(() => {
        people.run(after, after + 1000);
        upsert.run(after, after + 1000);
      })();
    }
  });
}

async function orm(): Promise<Measurement> {
  const db = connect(path);
  const count = Math.min(rows, MAX_ORM_ROWS);
  return measureWork(count, async () => {
    let batch: Record<string, string>[] = [];
    const write = () => {
      db.transaction((tx) => {
        for (const cells of batch) {
          const email = cells.email ?? '';
          addAddresses(db, 1, [{ address: email, normalized: email, domain: '' }]);
          const person = db.$client
            .prepare('SELECT id FROM addresses WHERE user_id = 1 AND normalized_email = ?')
            .pluck();
          tx.insert(contacts)
            .values({
              user_id: 1,
              contact_type_id: 1,
              address_id: Number(person.get(email)),
              email,
              first_name: cells.first_name ?? '',
              last_name: cells.last_name ?? '',
              city: cells.city ?? '',
              address_line1: cells.address_line1 ?? '',
              postal_code: cells.postal_code ?? '',
              custom_values: { 1: cells.company_name ?? '' },
              created_at: NOW,
              updated_at: NOW,
            })
            .run();
        }
      });
      batch = [];
    };
    for await (const cells of parseStream(createReadStream(csvPath), { headers: true, maxRows: count })) {
      if (batch.push(cells) === 1000) write();
    }
    write();
  });
}

/** Uploads the file to a service. Runs in a process of its own, so that the client's work does not make the service seem slow. */
async function upload(): Promise<Measurement> {
  return measureWork(rows, async () => {
    const form = new FormData();
    form.set('contact_type_id', '1');
    form.set('file', await openAsBlob(csvPath), 'bench.csv');
    const headers = { PublicKey: KEYS.PUBLIC_KEY, SecretKey: KEYS.SECRET_KEY };
    const answer = await fetch(`${path}/api/contacts/upload-csv`, { method: 'POST', headers, body: form });
    if (answer.status !== 200) throw new Error(await answer.text());
  });
}

/** Uploads the file over the API while 200 reads and 20 writes a second are made. Measures how long these requests take. */
async function uploadUnderLoad(folder: string, csvFile: string): Promise<{ upload: Measurement; note: string }> {
  const file = join(folder, 'served.db');
  makeDatabase(file, 1000).$client.close();
  const service = await startService(file, { MAX_UPLOAD_BYTES: String(1e9) });
  const latencies: string[] = [];
  const request = (number: number) => ({
    method: 'GET',
    path: `/api/contacts/details?contact_id=${1 + (number % 1000)}`,
  });
  const change = (number: number) => ({ method: 'POST', path: '/api/contacts-type/add', form: `name=Type${number}` });
  const loadForOneSecond = async () => {
    const [reads, writes] = await Promise.all([
      load({ origin: service.origin, connections: 4, seconds: 1, rate: 200, request }),
      load({ origin: service.origin, connections: 1, seconds: 1, rate: 20, request: change }),
    ]);
    if (reads.failed + writes.failed > 0) throw new Error('requests failed');
    latencies.push(`${reads.p99}/${writes.p99}`);
  };
  // The code of a service that has just started is compiled first.
  await loadForOneSecond();
  const { usage } = service;
  const before = usage();
  let result: Measurement | undefined;
  const uploading = runApart('import.ts', [rowsText, 'upload', service.origin, csvFile]).then((client: Measurement) => {
    const { cpuSeconds, maxRssKb } = usage();
    result = { ...client, cpuSeconds: cpuSeconds - before.cpuSeconds, maxRssKb };
    return result;
  });
  while (result === undefined) await loadForOneSecond();
  await service.close();
  const note = `p99 of the API's reads/writes in ms, for each second, the first one before the import: ${latencies.join(' ')}`;
  return { upload: await uploading, note };
}

const PARTS: Record<string, () => Promise<Measurement>> = { ours, floor, orm, upload };

async function compare(): Promise<void> {
  await inFolder(async (folder) => {
    const csvFile = join(folder, 'bench.csv');
    await pipeline(Readable.from(csv()), createWriteStream(csvFile));
    const run = async (name: string): Promise<Measurement> => {
      const file = join(folder, `${name}.db`);
      makeDatabase(file, 0).$client.close();
      return runApart('import.ts', [rowsText, name, file, csvFile]);
    };
    const ofFloor = await run('floor');
    const { upload: uploaded, note } = await uploadUnderLoad(folder, csvFile);
    const table = {
      'floor: no checks, no pauses': row(ofFloor, 'rows', ofFloor),
      'sendlark import': row(await run('ours'), 'rows', ofFloor),
      'sendlark, upload under API load': row(uploaded, 'rows', ofFloor),
      'fast-csv and an ORM': row(await run('orm'), 'rows', ofFloor),
    };
    report(table, [note]);
  });
}

const run = part === undefined ? undefined : PARTS[part];
if (run === undefined) await compare();
else console.log(JSON.stringify(await run()));
