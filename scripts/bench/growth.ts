/**
 * Measures whether a recipient and an event cost as much among millions as among thousands. The ledger and the events grow to the given number
 * of rows, and the same work is measured at each power of ten.
 *
 *   npm run bench:growth -- 1000000
 *
 * The floor writes as many rows of the same values, in transactions of the same size, to a table without indexes. Both run on one thread with
 * nothing else to do. The page cache of the system holds the file, so the figures say nothing about a file that is larger than the memory.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { followActivity } from '../../src/audience/segments/follow-activity.ts';
import { OldEvents } from '../../src/delivery/feedback/old-events.ts';
import { HitBuffer } from '../../src/delivery/feedback/opens-and-clicks.ts';
import { systemClock } from '../../src/time/clock.ts';
import { DAY_MS } from '../../src/units.ts';
import { inFolder, type Measurement, makeDatabase, measureWork } from './measure.ts';
import { report, type Table } from './report.ts';

/** The number of recipients of each mailing. */
const AUDIENCE = 10_000;
/** The number of rows in a transaction of the ledger. */
const CHUNK = 1000;
/** The number of rows in a transaction of events. */
const BATCH = 100;
const FIRST_SIZE = 10_000;
const KEPT_DAYS = 30;

const ENQUEUE = `INSERT INTO deliveries (mailing_id, address_id, contact_id, state, updated_at)
  SELECT @mailing, id, id, 2, 1 FROM addresses WHERE id > @after AND id <= @after + ${CHUNK}`;

/** Adds a mailing and its recipients. Returns the id of the mailing. */
function addMailing(client: Database): number {
  const insert = `INSERT INTO mailings (user_id, owner_kind, owner_id, content, state, created_at)
    SELECT 1, 'single', ifnull(max(id), 0) + 1, '{}', 'done', '' FROM mailings`;
  const mailing = Number(client.prepare(insert).run().lastInsertRowid);
  const enqueue = client.prepare(ENQUEUE);
  for (let after = 0; after < AUDIENCE; after += CHUNK) enqueue.run({ mailing, after });
  return mailing;
}

/** Records an open of every recipient of a mailing, in an order that is independent of the order of the rows. */
function openAll(client: Database, mailing: number, at: number): void {
  const first = Number(client.prepare('SELECT min(id) FROM deliveries WHERE mailing_id = ?').pluck().get(mailing));
  const hits = new HitBuffer(client);
  for (let person = 0; person < AUDIENCE; person++) {
    const place = (person * 7919) % AUDIENCE;
    const ids = { delivery: first + place, mailing, address: 1 + place, group: 1, user: 1, email: '' };
    hits.add({ ids, link: null, at, reader: 'person' });
  }
  while (hits.flush(at));
}

/** Writes as many rows as a mailing has recipients to a table without indexes, with `rows` rows in a transaction. */
function writeFloor(client: Database, rows: number): void {
  const insert = client.prepare("INSERT INTO bare VALUES (NULL, 1, 1, 'open', NULL, 0, 1767225600000)");
  const batch = client.transaction(() => {
    for (let row = 0; row < rows; row++) insert.run();
  });
  for (let written = 0; written < AUDIENCE; written += rows) batch.immediate();
}

async function main(): Promise<void> {
  const most = Number(process.argv[2] ?? 1_000_000);
  await inFolder(async (folder) => {
    const path = join(folder, 'growth.db');
    const db = makeDatabase(path, AUDIENCE);
    const client = db.$client;
    const follow = async () => {
      while (await followActivity(db, systemClock));
    };
    client.exec(
      'CREATE TABLE bare (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c TEXT, d INTEGER, e INTEGER, f INTEGER)',
    );
    const now = Date.now();
    const past = now - 40 * DAY_MS;
    client.pragma('wal_checkpoint(TRUNCATE)');
    const empty = statSync(path).size;
    const perUnit = ({ cpuSeconds }: Measurement) => (cpuSeconds / AUDIENCE) * 1e6;
    const table: Table = {};
    let rows = 0;
    for (let size = FIRST_SIZE; size <= most; size *= 10) {
      for (; rows < size - AUDIENCE; rows += AUDIENCE) openAll(client, addMailing(client), past);
      await follow();
      let mailing = 0;
      const ledger = await measureWork(AUDIENCE, () => {
        mailing = addMailing(client);
      });
      const events = await measureWork(AUDIENCE, () => openAll(client, mailing, past));
      const followed = await measureWork(AUDIENCE, follow);
      const page = await measureWork(1, () =>
        client.prepare('SELECT * FROM deliveries WHERE mailing_id = ? AND id > 0 ORDER BY id LIMIT 1000').all(mailing),
      );
      const floors = [await measureWork(AUDIENCE, () => writeFloor(client, CHUNK))];
      floors.push(await measureWork(AUDIENCE, () => writeFloor(client, BATCH)));
      rows += AUDIENCE;
      const [ledgerFloor = 1, eventFloor = 1] = floors.map(perUnit);
      table[`${rows} deliveries`] = {
        'bytes for a recipient who opened': Math.round((statSync(path).size - empty) / rows),
        'recipient, times the floor': (perUnit(ledger) / ledgerFloor).toFixed(2),
        'open, times the floor': (perUnit(events) / eventFloor).toFixed(2),
        'open, read for segments, µs': perUnit(followed).toFixed(1),
        'a page of recipients, ms': (page.seconds * 1000).toFixed(1),
      };
    }
    const old = Number(client.prepare('SELECT count(*) FROM events').pluck().get());
    const before = statSync(path).size;
    const removal = await measureWork(old, async () => {
      const oldEvents = new OldEvents(client, KEPT_DAYS);
      while (await oldEvents.continueRemoval(now, 0));
    });
    client.pragma('wal_checkpoint(TRUNCATE)');
    const kept = Number(client.prepare('SELECT count(*) FROM events').pluck().get());
    const each = (removal.cpuSeconds / Math.max(1, old - kept)) * 1e6;
    const sizes = [before, statSync(path).size].map((bytes) => `${(bytes / 1e6).toFixed(0)} MB`);
    report(table, [
      `${old - kept} of ${old} opens removed, ${each.toFixed(1)} µs of CPU each; the file had ${sizes.join(', then ')}`,
    ]);
    client.close();
  });
}

await main();
